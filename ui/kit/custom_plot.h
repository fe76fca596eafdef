// QCustomPlot, whose header uses the lower-case keywords of Qt, for files that are built with
// QT_NO_KEYWORDS.
#pragma once

#include <QObject>

#pragma push_macro("signals")
#pragma push_macro("slots")
#pragma push_macro("emit")
#pragma push_macro("foreach")
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define emit
#define foreach Q_FOREACH
#include <qcustomplot.h>
#pragma pop_macro("foreach")
#pragma pop_macro("emit")
#pragma pop_macro("slots")
#pragma pop_macro("signals")

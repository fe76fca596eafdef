// A window over a sample database with short curves, and parts of such a window.
#pragma once

#include <gtest/gtest.h>

#include <QDockWidget>

#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "ui/shell/main_window.h"

namespace vitrine::ui {

struct StudioWindow : ::testing::Test {
  SampleStudio studio{SampleOptions{0, 50}};
  MainWindow window{studio.workbench};
};

inline QDockWidget& inspectorDock(const MainWindow& window) {
  return *window.findChild<QDockWidget*>(QStringLiteral("inspectorDock"));
}

/// What the bar above the pages says; "" while it is not shown.
inline QString errorIn(const MainWindow& window) { return only<ErrorBar>(window).sentence(); }

}  // namespace vitrine::ui

// What the window remembers between starts, in $XDG_CONFIG_HOME/vitrine/studio.ini.
#pragma once

#include <QString>
#include <QVariant>

namespace vitrine::ui {

[[nodiscard]] QVariant setting(const QString& key, const QVariant& otherwise);
void storeSetting(const QString& key, const QVariant& value);
/// From here on nothing is read or stored: pictures for documents and tests look the same
/// everywhere.
void forgetSettings();

}  // namespace vitrine::ui

// Settings of the window between starts, in $XDG_CONFIG_HOME/vitrine/studio.ini.
#pragma once

#include <QString>
#include <QStringList>
#include <QVariant>

namespace vitrine::ui {

[[nodiscard]] QVariant setting(const QString& key, const QVariant& otherwise = {});
void storeSetting(const QString& key, const QVariant& value);
void forgetSetting(const QString& key);
/// Names below `group`: "wide" and "narrow" for layouts/wide and layouts/narrow.
[[nodiscard]] QStringList settingNames(const QString& group);
/// From here on nothing is read or stored: pictures for documents and tests look the same
/// everywhere.
void forgetSettings();
/// From here on another file is read and stored, as a new start of the program would: for tests.
void useSettings(const QString& file);

}  // namespace vitrine::ui

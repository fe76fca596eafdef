// Settings of the window between starts, in $XDG_CONFIG_HOME/vitrine/studio.ini.
#pragma once

#include <QString>
#include <QStringList>
#include <QVariant>

namespace vitrine::ui {

[[nodiscard]] QVariant setting(const QString& key, const QVariant& otherwise = {});
void storeSetting(const QString& key, const QVariant& value);
void forgetSetting(const QString& key);
/// The key of `name`, which the user gave, below `group`. It may hold a slash, which the settings
/// take for a group.
[[nodiscard]] QString keyOfName(const QString& group, const QString& name);
/// The names below `group` that keyOfName() made keys of, in order.
[[nodiscard]] QStringList givenNames(const QString& group);
/// From here on nothing is read or stored: pictures for documents and tests look the same
/// everywhere.
void forgetSettings();
/// From here on another file is read and stored, as a new start of the program would: for tests.
void useSettings(const QString& file);

}  // namespace vitrine::ui

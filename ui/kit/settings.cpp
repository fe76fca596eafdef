#include "ui/kit/settings.h"

#include <QSettings>
#include <memory>

namespace vitrine::ui {
namespace {

bool isForgetting = false;

std::unique_ptr<QSettings>& settingsFile() {
  static auto settings =
      std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope,
                                  QStringLiteral("vitrine"), QStringLiteral("studio"));
  return settings;
}

}  // namespace

QVariant setting(const QString& key, const QVariant& otherwise) {
  return isForgetting ? otherwise : settingsFile()->value(key, otherwise);
}

void storeSetting(const QString& key, const QVariant& value) {
  if (!isForgetting) settingsFile()->setValue(key, value);
}

void forgetSetting(const QString& key) {
  if (!isForgetting) settingsFile()->remove(key);
}

QStringList settingNames(const QString& group) {
  if (isForgetting) return {};
  QSettings& file = *settingsFile();
  file.beginGroup(group);
  const QStringList names = file.childKeys() + file.childGroups();
  file.endGroup();
  return names;
}

void forgetSettings() { isForgetting = true; }

void useSettings(const QString& file) {
  isForgetting = false;
  settingsFile() = std::make_unique<QSettings>(file, QSettings::IniFormat);
}

}  // namespace vitrine::ui

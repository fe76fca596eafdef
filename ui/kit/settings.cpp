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

QString keyOfName(const QString& group, const QString& name) {
  return group + QLatin1Char('/') + QString::fromLatin1(name.toUtf8().toHex());
}

QStringList givenNames(const QString& group) {
  if (isForgetting) return {};
  QSettings& file = *settingsFile();
  file.beginGroup(group);
  QStringList names;
  for (const QString& key : file.childKeys() + file.childGroups())
    names << QString::fromUtf8(QByteArray::fromHex(key.toLatin1()));
  file.endGroup();
  names.sort(Qt::CaseInsensitive);
  return names;
}

void forgetSettings() { isForgetting = true; }

void useSettings(const QString& file) {
  isForgetting = false;
  settingsFile() = std::make_unique<QSettings>(file, QSettings::IniFormat);
}

}  // namespace vitrine::ui

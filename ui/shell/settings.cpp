#include "ui/shell/settings.h"

#include <QSettings>

namespace vitrine::ui {
namespace {

bool isForgetting = false;

QSettings& file() {
  static QSettings settings(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("vitrine"),
                            QStringLiteral("studio"));
  return settings;
}

}  // namespace

QVariant setting(const QString& key, const QVariant& otherwise) {
  return isForgetting ? otherwise : file().value(key, otherwise);
}

void storeSetting(const QString& key, const QVariant& value) {
  if (!isForgetting) file().setValue(key, value);
}

void forgetSettings() { isForgetting = true; }

}  // namespace vitrine::ui

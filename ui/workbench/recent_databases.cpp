#include "ui/workbench/recent_databases.h"

#include <QFileInfo>

#include "core/remote/place.h"
#include "ui/kit/settings.h"

namespace vitrine::ui {
namespace {

constexpr int kMostRecent = 10;
const QString kRecentSetting = QStringLiteral("recent/databases");

}  // namespace

QStringList recentDatabases() {
  QStringList left;
  for (const QString& file : setting(kRecentSetting).toStringList()) {
    if (remote::isRemotePlace(file.toStdString()) || QFileInfo::exists(file)) left << file;
  }
  return left;
}

void rememberDatabase(const QString& file) {
  QStringList all = setting(kRecentSetting).toStringList();
  const QString absolute =
      remote::isRemotePlace(file.toStdString()) ? file : QFileInfo(file).absoluteFilePath();
  all.removeAll(absolute);
  all.prepend(absolute);
  storeSetting(kRecentSetting, all.mid(0, kMostRecent));
}

void forgetDatabases() { forgetSetting(kRecentSetting); }

}  // namespace vitrine::ui

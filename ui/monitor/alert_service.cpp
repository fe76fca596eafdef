#include "ui/monitor/alert_service.h"

#include "ui/kit/settings.h"
#include "ui/monitor/monitor_parts.h"

namespace vitrine::ui {

AlertService& AlertService::of(Workbench& workbench) {
  if (auto* made = workbench.findChild<AlertService*>(QString(), Qt::FindDirectChildrenOnly))
    return *made;
  return *new AlertService(workbench);
}

AlertService::AlertService(Workbench& workbench)
    : QObject(&workbench), workbench_(workbench), reader_(workbench.store().file()) {
  watch_.setRules(alertsFromText(setting(QLatin1String(kAlertsKey), QByteArray()).toByteArray()));
  clock_.start();
  timer_.setSingleShot(true);
  timer_.setInterval(kLeastMs);
  stuck_.setInterval(kStuckMs);
  connect(&timer_, &QTimer::timeout, this, &AlertService::look);
  connect(&stuck_, &QTimer::timeout, this, &AlertService::look);
  connect(&workbench.watcher(), &store::RunWatcher::dataChanged, this, &AlertService::later);
  connect(&watch_, &AlertWatch::raised, this, [this](const QString& sentence, qlonglong run) {
    workbench_.showMessage(sentence);
    notifyDesktop(tr("Vitrine Studio"), sentence);
    Q_EMIT raised(sentence, run);
  });
  later();
}

void AlertService::later() {
  if (!watch_.rules().empty() && !timer_.isActive()) timer_.start();
}

void AlertService::setRulesOf(const std::string& metric, const std::vector<AlertRule>& rules) {
  watch_.setRulesOf(metric, rules);
  storeSetting(QLatin1String(kAlertsKey), QByteArray::fromStdString(toJson(watch_.rules()).dump()));
  later();
}

void AlertService::look() {
  if (reader_.isBusy()) return later();  // a look that takes long is not thrown away for the next
  std::vector<store::RunRow> followed;
  for (const auto& [id, row] : workbench_.runs())
    if (watch_.follows(row)) followed.push_back(row);
  std::vector<AlertNews> asks = watch_.asks(followed);
  if (asks.empty()) return stuck_.stop();
  if (!stuck_.isActive()) stuck_.start();
  ++looks_;
  reader_.run([this, followed = std::move(followed), asks = std::move(asks)](
                  store::RunReader& store, const std::atomic<bool>&) mutable -> Background::Finish {
    readNews(store, asks);
    return [this, followed = std::move(followed), news = std::move(asks)] {
      watch_.judge(followed, news, static_cast<double>(clock_.elapsed()) / 1000);
    };
  });
}

void AlertService::waitUntilIdle() {
  reader_.waitUntilIdle();
  timer_.stop();
  look();
  reader_.waitUntilIdle();
}

}  // namespace vitrine::ui

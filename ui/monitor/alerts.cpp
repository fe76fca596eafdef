#include "ui/monitor/alerts.h"

#include <QProcess>
#include <QStandardPaths>
#include <QSystemTrayIcon>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "ui/figures/chart_axis.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

constexpr std::array kAlertKinds{"above", "below", "stuck", "diverged"};
constexpr std::size_t kMostAlerts = 200;

}  // namespace

Json toJson(const std::vector<AlertRule>& rules) {
  Json list = Json::array();
  for (const AlertRule& rule : rules) {
    list.push_back({{"metric", rule.metric},
                    {"kind", kAlertKinds[static_cast<std::size_t>(rule.kind)]},
                    {"value", rule.value}});
  }
  return list;
}

std::vector<AlertRule> alertsFromJson(const Json& json) {
  std::vector<AlertRule> rules;
  if (!json.is_array()) return rules;
  for (const Json& entry : json) {
    if (rules.size() == kMostAlerts) break;
    if (!entry.is_object()) continue;
    const auto metric = entry.find("metric"), kind = entry.find("kind"),
               value = entry.find("value");
    if (metric == entry.end() || !metric->is_string() || kind == entry.end() ||
        !kind->is_string() || value == entry.end() || !value->is_number())
      continue;
    const auto found = std::find(kAlertKinds.begin(), kAlertKinds.end(), kind->get<std::string>());
    if (found == kAlertKinds.end()) continue;
    rules.push_back({metric->get<std::string>(),
                     static_cast<AlertRule::Kind>(found - kAlertKinds.begin()),
                     value->get<double>()});
  }
  return rules;
}

AlertWatch::AlertWatch(RunStore& store, QObject* parent) : QObject(parent), store_(store) {}

void AlertWatch::setRules(std::vector<AlertRule> rules) { rules_ = std::move(rules); }

std::vector<AlertRule> AlertWatch::rulesOf(const std::string& metric) const {
  std::vector<AlertRule> found;
  for (const AlertRule& rule : rules_)
    if (rule.metric == metric) found.push_back(rule);
  return found;
}

void AlertWatch::setRulesOf(const std::string& metric, const std::vector<AlertRule>& rules) {
  std::erase_if(rules_, [&](const AlertRule& rule) { return rule.metric == metric; });
  rules_.insert(rules_.end(), rules.begin(), rules.end());
}

void AlertWatch::check(const AlertRule& rule, const RunRow& row, const Seen& seen, bool isHit,
                       const QString& what) {
  const Raised key{row.id, rule.metric, static_cast<int>(rule.kind), rule.value};
  if (!isHit) {
    // A threshold warns again when it was kept in between; a stuck run when it went on.
    if (rule.kind == AlertRule::Kind::Stuck || std::isfinite(seen.last)) raised_.erase(key);
    return;
  }
  if (!raised_.insert(key).second) return;
  Q_EMIT raised(tr("%1 of run %2, %3, %4")
                    .arg(QString::fromStdString(rule.metric))
                    .arg(row.id)
                    .arg(QString::fromStdString(row.name), what),
                row.id);
}

void AlertWatch::look(const std::vector<RunRow>& runs, double now) {
  for (const RunRow& row : runs) {
    if (!isAlive(row.state)) continue;
    std::set<std::string> metrics;
    for (const AlertRule& rule : rules_) metrics.insert(rule.metric);
    for (const std::string& metric : metrics) {
      std::vector<MetricPoint> fresh;
      const bool isNew = !seen_.contains({row.id, metric});
      Seen& seen = seen_[{row.id, metric}];
      try {
        fresh = store_.points(row.id, metric, seen.sequence);
      } catch (const Error&) {
        continue;  // said elsewhere already, by whoever draws this curve
      }
      if (isNew || !fresh.empty()) seen.changedAt = now;
      double highest = seen.last, lowest = seen.last;
      bool isBroken = false, isAny = false;
      for (const MetricPoint& point : fresh) {
        seen.sequence = std::max(seen.sequence, point.sequence);
        seen.last = point.value;
        if (!std::isfinite(point.value)) {
          isBroken = true;
          continue;
        }
        highest = isAny ? std::max(highest, point.value) : point.value;
        lowest = isAny ? std::min(lowest, point.value) : point.value;
        isAny = true;
        if (point.value > 0) {
          seen.least = seen.hasLeast ? std::min(seen.least, point.value) : point.value;
          seen.hasLeast = true;
        }
      }
      for (const AlertRule& rule : rulesOf(metric)) {
        switch (rule.kind) {
          case AlertRule::Kind::Above:
            if (isAny)
              check(rule, row, seen, highest > rule.value,
                    tr("is %1, above %2")
                        .arg(compactNumber(highest, 4), compactNumber(rule.value, 4)));
            break;
          case AlertRule::Kind::Below:
            if (isAny)
              check(rule, row, seen, lowest < rule.value,
                    tr("is %1, below %2")
                        .arg(compactNumber(lowest, 4), compactNumber(rule.value, 4)));
            break;
          case AlertRule::Kind::Stuck:
            check(rule, row, seen, now - seen.changedAt >= rule.value * 60,
                  tr("has had no new value for %1 minutes").arg(compactNumber(rule.value, 4)));
            break;
          case AlertRule::Kind::Diverged: {
            const bool isFar = isAny && seen.hasLeast && highest > rule.value * seen.least;
            if (!isAny && !isBroken) break;
            check(rule, row, seen, isBroken || isFar,
                  isBroken ? tr("is not finite")
                           : tr("is %1, %2 times its least value")
                                 .arg(compactNumber(highest, 4),
                                      compactNumber(highest / seen.least, 3)));
            break;
          }
        }
      }
    }
  }
}

bool notifyDesktop(const QString& title, const QString& sentence) {
  const QString program = QStandardPaths::findExecutable(QStringLiteral("notify-send"));
  if (!program.isEmpty() && qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS"))
    return QProcess::startDetached(program, {QStringLiteral("--app-name=Vitrine Studio"),
                                             QStringLiteral("--"), title, sentence});
  if (!QSystemTrayIcon::isSystemTrayAvailable() || !QSystemTrayIcon::supportsMessages())
    return false;
  static QSystemTrayIcon* tray = [] {
    auto* made = new QSystemTrayIcon(icon(Icon::Follow));
    made->setToolTip(QStringLiteral("Vitrine Studio"));
    return made;
  }();
  tray->show();
  tray->showMessage(title, sentence);
  return true;
}

}  // namespace vitrine::ui

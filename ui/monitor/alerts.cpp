#include "ui/monitor/alerts.h"

#include <QProcess>
#include <QStandardPaths>
#include <QSystemTrayIcon>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "ui/figures/chart_axis.h"
#include "ui/kit/icons.h"
#include "ui/kit/value_text.h"

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
    const auto kind = std::find(kAlertKinds.begin(), kAlertKinds.end(), stateText(entry, "kind"));
    if (kind == kAlertKinds.end() || !stateMember(entry, "metric").is_string() ||
        !stateMember(entry, "value").is_number())
      continue;
    rules.push_back({stateText(entry, "metric"),
                     static_cast<AlertRule::Kind>(kind - kAlertKinds.begin()),
                     stateNumber(entry, "value")});
  }
  return rules;
}

void readNews(store::RunReader& store, std::vector<AlertNews>& news) {
  if (news.empty()) return;
  const store::MetricKinds kinds = metricKinds(store);
  for (AlertNews& one : news) {
    one.card = metricCard(one.metric, kinds);
    one.sequence = one.after;
    std::vector<store::MetricPoint> fresh;
    try {
      fresh = store.points(one.run, one.metric, one.after);
    } catch (const Error&) {
      continue;  // the page that draws this curve says it
    }
    for (const store::MetricPoint& point : fresh) {
      one.sequence = std::max(one.sequence, point.sequence);
      one.last = point.value;
      if (!std::isfinite(point.value)) {
        one.isBroken = true;
        continue;
      }
      one.highest = one.isAny ? std::max(one.highest, point.value) : point.value;
      one.lowest = one.isAny ? std::min(one.lowest, point.value) : point.value;
      one.isAny = true;
      if (!(point.value > 0)) continue;
      one.least = one.hasLeast ? std::min(one.least, point.value) : point.value;
      one.hasLeast = true;
    }
  }
}

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
  if (rules.empty())
    std::erase_if(seen_, [&](const auto& one) { return one.first.second == metric; });
}

void AlertWatch::check(const AlertRule& rule, const store::RunRow& row, const Seen& seen,
                       const AlertNews& news, bool isHit, const QString& what) {
  const Raised key{row.id, rule.metric, static_cast<int>(rule.kind), rule.value};
  if (!isHit) {
    // A threshold warns again when it was kept in between; a stuck run when it continued.
    if (rule.kind == AlertRule::Kind::Stuck || std::isfinite(seen.last)) raised_.erase(key);
    return;
  }
  if (!raised_.insert(key).second) return;
  Q_EMIT raised(tr("%1 of run %2, %3, %4")
                    .arg(news.card.title, QString::number(row.id),
                         QString::fromStdString(row.name), what),
                row.id);
}

bool AlertWatch::follows(const store::RunRow& row) const {
  if (isAlive(row.state)) return true;
  for (auto known = seen_.lower_bound({row.id, {}});
       known != seen_.end() && known->first.first == row.id; ++known)
    if (!known->second.isOver) return true;
  return false;
}

std::vector<AlertNews> AlertWatch::asks(const std::vector<store::RunRow>& runs) const {
  std::set<std::string> metrics;
  for (const AlertRule& rule : rules_) metrics.insert(rule.metric);
  std::vector<AlertNews> made;
  for (const store::RunRow& row : runs) {
    for (const std::string& metric : metrics) {
      const auto known = seen_.find({row.id, metric});
      const bool isOpen = known != seen_.end() && !known->second.isOver;
      if (!isAlive(row.state) && !isOpen) continue;
      AlertNews ask{.run = row.id, .metric = metric};
      if (known != seen_.end()) ask.after = known->second.sequence;
      made.push_back(std::move(ask));
    }
  }
  return made;
}

void AlertWatch::judge(const std::vector<store::RunRow>& runs, const std::vector<AlertNews>& news,
                       double now) {
  for (AlertNews one : news) {
    const auto found = std::find_if(runs.begin(), runs.end(),
                                    [&one](const store::RunRow& row) { return row.id == one.run; });
    if (found == runs.end()) continue;
    const store::RunRow& row = *found;
    const auto [place, isNew] = seen_.try_emplace({one.run, one.metric});
    Seen& seen = place->second;
    // A run that was resumed begins to wait now.
    if (isNew || seen.isOver || one.sequence > seen.sequence) seen.changedAt = now;
    seen.sequence = std::max(seen.sequence, one.sequence);
    seen.isOver = !isAlive(row.state);
    if (one.isAny || one.isBroken) seen.last = one.last;
    if (one.hasLeast) {
      seen.least = seen.hasLeast ? std::min(seen.least, one.least) : one.least;
      seen.hasLeast = true;
    }
    if (isNew && one.isAny) {
      // What was before the first look is past: no warning follows now.
      one.isBroken = !std::isfinite(one.last);
      one.highest = one.lowest = one.last;
      one.isAny = !one.isBroken;
    }
    const auto words = [&one](double value) {
      return QString::fromStdString(metricWords(one.card.format, value));
    };
    for (const AlertRule& rule : rulesOf(one.metric)) {
      switch (rule.kind) {
        case AlertRule::Kind::Above:
          if (one.isAny)
            check(rule, row, seen, one, one.highest > rule.value,
                  tr("is %1, above %2").arg(words(one.highest), words(rule.value)));
          break;
        case AlertRule::Kind::Below:
          if (one.isAny)
            check(rule, row, seen, one, one.lowest < rule.value,
                  tr("is %1, below %2").arg(words(one.lowest), words(rule.value)));
          break;
        case AlertRule::Kind::Stuck:
          if (seen.isOver) break;
          check(rule, row, seen, one, now - seen.changedAt >= rule.value * 60,
                tr("has had no new value for %1 minutes").arg(compactNumber(rule.value, 4)));
          break;
        case AlertRule::Kind::Diverged: {
          const bool isFar = one.isAny && seen.hasLeast && one.highest > rule.value * seen.least;
          if (!one.isAny && !one.isBroken) break;
          check(rule, row, seen, one, one.isBroken || isFar,
                one.isBroken
                    ? tr("is not finite")
                    : tr("is %1, %2 times its minimum")
                          .arg(words(one.highest), compactNumber(one.highest / seen.least, 3)));
          break;
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
    made->setToolTip(QObject::tr("Vitrine Studio"));
    return made;
  }();
  tray->show();
  tray->showMessage(title, sentence);
  return true;
}

}  // namespace vitrine::ui

// Alerts on metrics of runs in progress: a threshold, a run that is stuck, one that diverges.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/json.h"
#include "core/store/run_store.h"
#include "ui/monitor/metric_card.h"

namespace vitrine::ui {

struct AlertRule {
  enum class Kind {
    Above,    ///< a value above `value`
    Below,    ///< a value below `value`
    Stuck,    ///< no new value for `value` minutes
    Diverged  ///< not finite, or `value` times its least value so far (of positive ones)
  };
  std::string metric;
  Kind kind = Kind::Above;
  double value = 0;
  [[nodiscard]] bool operator==(const AlertRule&) const = default;
};

[[nodiscard]] Json toJson(const std::vector<AlertRule>& rules);
/// Entries that are not rules are omitted.
[[nodiscard]] std::vector<AlertRule> alertsFromJson(const Json& json);

/// What was new of a metric of a run between two looks.
struct AlertNews {
  std::int64_t run = 0;
  std::string metric;
  std::int64_t after = 0;     ///< sequence of the last value seen before
  std::int64_t sequence = 0;  ///< of the last value, this time; `after` where there is none
  double last = 0, highest = 0, lowest = 0;
  double least = 0;                                        ///< of those above zero
  bool isAny = false, hasLeast = false, isBroken = false;  ///< isBroken: one was not finite
  MetricCard card{};                                       ///< how a sentence writes it
};
/// Reads what `news` asks for (run, metric, after); on any thread.
void readNews(store::RunReader& store, std::vector<AlertNews>& news);

/// Judges the runs that are alive by their new values, every value once. A run that is seen for the
/// first time is judged by where it stands. A run that has ended is judged once more, by its last
/// values.
class AlertWatch : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  void setRules(std::vector<AlertRule> rules);
  [[nodiscard]] const std::vector<AlertRule>& rules() const { return rules_; }
  [[nodiscard]] std::vector<AlertRule> rulesOf(const std::string& metric) const;
  /// Replaces those of one metric.
  void setRulesOf(const std::string& metric, const std::vector<AlertRule>& rules);

  /// Whether a run has values to judge: it is alive, or has ended since the last look.
  [[nodiscard]] bool follows(const store::RunRow& row) const;
  /// What has to be read to judge these runs; nothing where there are no rules.
  [[nodiscard]] std::vector<AlertNews> asks(const std::vector<store::RunRow>& runs) const;
  /// \param now  seconds, of any clock that continues: what Stuck is measured with
  void judge(const std::vector<store::RunRow>& runs, const std::vector<AlertNews>& news,
             double now);

 Q_SIGNALS:
  /// Once for each rule and run, until what it warned of has passed.
  void raised(const QString& sentence, qlonglong run);

 private:
  struct Seen {
    std::int64_t sequence = 0;
    double last = 0, least = 0;
    bool hasLeast = false;
    bool isOver = false;  ///< judged after the run had ended
    double changedAt = 0;
  };
  using Raised = std::tuple<std::int64_t, std::string, int, double>;
  void check(const AlertRule& rule, const store::RunRow& row, const Seen& seen,
             const AlertNews& news, bool isHit, const QString& what);

  std::vector<AlertRule> rules_;
  std::map<std::pair<std::int64_t, std::string>, Seen> seen_;
  std::set<Raised> raised_;
};

/// Shows a sentence on the desktop with what there is: notify-send, else the tray. False where
/// there is neither; the sentence in the window stands alone then.
bool notifyDesktop(const QString& title, const QString& sentence);

}  // namespace vitrine::ui

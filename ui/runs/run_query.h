// The filter above the list of runs: words and conditions, all of which must hold.
//
//   soft mask            both words occur in the run's name, experiment, variant, tags, note, state
//                        or the reason why it failed
//   "soft mask"          these words next to each other
//   state=running        one of state, seed, name, experiment, variant, stage, device, id
//   created>=2026-11-20  also today, yesterday, 2026-11 and "2026-11-20 14:30"
//   tag:best             a tag; also tag=best, tag!=best
//   note:diverged        a word of the note
//   is:archived          a mark: archived or baseline; also is!=baseline
//   width=64             a configuration key, in full or from its last dots on: model.width, width
//   learning_rate>=1e-3  also != < <= > >=, by number
//   test/top1 > 0.5      the last value of a metric; also > 50 % and > 50%
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/store/tables/run_marks.h"
#include "core/store/types.h"
#include "ui/runs/run_configs.h"

namespace vitrine::ui {

class RunQuery {
 public:
  enum class Comparison { Equal, NotEqual, Less, AtMost, Greater, AtLeast };

  /// What a run offers beyond its row, asked only when a term needs it.
  struct Lookup {
    std::function<const FlatConfig&(const store::RunRow& run)> config;
    std::function<std::vector<std::string>(std::int64_t run)> tags;
    std::function<std::string(std::int64_t run)> note;
    std::function<store::RunMarks(std::int64_t run)> marks;
    /// The last value; nothing where the run has not recorded it.
    std::function<std::optional<double>(std::int64_t run, const std::string& name)> metric;
  };

  RunQuery() = default;
  explicit RunQuery(const QString& text);

  [[nodiscard]] bool isEmpty() const { return words_.isEmpty() && conditions_.empty(); }
  [[nodiscard]] bool matches(const store::RunRow& row, const Lookup& lookup) const;
  /// Whether values are asked for that a run in progress changes.
  [[nodiscard]] bool asksMetrics() const;
  /// Whether archived runs are asked for.
  [[nodiscard]] bool asksArchived() const;
  /// What stands before the signs of its conditions, each once.
  [[nodiscard]] QStringList keys() const;
  /// Conditions as typed that end with their sign, which makes them words: "test/top1>".
  [[nodiscard]] QStringList unfinished() const;
  /// Whether `row` has a value of this name: a condition on it can hold.
  [[nodiscard]] static bool hasKey(const QString& key, const store::RunRow& row,
                                   const Lookup& lookup);

 private:
  struct Condition {
    QString key, value;
    Comparison comparison = Comparison::Equal;
  };
  static bool holds(const Condition& condition, const store::RunRow& row, const Lookup& lookup);
  QStringList words_;
  std::vector<Condition> conditions_;
};

}  // namespace vitrine::ui

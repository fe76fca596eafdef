// The filter above the list of runs: words and conditions, all of which must hold.
//
//   soft mask            both words occur in the run's name, experiment, variant, tags or state
//   state=running        one of state, tag, seed, name, experiment, variant, stage, device, id
//   width=64             a configuration key, in full or from its last dots on: model.width, width
//   learning_rate>=1e-3  also != < <= > >=, by number
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/types.h"

namespace vitrine::ui {

class RunQuery {
 public:
  enum class Comparison { Equal, NotEqual, Less, AtMost, Greater, AtLeast };

  /// What a run offers beyond its row, asked only when a term needs it.
  struct Lookup {
    std::function<Json(std::int64_t run)> config;
    std::function<std::vector<std::string>(std::int64_t run)> tags;
  };

  RunQuery() = default;
  explicit RunQuery(const QString& text);

  [[nodiscard]] bool isEmpty() const { return words_.isEmpty() && conditions_.empty(); }
  [[nodiscard]] bool matches(const store::RunRow& row, const Lookup& lookup) const;

 private:
  struct Condition {
    QString key, value;
    Comparison comparison = Comparison::Equal;
  };
  QStringList words_;
  std::vector<Condition> conditions_;
};

}  // namespace vitrine::ui

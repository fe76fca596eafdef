// Names of the classes that a data set has, as its runs store them.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "core/base/json.h"

namespace vitrine::store {
class RunReader;
}  // namespace vitrine::store

namespace vitrine::ui {

/// A list of texts; empty where it is anything else.
[[nodiscard]] QStringList namesFrom(const Json& list);
/// Of a run's configuration; empty where it names none.
[[nodiscard]] QStringList classNamesInConfig(const Json& config);
/// Titles of the rows of a square matrix that the run stored: what a confusion matrix has.
[[nodiscard]] QStringList classNamesInArtifacts(store::RunReader& store, std::int64_t run);
/// "Sneaker"; "" where `label` is not the number of a name.
[[nodiscard]] QString classNameIn(const QStringList& names, const Json& label);

struct ClassNames {
  std::map<std::string, QStringList> byDataset;
  std::map<std::int64_t, std::string> datasets;  ///< by run

  /// Empty where nothing names them.
  [[nodiscard]] const QStringList& of(std::int64_t run) const;
};
/// Of all runs. Stops early, with fewer, once `isStale` is true.
[[nodiscard]] ClassNames readClassNames(store::RunReader& store, const std::atomic<bool>& isStale);

}  // namespace vitrine::ui

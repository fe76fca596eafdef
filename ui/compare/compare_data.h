// Data of the runs on the Compare page, read once in the background. Also the quantities that a run
// can be placed by: configuration, metrics, cost.
#pragma once

#include <QColor>
#include <QString>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/store/comparison.h"
#include "core/store/metrics/metric_family.h"
#include "core/store/run_card.h"
#include "ui/compare/compare_choice.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

/// Running time x devices, cumulative: the default measure of cost.
inline constexpr const char* kDeviceSeconds = "system/device_seconds";

/// A number, or a word, that every run may have.
struct Quantity {
  std::string id;  ///< "config:train.epochs", "metric:test/top1", "cost:memory"
  QString name;
  QString unit;
  Direction direction = Direction::None;
  bool isNumber = true;
  bool isPercent = false;  ///< shown times 100
};
/// Never changed after it was read.
struct CompareData {
  std::vector<store::ComparedRun> runs;  ///< by id
  std::vector<store::VariantGroup> variants;
  /// Configuration keys whose values are not the same in all variants.
  std::vector<std::string> keys;
  std::vector<QString> labels;                              ///< per variant, distinct
  std::vector<std::size_t> ofRun;                           ///< variant of each run
  std::vector<std::pair<std::string, std::int64_t>> names;  ///< metrics, and of how many runs
  store::RunCard card;                                      ///< of the tasks of the runs
  store::MetricKinds kinds;                                 ///< what metrics mean
  std::vector<std::string> metrics;  ///< the columns: as chosen, or the default
  /// The curve that the first of them is a point of: all its members are measured.
  std::optional<store::MetricFamily> family;
  store::Measurements measured;
  std::map<std::int64_t, Json> environments;    ///< by run
  std::map<std::int64_t, std::string> sources;  ///< text of the experiment file, by experiment
  std::string experiment;                       ///< its title, or "3 experiments"
  std::vector<Quantity> quantities;             ///< everything a run can be placed by
  std::size_t markedBaseline = 0;  ///< the variant of the run that is marked, else the first

  /// The variant that the choice names, else the marked one.
  [[nodiscard]] std::size_t baseline(const CompareChoice& choice) const;
  /// Position of a run in `runs`; nothing when it is not shown.
  [[nodiscard]] std::optional<std::size_t> find(std::int64_t run) const;
  /// "Accuracy, test".
  [[nodiscard]] QString titleOf(const std::string& metric) const;
};

/// A handful of queries; with `isStale` it returns early.
/// \param cards  of the tasks: metrics that are compared before the user chooses
/// \throws Error
[[nodiscard]] std::shared_ptr<const CompareData> readCompareData(
    const store::QueryFunction& query, std::vector<store::RunRow> rows, const CompareChoice& choice,
    const std::atomic<bool>& isStale, const store::TaskCards& cards = {});

/// Runs to compare: two and more that are selected; of one its experiment; of none the newest
/// experiment that has two. Of an experiment, archived runs that are not selected are left out.
[[nodiscard]] std::vector<store::RunRow> comparedRows(
    const std::map<std::int64_t, store::RunRow>& all, const std::vector<std::int64_t>& selected,
    const std::set<std::int64_t>& archived = {});

/// "mlp = swiglu, mlp_width = 128": what a variant changes against another; "" for nothing.
[[nodiscard]] QString differsText(const CompareData& data, std::size_t variant,
                                  std::size_t baseline);
/// The same for a narrow column, in this order and without the keys that a word says by itself:
/// "swiglu, width 128, no bias". At most three changes, and how many more.
[[nodiscard]] QString shortDiffersText(const CompareData& data,
                                       const std::vector<Difference>& changes);

/// The colour, dash and symbol of a variant. They are those of its run where every variant is one
/// run, and those of its runs where the list shows them in one colour. Otherwise they are those
/// that a user chose for its first run, or follow from its place. From 1, as for seriesColor().
[[nodiscard]] std::int64_t seriesOf(const CompareData& data, std::size_t variant);

/// Informative ones: configuration keys that differ, and the metrics that are columns.
enum class QuantityScope { Telling, All };
[[nodiscard]] std::vector<Quantity> quantitiesOf(const CompareData& data, QuantityScope scope);
/// Of a run; null where it has none. Metrics that were not read have none.
[[nodiscard]] Json quantityValue(const CompareData& data, std::size_t run, const Quantity& quantity,
                                 store::ValueChoice choice);
/// Metrics beyond the columns that the charts of `choice` need.
[[nodiscard]] std::vector<std::string> neededMetrics(const CompareChoice& choice);

}  // namespace vitrine::ui

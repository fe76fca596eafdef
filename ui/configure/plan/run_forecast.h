// Forecast of planned runs from earlier ones: equal ones, the nearest one, time and memory.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/config/experiment.h"
#include "core/store/types.h"
#include "ui/kit/background.h"

namespace vitrine::ui {

class Workbench;

/// A configuration as hashes of its keys and values, sorted: two are compared in a microsecond.
/// Values say everything, so the name of the preset they came from is left out; so is what is
/// absent.
using ConfigPrint = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
[[nodiscard]] ConfigPrint printOf(const Json& config);
/// Keys whose values differ or that only one has.
[[nodiscard]] int differingKeys(const ConfigPrint& a, const ConfigPrint& b);

/// Of one run to come.
struct RunForecast {
  int sameAs = -1;            ///< an earlier run of the plan with the same configuration
  std::int64_t existing = 0;  ///< the newest run of the database with the same configuration
  std::int64_t steps = 0;     ///< 0: unknown
  double seconds = 0;         ///< 0: unknown
  double memoryBytes = 0;     ///< 0: unknown
  QString basis;              ///< what the seconds are taken from
};

struct Forecast {
  std::vector<RunForecast> runs;
  std::int64_t nearest = 0;  ///< the run with the fewest keys that differ from the first of the
                             ///< plan; of equals the newest; 0 where there is none
  int nearestKeys = 0;
  std::uint64_t freeSeed = 0;  ///< no run has the first configuration with it
  double seconds = 0;          ///< of all that have a time
  int timed = 0;               ///< how many those are
  double memoryBytes = 0;      ///< the largest
  QString timeSource;          ///< "from runs #3 and #7: same model, batch size and device", or of
                               ///< several what they have in common
  QString unknown;             ///< what would make a time known where none is: one sentence
  std::int64_t reference = 0;  ///< a run whose operations would make the times better, 0: none
  QString memorySource;        ///< "measured in run #3", "estimated"
};

/// Reads the configurations of all runs in the background, each once.
class RunForecaster : public QObject {
  Q_OBJECT
 public:
  explicit RunForecaster(Workbench& workbench, QObject* parent = nullptr);

  /// \param report  of `vitrine check`, or null: memory and operations of each run
  void ask(std::shared_ptr<const Plan> plan, const Json& report);
  void cancel() { background_.cancel(); }
  void waitUntilIdle() { background_.waitUntilIdle(); }
  [[nodiscard]] bool isBusy() const { return background_.isBusy(); }
  /// What one sample costs a run that was made, forward, as `vitrine check` says; 0: it does not
  /// say.
  void setOperations(std::int64_t run, double operations);

 Q_SIGNALS:
  void answered(const vitrine::ui::Forecast& forecast);
  void failed(const QString& sentence);

 private:
  struct Memory;
  Workbench& workbench_;
  std::shared_ptr<Memory> memory_;  ///< only the job looks into it
  std::map<std::int64_t, double> operations_;
  Background background_;
};

}  // namespace vitrine::ui

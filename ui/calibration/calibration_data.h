// Data that the Calibration page reads and computes in the background.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/store/run_reader.h"
#include "ui/calibration/calibration_model.h"

namespace vitrine::ui {

/// Which answers of a run: those of different splits are never drawn next to each other.
struct AnswersOf {
  std::string split;
  std::string weights = "model";  ///< or "ema"
  [[nodiscard]] auto operator<=>(const AnswersOf&) const = default;
};
/// "test", "test, averaged weights".
[[nodiscard]] std::string textOf(const AnswersOf& which);

/// Of the evaluation that an artifact is from.
[[nodiscard]] AnswersOf whichOf(const Json& meta);

struct StoredAnswers {
  std::int64_t artifact = 0, step = 0;
  AnswersOf which;
};
/// By step and id. Those of other data than the run's own are left out.
[[nodiscard]] std::vector<StoredAnswers> storedAnswers(
    const std::vector<store::ArtifactRow>& artifacts);
/// The newest up to `step` (-1: of all); nullptr where there are none.
[[nodiscard]] const StoredAnswers* answersAt(const std::vector<StoredAnswers>& stored,
                                             const AnswersOf& which, std::int64_t step);

/// Answers that were read, by artifact.
using PredictionCache = std::map<std::int64_t, std::shared_ptr<const Predictions>>;

/// One run of the diagram.
struct CalibrationRun {
  std::int64_t run = 0;
  std::int64_t artifact = 0, step = 0;
  Binning binning;
  std::shared_ptr<const Predictions> predictions;
  double temperature = 1;
  CalibrationResult atOne, now, atFitted;
  FittedTemperature fitted;
  std::int64_t fitArtifact = 0;  ///< whose answers chose it; 0: `artifact`
  std::string fittedOn;          ///< the split of those answers
  std::vector<double> errors;    ///< ECE at temperatureGrid()
};

struct CalibrationRequest {
  std::int64_t run = 0;
  StoredAnswers answers;
  std::int64_t fitArtifact = 0;  ///< whose answers choose the temperature; 0: `answers`
  double temperature = 1;        ///< 0: the fitted one
};

/// \param before  what was computed before; what did not change is taken from it
/// \throws Error  the answers cannot be read
[[nodiscard]] std::shared_ptr<const CalibrationRun> computeCalibration(
    store::RunReader& store, const CalibrationRequest& ask, const Binning& binning,
    PredictionCache& cache, const std::shared_ptr<const CalibrationRun>& before,
    const std::atomic<bool>& isStale);

/// A step of the film: the bins of each run at T = 1.
struct CalibrationFrame {
  struct Line {
    std::int64_t run = 0;
    std::int64_t step = 0;  ///< its own: the newest up to that of the frame
    std::vector<ReliabilityBin> bins;
    double ece = 0;
  };
  std::int64_t step = 0;
  std::vector<Line> lines;
};
/// At most `most` of the steps, evenly apart, with the first and the last.
[[nodiscard]] std::vector<std::int64_t> filmSteps(const std::vector<std::int64_t>& steps,
                                                  std::size_t most);

}  // namespace vitrine::ui

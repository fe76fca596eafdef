// Runs an analysis of a trained run and stores its results: for `analyse`, on the command line and
// in `serve`.
#pragma once

#include <string>
#include <vector>

#include "app/vitrine/run/trained_model.h"

namespace vitrine::app {

/// \throws RefusedError  the run offers less than the analysis needs: says what, and which analyses
/// fit it
/// \throws ConfigError  the analysis is asked for what the task of the run does not know
void requireAnalysable(const Registry& registry, const Analysis& analysis, const Config& config,
                       const TrainedModel& trained);

/// Scores have the names that the trainer gives: "ece", and "train/ece" for another split than that
/// of evaluations. Artifacts of a probe follow the same rule: "train image 3".
/// \param split    what a listener hears, and where a probe takes its samples from unless its
///                 settings say that
/// \param watcher  hears every batch of an evaluation, too; may be nullptr; what it throws ends the
///                 evaluation
/// \param own      input of a probe instead of samples of the run; may be nullptr
/// \throws RefusedError  `own` is given and the analysis listens to an evaluation
[[nodiscard]] Analysis::Findings findingsOf(const Analysis& analysis, const Config& config,
                                            const TrainedModel& trained, Split split,
                                            EvaluationListener* watcher = nullptr,
                                            const Batch* own = nullptr);

/// The inputs besides the checkpoint.
struct FindingsOrigin {
  std::string item;
  Split split = Split::Test;
  std::string use;                     ///< "model" or "ema"
  std::vector<std::string> overrides;  ///< of data and image size
};
/// Says in each artifact what it is of.
void describeFindings(Analysis::Findings& findings, const FindingsOrigin& origin,
                      const TrainedModel& trained);

/// Scores become points of "analysis/<id>/<name>", as if the run had been observed. Where it was,
/// its own point at that step stays the only one; those of other data are not part of its curve.
void storeScores(store::RunStore& store, std::int64_t run, const FindingsOrigin& origin,
                 const Scores& scores, const TrainedModel& trained);

}  // namespace vitrine::app

#include "ui/calibration/calibration_data.h"

#include <QObject>
#include <algorithm>

#include "core/artifact/predictions.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

std::string textOf(const AnswersOf& which) {
  if (which.weights != "ema") return which.split;
  const QString split = QString::fromStdString(which.split);
  return QObject::tr("%1, averaged weights").arg(split).toStdString();
}

AnswersOf whichOf(const Json& meta) {
  return {stateText(meta, "split", "test"), stateText(meta, "weights", "model")};
}

std::vector<StoredAnswers> storedAnswers(const std::vector<store::ArtifactRow>& artifacts) {
  std::vector<StoredAnswers> found;
  for (const store::ArtifactRow& row : artifacts) {
    if (row.kind != artifact_kind::kPredictions || !row.meta.is_object() ||
        row.meta.contains("overrides"))
      continue;
    found.push_back({row.id, row.step, whichOf(row.meta)});
  }
  std::stable_sort(found.begin(), found.end(), [](const StoredAnswers& a, const StoredAnswers& b) {
    return std::pair(a.step, a.artifact) < std::pair(b.step, b.artifact);
  });
  return found;
}

const StoredAnswers* answersAt(const std::vector<StoredAnswers>& stored, const AnswersOf& which,
                               std::int64_t step) {
  const StoredAnswers* found = nullptr;
  for (const StoredAnswers& one : stored) {
    if (one.which == which && (step < 0 || one.step <= step)) found = &one;
  }
  return found;
}

namespace {

std::shared_ptr<const Predictions> answersOf(store::RunReader& store, std::int64_t artifact,
                                             PredictionCache& cache) {
  std::shared_ptr<const Predictions>& known = cache[artifact];
  if (known == nullptr) {
    const store::ArtifactRow row = store.artifact(artifact);
    known = std::make_shared<const Predictions>(
        readPredictions(row.meta, store.artifactData(artifact)));
  }
  return known;
}

}  // namespace

std::shared_ptr<const CalibrationRun> computeCalibration(
    store::RunReader& store, const CalibrationRequest& ask, const Binning& binning,
    PredictionCache& cache, const std::shared_ptr<const CalibrationRun>& before,
    const std::atomic<bool>& isStale) {
  auto run = std::make_shared<CalibrationRun>();
  const bool isSame = before != nullptr && before->artifact == ask.answers.artifact &&
                      before->fitArtifact == ask.fitArtifact;
  if (isSame && before->binning == binning) {
    *run = *before;
  } else {
    run->run = ask.run;
    run->artifact = ask.answers.artifact;
    run->fitArtifact = ask.fitArtifact;
    run->step = ask.answers.step;
    run->binning = binning;
    run->predictions = answersOf(store, run->artifact, cache);
    const Predictions& predictions = *run->predictions;
    if (isSame) {
      run->fitted = before->fitted;
      run->fittedOn = before->fittedOn;
    } else {
      const std::shared_ptr<const Predictions> chooser =
          ask.fitArtifact == 0 ? run->predictions : answersOf(store, ask.fitArtifact, cache);
      run->fitted = fitTemperature(*chooser);
      run->fittedOn = chooser->split;
    }
    if (isStale) return nullptr;
    run->atOne = calibrationOf(predictions, 1, binning);
    run->atFitted = calibrationOf(predictions, run->fitted.temperature, binning);
    run->errors = eceOver(predictions, binning, temperatureGrid(), isStale);
    run->temperature = 0;
  }
  const double wanted = ask.temperature > 0 ? ask.temperature : run->fitted.temperature;
  if (run->temperature != wanted) {
    run->temperature = wanted;
    run->now = wanted == 1 ? run->atOne
               : wanted == run->fitted.temperature
                   ? run->atFitted
                   : calibrationOf(*run->predictions, wanted, binning);
  }
  return isStale ? nullptr : run;
}

std::vector<std::int64_t> filmSteps(const std::vector<std::int64_t>& steps, std::size_t most) {
  if (steps.size() <= most || most < 2) return steps;
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < most; ++i)
    chosen.push_back(steps[i * (steps.size() - 1) / (most - 1)]);
  return chosen;
}

}  // namespace vitrine::ui

// Evaluations, listeners and probes of Trainer.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/train/train_config.h"
#include "core/train/trainer_state.h"

namespace vitrine::train {

namespace {

std::string suffixOf(const std::string& weights) { return weights == "ema" ? "@ema" : ""; }

/// Number of due points of an observed item in (0, step].
std::int64_t duePoints(const Config& config, std::int64_t step, std::int64_t stepsPerEpoch) {
  std::int64_t points = 0;
  if (const auto every = config.maybeInteger("every_steps")) points += step / *every;
  if (const auto every = config.maybeInteger("every_epochs"))
    points += step / (*every * stepsPerEpoch);
  return points;
}

}  // namespace

void Trainer::State::prepareObservation() {
  evaluations = session.evaluations();
  evaluatedWeights = withTrainDefaults(setup.train).text("evaluate.weights");
  if (evaluatedWeights == "ema" && trainStep->ema() == nullptr) {
    throw ConfigError(
        "train.evaluate.weights: there are no averaged weights to evaluate; set train.ema.decay");
  }
  for (const Observed& observed : setup.observed) {
    const std::string weights = observed.config.text("weights");
    if (weights == "ema" && trainStep->ema() == nullptr) {
      throw ConfigError("observe." + observed.id +
                        ".weights: there are no averaged weights to analyse; set train.ema.decay");
    }
    if (observed.analysis->kind() == Analysis::Kind::Listener) {
      if (evaluatedWeights != "all" && evaluatedWeights != weights) {
        throw ConfigError("observe." + observed.id + ".weights: '" + weights +
                          "' is not evaluated, since train.evaluate.weights is '" +
                          evaluatedWeights + "'; make them the same");
      }
      listeners.push_back(&observed);
    } else {
      probes.push_back(&observed);
    }
  }
  probeBatches.resize(probes.size());
}

bool Trainer::State::isDueNow(const Evaluation& evaluation) const {
  if (step == totalSteps) return evaluation.isAtEnd;
  if (!evaluation.everySteps && !evaluation.everyEpochs)
    return isDue(setup.train, "evaluate", step, stepsPerEpoch);
  return (evaluation.everySteps && step % *evaluation.everySteps == 0) ||
         (evaluation.everyEpochs && step % (*evaluation.everyEpochs * stepsPerEpoch) == 0);
}

bool Trainer::State::isEvaluationDue() const {
  return std::any_of(evaluations.begin(), evaluations.end(),
                     [this](const Evaluation& each) { return isDueNow(each); });
}

bool Trainer::State::isListenerDue(const Observed& observed) const {
  const bool isAlways = !observed.config.has("every_steps") && !observed.config.has("every_epochs");
  const std::int64_t before = std::max<std::int64_t>(0, std::min(evaluatedStep, step));
  return isAlways || step == totalSteps ||
         duePoints(observed.config, step, stepsPerEpoch) >
             duePoints(observed.config, before, stepsPerEpoch);
}

bool Trainer::State::isProbeDue(const Observed& observed) const {
  return step == 0 || step == totalSteps || isDue(observed.config, "", step, stepsPerEpoch);
}

bool Trainer::State::areProbesDue() const {
  return std::any_of(probes.begin(), probes.end(),
                     [this](const Observed* observed) { return isProbeDue(*observed); });
}

Look Trainer::State::look() const { return {precision, device, setup.seed, step}; }

void Trainer::State::evaluate() {
  const Looking looking(session, generator);
  MetricRecord record{step, epoch(), seconds(), {}};
  Json scores = Json::object();
  std::vector<Evaluation> due = evaluations;
  const auto isLater = [this](const Evaluation& each) { return !isDueNow(each); };
  const bool isWhole = std::erase_if(due, isLater) == 0;
  if (evaluatedWeights != "ema") evaluateWith("model", due, record, scores);
  if (trainStep->ema() != nullptr && evaluatedWeights != "model") {
    const WithAverage average(*trainStep->ema());
    evaluateWith("ema", due, record, scores);
  }
  evaluatedStep = step;
  record.time = seconds();
  sink.metrics(record);

  lastScores.clear();
  std::string text = "evaluation";
  for (const auto& [name, score] : scores.items()) {
    lastScores.emplace_back(name, score.get<double>());
    if (name == bestBy()) text = name + " " + formatReal(score.get<double>(), 4);
  }
  findBest(isWhole);
  event("evaluation", text, Json{{"scores", scores}});
}

std::string Trainer::State::bestBy() const {
  const std::string name =
      setup.train.has("checkpoint.best_by") ? setup.train.text("checkpoint.best_by") : "";
  if (!name.empty()) return name;
  const std::string own = session.bestBy();
  return own.empty() ? own : own + suffixOf(evaluatedWeights);
}

void Trainer::State::findBest(bool isWhole) {
  const std::string by = bestBy();
  const auto found = std::find_if(lastScores.begin(), lastScores.end(),
                                  [&](const auto& score) { return score.first == by; });
  if (found == lastScores.end()) {
    const bool isOwn = !setup.train.has("checkpoint.best_by") || by == session.bestBy();
    if (isBestUnknown || isOwn || !isWhole) return;
    isBestUnknown = true;
    const std::string names = joined(lastScores, [](const auto& score) { return score.first; });
    event("best_unknown", "checkpoint.best_by is " + by +
                              ", which the evaluation does not give; it gives " + names);
    return;
  }
  const bool isLowest =
      setup.train.has("checkpoint.best_is") && setup.train.text("checkpoint.best_is") == "lowest";
  const double score = found->second;
  const bool isBetter = isLowest ? score < bestScore : score > bestScore;
  if (std::isfinite(score) && (bestStep < 0 || isBetter)) {
    bestStep = step;
    bestScore = score;
  }
}

bool Trainer::State::isPlain(const std::string& listener, const Evaluation& evaluation) const {
  const auto observed = std::find_if(listeners.begin(), listeners.end(),
                                     [&](const Observed* each) { return each->id == listener; });
  std::string last;
  for (const Evaluation& each : evaluations) {
    if (isHeardBy(each, *(*observed)->analysis)) last = each.id;
  }
  return evaluation.id == last;
}

void Trainer::State::evaluateWith(const std::string& weights, const std::vector<Evaluation>& due,
                                  MetricRecord& record, Json& scores) {
  for (const Evaluation& evaluation : due) {
    const auto& looksAt = evaluation.weights;
    if (std::find(looksAt.begin(), looksAt.end(), weights) == looksAt.end()) continue;
    std::deque<NamedListener> heard;
    std::vector<EvaluationListener*> pointers;
    for (const Observed* observed : listeners) {
      if (observed->config.text("weights") != weights || !isListenerDue(*observed) ||
          !isHeardBy(evaluation, *observed->analysis))
        continue;
      heard.emplace_back(observed->id,
                         observed->analysis->listen(observed->config, session.dataset()));
      pointers.push_back(&heard.back());
    }
    CollectedResults found;
    vitrine::train::evaluate(session, evaluation, look(), pointers, found);
    for (const auto& [name, score] : found.scores) {
      const std::string full = evaluation.id + "/" + name + suffixOf(weights);
      record.values.emplace_back(full, score);
      scores[full] = score;
    }
    for (const NamedListener& listener : heard) {
      const std::string part = isPlain(listener.id(), evaluation) ? "" : evaluation.id + "/";
      for (const auto& [name, score] : listener.scores()) {
        record.values.emplace_back(
            "analysis/" + listener.id() + "/" + part + name + suffixOf(weights), score);
      }
    }
    deliver(found, evaluation, weights);
  }
}

void Trainer::State::deliver(CollectedResults& found, const Evaluation& evaluation,
                             const std::string& weights) {
  for (Artifact& artifact : found.artifacts) {
    artifact.step = step;
    artifact.meta["split"] = toString(evaluation.split);
    artifact.meta["weights"] = weights;
    artifact.meta["time"] = seconds();
    sink.artifact(std::move(artifact));
  }
  Json origin = setup.origin;
  origin["step"] = step;
  origin["weights"] = weights;
  for (GeneratedImage& image : found.images) {
    image.step = step;
    image.recipe.update(origin);
    sink.image(std::move(image));
  }
  for (GeneratedText& text : found.texts) {
    text.step = step;
    text.recipe.update(origin);
    sink.text(std::move(text));
  }
}

void Trainer::State::probe() {
  const bool mayBeSkipped = step != 0 && step != totalSteps;
  probedStep = step;
  if (!probeThread) probeThread = std::make_unique<ProbeThread>();
  if (mayBeSkipped && probeThread->isFull()) {
    ++skippedProbes;
    event("probe_skipped",
          "the probes of step " + std::to_string(step) + " are left out: those before are not done",
          Json{{"skipped", skippedProbes}});
    return;
  }
  const Looking looking(session, generator);
  ProbeJob job{step, epoch(), seconds(), {}};
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const Observed& observed = *probes[i];
    if (!isProbeDue(observed)) continue;
    const std::string weights = observed.config.text("weights");
    StepContext context = beginLook(session, look());  // whatever the probe before has left behind
    try {
      std::optional<WithAverage> average;
      if (weights == "ema") average.emplace(*trainStep->ema());
      if (!probeBatches[i]) {
        probeBatches[i] =
            probeBatch(session, observed.analysis->probeSamples(observed.config)).to(device);
      }
      ProbeContext looked{session, model, *probeBatches[i], context.generator, position()};
      if (setup.reopen) {
        looked.reopen = [this](const Json& changes) {
          return setup.reopen(session, {device, setup.seed, position(), step == totalSteps},
                              changes);
        };
      }
      job.parts.push_back(
          {observed.id, weights, observed.analysis->probe(observed.config, looked)});
    } catch (const std::exception& error) {
      event("probe_failed", "analysis '" + observed.id + "' failed: " + error.what());
    }
  }
  if (!job.parts.empty()) probeThread->push(std::move(job));
}

void Trainer::State::deliverFindings() {
  if (!probeThread) return;
  for (ProbeResult& result : probeThread->results()) {
    for (ProbeResult::Part& part : result.parts) {
      if (!part.error.empty()) {
        sink.event({result.step, "probe_failed", "analysis '" + part.id + "' failed: " + part.error,
                    Json::object()});
        continue;
      }
      MetricRecord record{result.step, result.epoch, result.time, {}};
      for (const auto& [name, score] : part.findings.scores) {
        record.values.emplace_back("analysis/" + part.id + "/" + name + suffixOf(part.weights),
                                   score);
      }
      if (!record.values.empty()) sink.metrics(record);
      for (Artifact& artifact : part.findings.artifacts) {
        artifact.analysis = part.id;
        artifact.step = result.step;
        if (!artifact.meta.contains("split")) artifact.meta["split"] = toString(lastSplit(session));
        artifact.meta["weights"] = part.weights;
        artifact.meta["time"] = result.time;
        sink.artifact(std::move(artifact));
      }
    }
  }
}

}  // namespace vitrine::train

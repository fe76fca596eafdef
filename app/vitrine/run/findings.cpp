#include "app/vitrine/run/findings.h"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/train/observe.h"

namespace vitrine::app {

namespace {

/// The segment that shows `step`, or 0.
std::int64_t segmentAt(store::RunStore& store, std::int64_t run, std::int64_t step) {
  std::int64_t found = 0;
  for (const store::SegmentRow& segment : store.segments(run)) {
    const bool hasBegun = segment.firstStep == 0 || step > segment.firstStep;
    if (hasBegun && (segment.lastStep < 0 || step <= segment.lastStep)) found = segment.number;
  }
  return found;
}

}  // namespace

void requireAnalysable(const Registry& registry, const Analysis& analysis, const Config& config,
                       const TrainedModel& trained) {
  const ItemCard card = analysis.card();
  const TaskSession& session = *trained.run.session;
  std::vector<std::string> has = capabilitiesOf(trained.run.session->model());
  for (const Evaluation& each : session.evaluations())
    has.insert(has.end(), each.outputs.begin(), each.outputs.end());
  if (offersEvery(has, card.needs)) {
    const Config run(trained.config);
    return analysis.requireStartable(config, registry.task(run.text("task.name")));
  }
  std::vector<std::string> missing, fitting;
  for (const std::string& need : card.needs) {
    if (!offersEvery(has, {need})) missing.push_back(need);
  }
  for (const ItemCard& each : registry.catalog().items) {
    if (each.kind == ItemKind::Analysis && offersEvery(has, each.needs)) fitting.push_back(each.id);
  }
  throw RefusedError("analysis '" + card.id + "' needs a run with " + capabilitiesText(missing) +
                     ", and this one has " + capabilitiesText(has) +
                     "; the analyses that fit it are " + joined(fitting));
}

Analysis::Findings findingsOf(const Analysis& analysis, const Config& config,
                              const TrainedModel& trained, Split split, EvaluationListener* watcher,
                              const Batch* own) {
  const train::RestoredRun& run = trained.run;
  TaskSession& session = *run.session;
  const c10::NoGradGuard noGradient;
  const bool isLast = split == train::lastSplit(session);
  // As in training, probes compute in float32 whatever the run's precision is.
  if (analysis.kind() == Analysis::Kind::Probe) {
    const StepContext context = beginLook(session, run.look);
    ProbeSamples samples = analysis.probeSamples(config);
    const bool isOwnSplit = samples.split.has_value();  // of the analysis' settings
    if (!isOwnSplit) samples.split = split;
    const Batch batch =
        (own != nullptr ? *own : train::probeBatch(session, samples)).to(run.look.device);
    ProbeContext looked{session,
                        session.model(),
                        batch,
                        context.generator,
                        {run.state.step, run.state.totalSteps, run.state.stepsPerEpoch}};
    looked.reopen = [&](const Json& changes) {
      return run.reopen(session,
                        {run.look.device, run.look.seed, looked.position, run.state.isFinished},
                        changes);
    };
    Analysis::Findings findings = analysis.probe(config, looked)();
    if (isLast || isOwnSplit || own != nullptr) return findings;
    // An image of the same number in another split is another image.
    for (Artifact& artifact : findings.artifacts)
      artifact.name = toString(split) + " " + artifact.name;
    for (auto& [name, score] : findings.scores) name = toString(split) + "/" + name;
    return findings;
  }
  const std::string id = analysis.card().id;
  if (own != nullptr) {
    throw RefusedError("analysis '" + id +
                       "' listens to an evaluation of the run; it cannot look at one image");
  }
  train::NamedListener listener(id, analysis.listen(config, session.dataset()));
  std::vector<EvaluationListener*> listeners{&listener};
  if (watcher != nullptr) listeners.push_back(watcher);
  CollectedResults all;
  // The task's own scores and artifacts are `evaluate`'s.
  evaluate(session, train::evaluationOf(session, split), run.look, listeners, all);
  Analysis::Findings findings;
  for (Artifact& artifact : all.artifacts) {
    if (artifact.analysis == id) findings.artifacts.push_back(std::move(artifact));
  }
  const std::string part = isLast ? "" : toString(split) + "/";
  for (const auto& [name, score] : listener.scores())
    findings.scores.emplace_back(part + name, score);
  return findings;
}

void describeFindings(Analysis::Findings& findings, const FindingsOrigin& origin,
                      const TrainedModel& trained) {
  for (Artifact& artifact : findings.artifacts) {
    artifact.analysis = origin.item;
    artifact.step = trained.checkpoint.step;
    if (!artifact.meta.contains("split")) artifact.meta["split"] = toString(origin.split);
    artifact.meta["weights"] = origin.use;
    artifact.meta["time"] = trained.time;
    if (!origin.overrides.empty()) artifact.meta["overrides"] = origin.overrides;
  }
}

void storeScores(store::RunStore& store, std::int64_t run, const FindingsOrigin& origin,
                 const Scores& scores, const TrainedModel& trained) {
  if (!origin.overrides.empty()) return;
  const std::int64_t step = trained.checkpoint.step;
  const std::int64_t segment = segmentAt(store, run, step);
  if (segment == 0) return;
  MetricRecord record{step, trained.epoch, trained.time, {}};
  for (const auto& [name, score] : scores) {
    const std::string full =
        "analysis/" + origin.item + "/" + name + (origin.use == "ema" ? "@ema" : "");
    const std::vector<store::MetricPoint> known = store.points(run, full);
    const bool isThere =
        std::any_of(known.begin(), known.end(),
                    [step](const store::MetricPoint& point) { return point.step == step; });
    if (!isThere) record.values.emplace_back(full, score);
  }
  if (record.values.empty()) return;
  store::RunStore::Batch batch;
  batch.metrics.push_back(std::move(record));
  store.append(run, segment, batch);
}

}  // namespace vitrine::app

// vitrine analyse: looks into a trained run with any analysis; what it finds is stored with the
// run.
#include <c10/core/GradMode.h>

#include <algorithm>

#include "app/vitrine/item_values.h"
#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "app/vitrine/trained_model.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/train/observe.h"

namespace vitrine::app {

namespace {

void requireCapabilities(const ItemCard& card, const TrainedModel& trained) {
  const TaskSession& session = *trained.run.session;
  std::vector<std::string> has = capabilitiesOf(trained.run.session->model());
  for (const Evaluation& each : session.evaluations())
    has.insert(has.end(), each.outputs.begin(), each.outputs.end());
  for (const std::string& need : card.needs) {
    if (std::find(has.begin(), has.end(), need) == has.end()) {
      throw RefusedError("analysis '" + card.id + "' needs a run that offers " + need +
                         ", which this one does not");
    }
  }
}

/// With the names that the trainer gives: "ece", and "train/ece" for another split than the one
/// that evaluations end with.
Analysis::Findings analyse(const Analysis& analysis, const Config& config,
                           const TrainedModel& trained, Split split) {
  const RestoredRun& run = trained.run;
  TaskSession& session = *run.session;
  const c10::NoGradGuard noGradient;
  // As in training, probes compute in float32 whatever the run's precision is.
  if (analysis.kind() == Analysis::Kind::Probe) {
    const StepContext context = beginLook(session, run.look);
    const Batch batch = probeBatch(session, analysis.probeSamples(config)).to(run.look.device);
    ProbeContext looked{session,
                        session.model(),
                        batch,
                        context.generator,
                        {run.state.step, run.state.totalSteps, run.state.stepsPerEpoch}};
    return analysis.probe(config, looked)();
  }
  const std::string id = analysis.card().id;
  NamedListener listener(id, analysis.listen(config, session.dataset()));
  CollectedResults all;
  // The task's own scores and artifacts are `evaluate`'s.
  evaluate(session, evaluationOf(session, split), run.look, {&listener}, all);
  Analysis::Findings findings;
  for (Artifact& artifact : all.artifacts) {
    if (artifact.analysis == id) findings.artifacts.push_back(std::move(artifact));
  }
  const std::string part = split == lastSplit(session) ? "" : toString(split) + "/";
  for (const auto& [name, score] : listener.scores())
    findings.scores.emplace_back(part + name, score);
  return findings;
}

/// The segment that shows `step`, or 0.
std::int64_t segmentAt(RunStore& store, std::int64_t run, std::int64_t step) {
  std::int64_t found = 0;
  for (const SegmentRow& segment : store.segments(run)) {
    const bool hasBegun = segment.firstStep == 0 || step > segment.firstStep;
    if (hasBegun && (segment.lastStep < 0 || step <= segment.lastStep)) found = segment.number;
  }
  return found;
}

/// Scores become points of "analysis/<id>/<name>", as if the run had been observed. Where it was,
/// its own point at that step stays the only one.
void storeScores(RunStore& store, const RunRow& run, const std::string& analysis,
                 const Scores& scores, const TrainedModel& trained, const std::string& use) {
  const std::int64_t step = trained.checkpoint.step;
  const std::int64_t segment = segmentAt(store, run.id, step);
  if (segment == 0) return;
  MetricRecord record{step, trained.epoch, trained.time, {}};
  for (const auto& [name, score] : scores) {
    const std::string full = "analysis/" + analysis + "/" + name + (use == "ema" ? "@ema" : "");
    const std::vector<MetricPoint> known = store.points(run.id, full);
    const bool isThere = std::any_of(known.begin(), known.end(), [step](const MetricPoint& point) {
      return point.step == step;
    });
    if (!isThere) record.values.emplace_back(full, score);
  }
  if (record.values.empty()) return;
  RunStore::Batch batch;
  batch.metrics.push_back(std::move(record));
  store.append(run.id, segment, batch);
}

}  // namespace

int runAnalyse(const Arguments& arguments) {
  CommandLine line("analyse", {"vitrine analyse 3 attention_rank images=8",
                               "vitrine analyse 3 calibration --checkpoint best --json"});
  ModelChoice asked;
  std::string item;
  std::vector<std::string> overrides;
  addTrainedRun(line, asked);
  line.app()
      .add_option("item", item, "the analysis; `vitrine describe` lists them")
      ->required()
      ->type_name("ITEM");
  line.app()
      .add_option("overrides", overrides,
                  "the analysis's own keys, other data or another image size: images=8 "
                  "data.test_samples=1000 model.image_size=56")
      ->type_name("KEY=VALUE");
  addModelOptions(line, asked, "what a listener hears: train, validation or test");
  line.parse(arguments);
  if (!asked.split.empty()) (void)splitFromString(asked.split);
  RunStore store = openStore(line, Missing::Refuse);
  const RunRow run = store.run(asked.run);
  Engine engine;
  loadEngine(engine);
  const Analysis& analysis = engine.registry.analysis(item);
  const auto isOfRun = [](const std::string& text) {
    return text.starts_with("data.") || text.starts_with("model.");
  };
  const auto middle = std::stable_partition(overrides.begin(), overrides.end(), isOfRun);
  const std::vector<std::string> ofRun(overrides.begin(), middle);
  Json values = Json::object();
  layOverrides(values, {middle, overrides.end()});
  const Config config(resolveOrThrow(analysis.card().schema, item, std::move(values)));

  const TrainedModel trained = openTrainedModel(
      store, engine, run, {asked.which, asked.use, asked.device, asked.precision, ofRun});
  requireCapabilities(analysis.card(), trained);
  const bool isProbe = analysis.kind() == Analysis::Kind::Probe;
  const Split split = isProbe ? lastSplit(*trained.run.session) : splitOf(trained, asked.split);
  const std::string precision = toString(isProbe ? Precision::Float32 : trained.run.look.precision);
  log::info("run " + std::to_string(run.id) + " at step " +
            std::to_string(trained.checkpoint.step) + ", split " + toString(split) +
            ", precision " + precision);
  Analysis::Findings findings = analyse(analysis, config, trained, split);
  // A curve of the run is one of its own data.
  if (ofRun.empty()) storeScores(store, run, item, findings.scores, trained, asked.use);

  Json artifacts = Json::array(), scores = Json::object();
  Table table{{"artifact", "kind", "id", "bytes"}, {}};
  for (Artifact& artifact : findings.artifacts) {
    artifact.analysis = item;
    artifact.step = trained.checkpoint.step;
    artifact.meta["split"] = toString(split);
    artifact.meta["weights"] = asked.use;
    artifact.meta["time"] = trained.time;
    if (!ofRun.empty()) artifact.meta["overrides"] = ofRun;
    const std::int64_t artifactId = store.addArtifact(run.id, artifact);
    artifacts.push_back({{"id", artifactId},
                         {"name", artifact.name},
                         {"kind", artifact.kind},
                         {"step", artifact.step},
                         {"meta", artifact.meta}});
    table.rows.push_back({artifact.name, artifact.kind, artifactId, artifact.data.size()});
  }
  for (const auto& [name, value] : findings.scores) scores[name] = finite(value);
  if (line.wantsJson()) {
    print(Json{{"run", run.id},
               {"analysis", item},
               {"step", trained.checkpoint.step},
               {"split", toString(split)},
               {"precision", precision},
               {"scores", scores},
               {"artifacts", artifacts}});
    return 0;
  }
  Table scoreTable{{"score", "value"}, {}};
  for (const auto& [name, value] : scores.items()) scoreTable.rows.push_back({name, value});
  if (!scoreTable.rows.empty()) print(toText(scoreTable) + "\n");
  print(table, Format::Text);
  return 0;
}

}  // namespace vitrine::app

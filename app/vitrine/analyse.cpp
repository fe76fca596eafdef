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

namespace vitrine::app {

namespace {

void requireCapabilities(const ItemCard& card, Model& model) {
  const std::vector<std::string> has = capabilitiesOf(model);
  for (const std::string& need : card.needs) {
    if (std::find(has.begin(), has.end(), need) == has.end()) {
      throw RefusedError("analysis '" + card.id + "' needs a model that offers " + need +
                         ", which this one does not");
    }
  }
}

Analysis::Findings analyse(const Analysis& analysis, const Config& config,
                           const TrainedModel& trained, Split split) {
  const c10::NoGradGuard noGradient;
  if (analysis.kind() == Analysis::Kind::Probe) {
    return analysis.probe(config, *trained.model,
                          trained.session->probeBatch(analysis.probeImages(config)))();
  }
  const auto listener = analysis.listen(config, trained.session->dataset());
  Analysis::Findings findings;
  // The task's own scores and artifacts are `evaluate`'s.
  std::vector<Artifact> all;
  (void)trained.session->evaluate(*trained.model, split, {listener.get()}, all);
  for (Artifact& artifact : all) {
    if (artifact.analysis == analysis.card().id) findings.artifacts.push_back(std::move(artifact));
  }
  return findings;
}

}  // namespace

int runAnalyse(const Arguments& arguments) {
  CommandLine line("analyse", {"vitrine analyse 3 attention_rank images=8",
                               "vitrine analyse 3 calibration --checkpoint best --json"});
  std::int64_t id = 0;
  std::string item, split = "test", which = "latest", use = "model";
  std::vector<std::string> overrides;
  line.app().add_option("run", id, "the run")->required()->type_name("RUN");
  line.app()
      .add_option("item", item, "the analysis; `vitrine describe` lists them")
      ->required()
      ->type_name("ITEM");
  line.app()
      .add_option("overrides", overrides, "the analysis's own keys: images=8")
      ->type_name("KEY=VALUE");
  line.app()
      .add_option("--split", split, "what a listener hears: train, validation or test")
      ->capture_default_str()
      ->type_name("SPLIT");
  line.app()
      .add_option("--checkpoint", which, "latest, best or a step")
      ->capture_default_str()
      ->type_name("WHICH");
  line.app()
      .add_option("--use", use, "model, or ema for the averaged weights")
      ->capture_default_str()
      ->type_name("WEIGHTS");
  line.parse(arguments);
  const Split chosen = splitFromString(split);
  RunStore store = openStore(line, Missing::Refuse);
  const RunRow run = store.run(id);
  Engine engine;
  loadEngine(engine);
  const Analysis& analysis = engine.registry.analysis(item);
  Json values = Json::object();
  layOverrides(values, overrides);
  const Config config(resolveOrThrow(analysis.card().schema, item, std::move(values)));

  const TrainedModel trained = openTrainedModel(store, engine, run, which, use);
  requireCapabilities(analysis.card(), *trained.model);
  log::info("run " + std::to_string(id) + " at step " + std::to_string(trained.checkpoint.step));
  Analysis::Findings findings = analyse(analysis, config, trained, chosen);

  Json artifacts = Json::array(), scores = Json::object();
  Table table{{"artifact", "kind", "id", "bytes"}, {}};
  for (Artifact& artifact : findings.artifacts) {
    artifact.step = trained.checkpoint.step;
    artifact.meta["split"] = analysis.kind() == Analysis::Kind::Probe ? "test" : split;
    artifact.meta["weights"] = use;
    const std::int64_t artifactId = store.addArtifact(id, artifact);
    artifacts.push_back({{"id", artifactId},
                         {"name", artifact.name},
                         {"kind", artifact.kind},
                         {"step", artifact.step},
                         {"meta", artifact.meta}});
    table.rows.push_back({artifact.name, artifact.kind, artifactId, artifact.data.size()});
  }
  for (const auto& [name, value] : findings.scores) scores[name] = finite(value);
  if (line.wantsJson()) {
    print(Json{{"run", id},
               {"analysis", item},
               {"step", trained.checkpoint.step},
               {"scores", scores},
               {"artifacts", artifacts}});
    return 0;
  }
  Table values2{{"score", "value"}, {}};
  for (const auto& [name, value] : scores.items()) values2.rows.push_back({name, value});
  if (!values2.rows.empty()) print(toText(values2) + "\n");
  print(table, Format::Text);
  return 0;
}

}  // namespace vitrine::app

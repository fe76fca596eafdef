// vitrine analyse: looks into a trained run with any analysis; what it finds is stored with the
// run.
#include <algorithm>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/findings.h"
#include "core/base/log.h"

namespace vitrine::app {

int analyseVerb(const Arguments& arguments) {
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
  addModelOptions(line, asked, "split of a listener: train, validation or test");
  line.parse(arguments);
  if (!asked.split.empty()) (void)splitFromString(asked.split);
  store::RunStore store = openStore(line, Missing::Refuse);
  const store::RunRow run = store.run(asked.run);
  Engine engine;
  const Analysis& analysis = engine.registry.analysis(item);
  const auto isOfRun = [](const std::string& text) {
    return text.starts_with("data.") || text.starts_with("model.");
  };
  const auto middle = std::stable_partition(overrides.begin(), overrides.end(), isOfRun);
  const std::vector<std::string> ofRun(overrides.begin(), middle);
  const Config config(resolveOrThrow(analysis.card().schema, item, Json::object(),
                                     parseOverrides({middle, overrides.end()})));

  const TrainedModel trained = openTrainedModel(
      store, engine, run, {asked.which, asked.use, asked.device, asked.precision, ofRun});
  requireAnalysable(engine.registry, analysis, config, trained);
  const bool isProbe = analysis.kind() == Analysis::Kind::Probe;
  const Split split = splitOf(trained, asked.split);
  const std::string precision =
      toString(isProbe ? train::Precision::Float32 : trained.run.look.precision);
  log::info(store::nameOf(run.id) + " at step " +
            std::to_string(trained.checkpoint.step) + ", split " + toString(split) +
            ", weights " + trained.checkpoint.use + ", precision " + precision);
  const FindingsOrigin origin{item, split, trained.checkpoint.use, ofRun};
  Analysis::Findings findings = findingsOf(analysis, config, trained, split);
  describeFindings(findings, origin, trained);
  storeScores(store, run.id, origin, findings.scores, trained);

  Json artifacts = Json::array(), scores = Json::object();
  Table table{{"artifact", "kind", "id", "bytes"}, {}};
  for (const Artifact& artifact : findings.artifacts) {
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

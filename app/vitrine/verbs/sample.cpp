// vitrine sample: images and texts from a trained run, as PNG files and in the database.
#include <c10/core/GradMode.h>

#include <fstream>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/item_values.h"
#include "app/vitrine/run/sampling.h"
#include "app/vitrine/run/trained_model.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/train/observe.h"

namespace vitrine::app {

namespace {

namespace fs = std::filesystem;

/// Writes each result as it comes.
class Delivery final : public Results {
 public:
  Delivery(store::RunStore& store, const store::RunRow& run, fs::path folder, std::int64_t step)
      : store_(store), run_(run), folder_(std::move(folder)), step_(step) {}

  void score(const std::string& name, double value) override { scores.emplace_back(name, value); }
  void artifact(Artifact artifact) override {
    artifact.step = step_;
    (void)store_.addArtifact(run_.id, artifact);
  }
  void image(GeneratedImage image) override {
    image.step = step_;
    const std::int64_t id = store_.addImage(run_.id, image);
    const fs::path file = folder_ / ("image-" + std::to_string(id) + ".png");
    fs::create_directories(folder_);
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(image.png.data()),
              static_cast<std::streamsize>(image.png.size()));
    if (!out.flush()) throw FileError("cannot write " + file.string() + "; the database has it");
    made.push_back({{"kind", "image"},
                    {"id", id},
                    {"seed", image.seed},
                    {"size", {image.height, image.width}},
                    {"sha256", image.sha256},
                    {"file", file.string()}});
  }
  void text(GeneratedText text) override {
    text.step = step_;
    const std::int64_t id = store_.addText(run_.id, text);
    made.push_back(
        {{"kind", "text"}, {"id", id}, {"seed", text.seed}, {"text", std::move(text.text)}});
  }

  Json made = Json::array();
  Scores scores;

 private:
  store::RunStore& store_;
  const store::RunRow& run_;
  fs::path folder_;
  std::int64_t step_;
};

}  // namespace

int sampleVerb(const Arguments& arguments) {
  CommandLine line("sample", {"vitrine sample 3 count=16 seed=1",
                              "vitrine sample 3 class=3 steps=50 --checkpoint best --use ema"});
  ModelChoice asked;
  std::string sampler, output;
  std::vector<std::string> overrides;
  addTrainedRun(line, asked);
  line.app()
      .add_option("settings", overrides, "seed, count and the sampler's own keys")
      ->type_name("KEY=VALUE");
  line.app()
      .add_option("--with", sampler, "the sampler, where several fit the model")
      ->type_name("SAMPLER");
  line.app()
      .add_option("--output", output, "folder of the PNG files (default: run-<id>-samples)")
      ->type_name("FOLDER");
  addModelOptions(line, asked, "");
  line.parse(arguments);
  if (!asked.precision.empty()) (void)train::precisionFrom(asked.precision);
  store::RunStore store = openStore(line, Missing::Refuse);
  const store::RunRow run = store.run(asked.run);
  Engine engine;
  loadEngine(engine);
  const TrainedModel trained = openTrainedModel(
      store, engine, run, {asked.which, asked.use, asked.device, asked.precision, {}});
  TaskSession& session = *trained.run.session;
  const Sampler& item = samplerFor(engine.registry, session.model(), sampler);
  const ItemCard card = item.card();
  Json values = Json::object();
  layOverrides(values, overrides);
  const train::Look& look = trained.run.look;
  const SampleRequest request =
      sampleRequestFor(trained, run, asked.use, sha256OfFile(trained.checkpoint.weights),
                       resolveOrThrow(settingsOf(card), card.id, std::move(values)));
  if (output.empty()) output = "run-" + std::to_string(run.id) + "-samples";
  log::info("run " + std::to_string(run.id) + " at step " +
            std::to_string(trained.checkpoint.step) + ", sampler " + card.id);
  Delivery delivery(store, run, output, trained.checkpoint.step);
  {
    (void)beginLook(session, look);
    const c10::NoGradGuard noGradient;
    const train::AutocastScope autocast(look.precision, look.device.type());
    item.sample(request, delivery);
  }
  Json scores = Json::object();
  for (const auto& [name, value] : delivery.scores) scores[name] = finite(value);
  if (line.wantsJson()) {
    print(Json{{"run", run.id},
               {"step", trained.checkpoint.step},
               {"sampler", card.id},
               {"made", delivery.made},
               {"scores", scores}});
    return 0;
  }
  Table table{{"id", "seed", "what"}, {}};
  for (const Json& made : delivery.made) {
    table.rows.push_back(
        {made.at("id"), made.at("seed"), made.contains("file") ? made["file"] : made["text"]});
  }
  print(table, Format::Text);
  for (const auto& [name, value] : scores.items()) print(name + " " + value.dump() + "\n");
  return 0;
}

}  // namespace vitrine::app

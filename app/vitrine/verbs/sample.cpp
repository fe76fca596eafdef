// vitrine sample: images and texts from a trained run, as PNG files and in the database.
#include <c10/core/GradMode.h>

#include <array>
#include <fstream>
#include <utility>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/film_strip.h"
#include "app/vitrine/run/image_grid.h"
#include "app/vitrine/run/sampling.h"
#include "app/vitrine/run/trained_model.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/parse_number.h"
#include "core/base/sha256.h"
#include "core/train/observe.h"

namespace vitrine::app {

namespace {

namespace fs = std::filesystem;

void writeBytes(const std::vector<std::byte>& bytes, const fs::path& file, const char* note = "") {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw FileError("cannot write " + file.string() + note);
}

/// What of the results is kept besides the images themselves.
struct Keeps {
  bool images = false;  ///< for a grid
  bool films = false;
};

/// Writes each result as it comes.
class Delivery final : public Results {
 public:
  Delivery(store::RunStore& store, const store::RunRow& run, fs::path folder, std::int64_t step,
           Keeps keeps)
      : store_(store), run_(run), folder_(std::move(folder)), step_(step), keeps_(keeps) {}

  void score(const std::string& name, double value) override { scores.emplace_back(name, value); }
  void artifact(Artifact artifact) override {
    if (keeps_.films && strip_.take(artifact)) return;
    artifact.step = step_;
    (void)store_.addArtifact(run_.id, artifact);
  }
  void image(GeneratedImage image) override {
    image.step = step_;
    const std::int64_t id = store_.addImage(run_.id, image);
    const fs::path file = folder_ / ("image-" + std::to_string(id) + ".png");
    writeBytes(image.png, file, "; the database has it");
    made.push_back({{"kind", "image"},
                    {"id", id},
                    {"seed", image.seed},
                    {"size", {image.height, image.width}},
                    {"sha256", image.sha256},
                    {"file", file.string()}});
    if (keeps_.films) addFilm(image, id);
    if (keeps_.images) images.push_back(std::move(image));
  }
  void text(GeneratedText text) override {
    text.step = step_;
    const std::int64_t id = store_.addText(run_.id, text);
    made.push_back(
        {{"kind", "text"}, {"id", id}, {"seed", text.seed}, {"text", std::move(text.text)}});
  }

  Json made = Json::array();
  Scores scores;
  std::vector<GeneratedImage> images;  ///< where they are kept: for a grid

 private:
  void addFilm(const GeneratedImage& image, std::int64_t id) {
    Film film = strip_.of(image);
    Json ids = Json::array();
    for (Artifact& artifact : film.artifacts) {
      artifact.step = step_;
      artifact.meta["image"] = id;
      ids.push_back(store_.addArtifact(run_.id, artifact));
    }
    if (film.steps == 0) return;
    const fs::path file = folder_ / ("image-" + std::to_string(id) + "-steps.png");
    writeBytes(film.png, file, "; the database has its steps");
    made.push_back({{"kind", "steps"},
                    {"id", ids.front()},
                    {"artifacts", ids},
                    {"seed", image.seed},
                    {"steps", film.steps},
                    {"file", file.string()}});
  }

  store::RunStore& store_;
  const store::RunRow& run_;
  fs::path folder_;
  std::int64_t step_;
  Keeps keeps_;
  FilmStrip strip_;
};

constexpr const char* kAll = "all";
constexpr const char* kMiddle = "middle";

/// The options that ask for the way of an image.
struct FilmOptions {
  std::string steps;      ///< kAll or a number; "": not asked for
  std::string attention;  ///< kMiddle or "ROW,COLUMN"; "": not asked for
  [[nodiscard]] bool isAsked() const { return !steps.empty() || !attention.empty(); }
};

/// `arguments` with the values of the film options that were given without one: before another
/// option, before KEY=VALUE or at the end.
Arguments withBareValues(const Arguments& arguments) {
  constexpr std::array<std::pair<const char*, const char*>, 2> kBare{
      {{"--steps", kAll}, {"--attention", kMiddle}}};
  Arguments all;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    all.push_back(arguments[i]);
    const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "--";
    const bool isOption = next.size() > 1 && next[0] == '-' && (next[1] < '0' || next[1] > '9');
    if (!isOption && next.find('=') == std::string::npos) continue;
    for (const auto& [option, value] : kBare) {
      if (arguments[i] == option) all.emplace_back(value);
    }
  }
  return all;
}

std::int64_t wholeNumber(const std::string& text, const char* option, const char* takes) {
  const auto value = parseNumber<std::int64_t>(text);
  if (!value || *value < 0)
    throw ConfigError(std::string(option) + " '" + text + "' is not " + takes);
  return *value;
}

/// Row and column of the patch in the middle, or of the first one where the model's table does not
/// have the size of its grid.
std::array<std::int64_t, 2> middlePatch(const Config& model) {
  if (!model.has("input_size") || !model.has("patch_size")) return {0, 0};
  const std::array<std::int64_t, 2> input = model.size("input_size"),
                                    patch = model.size("patch_size");
  return {input[0] / patch[0] / 2, input[1] / patch[1] / 2};
}

/// The options as keys of the sampler. \param model  its resolved table
void layFilm(Json& values, const FilmOptions& film, const ItemCard& sampler, const Config& model) {
  if (!film.isAsked()) return;
  const Field* previews = sampler.schema.find("previews");
  if (previews == nullptr || !previews->maximum) {
    throw RefusedError("sampler '" + sampler.id +
                       "' does not show its steps; leave --steps and --attention away");
  }
  const bool isCounted = !film.steps.empty() && film.steps != kAll;
  constexpr const char* kSteps = "a number of steps from 1, or \"all\"";
  if (isCounted) values["previews"] = wholeNumber(film.steps, "--steps", kSteps);
  if (values.value("previews", Json(1)) == 0)
    throw ConfigError(std::string("--steps 0 shows nothing; give ") + kSteps);
  if (!values.contains("previews") || film.steps == kAll)
    values["previews"] = static_cast<std::int64_t>(*previews->maximum);
  if (film.attention.empty()) return;
  if (sampler.schema.find("attention") == nullptr)
    throw RefusedError("sampler '" + sampler.id +
                       "' does not show attention; leave --attention away");
  if (film.attention == kMiddle) {
    const std::array<std::int64_t, 2> patch = middlePatch(model);
    values["attention"] = {patch[0], patch[1]};
    return;
  }
  constexpr const char* kPatch = "the row and column of a patch, as 3,2";
  const std::size_t comma = film.attention.find(',');
  if (comma == std::string::npos)
    throw ConfigError("--attention '" + film.attention + "' is not " + kPatch);
  values["attention"] = {wholeNumber(film.attention.substr(0, comma), "--attention", kPatch),
                         wholeNumber(film.attention.substr(comma + 1), "--attention", kPatch)};
}

store::GeneratedImageRow storedImage(store::RunStore& store, const store::RunRow& run,
                                     std::int64_t id) {
  try {
    store::GeneratedImageRow image = store.generatedImage(id);
    if (image.runId == run.id) return image;
  } catch (const NotFoundError&) {  // said below, with the run
  }
  throw NotFoundError(store::nameOf(run.id) + " has no image " + std::to_string(id) +
                      "; `vitrine query` lists those of the view generated_images");
}

void requireSame(const Json& recipe, const Json& origin, const char* key, const char* what) {
  if (recipe.value(key, Json()) == origin.value(key, Json())) return;
  throw RefusedError(std::string(what) + " of the recipe is " + recipe.value(key, Json()).dump() +
                     " and is now " + origin.value(key, Json()).dump() +
                     "; the image cannot be made again");
}

/// Makes an image again from its recipe, its whole batch with it, and compares the pixels.
int verifyImage(const CommandLine& line, store::RunStore& store, const store::RunRow& run,
                std::int64_t id) {
  const store::GeneratedImageRow stored = storedImage(store, run, id);
  ImageAgain recipe = imageAgain(stored.recipe, "image " + std::to_string(id));
  Engine engine;
  const TrainedModel trained = openTrainedModel(
      store, engine, run,
      {std::to_string(recipe.step), recipe.weights, recipe.device, recipe.precision, {}});
  if (recipe.threads) train::useThreads(recipe.threads);
  const Sampler& item = engine.registry.sampler(recipe.sampler);
  const SampleRequest request = sampleRequestFor(
      trained, run, sha256OfFile(trained.checkpoint.weights),
      resolveOrThrow(settingsOf(item.card()), item.card().id, std::move(recipe.settings)));
  requireSame(stored.recipe, request.origin, "weights_sha256", "the checkpoint's hash");
  requireSame(stored.recipe, request.origin, "networks", "the auxiliary networks' hash");
  CollectedResults again;
  {
    (void)beginLook(*trained.run.session, trained.run.look);
    const c10::NoGradGuard noGradient;
    const train::AutocastScope autocast(trained.run.look.precision, trained.run.look.device.type());
    item.sample(request, again);
  }
  std::string sha256;
  for (const GeneratedImage& image : again.images) {
    if (image.seed == recipe.seed) sha256 = image.sha256;
  }
  const bool isSame = sha256 == stored.sha256;
  if (line.wantsJson()) {
    print(Json{{"image", id}, {"same", isSame}, {"stored", stored.sha256}, {"made", sha256}});
  } else {
    print("image " + std::to_string(id) +
          (isSame ? ": the same bytes, " + sha256 + "\n"
                  : ": other bytes, " + sha256 + " instead of " + stored.sha256 + "\n"));
  }
  return isSame ? 0 : 1;
}

}  // namespace

int sampleVerb(const Arguments& arguments) {
  CommandLine line("sample",
                   {"vitrine sample 3 class=3 seed=1 sampler=heun steps=50 guidance=2 count=16",
                    "vitrine sample 3 --verify 17"});
  ModelChoice asked{.use = "auto"};
  std::string sampler, output;
  std::vector<std::string> overrides;
  addTrainedRun(line, asked);
  bool wantsGrid = false;
  std::int64_t verified = 0;
  FilmOptions film;
  CLI::App& app = line.app();
  const std::vector<CLI::Option*> ofNewImages{
      app.add_option("settings", overrides, "seed, count and the sampler's own keys")
          ->type_name("KEY=VALUE"),
      app.add_option("--with", sampler, "the sampler, where several fit the model")
          ->type_name("SAMPLER"),
      app.add_option("--output", output, "folder of the PNG files (default: run-<id>-samples)")
          ->type_name("FOLDER"),
      app.add_flag("--grid", wantsGrid, "also writes grid.png, all images in one picture"),
      app.add_option("--steps", film.steps,
                     "also shows the clean image that the network predicts, at all steps (default) "
                     "or at K of them: image-<id>-steps.png and an artifact")
          ->type_name("[all|K]"),
      app.add_option("--attention", film.attention,
                     "also shows where this patch reads, at the same steps (default: the one in "
                     "the middle)")
          ->type_name("[ROW,COLUMN]")};
  const CLI::Option* verify =
      app.add_option("--verify", verified,
                     "makes this image of the database again and compares the pixels")
          ->type_name("IMAGE");
  addModelOptions(line, asked, "");
  line.parse(withBareValues(arguments));
  if (!asked.precision.empty()) (void)train::precisionFrom(asked.precision);
  for (const CLI::Option* each : ofNewImages) {
    if (verify->count() > 0 && each->count() > 0)
      throw ConfigError("--verify makes the image again by its recipe; leave " + each->get_name() +
                        " away");
  }
  if (fs::exists(output) && !fs::is_directory(output))
    throw ConfigError("--output '" + output + "' is a file; name a folder for the images");
  store::RunStore store = openStore(line, Missing::Refuse);
  const store::RunRow run = store.run(asked.run);
  if (verify->count() > 0) return verifyImage(line, store, run, verified);
  Engine engine;
  const TrainedModel trained = openTrainedModel(
      store, engine, run, {asked.which, asked.use, asked.device, asked.precision, {}});
  TaskSession& session = *trained.run.session;
  Json values = Json::object();
  std::vector<Override> settings = parseOverrides(overrides);
  layOverrides(values, settings);
  const Sampler& item = samplerFor(engine.registry, session,
                                   requestedSampler(engine.registry, session, sampler, values));
  std::erase_if(settings, [](const Override& each) { return each.key == "sampler"; });
  const ItemCard card = item.card();
  layFilm(values, film, card, Config(trained.config).table("model"));
  const train::Look& look = trained.run.look;
  const SampleRequest request =
      sampleRequestFor(trained, run, sha256OfFile(trained.checkpoint.weights),
                       resolveOrThrow(settingsOf(card), card.id, std::move(values), settings));
  if ((wantsGrid || film.isAsked()) && item.makesTexts(request.config)) {
    throw ConfigError(
        "--grid, --steps and --attention show images, and this makes texts; leave them away");
  }
  if (output.empty()) output = "run-" + std::to_string(run.id) + "-samples";
  log::info(store::nameOf(run.id) + " at step " + std::to_string(trained.checkpoint.step) +
            ", sampler " + card.id + ", weights " + trained.checkpoint.use);
  Delivery delivery(store, run, output, trained.checkpoint.step, {wantsGrid, film.isAsked()});
  {
    (void)beginLook(session, look);
    const c10::NoGradGuard noGradient;
    const train::AutocastScope autocast(look.precision, look.device.type());
    item.sample(request, delivery);
  }
  if (wantsGrid) writeBytes(imageGrid(delivery.images), fs::path(output) / "grid.png");
  Json scores = Json::object();
  for (const auto& [name, value] : delivery.scores) scores[name] = finite(value);
  if (line.wantsJson()) {
    print(Json{{"run", run.id},
               {"step", trained.checkpoint.step},
               {"weights", trained.checkpoint.use},
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

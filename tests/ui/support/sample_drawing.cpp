#include "tests/ui/support/sample_drawing.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/generated.h"

namespace vitrine::ui {
namespace {

constexpr int kPixels = 28, kClasses = 10, kFrames = 8;
constexpr int kRows = 7;  // of patches, and as many columns
constexpr int kDrawingLayers = 2, kDrawingHeads = 4;
constexpr std::int64_t kLastStep = 2000;

/// A fixed number in [0, 1).
double grain(std::uint64_t seed, int place) {
  std::uint64_t n = seed * 7919 + static_cast<std::uint64_t>(place) * 104729 + 1;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>(n >> 11) / static_cast<double>(1ULL << 53);
}

/// An ellipse whose height tells the class. \param clean  from 0, noise, to 1, the image
std::vector<std::uint8_t> ellipseOf(std::uint64_t seed, int kind, double clean) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < kPixels * kPixels; ++i) {
    const double x = (i % kPixels - 13.5) / 11, y = (i / kPixels - 13.5) / (3.0 + kind);
    const double shape = x * x + y * y < 1 ? 0.85 - 0.3 * grain(seed, 0) : 0.02;
    pixels.push_back(
        static_cast<std::uint8_t>(255 * (clean * shape + (1 - clean) * grain(seed, i))));
  }
  return pixels;
}

GeneratedImage imageOf(const std::string& uuid, std::int64_t step, int kind) {
  const auto seed = static_cast<std::uint64_t>(kind);
  const double clean = step < kLastStep ? 0.8 : 1;
  GeneratedImage image = generatedImage(ellipseOf(seed, kind, clean), kPixels, kPixels, 1);
  image.step = step;
  image.seed = seed;
  image.recipe = {{"run", uuid},
                  {"step", step},
                  {"weights", "ema"},
                  {"weights_sha256", std::string(64, 'b')},
                  {"sampler", "quick"},
                  {"settings",
                   {{"class", kind},
                    {"steps", 20},
                    {"guidance", 2.0},
                    {"previews", kFrames},
                    {"attention", {3, 3}}}},
                  {"class", kind},
                  {"seed", seed},
                  {"device", "cpu"},
                  {"batch", {{"first_seed", 0}, {"size", kClasses}}},
                  {"evaluations", 40}};
  return image;
}

/// Attention of the patch in the middle: the nearer a patch, the more, and the more so the later.
Artifact attentionAt(int frame, const Json& time) {
  std::vector<float> weights;
  Json places = Json::array();
  for (int cell = 0; cell < kRows * kRows; ++cell)
    places.push_back({cell / kRows, cell % kRows});
  for (int map = 0; map < kDrawingLayers * kDrawingHeads; ++map) {
    double sum = 0;
    std::vector<double> own;
    for (int cell = 0; cell < kRows * kRows; ++cell) {
      const double distance = std::hypot(cell / kRows - 3, cell % kRows - 3);
      own.push_back(std::exp(-distance * (0.1 * frame + 0.05 * map)));
      sum += own.back();
    }
    for (const double weight : own) weights.push_back(static_cast<float>(weight / sum));
  }
  Artifact map{.name = "attention at step " + std::to_string(frame),
               .kind = artifact_kind::kAttention};
  setFloat32(map, weights, {kDrawingLayers, kDrawingHeads, 1, kRows * kRows},
             {"layer", "head", "query", "key"});
  map.meta["time"] = time;
  map.meta["key_positions"] = std::move(places);
  return map;
}

/// As a sampler's way is stored: a strip, then the attention of each step.
void addWay(store::RunStore& store, std::int64_t run, const GeneratedImage& image, int kind) {
  const auto add = [&](Artifact artifact) {
    artifact.analysis = "quick";
    artifact.step = image.step;
    artifact.meta["seed"] = image.seed;
    artifact.meta["sha256"] = image.sha256;
    artifact.meta["recipe"] = image.recipe;
    store.addArtifact(run, artifact);
  };
  std::vector<std::uint8_t> pixels;
  Json times = Json::array(), titles = Json::array();
  for (int i = 0; i < kFrames; ++i) {
    const double time = (i + 1.0) / kFrames;
    const std::vector<std::uint8_t> frame = ellipseOf(image.seed, kind, time);
    pixels.insert(pixels.end(), frame.begin(), frame.end());
    times.push_back(time);
    titles.push_back("time " + std::to_string(time).substr(0, 5));
  }
  Artifact strip{.name = "steps of seed " + std::to_string(image.seed),
                 .kind = artifact_kind::kImageGrid};
  setUint8(strip, pixels, {kFrames, kPixels, kPixels, 1}, {"image", "row", "column", "channel"});
  strip.meta["times"] = times;
  strip.meta["titles"] = std::move(titles);
  add(std::move(strip));
  for (int i = 0; i < kFrames; ++i) add(attentionAt(i, times[static_cast<std::size_t>(i)]));
}

}  // namespace

std::int64_t addSampleDrawing(store::RunStore& store, const Json& environment) {
  store::NewRun fresh{.name = "SiT-LLaMA, draws"};
  fresh.config["model"] = {{"architecture", "sit_llama"},
                           {"image_size", {kPixels, kPixels}},
                           {"patch_size", {4, 4}},
                           {"in_channels", 1},
                           {"num_classes", kClasses}};
  fresh.config["task"] = {{"name", "generation"}};
  fresh.config["data"] = {{"dataset", "fashion_mnist"}, {"normalize", "half"}};
  fresh.config["train"] = {
      {"steps", kLastStep}, {"batch_size", 64}, {"ema", {{"decay", 0.999}}}, {"seed", 0}};
  const std::int64_t run = store.addRuns(store.experiment("Images, made up", ""), {fresh}).front();
  const std::int64_t segment = store.openSegment(run, 0, store::thisWorker(), environment);
  const std::string uuid = store.run(run).uuid;
  store::RunStore::Batch batch;
  for (std::int64_t step = 20; step <= kLastStep; step += 20) {
    MetricRecord record{.step = step,
                        .epoch = static_cast<double>(step) / 938,
                        .time = static_cast<double>(step) * 0.05};
    record.values.emplace_back("train/loss",
                               0.2 + 0.8 * std::exp(-static_cast<double>(step) / 300) +
                                   0.03 * grain(1, static_cast<int>(step)));
    batch.metrics.push_back(std::move(record));
  }
  for (const std::int64_t step : {kLastStep / 2, kLastStep}) {
    batch.checkpoints.push_back({.step = step,
                                 .folder = "run-" + uuid + "/step-" + std::to_string(step),
                                 .bytes = 2'900'000});
  }
  store.append(run, segment, batch);
  for (const std::int64_t step : {kLastStep / 2, kLastStep}) {
    for (int kind = 0; kind < kClasses; ++kind) store.addImage(run, imageOf(uuid, step, kind));
  }
  addWay(store, run, imageOf(uuid, kLastStep, 8), 8);
  store.setState(run, store::RunState::Done);
  return run;
}

}  // namespace vitrine::ui

#include "tests/ui/support/sample_artifacts.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/files/png.h"
#include "tests/ui/calibration/answers.h"

namespace vitrine::ui {
namespace {

constexpr int kLayers = 4, kHeads = 4, kSide = 4;

Artifact spectrumOf(int index, std::int64_t step, double progress) {
  Artifact artifact{"attention_rank", "spectrum", artifact_kind::kSpectrum, step};
  constexpr int kValues = 16;
  std::vector<double> values;
  for (int row = 0; row < kLayers * kHeads; ++row) {
    const double base = 0.5 + 0.4 * progress - 0.05 * (index % 3) - 0.01 * row;
    for (int k = 0; k < kValues; ++k) values.push_back(std::pow(base, k));
  }
  setFloat64(artifact, values, {kLayers, kHeads, kValues}, {"layer", "head", "value"});
  artifact.meta["attention"] = "softmax";
  artifact.meta["layers"] = {0, 1, 2, 3};
  artifact.meta["weights"] = "model";
  artifact.meta["split"] = "test";
  return artifact;
}

/// A class token and 4 x 4 patches; near patches are read the more the later the layer.
Artifact attentionOf(std::int64_t image, std::int64_t step, int index) {
  Artifact artifact{"attention_map", "image " + std::to_string(image), artifact_kind::kAttention,
                    step};
  Json places = Json::array({{-1, -1}});
  for (int cell = 0; cell < kSide * kSide; ++cell) places.push_back({cell / kSide, cell % kSide});
  constexpr int kTokens = kSide * kSide + 1;
  std::vector<float> values;
  for (int row = 0; row < kLayers * kHeads; ++row) {
    for (int query = 0; query < kTokens; ++query) {
      std::vector<double> weights;
      double sum = 0;
      for (int key = 0; key < kTokens; ++key) {
        const double distance = query == 0 || key == 0
                                    ? 1.5
                                    : std::hypot((query - 1) / kSide - (key - 1) / kSide,
                                                 (query - 1) % kSide - (key - 1) % kSide);
        weights.push_back(std::exp(-distance * (row / kHeads + 0.1 * index)));
        sum += weights.back();
      }
      for (const double weight : weights) values.push_back(static_cast<float>(weight / sum));
    }
  }
  setFloat32(artifact, values, {kLayers, kHeads, kTokens, kTokens},
             {"layer", "head", "query", "key"});
  artifact.meta["layers"] = {0, 1, 2, 3};
  artifact.meta["key_positions"] = artifact.meta["query_positions"] = places;
  artifact.meta["attention"] = "effective";
  artifact.meta["image"] = image;
  artifact.meta["weights"] = "model";
  artifact.meta["split"] = "test";
  return artifact;
}

std::vector<std::uint8_t> greys(int shade) {
  constexpr int kPixels = 28;
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < kPixels * kPixels; ++i)
    pixels.push_back(
        static_cast<std::uint8_t>((shade + 3 * (i % kPixels) + 2 * (i / kPixels)) % 256));
  return pixels;
}

Artifact pixelsOf(std::int64_t image, std::int64_t step) {
  Artifact artifact{"attention_map", "image " + std::to_string(image) + " pixels",
                    artifact_kind::kImage, step};
  artifact.data = encodePng(greys(static_cast<int>(40 * image)), 28, 28, 1);
  artifact.meta["image"] = image;
  artifact.meta["attention"] = "effective";
  artifact.meta["split"] = "test";
  return artifact;
}

GeneratedImage drawingOf(int index, std::int64_t step, std::uint64_t seed) {
  GeneratedImage image = generatedImage(greys(60 * index + 20 * static_cast<int>(seed)), 28, 28, 1);
  image.step = step;
  image.seed = seed;
  image.recipe = {{"run", "0192f0c1-6f0e-7c1a-8f00-000000000000"},
                  {"step", step},
                  {"weights", "ema"},
                  {"weights_sha256", std::string(64, 'a')},
                  {"sampler", "heun"},
                  {"settings",
                   {{"class", nullptr},
                    {"steps", 20},
                    {"guidance", 2.0},
                    {"attention", Json::array()}}},
                  {"class", static_cast<int>(seed) % 10},
                  {"seed", seed},
                  {"device", "cpu"},
                  {"batch", {{"first_seed", 0}, {"size", 8}}},
                  {"evaluations", 40}};
  return image;
}

}  // namespace

void addSampleArtifacts(store::RunStore& store, std::int64_t run, std::int64_t segment, int index,
                        std::int64_t last) {
  store::RunStore::Batch batch;
  for (int quarter = 1; quarter <= 4; ++quarter) {
    CheckpointRecord record{.step = last * quarter / 4, .bytes = 1'700'000};
    record.folder = "run-" + std::to_string(run) + "/step-" + std::to_string(record.step);
    batch.checkpoints.push_back(record);
  }
  store.append(run, segment, batch);
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const std::int64_t step = last * quarter / 4;
    store.addArtifact(run, spectrumOf(index, step, quarter / 4.0));
    if (quarter == 0) continue;
    store.addArtifact(run, samples::predictions(samples::mixedAnswers(), step));
    for (std::int64_t image = 0; image < 2; ++image) {
      store.addArtifact(run, attentionOf(image, step, index));
      store.addArtifact(run, pixelsOf(image, step));
    }
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      store.addImage(run, drawingOf(index, step, seed));
  }
  store.addArtifact(run, samples::cueDecisions({10, 8, 1, 10, 4, 5, 10, 6, 2}, last));
}

}  // namespace vitrine::ui

// A plugin with a sampler that tests of `vitrine serve` can watch, wait for and let fail (its
// images are noise; what matters is how they come), and a model that `vitrine infer` runs by its
// names.
#include <ATen/core/Tensor.h>

#include <QObject>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/config/item_card.h"
#include "core/model/tensor_program.h"
#include "core/plugin/plugin.h"
#include "tests/support/fake_model.h"
#include "tests/support/wait_until.h"

namespace {

using namespace vitrine;

class Painter final : public Sampler {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Sampler, "painter", "Painter",
                             "Grey noise of 8 x 8 pixels, one step after the other");
    card.needs = {ImageClassifier::kId};
    card.schema.fields = {
        integerField("steps", 4, "steps of an image").titled("Steps").range(1, 1'000'000'000),
        flagField("crash", false, "end the process in the middle").titled("Crash")};
    return card;
  }

  void sample(const SampleRequest& request, Results& results) const override {
    const std::int64_t count = request.config.integer("count"),
                       steps = request.config.integer("steps");
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t step = 0; step < steps; ++step) {
        if (results.isCancelled()) return;
        if (request.config.flag("crash") && step == steps / 2) std::abort();
        results.progress(i * steps + step + 1, count * steps);
      }
      Artifact rough{.name = "rough", .kind = artifact_kind::kCurve};
      const std::vector<double> values{0, static_cast<double>(i)};
      setFloat64(rough, values, {1, 2}, {"point", "value"});
      results.artifact(std::move(rough));
      results.image(
          painted(request, static_cast<std::uint64_t>(request.config.integer("seed") + i)));
    }
    results.score("painted", static_cast<double>(count));
  }

 private:
  GeneratedImage painted(const SampleRequest& request, std::uint64_t seed) const {
    const at::Tensor noise = sampleNoise(seed, {8, 8});
    std::vector<std::uint8_t> pixels;
    for (std::int64_t i = 0; i < noise.numel(); ++i)
      pixels.push_back(static_cast<std::uint8_t>(noise.const_data_ptr<float>()[i] > 0 ? 255 : 0));
    GeneratedImage image = generatedImage(pixels, 8, 8, 1);
    image.seed = seed;
    image.recipe = recipeOf(request, "painter", seed);
    return image;
  }
};

/// Takes noise away at time t under a class y, with a word a layout cell: what `vitrine infer` runs
/// of a model that is not a classifier.
class Denoising final : public test::FakeModel<TensorProgram> {
 public:
  Denoising() { gain_ = register_parameter("gain", at::zeros({4})); }
  std::vector<TensorInput> tensorInputs() const override {
    return {{"latent", at::kFloat, {kBatchAxis, 4, "height", "width"}},
            {"t", at::kLong, {kBatchAxis}},
            {"y", at::kLong, {kBatchAxis}},
            {"positions", at::kLong, {"cells"}, true}};
  }
  std::vector<TensorOutput> tensorOutputs() const override {
    return {{"prediction", {kBatchAxis, 4, "height", "width"}},
            {"positions_twice", {"cells"}, {"positions"}},
            {"block_<i>", {kBatchAxis, "cells"}, {}, true}};
  }
  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) override {
    TensorMap out;
    const at::Tensor& latent = inputs.at("latent");
    const at::Tensor steps = (inputs.at("t") + 10 * inputs.at("y")).view({-1, 1, 1, 1});
    out["prediction"] = latent * gain_.view({1, 4, 1, 1}) + steps;
    if (wanted.contains("positions_twice")) out["positions_twice"] = inputs.at("positions") * 2;
    if (wanted.contains("block_<i>")) out["block_0"] = latent.flatten(1);
    return out;
  }

 private:
  at::Tensor gain_;
};

class DenoisingArchitecture final : public Architecture {
 public:
  ItemCard card() const override {
    return {.kind = ItemKind::Architecture,
            .id = "denoising",
            .title = "Denoising",
            .doc = "One gain for each channel of a latent",
            .offers = {TensorProgram::kId}};
  }
  std::shared_ptr<Model> build(const Config&, std::uint64_t) const override {
    return std::make_shared<Denoising>();
  }
};

/// Says when it has heard a batch, and hears the next one when it is told to.
class GatedListener final : public EvaluationListener {
 public:
  explicit GatedListener(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void batch(const EvaluationBatch&) override {
    std::ofstream(folder_ / "begun").put('\n');
    if (!waitUntil([&] { return std::filesystem::exists(folder_ / "go"); }))
      throw std::runtime_error("the gate stayed closed");
  }
  void finish(Results& results) override { results.score("heard", 1); }

 private:
  std::filesystem::path folder_;
};

class GateAnalysis final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Analysis, "gate", "Held evaluation",
                             "Waits in the middle of an evaluation");
    card.schema.fields = {
        textField("folder", "/", "of the files 'begun' and 'go'").titled("Folder")};
    return card;
  }
  Kind kind() const noexcept override { return Kind::Listener; }
  std::unique_ptr<EvaluationListener> listen(const Config& config,
                                             const DatasetInfo&) const override {
    return std::make_unique<GatedListener>(config.text("folder"));
  }
};

}  // namespace

class ServeItemsPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "serve_items.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<DenoisingArchitecture>());
    registry.add(std::make_unique<Painter>());
    registry.add(std::make_unique<GateAnalysis>());
  }
};

#include "serve_items.moc"
#include "tests/support/wait_until.h"

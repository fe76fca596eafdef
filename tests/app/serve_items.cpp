// A plugin with a sampler that tests of `vitrine serve` can watch, wait for and let fail. Its
// images are noise; what matters is how they come.
#include <ATen/core/Tensor.h>

#include <QObject>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/plugin/plugin.h"

namespace {

using namespace vitrine;

class Painter final : public Sampler {
 public:
  ItemCard card() const override {
    ItemCard card;
    card.kind = ItemKind::Sampler;
    card.id = "painter";
    card.title = "Painter";
    card.doc = "Grey noise of 8 x 8 pixels, one step after the other";
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
      Artifact rough;
      rough.name = "rough";
      rough.kind = artifact_kind::kCurve;
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

/// Says when it has heard a batch, and hears the next one when it is told to.
class GatedListener final : public EvaluationListener {
 public:
  explicit GatedListener(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void batch(const EvaluationBatch&) override {
    constexpr std::chrono::milliseconds kLook{5};
    constexpr int kLooks = 12'000;  // a minute
    std::ofstream(folder_ / "begun").put('\n');
    for (int i = 0; !std::filesystem::exists(folder_ / "go"); ++i) {
      if (i == kLooks) throw std::runtime_error("the gate stayed closed");
      std::this_thread::sleep_for(kLook);
    }
  }
  void finish(Results& results) override { results.score("heard", 1); }

 private:
  std::filesystem::path folder_;
};

class Gate final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card;
    card.kind = ItemKind::Analysis;
    card.id = "gate";
    card.title = "Gate";
    card.doc = "Waits in the middle of an evaluation";
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
    registry.add(std::make_unique<Painter>());
    registry.add(std::make_unique<Gate>());
  }
};

#include "serve_items.moc"

// Times training steps or forward passes of our ViT, in turns: the counterpart of
// peers/timm_step.py.
//
// Reads one line per turn from stdin, a number of iterations; answers with one line, their
// milliseconds.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/nn/module.h>

#include <map>
#include <string>

#include "core/nn/vision_transformer.h"
#include "core/train/block_cache.h"
#include "core/train/device.h"
#include "core/train/step.h"
#include "core/train/training_items.h"
#include "tests/bench/turns.h"

using namespace vitrine;

namespace {

/// Cross-entropy on whatever batch it is given.
class BenchSession final : public TaskSession {
 public:
  explicit BenchSession(Model& model) : model_(model) {}
  Model& model() override { return model_; }
  std::unique_ptr<BatchStream> trainingStream(std::int64_t) override { return nullptr; }
  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    const at::Tensor logits = capabilityOf<ImageClassifier>(model_)->classify(batch.at("image"));
    return {{"", at::cross_entropy_loss(logits, batch.at("label"), {}, at::Reduction::Sum)}};
  }
  std::vector<Evaluation> evaluations() const override { return {}; }
  void evaluate(const EvaluationRequest&, Results&) override {}
  Batch read(Split, const std::vector<std::int64_t>&) override { return {}; }
  std::vector<std::int64_t> chooseSamples(Split, std::int64_t) override { return {}; }
  const DatasetInfo& dataset() const noexcept override { return info_; }

 private:
  Model& model_;
  DatasetInfo info_;
};

}  // namespace

int main(int count, char** words) {
  bench::becomeComputeProcess(words);
  train::reuseLargeBlocks();
  std::map<std::string, std::string> options = bench::readOptions(count, words);
  const bool isDemo = options["--model"] == "demo", isTraining = options["--mode"] == "train";
  const train::Precision precision =
      options["--precision"] == "bf16" ? train::Precision::BFloat16 : train::Precision::Float32;
  const std::int64_t batchSize = std::stoll(options["--batch"]);
  at::set_num_threads(std::stoi(options["--threads"]));

  nn::VisionTransformerConfig config;
  config.imageSize =
      isDemo ? std::array<std::int64_t, 2>{28, 28} : std::array<std::int64_t, 2>{224, 224};
  config.patchSize =
      isDemo ? std::array<std::int64_t, 2>{7, 7} : std::array<std::int64_t, 2>{16, 16};
  config.inChannels = isDemo ? 1 : 3;
  config.classes = isDemo ? 10 : 1000;
  config.heads = isDemo                        ? 4
                 : options["--model"] == "b16" ? 12
                 : options["--model"] == "s16" ? 6
                                               : 3;
  config.width = isDemo ? 64 : 64 * config.heads;
  config.depth = isDemo ? 4 : 12;
  config.mlpWidth = 4 * config.width;
  if (options.count("--layer-scale") != 0) config.layerScale = std::stod(options["--layer-scale"]);
  if (options.count("--dropout") != 0) config.dropout = std::stod(options["--dropout"]);
  nn::VisionTransformer model(config, 0);
  model.module().train(isTraining);

  Batch batch;
  batch.sampleIds.resize(static_cast<std::size_t>(batchSize));
  batch.fields["image"] =
      at::randn({batchSize, config.inChannels, config.imageSize[0], config.imageSize[1]});
  batch.fields["label"] = at::randint(config.classes, {batchSize}, at::kLong);
  BenchSession session(model);
  train::StepOptions stepOptions{.precision = precision};
  Registry registry;
  train::addTrainingItems(registry);
  stepOptions.optimizer = &registry.optimizer("adamw");
  stepOptions.optimizerTable = Config(Json{{"weight_decay", 0.05}});
  train::TrainStep step(session, stepOptions, session.parameterGroups());
  StepContext context;

  const auto iterate = [&] {
    if (isTraining) {
      step.run(context, {&batch, 1}, 1e-3);
    } else {
      const c10::InferenceMode inference;
      const train::AutocastScope scope(precision, at::kCPU);
      model.classify(batch.at("image"));
    }
  };
  bench::takeTurns(3, [&] { return bench::timed(iterate); });
  return 0;
}

// Times training steps, forward passes, guided sampling or decoding of any architecture, in turns:
// the counterpart of peers/papers.py.
//
// --mode describe prints the resolved table of the model. Otherwise reads one line per turn from
// stdin, a number of iterations; answers with one line, their milliseconds. "parameters" is
// answered with their number.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/nn/module.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/diffusion/guidance.h"
#include "core/diffusion/noise_process.h"
#include "core/diffusion/ode.h"
#include "core/diffusion/transport.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/model/packed_language_model.h"
#include "core/model/text_image_model.h"
#include "core/train/block_cache.h"
#include "core/train/step.h"
#include "core/train/training_items.h"
#include "plugins/baselines/diffusion_transformers.h"
#include "plugins/illama/illama.h"
#include "plugins/llamafusion/architectures.h"
#include "plugins/tasks/text_image/draw.h"
#include "plugins/vision_lstm/vision_lstm.h"
#include "plugins/visionllama/architectures.h"
#include "plugins/visionllama_diffusion/rotary_diffusion.h"
#include "tests/bench/turns.h"

using namespace vitrine;

namespace {

constexpr double kGuidance = 2;
constexpr double kLabelDrop = 0.1;
constexpr std::int64_t kPrompt = 16;  ///< tokens before those that are decoded
constexpr std::int64_t kNoTarget = -100;
constexpr std::int64_t kNoiseSteps = 1000;  ///< of a diffusion

struct Options {
  std::string mode;
  std::int64_t batch = 1, tokens = 256, steps = 50;
  bool isTextFrozen = false;
};

/// The loss of a paper on random data.
class BenchSession final : public TaskSession {
 public:
  BenchSession(Model& model, const Options& options, const Config& table)
      : model_(model), generator_(at::detail::createCPUGenerator(1)) {
    batch_.sampleIds.resize(static_cast<std::size_t>(options.batch));
    auto& fields = batch_.fields;
    const auto images = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
      fields["image"] = at::randn({options.batch, channels, height, width});
    };
    const auto draw = [&](const char* field, std::int64_t most, std::vector<std::int64_t> shape) {
      fields[field] = at::randint(most, shape, at::kLong);
    };
    if (auto* denoiser = capabilityOf<Denoiser>(model)) {
      const Denoiser::Sizes sizes = denoiser->denoiserSizes();
      images(sizes.channels, sizes.height, sizes.width);
      draw("label", sizes.classes, {options.batch});
    } else if (auto* mixed = capabilityOf<TextImageModel>(model)) {
      const TextImageModel::Sizes sizes = mixed->textImageSizes();
      images(sizes.channels, sizes.height, sizes.width);
      fields["index"] = at::zeros({options.tokens + sizes.imageTokens + 1}, at::kLong);
      fields["index"].narrow(0, options.tokens, sizes.imageTokens).fill_(1);
      draw("tokens", capabilityOf<LanguageModel>(model)->vocabularySize(),
           {options.batch, fields["index"].size(0)});
      fields["target"] = at::full_like(fields["tokens"], kNoTarget);
      fields["target"]
          .narrow(1, 0, options.tokens - 1)
          .copy_(fields["tokens"].narrow(1, 1, options.tokens - 1));
      if (options.isTextFrozen) {
        for (const auto& item : model.module().named_parameters()) {
          if (mixed->isOfText(item.key())) item.value().set_requires_grad(false);
        }
      }
    } else if (auto* language = capabilityOf<LanguageModel>(model)) {
      draw("tokens", language->vocabularySize(), {options.batch, options.tokens + 1});
    } else {
      const auto size = table.size("image_size");
      images(table.integer("in_channels"), size[0], size[1]);
      draw("label", table.integer("num_classes"), {options.batch});
    }
  }

  Model& model() override { return model_; }
  std::unique_ptr<BatchStream> trainingStream(std::int64_t) override { return nullptr; }
  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    if (auto* denoiser = capabilityOf<Denoiser>(model_)) return flowLoss(*denoiser, batch);
    if (auto* mixed = capabilityOf<TextImageModel>(model_)) return mixedLoss(*mixed, batch);
    if (auto* packed = capabilityOf<PackedLanguageModel>(model_)) {
      const at::Tensor& tokens = batch.at("tokens");
      const std::int64_t count = tokens.size(1) - 1;
      const at::Tensor logits = packed->logits({tokens.narrow(1, 0, count), {}, {}});
      return {textPart(logits, tokens.narrow(1, 1, count), tokens.size(0) * count)};
    }
    const at::Tensor logits = capabilityOf<ImageClassifier>(model_)->classify(batch.at("image"));
    return {{"", at::cross_entropy_loss(logits, batch.at("label"), {}, at::Reduction::Sum)}};
  }
  std::vector<ParameterGroup> parameterGroups() override {
    std::vector<ParameterGroup> groups = TaskSession::parameterGroups();
    for (ParameterGroup& group : groups) {
      ParameterGroup kept = group;
      kept.parameters.clear(), kept.parameterNames.clear();
      for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        if (!group.parameters[i].requires_grad()) continue;
        kept.parameters.push_back(group.parameters[i]);
        kept.parameterNames.push_back(group.parameterNames[i]);
      }
      group = kept;
    }
    std::erase_if(groups, [](const ParameterGroup& group) { return group.parameters.empty(); });
    return groups;
  }
  std::vector<Evaluation> evaluations() const override { return {}; }
  void evaluate(const EvaluationRequest&, Results&) override {}
  Batch read(Split, const std::vector<std::int64_t>&) override { return {}; }
  std::vector<std::int64_t> chooseSamples(Split, std::int64_t) override { return {}; }
  const DatasetInfo& dataset() const noexcept override { return info_; }

  [[nodiscard]] const Batch& batch() const { return batch_; }

 private:
  /// Of a straight path from noise to data, some of its labels left out.
  std::vector<LossPart> flowLoss(Denoiser& network, const Batch& batch) {
    const at::Tensor& data = batch.at("image");
    const Denoiser::Sizes sizes = network.denoiserSizes();
    const at::Tensor noise = at::randn(data.sizes(), generator_, data.options());
    const at::Tensor time = at::rand({data.size(0)}, generator_, data.options());
    Condition condition;
    condition.label = at::where(at::rand({data.size(0)}, generator_, data.options()).lt(kLabelDrop),
                                at::scalar_tensor(sizes.classes, at::kLong), batch.at("label"));
    const at::Tensor made = network.denoise(transport_.state(data, noise, time), time, condition);
    return {{"", transport_.loss(made.narrow(1, 0, sizes.channels), data, noise, time).sum()}};
  }

  std::vector<LossPart> mixedLoss(TextImageModel& network, const Batch& batch) {
    const at::Tensor& images = batch.at("image");
    const TextImageModel::Sizes sizes = network.textImageSizes();
    const at::Tensor noise = at::randn(images.sizes(), generator_, images.options());
    MixedSequences sequences;
    sequences.tokens = batch.at("tokens");
    sequences.imageIndex = batch.at("index");
    sequences.time = at::randint(sizes.steps, {images.size(0)}, generator_, at::kLong);
    const at::Tensor kept =
        network.keptShares().index_select(0, sequences.time).to(at::kFloat).view({-1, 1, 1, 1});
    sequences.images = kept.sqrt() * images + (1 - kept).sqrt() * noise;
    const MixedPrediction made = network.mixed(sequences);
    return {textPart(made.logits, batch.at("target"), 1),
            {"image",
             (made.noise - noise).square().flatten(1).mean(1).sum(),
             {},
             sizes.diffusionWeight}};
  }

  static LossPart textPart(const at::Tensor& logits, const at::Tensor& targets,
                           std::int64_t count) {
    return {"text",
            at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten(), {}, at::Reduction::Sum,
                                   kNoTarget),
            at::scalar_tensor(static_cast<double>(count))};
  }

  Model& model_;
  DatasetInfo info_;
  Batch batch_;
  at::Generator generator_;
  diffusion::Transport transport_;
};

/// Images of a caption of as many tokens as a batch has before its images.
void drawCaption(TextImageModel& model, LanguageModel& language, const Options& options) {
  const text::TokenIds caption(static_cast<std::size_t>(options.tokens - 2), 1);
  const std::vector<std::uint64_t> seeds(static_cast<std::size_t>(options.batch), 0);
  static_cast<void>(text_image::drawnImages(
      model, language, caption, seeds, {.steps = options.steps, .guidance = kGuidance}, at::kCPU));
}

/// Steps of DDIM through a diffusion, as the sampler "ddim" takes them.
void backThroughSteps(const std::function<at::Tensor(const at::Tensor&, double)>& predict,
                      at::Tensor state, std::int64_t steps) {
  const diffusion::NoiseProcess process(diffusion::BetaSchedule::Linear, kNoiseSteps,
                                        "ddim" + std::to_string(steps));
  for (std::int64_t i = process.steps() - 1; i >= 0; --i) {
    const at::Tensor step = at::full({state.size(0)}, i, at::kLong);
    const auto time = process.originalSteps()[i].item<double>();
    const diffusion::StepBack back = process.back(predict(state, time), state, step, {});
    state = process.ddimStep(back, state, step, 0);
  }
}

/// Guided images: of a flow by Euler steps along the velocity, as the sampler "ode" takes them.
void sample(Model& model, const Options& options) {
  const c10::NoGradGuard noGradient;
  if (auto* mixed = capabilityOf<TextImageModel>(model))
    return drawCaption(*mixed, *capabilityOf<LanguageModel>(model), options);
  const cpu::ConstantParameters constant;  // as generation::draw() has it
  auto& network = *capabilityOf<Denoiser>(model);
  auto& guided = *capabilityOf<diffusion::GuidedDenoiser>(model);
  const Denoiser::Sizes sizes = network.denoiserSizes();
  const at::Tensor labels = at::arange(options.batch, at::kLong).remainder(sizes.classes);
  const auto predict = [&](const at::Tensor& state, double time) {
    return diffusion::guidedPrediction(network, guided, state, time, labels, {kGuidance, 0});
  };
  const at::Tensor noise = at::randn({options.batch, sizes.channels, sizes.height, sizes.width});
  if (guided.timeUnit() == diffusion::GuidedDenoiser::Time::Step)
    return backThroughSteps(predict, noise, options.steps);
  static_cast<void>(diffusion::solve(predict, noise, diffusion::evenTimes(0, 1, options.steps + 1),
                                     {.method = diffusion::OdeMethod::Euler}));
}

/// The likeliest tokens after a prompt, one at a time, as the sampler "text" takes them.
void decode(LanguageModel& model, const at::Tensor& tokens, std::int64_t count) {
  const c10::NoGradGuard noGradient;
  const auto cache = model.makeCache(tokens.size(0));
  at::Tensor ids = tokens.narrow(1, 0, kPrompt);
  for (std::int64_t i = 0; i < count; ++i) {
    const at::Tensor logits = model.next(ids, cache.get(), LanguageModel::Rows::Last);
    ids = logits.select(1, 0).argmax(-1, true);
  }
}

std::map<std::string, std::unique_ptr<Architecture>> architectures() {
  std::map<std::string, std::unique_ptr<Architecture>> all;
  const auto add = [&](std::unique_ptr<Architecture> item) {
    const std::string id = item->card().id;
    all[id] = std::move(item);
  };
  add(std::make_unique<illama::IllamaArchitecture>());
  add(std::make_unique<visionllama::PlainArchitecture>());
  add(std::make_unique<visionllama::PyramidArchitecture>());
  add(std::make_unique<baselines::DitArchitecture>());
  add(std::make_unique<baselines::SitArchitecture>());
  add(std::make_unique<visionllama_diffusion::SitLlamaArchitecture>());
  add(std::make_unique<visionllama_diffusion::DitLlamaArchitecture>());
  add(std::make_unique<vision_lstm::VisionLstmArchitecture>());
  add(std::make_unique<llamafusion::LlamaArchitecture>());
  add(std::make_unique<llamafusion::LlamaFusionArchitecture>());
  return all;
}

Json tableOf(const Schema& schema, const std::string& preset) {
  const Preset* found = schema.preset(preset);
  if (found == nullptr) throw ConfigError("there is no preset " + preset);
  Json values = found->values;
  // Branches that are left out are drawn at random, and make a step no faster.
  if (schema.find("drop_path") != nullptr) values["drop_path"] = 0.0;
  const std::vector<Problem> problems = resolveItem(schema, "model", values);
  if (!problems.empty()) throw ConfigError(problems.front().sentence());
  return values;
}

}  // namespace

int main(int count, char** words) {
  bench::becomeComputeProcess(words);
  train::reuseLargeBlocks();
  std::map<std::string, std::string> given = bench::readOptions(count, words);
  const auto number = [&](const char* option, std::int64_t usual) {
    const auto found = given.find(option);
    return found == given.end() ? usual : std::stoll(found->second);
  };
  Options options{.mode = given["--mode"]};
  options.batch = number("--batch", options.batch);
  options.tokens = number("--tokens", options.tokens);
  options.steps = number("--steps", options.steps);
  options.isTextFrozen = given["--text"] == "frozen";
  at::set_num_threads(static_cast<int>(number("--threads", 2)));

  const auto all = architectures();
  const Architecture& architecture = *all.at(given["--architecture"]);
  const Json values = tableOf(architecture.card().schema, given["--preset"]);
  if (options.mode == "describe") {
    std::cout << values.dump() << std::endl;
    return 0;
  }
  const Config table(values);
  const std::shared_ptr<Model> model = architecture.build(table, 0);
  model->module().train(options.mode == "train");
  BenchSession session(*model, options, table);

  train::StepOptions stepOptions;
  Registry registry;
  train::addTrainingItems(registry);
  stepOptions.optimizer = &registry.optimizer("adamw");
  stepOptions.optimizerTable = Config(Json{{"weight_decay", 0.05}});
  std::unique_ptr<train::TrainStep> step;
  if (options.mode == "train")
    step = std::make_unique<train::TrainStep>(session, stepOptions, session.parameterGroups());
  StepContext context;
  const auto iterate = [&] {
    if (options.mode == "train") {
      step->run(context, {&session.batch(), 1}, 1e-3);
    } else if (options.mode == "sample") {
      sample(*model, options);
    } else if (options.mode == "decode") {
      decode(*capabilityOf<LanguageModel>(*model), session.batch().at("tokens"), options.tokens);
    } else {
      const c10::InferenceMode inference;
      static_cast<void>(
          capabilityOf<ImageClassifier>(*model)->classify(session.batch().at("image")));
    }
  };
  std::int64_t parameters = 0;
  for (const at::Tensor& parameter : model->module().parameters()) parameters += parameter.numel();
  bench::takeTurns(options.mode == "sample" ? 1 : 3, [&] { return bench::timed(iterate); },
                   {{"parameters", parameters}});
  return 0;
}

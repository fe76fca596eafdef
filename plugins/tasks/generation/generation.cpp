#include "plugins/tasks/generation/generation.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/eval/generation_metrics.h"
#include "core/plugin/image_judge.h"
#include "core/plugin/latents.h"
#include "core/plugin/pixel_map.h"
#include "core/plugin/sampler.h"
#include "plugins/tasks/generation/draw.h"
#include "plugins/tasks/generation/samplers.h"
#include "plugins/tasks/generation/settings.h"

namespace vitrine::generation {

namespace {

using diffusion::GuidedDenoiser;
using Time = GuidedDenoiser::Time;

/// Draws of every evaluation, of every run: losses of two runs differ by the runs alone.
constexpr std::uint64_t kEvaluationSeed = 20240301;
constexpr std::uint64_t kFirstSampleSeed = 1;
constexpr std::int64_t kDryImages = 4, kDrySteps = 2;
constexpr std::int64_t kSampleBatch = 50, kMostGridImages = 64;

std::string sizeText(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return std::to_string(channels) + " x " + std::to_string(height) + " x " + std::to_string(width);
}

class Session final : public GenerationSession {
 public:
  explicit Session(const TaskSetup& setup)
      : GenerationSession(setup),
        denoiser_(requireCapability<Denoiser>(*setup.model, "generation")),
        guided_(requireCapability<GuidedDenoiser>(*setup.model, "generation")),
        process_(processOf(setup.task, guided_)),
        steps_(setup.task.text("schedule") == "cosine" ? diffusion::BetaSchedule::Cosine
                                                       : diffusion::BetaSchedule::Linear,
               setup.task.integer("steps")),
        stepOutput_(stepOutputOf(setup.task)),
        transport_(transportOptionsOf(setup.task)),
        labelDrop_(labelDropOf(setup.task, guided_)) {
    if (labelDrop_ > 0 && guided_.labelDrop() == 0)
      throw ConfigError(
          "task.label_drop needs a label for \"none of them\", and a model with "
          "class_dropout_prob = 0 has none; set model.class_dropout_prob above 0");
    if (const std::string codec = setup.task.text("codec"); !codec.empty())
      latents_.emplace(setup.auxiliary(codec), pipeline_);
    requireData();
    requireOutputs();
    if (const std::string judge = setup.task.text("judge"); !judge.empty())
      judge_.emplace(setup.auxiliary(judge), dataset());
  }

  std::vector<Network> networks() override {
    std::vector<Network> all{{"", &model().module()}};
    for (const char* role : {"codec", "judge"}) {
      const std::string name = setup_.task.text(role);
      if (name.empty() || (all.size() > 1 && all.back().name == name)) continue;
      const AuxiliaryNetwork& network = setup_.auxiliary(name);
      all.push_back(
          {name, &network.model->module(), Network::Role::Frozen, network.file, network.sha256});
    }
    return all;
  }

  Denoiser& denoiser() const override { return denoiser_; }
  const GuidedDenoiser& guidance() const override { return guided_; }
  double labelDrop() const override { return labelDrop_; }
  Time process() const override { return process_; }
  const diffusion::NoiseProcess& steps() const override { return steps_; }
  const diffusion::StepOutput& stepOutput() const override { return stepOutput_; }
  const diffusion::Transport& transport() const override { return transport_; }
  bool hasCodec() const override { return latents_.has_value(); }
  AttentionSource* attention() const override {
    return capabilityOf<AttentionSource>(*setup_.model);
  }

  at::Tensor images(const at::Tensor& state) const override {
    return latents_ ? latents_->decode(state) * 2 - 1 : state;
  }

  std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) override {
    requireSamples();
    // Training alone needs the latents of all its images; what only looks at a run does not.
    const bool isCached =
        latents_ && setup_.registry != nullptr && !isDry() && setup_.task.flag("latent_cache");
    if (isCached && !cached_) {
      cached_ = latents_->cached(*setup_.registry, setup_.data, setup_.seed,
                                 {.offBy = "task.latent_cache = false"});
    }
    return (isCached ? cached_ : pipeline_)->stream(Split::Train, trainingOptions(firstBatch));
  }

  std::vector<LossPart> loss(StepContext& context, const Batch& batch) override {
    at::Generator& generator = context.generator;
    const at::Tensor data =
        latents_ ? latents_->of(batch, generator).to(at::kFloat) : batch.at("image");
    const std::int64_t count = data.size(0);
    at::Tensor labels = batch.at("label");
    if (labelDrop_ > 0) {
      const at::Tensor isDropped =
          at::rand({count}, generator, data.options().dtype(at::kFloat)) < labelDrop_;
      labels = labels.masked_fill(isDropped, denoiser_.denoiserSizes().classes);
    }
    const at::Tensor noise = at::randn(data.sizes(), generator, data.options());
    at::Tensor time;
    if (process_ == Time::Step) {
      time = at::randint(steps_.steps(), {count}, generator, data.options().dtype(at::kLong));
    } else {
      const auto interval = transport_.trainingInterval();
      time = at::rand({count}, generator, data.options().dtype(at::kFloat)) *
                 (interval.last - interval.first) +
             interval.first;
    }
    const Losses losses = lossesOf(data, noise, time, labels);
    if (!losses.bound.defined()) return {{"", losses.error.sum()}};
    return {{"mse", losses.error.sum()}, {"vb", losses.bound.sum()}};
  }

  std::vector<Evaluation> evaluations() const override {
    std::vector<Evaluation> all = splitEvaluations({});
    if (all.empty()) return all;
    Evaluation samples = all.back();
    samples.id += "/samples";
    if (const auto epochs = setup_.task.maybeInteger("samples.every_epochs")) {
      samples.everyEpochs = epochs;
    } else {
      samples.everySteps = kNever;
    }
    all.push_back(samples);
    return all;
  }

  void evaluate(const EvaluationRequest& request, Results& results) override {
    if (request.evaluation.id.ends_with("/samples")) {
      evaluateSamples(request, results);
    } else {
      evaluateLoss(request, results);
    }
    for (EvaluationListener* listener : request.listeners) listener->finish(results);
  }

 private:
  static constexpr std::int64_t kNever = 1000000000000;
  /// Of each sample, [B].
  struct Losses {
    at::Tensor error;  ///< of a flow the loss
    at::Tensor bound;  ///< of learned variances alone
  };

  void requireData() {
    const SampleField& image = pipeline_->field("image");
    (void)pipeline_->field("label");
    if (image.type != at::kFloat || image.isRagged())
      throw ConfigError(
          "generation needs images of one size as floats; end data.pipeline with resize or "
          "center_crop and normalize");
    for (const char* phase : {"train", "evaluate"}) {
      const auto by = pixelScaleOf(pipeline_->plan().at(phase), dataset());
      if (!by || !by->isHalf())
        throw ConfigError("generation needs pixels from -1 to 1; set data.normalize = \"half\"");
    }
    const Denoiser::Sizes sizes = denoiser_.denoiserSizes();
    const auto classes = static_cast<std::int64_t>(dataset().classes.size());
    if (classes < 1)
      throw ConfigError("generation needs a data set with class names; this one has none");
    if (sizes.classes != classes) {
      throw ConfigError("the model has " + std::to_string(sizes.classes) + " classes, the data " +
                        std::to_string(classes) +
                        "; set model.num_classes = " + std::to_string(classes));
    }
    const auto& shape = image.shape;
    std::array<std::int64_t, 3> state{shape.at(0), shape.at(1), shape.at(2)};
    std::string what = "the images are";
    if (latents_) {
      state = latents_->shape();
      what = "the latents of the codec [aux." + setup_.task.text("codec") + "] are";
    }
    if (state != std::array<std::int64_t, 3>{sizes.channels, sizes.height, sizes.width}) {
      throw ConfigError(
          what + " " + sizeText(state[0], state[1], state[2]) + " and the model denoises " +
          sizeText(sizes.channels, sizes.height, sizes.width) +
          "; set model.in_channels = " + std::to_string(state[0]) + " and model.input_size = [" +
          std::to_string(state[1]) + ", " + std::to_string(state[2]) + "]" +
          (latents_ ? ", or take its own codec" : ", or data.image_size"));
    }
  }

  void requireOutputs() const {
    const Denoiser::Sizes sizes = denoiser_.denoiserSizes();
    if (process_ == Time::Flow) return;
    const bool isLearned = stepOutput_.variance == diffusion::StepVariance::LearnedRange;
    if (sizes.outputs == (isLearned ? 2 : 1) * sizes.channels) return;
    throw ConfigError(
        isLearned ? "task.variance = \"learned_range\" reads a variance from the model, and "
                    "model.learn_sigma = false makes none; set task.variance = "
                    "\"fixed_large\", or model.learn_sigma = true"
                  : "task.variance = \"" + setup_.task.text("variance") +
                        "\" reads the noise alone, and the model also makes a variance; "
                        "set model.learn_sigma = false, or task.variance = "
                        "\"learned_range\"");
  }

  /// Before a training whose last evaluation would fail; what only looks at a run asks for other
  /// samples.
  void requireSamples() const {
    if (setup_.task.integer("samples.count") < 1) return;
    requireUsableSamples(setup_.task, labelDrop_, process_);
    if (judge_) judge_->requireImages(pipeline_->field("image").shape);
    const DrawSettings settings = sampleSettingsOf(setup_.task, *this);
    if (settings.method != Method::Ddim) return;
    try {
      (void)diffusion::respacedSteps(steps_.steps(), "ddim" + std::to_string(settings.steps));
    } catch (const ConfigError& error) {
      throw ConfigError(std::string("task.samples.steps: ") + error.what());
    }
  }

  Losses lossesOf(const at::Tensor& data, const at::Tensor& noise, const at::Tensor& time,
                  const at::Tensor& labels) {
    Condition condition{.label = labels};
    if (process_ == Time::Flow) {
      const at::Tensor output =
          denoiser_.denoise(transport_.state(data, noise, time), time, condition);
      return {transport_.loss(output.to(at::kFloat), data, noise, time), {}};
    }
    const diffusion::NoiseProcess& process = on(data.device());
    const at::Tensor output =
        denoiser_.denoise(process.noised(data, time, noise), time.to(at::kFloat), condition);
    const diffusion::StepLosses losses =
        process.loss(output.to(at::kFloat), data, time, noise, stepOutput_);
    return {losses.squaredError, losses.bound};
  }

  /// The steps with their tables on that device.
  const diffusion::NoiseProcess& on(at::Device device) {
    if (device.is_cpu()) return steps_;
    if (!there_ || there_->tables().beta.device() != device) there_.emplace(steps_.to(device));
    return *there_;
  }

  void evaluateLoss(const EvaluationRequest& request, Results& results) {
    const auto stream = evaluationStream(request.evaluation.split);
    at::Generator draws = at::detail::createCPUGenerator(kEvaluationSeed);
    const auto interval = transport_.trainingInterval();
    double error = 0, bound = 0, samples = 0;
    for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i) {
      const Batch batch = stream->next();
      const Batch there = batch.to(request.context.device);
      const at::Tensor& images = there.at("image");
      const at::Tensor data = latents_ ? latents_->encodeMean(images).to(at::kFloat) : images;
      // One sample after the other, so that the size of a batch changes nothing.
      std::vector<at::Tensor> noise, time;
      for (std::int64_t s = 0; s < batch.size(); ++s) {
        time.push_back(at::rand({1}, draws, at::kFloat));
        noise.push_back(at::randn(data.sizes().slice(1), draws, at::kFloat));
      }
      at::Tensor times = at::cat(time);
      times = process_ == Time::Step ? (times * static_cast<double>(steps_.steps()))
                                           .to(at::kLong)
                                           .clamp_max(steps_.steps() - 1)
                                     : times * (interval.last - interval.first) + interval.first;
      const Losses losses = lossesOf(data, at::stack(noise).to(data.device()),
                                     times.to(data.device()), there.at("label"));
      error += losses.error.to(at::kDouble).sum().item<double>();
      if (losses.bound.defined()) bound += losses.bound.to(at::kDouble).sum().item<double>();
      samples += static_cast<double>(batch.size());
      for (EvaluationListener* listener : request.listeners) listener->batch({batch, {}});
    }
    results.score("loss", (error + bound) / samples);
    if (process_ == Time::Flow) return;
    results.score("mse", error / samples);
    if (stepOutput_.variance == diffusion::StepVariance::LearnedRange)
      results.score("vb", bound / samples);
  }

  struct Samples {
    at::Tensor bytes;   ///< [N, C, H, W]
    at::Tensor labels;  ///< [N] int64 on the CPU
  };

  [[nodiscard]] bool isDry() const { return setup_.evaluationLimit > 0; }

  /// Images of the classes in turn.
  Samples drawSamples(std::int64_t count, at::Device device) {
    DrawSettings settings = sampleSettingsOf(setup_.task, *this);
    if (isDry()) settings.steps = kDrySteps;
    const std::int64_t classes = denoiser_.denoiserSizes().classes;
    std::vector<at::Tensor> bytes, labels;
    for (std::int64_t done = 0; done < count; done += kSampleBatch) {
      const std::int64_t size = std::min(kSampleBatch, count - done);
      std::vector<std::uint64_t> seeds;
      for (std::int64_t i = 0; i < size; ++i)
        seeds.push_back(kFirstSampleSeed + static_cast<std::uint64_t>(done + i));
      labels.push_back(at::arange(done, done + size, at::kLong).remainder(classes));
      const Drawn drawn = draw(*this, settings, seeds, labels.back().to(device), device, {});
      if (const std::string why = notFinite(drawn.images, seeds); !why.empty()) log::warning(why);
      bytes.push_back(bytesOf(drawn.images).cpu());
    }
    return {at::cat(bytes), at::cat(labels)};
  }

  void addGrid(const Samples& samples, Results& results) const {
    const std::int64_t count = std::min(samples.bytes.size(0), kMostGridImages);
    const at::Tensor pixels = samples.bytes.narrow(0, 0, count).permute({0, 2, 3, 1}).contiguous();
    Artifact grid{"generation", "samples", artifact_kind::kImageGrid};
    setUint8(grid,
             {pixels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels.numel())},
             pixels.sizes().vec(), {"image", "row", "column", "channel"});
    Json titles = Json::array();
    for (std::int64_t i = 0; i < count; ++i)
      titles.push_back(
          dataset().classes.at(static_cast<std::size_t>(samples.labels[i].item<std::int64_t>())));
    grid.meta["titles"] = std::move(titles);
    results.artifact(std::move(grid));
  }

  void evaluateSamples(const EvaluationRequest& request, Results& results) {
    const at::Device device = request.context.device;
    const std::int64_t asked = setup_.task.integer("samples.count");
    // A dry step shows that it works, with a few images.
    const std::int64_t count = isDry() ? std::min(asked, kDryImages) : asked;
    if (count < 1) return;
    requireUsableSamples(setup_.task, labelDrop_, process_);
    const Samples samples = drawSamples(count, device);
    addGrid(samples, results);
    if (!judge_) return;
    const ImageJudge::Look made = lookAt(samples.bytes, device);
    const ImageJudge::Look real = lookAt(realImages(request.evaluation.split, count), device);
    if (const std::int64_t there = real.features.size(0); there < count) {
      log::warning("the " + toString(request.evaluation.split) + " split has " +
                   std::to_string(there) + " images for the " + std::to_string(count) +
                   " samples: frechet, precision and recall compare with those alone");
    }
    const double agreement =
        made.logits.argmax(1).eq(samples.labels).to(at::kDouble).mean().item<double>();
    const double distance =
        eval::frechetDistance(eval::momentsOf(real.features), eval::momentsOf(made.features));
    const eval::PrecisionRecall shares =
        eval::precisionRecall(real.features, made.features, kNeighbours);
    const double inception = eval::inceptionScore(made.logits);
    const std::vector<std::pair<std::string, double>> scores{{"agreement", agreement},
                                                             {"frechet", distance},
                                                             {"precision", shares.precision},
                                                             {"recall", shares.recall},
                                                             {"inception", inception}};
    Artifact table{"generation", "judged", artifact_kind::kTable};
    Json rows = Json::array();
    for (const auto& [name, value] : scores) {
      results.score(name, value);
      rows.push_back({name, value, count, judge_->name(), judge_->sha256()});
    }
    setJson(table, {{"columns", {"score", "value", "images", "judge", "judge_sha256"}},
                    {"rows", std::move(rows)}});
    table.meta["judge"] = {{"name", judge_->name()}, {"sha256", judge_->sha256()}};
    table.meta["images"] = count;
    table.meta["real_images"] = real.features.size(0);
    results.artifact(std::move(table));
  }

  ImageJudge::Look lookAt(const at::Tensor& bytes, at::Device device) const {
    std::vector<at::Tensor> features, logits;
    for (std::int64_t first = 0; first < bytes.size(0); first += kSampleBatch) {
      const ImageJudge::Look part = judge_->look(
          bytes.narrow(0, first, std::min(kSampleBatch, bytes.size(0) - first)), device);
      features.push_back(part.features);
      logits.push_back(part.logits);
    }
    return {at::cat(features), at::cat(logits)};
  }

  at::Tensor realImages(Split split, std::int64_t count) {
    const Batch batch = read(split, chooseSamples(split, count));
    return bytesOf(batch.at("image"));
  }

  Denoiser& denoiser_;
  GuidedDenoiser& guided_;
  Time process_;
  diffusion::NoiseProcess steps_;
  std::optional<diffusion::NoiseProcess> there_;
  diffusion::StepOutput stepOutput_;
  diffusion::Transport transport_;
  double labelDrop_;
  std::optional<Latents> latents_;
  std::shared_ptr<const Pipeline> cached_;  ///< latents of the training images
  std::optional<ImageJudge> judge_;
};

}  // namespace

std::unique_ptr<TaskSession> GenerationTask::open(const TaskSetup& setup) const {
  return std::make_unique<Session>(setup);
}

void GenerationTask::requireStartable(const Config& task, Model& model) const {
  const auto& guided = requireCapability<GuidedDenoiser>(model, "generation");
  const Time process = processOf(task, guided);
  requireReadKeys(task, process);
  requireUsableSamples(task, labelDropOf(task, guided), process);
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<GenerationTask>());
  addSamplers(registry);
}

}  // namespace vitrine::generation

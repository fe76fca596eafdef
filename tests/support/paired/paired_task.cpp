#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/plugin/pipeline.h"
#include "paired.h"

namespace paired {

namespace {

using namespace vitrine;

constexpr std::int64_t kEvaluationSteps = 4;

/// Mean and deviation of every pixel of images [n, ...], one after the other.
at::Tensor momentsOf(const at::Tensor& images) {
  const at::Tensor flat = images.flatten(1).to(at::kDouble);
  return at::cat({flat.mean(0), flat.std(0, false)});
}

class Session final : public TaskSession {
 public:
  explicit Session(const TaskSetup& setup)
      : setup_(setup),
        denoiser_(requireCapability<TextDenoiser>(*setup.model, "paired")),
        reader_(std::make_shared<Reader>(setup.seed)),
        average_(std::make_shared<Reader>(setup.seed)) {
    if (!setup.task.flag("teach")) return;
    const AuxiliaryNetwork& teacher = setup.auxiliary("teacher");
    teacher_ = &requireCapability<TextDenoiser>(*teacher.model, "aux.teacher");
    // From the teacher's features to a text, never trained: a fixed projection.
    projection_ = teacher.model->module().named_parameters()["text"].detach();
  }

  Model& model() override { return *setup_.model; }
  const DatasetInfo& dataset() const noexcept override { return setup_.pipeline->info(); }
  std::vector<Network> networks() override {
    std::vector<Network> all{
        {"", &model().module()},
        {"reader", reader_.get()},
        {"average", average_.get(), Network::Role::Averaged, "reader", "", 0.9}};
    if (teacher_ != nullptr) {
      const AuxiliaryNetwork& teacher = setup_.auxiliary("teacher");
      all.push_back({"teacher", &teacher.model->module(), Network::Role::Frozen, teacher.file,
                     teacher.sha256});
    }
    return all;
  }

  std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) override {
    StreamOptions options;
    options.batchSize = setup_.batchSize;
    options.workers = setup_.loaderWorkers;
    options.isTraining = true;
    options.firstBatch = firstBatch;
    return setup_.pipeline->stream(Split::Train, options);
  }

  std::vector<LossPart> loss(StepContext& context, const Batch& batch) override {
    const at::Tensor& images = batch.at("image");
    const Ragged& words = batch.ragged.at("tokens");
    const at::Tensor time = at::rand({images.size(0)}, context.generator, images.options());
    const at::Tensor noise = at::randn(images.sizes(), context.generator, images.options());
    const at::Tensor share = time.view({-1, 1, 1, 1});
    const at::Tensor text = reader_->forward(words.values, words.offsets);
    const at::Tensor found = denoiser_.velocity((1 - share) * images + share * noise, time, text);
    std::vector<LossPart> parts{{"velocity", (found - (noise - images)).square().sum(),
                                 at::scalar_tensor(images.numel(), images.options())}};
    if (teacher_ != nullptr) parts.push_back(teacherPart(images, words));
    return parts;
  }

  std::vector<Evaluation> evaluations() const override {
    return {{"test", Split::Test, {"velocity"}, {"model"}}};
  }

  void evaluate(const EvaluationRequest& request, Results& results) override {
    StreamOptions options{.batchSize = setup_.evaluationBatchSize};
    const auto stream = setup_.pipeline->stream(request.evaluation.split, options);
    at::Generator& generator = request.context.generator;
    std::vector<at::Tensor> real, made;
    double loss = 0, pixels = 0;
    for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i) {
      const Batch batch = stream->next();
      const Batch there = batch.to(request.context.device);
      const at::Tensor& images = there.at("image");
      const Ragged& words = there.ragged.at("tokens");
      const at::Tensor text = reader_->forward(words.values, words.offsets);
      const at::Tensor noise = at::randn(images.sizes(), generator, images.options());
      const at::Tensor half = at::full({images.size(0)}, 0.5, images.options());
      const at::Tensor found = denoiser_.velocity(0.5 * (images + noise), half, text);
      loss += (found - (noise - images)).square().sum().item<double>();
      pixels += static_cast<double>(images.numel());
      real.push_back(images.cpu());
      made.push_back(drawn(denoiser_, noise, text, kEvaluationSteps).cpu());
      const std::map<std::string, at::Tensor> outputs{{"velocity", found.cpu()}};
      for (EvaluationListener* listener : request.listeners) listener->batch({batch, outputs});
    }
    results.score("loss", loss / pixels);
    // Of all images together: a mean over batches would be another number.
    results.score(
        "distance",
        (momentsOf(at::cat(real)) - momentsOf(at::cat(made))).square().sum().item<double>());
    for (EvaluationListener* listener : request.listeners) listener->finish(results);
  }

  Batch read(Split split, const std::vector<std::int64_t>& ids) override {
    return setup_.pipeline->read(split, ids);
  }
  std::vector<std::int64_t> chooseSamples(Split split, std::int64_t count) override {
    return setup_.pipeline->samples().choose(split, count);
  }

 private:
  /// Each word is drawn to what the teacher sees in its image.
  LossPart teacherPart(const at::Tensor& images, const Ragged& words) const {
    const at::Tensor lengths = words.offsets.diff();
    const at::Tensor seen = at::matmul(teacher_->imageFeatures(images), projection_);
    const at::Tensor wanted = seen.repeat_interleave(lengths, 0).detach();
    const at::Tensor given = reader_->embedding.index_select(0, words.values);
    return {"teacher", (given - wanted).square().sum(), lengths.sum().to(at::kFloat), 0.01};
  }

  TaskSetup setup_;
  TextDenoiser& denoiser_;
  std::shared_ptr<Reader> reader_, average_;
  TextDenoiser* teacher_ = nullptr;
  at::Tensor projection_;  // [width, 8]
};

}  // namespace

vitrine::ItemCard PairedTask::card() const {
  vitrine::ItemCard card =
      vitrine::itemCard(vitrine::ItemKind::Task, "paired", "Drawing from words",
                        "Flow matching on images with a bright quarter, steered by words");
  card.needs = {TextDenoiser::kId, "image", "tokens"};
  card.offers = {"velocity"};
  card.metrics = {{"distance", "loss"}, {"train/loss/velocity", "test/distance"}, "images"};
  card.metrics.declared = {{"*/distance", "distance", "", "lower",
                            "how far mean and deviation of sampled images are from the split's"}};
  card.schema.fields = {
      vitrine::flagField("teach", false, "words follow the model of [aux.teacher]")
          .titled("Teach")};
  return card;
}

std::unique_ptr<vitrine::TaskSession> PairedTask::open(const vitrine::TaskSetup& setup) const {
  return std::make_unique<Session>(setup);
}

vitrine::ItemCard PairedSampler::card() const {
  vitrine::ItemCard card = vitrine::itemCard(vitrine::ItemKind::Sampler, "paired", "Euler steps",
                                             "Draws images of one quarter");
  card.needs = {TextDenoiser::kId};
  card.schema.fields = {
      vitrine::integerField("steps", 8, "Euler steps").titled("Steps").range(1, 1000),
      vitrine::integerField("class", 0, "which quarter").titled("Quarter").range(0, kQuarters - 1)};
  return card;
}

void PairedSampler::sample(const vitrine::SampleRequest& request, vitrine::Results& results) const {
  auto& model = requireCapability<TextDenoiser>(request.session.model(), "sampler 'paired'");
  const Reader* reader = nullptr;
  for (const Network& network : request.session.networks()) {
    if (network.name == "reader") reader = dynamic_cast<const Reader*>(network.module);
  }
  if (reader == nullptr) throw ConfigError("the run has no network 'reader' to read words with");
  const std::int64_t count = request.config.integer("count");
  const auto seed = static_cast<std::uint64_t>(request.config.integer("seed"));
  const at::Tensor words = 3 * request.config.integer("class") + at::arange(3, at::kLong);
  const at::Tensor text =
      reader->forward(words.to(request.device), at::tensor({0, 3}, at::kLong).to(request.device));
  for (std::int64_t i = 0; i < count && !results.isCancelled(); ++i) {
    const std::uint64_t its = seed + static_cast<std::uint64_t>(i);
    const at::Tensor noise = sampleNoise(its, {1, 1, kSide, kSide}).to(request.device);
    const at::Tensor image = drawn(model, noise, text, request.config.integer("steps"));
    const at::Tensor bytes = (image.to(at::kCPU, at::kFloat) * 127.5 + 127.5)
                                 .round()
                                 .clamp(0, 255)
                                 .to(at::kByte)
                                 .contiguous();
    GeneratedImage made = generatedImage(
        {bytes.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(bytes.numel())}, kSide,
        kSide, 1);
    made.seed = its;
    made.recipe = recipeOf(request, card().id, its);
    results.image(std::move(made));
    results.progress(i + 1, count);
  }
}

void addPairedItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<PairedArchitecture>());
  registry.add(std::make_unique<PairedData>());
  registry.add(std::make_unique<PairedTask>());
  registry.add(std::make_unique<PairedSampler>());
}

}  // namespace paired

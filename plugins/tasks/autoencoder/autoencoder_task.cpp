#include "plugins/tasks/autoencoder/autoencoder_task.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "core/config/item_card.h"
#include "core/model/measured_scale.h"
#include "core/plugin/pipeline_session.h"
#include "plugins/tasks/autoencoder/reconstruction.h"

namespace vitrine::autoencoder_task {

namespace {

class Session final : public PipelineSession, public CodecSession {
 public:
  explicit Session(const TaskSetup& setup)
      : PipelineSession(setup),
        codec_(requireCapability<LatentCodec>(*setup.model, "task 'autoencoder'")),
        measured_(capabilityOf<MeasuredScale>(*setup.model)),
        pixels_(*pipeline_, codec_.pixels().low, codec_.pixels().high),
        isAbsolute_(setup.task.text("reconstruction") == "l1"),
        divergenceWeight_(setup.task.real("kl_weight")),
        shown_(setup.task.integer("images")) {
    requireFitting(codec_, *pipeline_);
  }

  std::string bestBy() const override { return bestBySplit("psnr"); }

  at::Tensor codecImages(const Batch& batch) const override {
    return pixels_.forward(batch.at("image"));
  }

  std::vector<LossPart> loss(StepContext& context, const Batch& batch) override {
    const at::Tensor images = codecImages(batch);
    const LatentCodec::Latent latent = codec_.encodeLatent(images);
    at::Tensor z = latent.mean;
    if (latent.logVariance.defined())
      z = latent.draw(at::randn(z.sizes(), context.generator, z.options()));
    // A loss that only looks at the run, as a probe's, leaves the scale as it is.
    if (measured_ != nullptr && model().module().is_training()) measured_->observeLatents(z);
    const at::Tensor values = at::scalar_tensor(images.numel(), images.options());
    std::vector<LossPart> parts{
        {"reconstruction", errorOf(codec_.decodeLatent(z), images), values}};
    if (latent.logVariance.defined())
      parts.push_back({"kl", divergenceOf(latent).to(at::kFloat).sum(), values, divergenceWeight_});
    return parts;
  }

  std::vector<Evaluation> evaluations() const override {
    return splitEvaluations({"reconstruction"});
  }

  void evaluate(const EvaluationRequest& request, Results& results) override {
    const Split split = request.evaluation.split;
    const std::unique_ptr<BatchStream> stream = evaluationStream(split);
    const double range = codec_.pixels().high - codec_.pixels().low;
    Sums sums;
    for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i) {
      const Batch batch = stream->next();
      const Reconstructed both = reconstruct(codec_, codecImages(batch.to(request.context.device)));
      sums.add(both);
      if (i == 0 && shown_ > 0) results.artifact(gridOf(both, batch.sampleIds, split));
      const std::map<std::string, at::Tensor> outputs{{"reconstruction", both.output.cpu()}};
      for (EvaluationListener* listener : request.listeners) listener->batch({batch, outputs});
    }
    const double images = static_cast<double>(sums.images), values = sums.values;
    results.score("psnr", sums.psnr / images);
    results.score("l1", sums.absolute / values);
    double loss = isAbsolute_ ? range * sums.absolute : range * range * sums.square;
    if (sums.hasDivergence) {
      results.score("kl", sums.divergence / images);
      loss += divergenceWeight_ * sums.divergence;
    }
    results.score("loss", loss / values);
    if (measured_ != nullptr && measured_->isMeasured() && measured_->isScaleKnown())
      results.score("latent_scale", codec_.scale());
    for (EvaluationListener* listener : request.listeners) listener->finish(results);
  }

 private:
  /// Over the images of a split, values in [0, 1].
  struct Sums {
    std::int64_t images = 0;
    double values = 0, psnr = 0, absolute = 0, square = 0, divergence = 0;
    bool hasDivergence = false;

    void add(const Reconstructed& both) {
      const at::Tensor input = both.input.to(at::kDouble), output = both.output.to(at::kDouble);
      images += input.size(0);
      values += static_cast<double>(input.numel());
      psnr += psnrOf(input, output).sum().item<double>();
      absolute += (input - output).abs().sum().item<double>();
      square += (input - output).square().sum().item<double>();
      hasDivergence = both.divergence.defined();
      if (hasDivergence) divergence += both.divergence.to(at::kDouble).sum().item<double>();
    }
  };

  at::Tensor errorOf(const at::Tensor& made, const at::Tensor& images) const {
    const at::Tensor difference = made.to(at::kFloat) - images;
    return isAbsolute_ ? difference.abs().sum() : difference.square().sum();
  }

  Artifact gridOf(const Reconstructed& both, const std::vector<std::int64_t>& ids,
                  Split split) const {
    const std::int64_t count = std::min(shown_, both.input.size(0));
    const Reconstructed some{both.input.narrow(0, 0, count), both.output.narrow(0, 0, count), {}};
    Artifact grid = pairsOf(some, {ids.begin(), ids.begin() + count});
    grid.analysis = "autoencoder";
    grid.name = "pairs";
    grid.meta["split"] = toString(split);
    return grid;
  }

  LatentCodec& codec_;
  MeasuredScale* measured_;
  PixelMap pixels_;
  bool isAbsolute_;
  double divergenceWeight_;
  std::int64_t shown_;
};

}  // namespace

ItemCard AutoencoderTask::card() const {
  ItemCard card = itemCard(ItemKind::Task, "autoencoder", "Autoencoder",
                           "Images to latents and back, with few nats in between");
  card.needs = {LatentCodec::kId, "image"};
  card.offers = {"reconstruction"};
  card.metrics = {{"psnr", "l1", "kl"}, {"train/loss", "test/psnr"}, "images"};
  card.metrics.declared = {
      {"*/psnr", "PSNR", "dB", "higher",
       "-10 log10 of the mean squared error of an image in [0, 1], the mean over images"},
      {"*/l1", "L1", "", "lower", "mean absolute difference of pixel values in [0, 1]"},
      {"*/kl", "KL", "nats", "none",
       "divergence of an image's latent from the standard normal distribution"},
      {"*/latent_scale", "latent scale", "", "none",
       "1 over the deviation of the latents drawn in training"},
      {"train/loss/kl", "KL per pixel value", "nats", "none",
       "divergence of the latents over the number of pixel values"},
      {"train/loss/reconstruction", "reconstruction error", "", "lower",
       "mean error of a pixel value in the range of the codec"}};
  card.schema.fields = runOnly(
      {choiceField("reconstruction", "l1", {"l1", "l2"}, "error of a pixel value")
           .titled("Reconstruction error")
           .withChoiceDocs({"absolute difference", "squared difference"}),
       realField("kl_weight", 1e-6,
                 "weight of the latents' divergence in nats against the summed errors of an image")
           .titled("Weight of KL")
           .atLeast(0),
       integerField("images", 16, "images of an evaluation that are kept with their output")
           .titled("Kept images")
           .range(0, 256)
           .withUnit("images")});
  return card;
}

std::unique_ptr<TaskSession> AutoencoderTask::open(const TaskSetup& setup) const {
  return std::make_unique<Session>(setup);
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<AutoencoderTask>());
  registry.add(std::make_unique<Reconstruction>());
}

}  // namespace vitrine::autoencoder_task

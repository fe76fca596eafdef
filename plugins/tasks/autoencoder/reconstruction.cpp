#include "plugins/tasks/autoencoder/reconstruction.h"

#include <ATen/ATen.h>

#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"

namespace vitrine::autoencoder_task {

namespace {

constexpr std::int64_t kGap = 2;  // pixels between the parts of a tile

}  // namespace

Reconstructed reconstruct(LatentCodec& codec, const at::Tensor& images) {
  const LatentCodec::Pixels range = codec.pixels();
  const auto unit = [&](const at::Tensor& values) {
    return ((values.to(at::kFloat) - range.low) / (range.high - range.low)).clamp(0, 1);
  };
  const LatentCodec::Latent latent = codec.encodeLatent(images);
  Reconstructed both{unit(images), unit(codec.decodeLatent(latent.mean)), {}};
  if (latent.logVariance.defined()) both.divergence = divergenceOf(latent).to(at::kFloat);
  return both;
}

at::Tensor divergenceOf(const LatentCodec::Latent& latent) {
  const at::Tensor terms = latent.mean.square() + latent.logVariance.exp() - 1 - latent.logVariance;
  return terms.flatten(1).sum(1) / 2;
}

at::Tensor psnrOf(const at::Tensor& input, const at::Tensor& output) {
  const at::Tensor error =
      (input.to(at::kDouble) - output.to(at::kDouble)).square().flatten(1).mean(1);
  return error.log10() * -10;
}

Artifact pairsOf(const Reconstructed& images, const std::vector<std::int64_t>& ids) {
  const std::int64_t channels = images.input.size(1) == 3 ? 3 : 1;
  const auto shown = [&](const at::Tensor& values) {
    return (values.narrow(1, 0, channels).cpu() * 255).round().to(at::kByte);
  };
  const at::Tensor input = shown(images.input), output = shown(images.output);
  const at::Tensor gap =
      at::full({input.size(0), channels, input.size(2), kGap}, 255, input.options());
  const at::Tensor difference = shown((images.input - images.output).abs());
  const at::Tensor tiles =
      at::cat({input, gap, output, gap, difference}, 3).permute({0, 2, 3, 1}).contiguous();
  Artifact grid{.kind = artifact_kind::kImageGrid};
  setUint8(grid, {tiles.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(tiles.numel())},
           tiles.sizes().vec(), {"image", "row", "column", "channel"});
  grid.meta["title"] = "Input, output, absolute difference";
  grid.meta["sample_ids"] = ids;
  return grid;
}

void requireFitting(const LatentCodec& codec, const Pipeline& pipeline) {
  const std::vector<std::int64_t>& image = pipeline.field("image").shape;
  const std::int64_t channels = codec.pixels().channels, factor = codec.factor();
  if (image.at(0) != channels) {
    throw ConfigError("the codec reads images of " + std::to_string(channels) +
                      " channels, the data has " + std::to_string(image[0]) +
                      "; set model.in_channels = " + std::to_string(image[0]));
  }
  if (image.at(1) % factor == 0 && image.at(2) % factor == 0) return;
  throw ConfigError("the codec's cells of " + std::to_string(factor) + " x " +
                    std::to_string(factor) + " px do not divide images of " +
                    std::to_string(image[1]) + " x " + std::to_string(image[2]) +
                    " px; set model.image_size to multiples of " + std::to_string(factor));
}

ItemCard Reconstruction::card() const {
  ItemCard card = itemCard(ItemKind::Analysis, "reconstruction", "Reconstruction",
                           "Images next to their reconstructions by a codec");
  card.needs = {LatentCodec::kId};
  card.schema.fields =
      runOnly({integerField("images", 16, "images looked at, of the classes in turn; `ids` wins")
                   .titled("Images")
                   .range(1, 256)
                   .withUnit("images"),
               listField("ids", FieldType::Integer, Json::array(), "images by number, from 0")
                   .titled("Image numbers")
                   .atLeast(0)});
  return card;
}

ProbeSamples Reconstruction::probeSamples(const Config& config) const {
  return {config.integer("images"), config.integers("ids")};
}

std::function<Analysis::Findings()> Reconstruction::probe(const Config&,
                                                          ProbeContext& context) const {
  auto& codec = requireCapability<LatentCodec>(context.model, "analysis 'reconstruction'");
  const auto* session = dynamic_cast<const CodecSession*>(&context.session);
  if (session == nullptr) {
    throw ConfigError(
        "analysis 'reconstruction' looks into runs of the task 'autoencoder'; this run has "
        "another task");
  }
  Reconstructed both = reconstruct(codec, session->codecImages(context.batch));
  for (at::Tensor* each : {&both.input, &both.output}) *each = each->cpu();
  return [both, ids = context.batch.sampleIds] {
    const at::Tensor psnr = psnrOf(both.input, both.output);
    const at::Tensor l1 = (both.input - both.output).abs().flatten(1).mean(1).to(at::kDouble);
    Json rows = Json::array();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      rows.push_back({ids[i], psnr[at].item<double>(), l1[at].item<double>()});
    }
    Artifact grid = pairsOf(both, ids), table;
    grid.analysis = table.analysis = "reconstruction";
    grid.name = "pairs";
    table.name = "images";
    table.kind = artifact_kind::kTable;
    setJson(table, {{"columns", {"image", "psnr", "l1"}}, {"rows", std::move(rows)}});
    return Findings{{std::move(grid), std::move(table)},
                    {{"psnr", psnr.mean().item<double>()}, {"l1", l1.mean().item<double>()}}};
  };
}

}  // namespace vitrine::autoencoder_task

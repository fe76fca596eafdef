#include "core/plugin/latents.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/user_folders.h"
#include "core/model/model_device.h"
#include "core/plugin/registry.h"

namespace vitrine {

namespace {

/// Samples whose images are read for the key: a few show that they are still decoded as they were.
/// Of a data set without a fingerprint they stand for all of its images.
constexpr std::int64_t kDigested = 16, kMostDigested = 256;

/// Whether the training images are those of evaluation or their mirror image.
/// \param off  what the caller's task sets to do without the cache
bool isMirrored(const Json& plan, const std::string& off) {
  const std::string with = off.empty() ? "" : ", with " + off;
  Json rest = Json::array();
  bool isFlipped = false;
  for (const Json& stage : plan.at("train")) {
    if (stage.at("name") != "flip") {
      rest.push_back(stage);
      continue;
    }
    if (isFlipped || stage.at("probability") != 0.5) {
      throw ConfigError(
          "cached latents are mirrored as often as not; set augment.flip = 0.5, or 0, or turn the "
          "cache off" +
          with);
    }
    isFlipped = true;
  }
  const Json& fixed = plan.at("evaluate");
  if (rest == fixed) return isFlipped;
  std::string names;
  for (const Json& stage : rest) {
    if (std::find(fixed.begin(), fixed.end(), stage) == fixed.end())
      names += (names.empty() ? "" : ", ") + stage.at("name").get<std::string>();
  }
  throw ConfigError(
      "latents can be cached of images that are the same in every epoch; the training pipeline "
      "has " +
      (names.empty() ? std::string("another order of transforms than evaluation")
                     : "'" + names + "'") +
      ": remove it, or turn the cache off" + with);
}

}  // namespace

struct Latents::Job {
  Split split;                    ///< of the data set
  std::vector<std::int64_t> ids;  ///< ascending
  bool isMirrored;
};

Latents::Latents(const AuxiliaryNetwork& codec, std::shared_ptr<const Pipeline> images)
    : network_(codec),
      codec_(&requireCapability<LatentCodec>(*codec.model, "aux." + codec.name)),
      images_(std::move(images)),
      pixels_(*images_, codec_->pixels().low, codec_->pixels().high) {
  const std::vector<std::int64_t>& image = images_->field("image").shape;
  const std::int64_t factor = codec_->factor(), channels = codec_->pixels().channels;
  if (image[0] != channels) {
    throw ConfigError("aux." + codec.name + " reads images of " + std::to_string(channels) +
                      " channels, the data has " + std::to_string(image[0]) +
                      "; choose another codec or data set");
  }
  if (image[1] % factor != 0 || image[2] % factor != 0) {
    throw ConfigError("aux." + codec.name + " has cells of " + formatSides(factor, factor) +
                      " px, which do not divide images of " + formatSides(image[1], image[2]) +
                      " px; resize them in data.pipeline");
  }
  shape_ = {codec_->latentChannels(), image[1] / factor, image[2] / factor};
  try {
    scale_ = codec_->scale();
  } catch (const ConfigError& error) {
    throw ConfigError("aux." + codec.name + ": " + error.what());
  }
}

at::Tensor Latents::encode(const at::Tensor& images, at::Generator& generator) const {
  const at::NoGradGuard noGrad;
  const LatentCodec::Latent latent = codec_->encodeLatent(pixels_.forward(images));
  if (!latent.logVariance.defined()) return latent.mean * scale_;
  return latent.draw(at::randn(latent.mean.sizes(), generator, latent.mean.options())) * scale_;
}

at::Tensor Latents::encodeMean(const at::Tensor& images) const {
  const at::NoGradGuard noGrad;
  return codec_->encodeLatent(pixels_.forward(images)).mean * scale_;
}

at::Tensor Latents::of(const Batch& batch, at::Generator& generator) const {
  const auto cached = batch.fields.find("latent");
  if (cached == batch.fields.end()) return encode(batch.at("image"), generator);
  const at::NoGradGuard noGrad;
  LatentCodec::Latent latent{cached->second, {}};
  const auto variance = batch.fields.find("latent_log_variance");
  if (variance != batch.fields.end()) latent.logVariance = variance->second;
  const auto mirrored = batch.fields.find("latent_mirrored");
  if (mirrored != batch.fields.end()) {
    const at::Tensor isMirrored =
        at::rand({latent.mean.size(0), 1, 1, 1}, generator, latent.mean.options()).lt(0.5);
    latent.mean = at::where(isMirrored, mirrored->second, latent.mean);
    if (latent.logVariance.defined())
      latent.logVariance =
          at::where(isMirrored, batch.at("latent_mirrored_log_variance"), latent.logVariance);
  }
  if (!latent.logVariance.defined()) return latent.mean * scale_;
  return latent.draw(at::randn(latent.mean.sizes(), generator, latent.mean.options())) * scale_;
}

at::Tensor Latents::decode(const at::Tensor& latents) const {
  const at::NoGradGuard noGrad;
  if (latents.dim() != 4 || latents.size(1) != shape_[0]) {
    throw ShapeError("aux." + network_.name + " decodes latents of " + std::to_string(shape_[0]) +
                     " channels, not " + c10::str(latents.sizes()) +
                     "; these are latents of another codec, decode them with that one");
  }
  const LatentCodec::Pixels range = codec_->pixels();
  const at::Tensor images = codec_->decodeLatent(latents / scale_).to(at::kFloat);
  return ((images - range.low) / (range.high - range.low)).clamp(0, 1);
}

LatentTable Latents::make(const Job& job, const LatentCacheOptions& options) const {
  const at::NoGradGuard noGrad;
  // The same latents, whatever precision a run computes its steps in.
  const c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
  const at::Device device = deviceOf(*network_.model);
  const auto total = std::ssize(job.ids);
  LatentTable table{.ids = at::tensor(job.ids, at::kLong)};
  const std::int64_t views = job.isMirrored ? 2 : 1;
  for (std::int64_t first = 0; first < total; first += options.batchSize) {
    const std::int64_t count = std::min(options.batchSize, total - first);
    const std::span<const std::int64_t> ids(job.ids.data() + first,
                                            static_cast<std::size_t>(count));
    const at::Tensor images = pixels_.forward(images_->read(job.split, ids).at("image").to(device));
    for (std::int64_t view = 0; view < views; ++view) {
      const LatentCodec::Latent latent =
          codec_->encodeLatent(view == 0 ? images : images.flip({3}));
      if (!table.mean.defined()) {
        std::vector<std::int64_t> shape{total, views};
        const at::IntArrayRef rest = latent.mean.sizes().slice(1);
        shape.insert(shape.end(), rest.begin(), rest.end());
        table.mean = at::empty(shape, at::kFloat);
        if (latent.logVariance.defined()) table.logVariance = at::empty(shape, at::kFloat);
      }
      table.mean.narrow(0, first, count).select(1, view).copy_(latent.mean);
      if (latent.logVariance.defined())
        table.logVariance.narrow(0, first, count).select(1, view).copy_(latent.logVariance);
    }
    if (options.progress) options.progress(first + count, total);
  }
  if (!table.mean.isfinite().all().item<bool>()) {
    throw ConfigError("aux." + network_.name +
                      " makes latents that are not finite; train it again or choose another codec");
  }
  return table;
}

std::string Latents::hashOfImages(const Job& job, std::int64_t count) const {
  const auto total = std::ssize(job.ids);
  Sha256 sum;
  for (std::int64_t first = 0; first < count; first += kDigested) {
    std::vector<std::int64_t> some;
    for (std::int64_t i = first; i < std::min(first + kDigested, count); ++i)
      some.push_back(job.ids[static_cast<std::size_t>(i * total / count)]);
    const at::Tensor pixels = images_->read(job.split, some).at("image").contiguous();
    sum.update({static_cast<const std::byte*>(pixels.const_data_ptr()), pixels.nbytes()});
  }
  return sum.finish();
}

LatentSource Latents::sourceOf(const Job& job, const Config& data) const {
  Sha256 ids;
  ids.update(std::as_bytes(std::span(job.ids)));
  const auto total = std::ssize(job.ids);
  const std::string stored = images_->dataset().fingerprint(job.split, job.ids);
  const std::int64_t digested = std::min(stored.empty() ? kMostDigested : kDigested, total);
  Json model = Config(network_.config).at("model");
  if (model.is_object()) model.erase("preset");  // its values are in the table
  Json settings = data.json();
  for (const char* key : {"train_samples", "test_samples", "train_share", "test_share", "subset",
                          "subset_seed", "holdout", "evaluate_splits", "augment", "pipeline"})
    settings.erase(key);
  return {network_.sha256,
          std::move(model),
          data.text("dataset"),
          toString(job.split),
          {{"data", settings},
           {"transforms", images_->plan().at("evaluate")},
           {"shape", images_->field("image").shape},
           {"samples", total},
           {"sample_ids", ids.finish()},
           {"stored_images", stored},
           {"some_images", hashOfImages(job, digested)},
           {"mirrored", job.isMirrored}}};
}

std::shared_ptr<const LatentTable> Latents::openOrMake(const Job& job, const Config& data,
                                                       const LatentCacheOptions& options) const {
  const std::filesystem::path cache = userFolder(UserFolder::Cache);
  const std::filesystem::path folder =
      options.folder.value_or(cache.empty() ? cache : cache / "latents");
  if (folder.empty() || network_.sha256.empty())
    return std::make_shared<const LatentTable>(make(job, options));
  const LatentSource source = sourceOf(job, data);
  const std::filesystem::path file = latentFile(folder, source);
  if (std::optional<LatentTable> kept = readLatents(file, source))
    return std::make_shared<const LatentTable>(std::move(*kept));
  LatentTable made = make(job, options);
  try {
    writeLatents(file, source, made);
  } catch (const FileError& error) {
    log::warning(std::string("the next run has to make its latents again: ") + error.what());
  }
  return std::make_shared<const LatentTable>(std::move(made));
}

std::shared_ptr<const Pipeline> Latents::cached(const Registry& registry, const Config& data,
                                                std::uint64_t seed,
                                                const LatentCacheOptions& options) const {
  const bool mirrored = isMirrored(images_->plan(), options.offBy);
  const UsedSamples& used = images_->samples();
  std::array<std::set<std::int64_t>, 3> wanted;  // by split of the data set
  for (const Split split : options.splits) {
    auto& ids = wanted[static_cast<std::size_t>(used.stored(split))];
    if (const auto some = used.of(split)) {
      ids.insert(some->begin(), some->end());
    } else {
      for (std::int64_t i = 0; i < used.size(split); ++i) ids.insert(ids.end(), i);
    }
  }
  std::array<std::shared_ptr<const LatentTable>, 3> tables;
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    const auto& ids = wanted[static_cast<std::size_t>(split)];
    if (ids.empty()) continue;
    tables[static_cast<std::size_t>(split)] =
        openOrMake({split, {ids.begin(), ids.end()}, mirrored}, data, options);
  }
  // Equal views in every split: where training mirrors, the others are encoded mirrored, too.
  const std::shared_ptr<const Dataset> dataset(images_, &images_->dataset());
  Json settings = data.json();
  settings["pipeline"] = {{"train", Json::array()}, {"evaluate", Json::array()}};
  return std::make_shared<const Pipeline>(
      registry, Config(std::move(settings)),
      std::make_shared<const LatentDataset>(dataset, std::move(tables)), seed,
      Pipeline::ImageShape{});
}

}  // namespace vitrine

// The latents that a model works on: a frozen codec between the images of a run and them.
//
//     const Latents latents(setup.auxiliary("codec"), setup.pipeline);
//     at::Tensor x = latents.of(batch, context.generator);   // scaled, about unit variance
//     at::Tensor images = latents.decode(x);                 // in [0, 1]
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/data/batch.h"
#include "core/data/latent_cache.h"
#include "core/plugin/pipeline.h"
#include "core/plugin/pixel_map.h"
#include "core/plugin/task.h"

namespace vitrine {

/// How latents are made for the cache.
struct LatentCacheOptions {
  std::optional<std::filesystem::path> folder{};  ///< absent: `latents` of the user's cache folder;
                                                  ///< "": kept in memory alone
  std::vector<Split> splits{Split::Train};
  std::int64_t batchSize = 64;  ///< images that go through the codec at once
  std::function<void(std::int64_t done, std::int64_t total)> progress{};  ///< images encoded
  std::string offBy{};  ///< how the task does without the cache, for refusals: "task.cache = false"
};

/// A codec of `[aux]` and the run's images. Scaled latents are the codec's times its scale().
class VITRINE_ENGINE_EXPORT Latents {
 public:
  /// \param images  float [channels, height, width], normalised by the pipeline in any way
  /// \throws ConfigError  the network is not a codec; other channels; sides that its factor does
  ///                      not divide; a scale that was never measured
  Latents(const AuxiliaryNetwork& codec, std::shared_ptr<const Pipeline> images);

  /// [channels, height, width] of a latent of this run.
  [[nodiscard]] const std::array<std::int64_t, 3>& shape() const noexcept { return shape_; }
  [[nodiscard]] double scale() const noexcept { return scale_; }
  [[nodiscard]] LatentCodec& codec() const noexcept { return *codec_; }

  /// Images of the pipeline to scaled latents, drawn with noise of `generator`; a point is as it
  /// is. No gradient. \param images  [batch, channels, height, width]
  [[nodiscard]] at::Tensor encode(const at::Tensor& images, at::Generator& generator) const;
  /// The same at the mean of the distribution.
  [[nodiscard]] at::Tensor encodeMean(const at::Tensor& images) const;
  /// Scaled latents of a batch, drawn from its field `latent` where there is one, else from its
  /// field `image`. Each sample is as often mirrored as not where its mirror image is there.
  [[nodiscard]] at::Tensor of(const Batch& batch, at::Generator& generator) const;
  /// Scaled latents to images in [0, 1], clamped. No gradient.
  /// \throws ShapeError  latents of another codec
  [[nodiscard]] at::Tensor decode(const at::Tensor& latents) const;

  /// The run's samples with latents in place of images, encoded once. They are read from the cache
  /// where they are there, else made now, on the device of the codec. Those that cannot be written
  /// there are kept in memory. With a `flip` of probability 1/2 in the training pipeline they come
  /// with their mirror image.
  /// \param data  the resolved table [data] \param seed  of the run
  /// \throws ConfigError  the training pipeline draws something else than flips
  /// \throws FileError    a cache file is cut or damaged
  [[nodiscard]] std::shared_ptr<const Pipeline> cached(
      const Registry& registry, const Config& data, std::uint64_t seed,
      const LatentCacheOptions& options = {}) const;

 private:
  struct Job;
  [[nodiscard]] LatentTable make(const Job& job, const LatentCacheOptions& options) const;
  /// Of `count` images, evenly over the job's, as evaluations see them.
  [[nodiscard]] std::string hashOfImages(const Job& job, std::int64_t count) const;
  [[nodiscard]] LatentSource sourceOf(const Job& job, const Config& data) const;
  [[nodiscard]] std::shared_ptr<const LatentTable> openOrMake(
      const Job& job, const Config& data, const LatentCacheOptions& options) const;

  AuxiliaryNetwork network_;
  LatentCodec* codec_;
  std::shared_ptr<const Pipeline> images_;
  PixelMap pixels_;
  std::array<std::int64_t, 3> shape_{};
  double scale_ = 1;
};

}  // namespace vitrine

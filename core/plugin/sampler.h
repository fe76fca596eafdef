// Samplers: images and texts from a trained run.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <span>
#include <string>

#include "core/artifact/artifact.h"
#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/plugin/results.h"
#include "core/plugin/task.h"

namespace vitrine {

struct SampleRequest {
  TaskSession& session;  ///< its model and networks, in evaluation mode
  Config config;         ///< sampleSchema() and the sampler's own keys, resolved
  at::Device device = at::kCPU;
  std::int64_t step = 0;  ///< optimizer steps that the weights had seen
  /// What made the weights; the recipe of everything that comes out begins with it.
  Json origin = Json::object();
};

/// The same code behind `vitrine sample`, `vitrine serve` and evaluations. Sample i is drawn from
/// (seed + i) alone. A batch of 16 gives what 16 batches of one give, to float rounding of the
/// model. Equal requests on one machine give equal bytes.
class VITRINE_ENGINE_EXPORT Sampler {
 public:
  virtual ~Sampler();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// How it suits a session that has all the capabilities that the card needs.
  enum class Fit {
    None,       ///< the run learned something else
    Possible,
    Preferred,  ///< taken unless a sampler is named
  };
  /// Here: Possible.
  [[nodiscard]] virtual Fit fit(TaskSession& session) const;
  /// Whether texts come out, and no images. Here: false. \param config  as SampleRequest::config
  [[nodiscard]] virtual bool makesTexts(const Config& config) const;
  /// No gradient. Asks results.isCancelled() between its steps and calls results.progress().
  virtual void sample(const SampleRequest& request, Results& results) const = 0;
};

/// The origin, then "sampler" and all its settings: what GeneratedImage::recipe must hold.
[[nodiscard]] VITRINE_ENGINE_EXPORT Json recipeOf(const SampleRequest& request,
                                                  const std::string& sampler, std::uint64_t seed);
/// The key `previews` of a sampler that shows its way.
[[nodiscard]] VITRINE_ENGINE_EXPORT Field previewsField();
/// Decides when the next preview is due.
class VITRINE_ENGINE_EXPORT PreviewClock {
 public:
  explicit PreviewClock(std::int64_t previews) : previews_(previews) {}
  /// \param share  of a drawing that is done, 0 to 1, growing from call to call
  [[nodiscard]] bool isDue(double share);

 private:
  std::int64_t previews_, shown_ = 0;
};
/// What a sampler takes its images for on the way, as one artifact of kind image_grid.
/// Its meta may also say what each image is drawn from: `classes`, or `captions`.
/// \param images  [B, C, H, W] bytes \param time  of the noise, in the sampler's units
[[nodiscard]] VITRINE_ENGINE_EXPORT Artifact previewOf(const std::string& sampler,
                                                       const at::Tensor& images, double time,
                                                       std::uint64_t firstSeed);

/// Which of the images has a value that is NaN or infinite, as a sentence; "": none has.
/// \param images  [B, C, H, W] \param seeds  one for each image
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string notFinite(const at::Tensor& images,
                                                          std::span<const std::uint64_t> seeds);

/// Noise of the image with this seed: standard normal float32 of `shape` on the CPU, from the
/// counter-based stream `sample`, whatever else was drawn before. `draw` tells several apart.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor sampleNoise(std::uint64_t seed,
                                                           at::IntArrayRef shape,
                                                           std::uint64_t draw = 0);

}  // namespace vitrine

// Texts and images in one sequence: next tokens of text, noise of images. B samples, N tokens,
// I images of n tokens each, ordered by sample, then by place.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "core/model/capabilities.h"

namespace vitrine {

struct MixedSequences {
  at::Tensor tokens;  ///< [B, N] int64; what stands in the places of images does not matter
  /// [N] or [B, N] int64 on the CPU: 0 text, k the k-th image of the sample.
  at::Tensor imageIndex;
  at::Tensor positions;  ///< [N] or [B, N] int64; undefined: as the model counts
  /// [N] or [B, N] int64: tokens of one document are equal and follow one another, and see no
  /// other document; undefined: each sample is one.
  at::Tensor documents;
  at::Tensor images;  ///< [I, C, H, W], noised
  at::Tensor time;    ///< [I] int64: step of the noise, 0 the least noisy
};

struct MixedPrediction {
  at::Tensor logits;  ///< [B, N, vocabulary]; zero in the places of images
  at::Tensor noise;   ///< [I, C, H, W]
};

/// A language model that also takes noise off images which share its sequences.
class VITRINE_ENGINE_EXPORT TextImageModel : public Capability {
 public:
  static constexpr const char* kId = "text_image_model";
  struct Sizes {
    std::int64_t channels = 0, height = 0, width = 0;  ///< of an image or latent
    std::int64_t imageTokens = 0;                      ///< n
    std::int64_t steps = 0;                            ///< of the noise
    std::int64_t beginText = 0, endText = 0, beginImage = 0, endImage = 0;  ///< tokens
    double diffusionWeight = 1;  ///< of the squared error of the noise in the loss
  };
  [[nodiscard]] virtual Sizes textImageSizes() const = 0;
  /// Share of the clean image that is left after each step, [steps] float64: alpha bar.
  [[nodiscard]] virtual at::Tensor keptShares() const = 0;
  /// Differentiable. \throws ShapeError  images and places do not fit together
  [[nodiscard]] virtual MixedPrediction mixed(const MixedSequences& sequences) = 0;

  enum class Keep {
    No,   ///< the image is computed again at the next step
    Yes,  ///< what follows sees it
  };
  /// The noise of images that follow the tokens of a cache, one for each of its samples.
  /// \param images  [B, C, H, W]
  /// \param time    [B] int64
  [[nodiscard]] virtual at::Tensor noiseAfter(LanguageModel::Cache& cache, const at::Tensor& images,
                                              const at::Tensor& time, Keep keep) = 0;
  /// Whether a parameter belongs to the text: what a frozen language model consists of.
  [[nodiscard]] virtual bool isOfText(const std::string& parameter) const = 0;
};

}  // namespace vitrine

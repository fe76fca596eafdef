// Images of a prompt: the steps from noise to image behind the caption's keys and values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "core/model/text_image_model.h"
#include "core/text/tokenizer.h"

namespace vitrine::text_image {

/// Conditions under which a model was trained to draw. A session of this task is one, too.
class CaptionedSession {
 public:
  virtual ~CaptionedSession();
  /// Share of the captions that were left out in training, 0 to 1. 0: the network never saw an
  /// image without one, and cannot be guided.
  [[nodiscard]] virtual double captionDrop() const = 0;
};

inline constexpr double kGuidance = 1.55;  ///< of a model that can be guided

/// The guidance that was asked for; not said: kGuidance, and 1 for a model that cannot be guided.
/// \throws ConfigError  the model cannot be guided and another one than 1 was asked for
[[nodiscard]] double guidanceOf(std::optional<double> asked, double captionDrop);

struct DrawSettings {
  std::int64_t steps = 50;           ///< of the noise's
  double guidance = kGuidance;       ///< 1: the caption alone
  std::optional<double> clip = 1.0;  ///< clean images are held in [-clip, clip]
};

/// A drawing after one of its steps.
struct DrawStep {
  double share = 0;          ///< that is done
  double time = 0;           ///< of the noise that the step began with, of the diffusion's steps
  const at::Tensor& clean;   ///< [seeds, C, H, W]: what the network takes the images for
};

/// One image for each seed; image i is drawn from its seed alone. Ancestral steps with the small
/// fixed variance; noise = unconditional + guidance (conditional - unconditional), the
/// unconditional branch has no caption. The last evaluation of a step is the one with it.
/// \param prompt  tokens of the caption, without those around it
/// \param goesOn  called after each step; false ends it
/// \returns  [seeds, C, H, W] in [-1, 1]; undefined where `goesOn` ended it
/// \throws ConfigError  caption and image do not fit into the context, or there are not so many
///                      steps
[[nodiscard]] at::Tensor drawnImages(TextImageModel& model, LanguageModel& language,
                                     const text::TokenIds& prompt,
                                     std::span<const std::uint64_t> seeds,
                                     const DrawSettings& settings, at::Device device,
                                     const std::function<bool(const DrawStep&)>& goesOn = {});

/// 8-bit values of images in [-1, 1], rounded: [B, C, H, W] bytes on the CPU.
[[nodiscard]] at::Tensor bytesOf(const at::Tensor& images);

}  // namespace vitrine::text_image

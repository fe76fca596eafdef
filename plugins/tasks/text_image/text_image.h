// Texts and images in one model: next tokens of captions and the noise of images.
#pragma once

#include <memory>

#include "core/plugin/registry.h"

namespace vitrine::text_image {

/// Loss: cross-entropy per token of text plus the model's weight times the squared error of the
/// noise, a mean over each image. Some samples are `caption, image`, the others `image, caption`.
///
/// Scores of a split: image_loss at a fixed time and noise of each sample; caption_loss in nats per
/// token, given the clean image. Also text_loss of the same captions without an image; cider of
/// greedy captions.
class TextImageTask final : public Task {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \pre setup.pipeline is set
  /// \throws ConfigError  images of another size than the model's, no ragged tokens, a tokenizer of
  ///                      another vocabulary
  [[nodiscard]] std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override;
  /// \throws ConfigError  guidance of drawings of a run without caption drop
  void requireStartable(const Config& task, Model& model) const override;
};

/// Images of a prompt, or captions of an image.
class TextImageSampler final : public Sampler {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Fit fit(TaskSession& session) const override;
  [[nodiscard]] bool makesTexts(const Config& config) const override {
    return config.has("image");
  }
  /// \throws ConfigError  the prompt does not fit into the model's context; the split has no such
  /// sample \throws FileError    `image` is not an image file that can be read
  void sample(const SampleRequest& request, Results& results) const override;
};

}  // namespace vitrine::text_image

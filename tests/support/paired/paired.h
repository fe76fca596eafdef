// A task that has everything a classifier has not: two trained networks, an average of one of them,
// a frozen teacher from another run, ragged tokens beside images, two loss parts with counts of
// their own, draws inside the loss, a capability that core does not know, an evaluation that needs
// the whole split, and a sampler. It learns to draw a bright quarter of an 8 x 8 image from a few
// words about it. Tests link it; the packaging test builds it as an external plugin.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "core/plugin/registry.h"

namespace paired {

inline constexpr std::int64_t kSide = 8, kPixels = kSide * kSide;
inline constexpr std::int64_t kText = 8;      ///< channels of a text
inline constexpr std::int64_t kWords = 12;    ///< vocabulary: three words for each of four quarters
inline constexpr std::int64_t kQuarters = 4;  ///< classes

/// What a text-guided network of this plugin can do; core has never heard of it.
class TextDenoiser : public vitrine::Capability {
 public:
  static constexpr const char* kId = "paired.text_denoiser";
  /// Velocity noise - image at time t of x = (1 - t) image + t noise.
  /// \param x     [batch, 1, 8, 8]
  /// \param time  [batch]
  /// \param text  [batch, 8]
  [[nodiscard]] virtual at::Tensor velocity(const at::Tensor& x, const at::Tensor& time,
                                            const at::Tensor& text) = 0;
  /// [batch, 1, 8, 8] -> [batch, width]
  [[nodiscard]] virtual at::Tensor imageFeatures(const at::Tensor& images) = 0;
};

/// Words to one vector: the mean of their embeddings.
class Reader final : public torch::nn::Module {
 public:
  explicit Reader(std::uint64_t seed);
  /// \param words    [sum of lengths] int64
  /// \param offsets  [batch + 1] int64
  /// \returns        [batch, 8]
  [[nodiscard]] at::Tensor forward(const at::Tensor& words, const at::Tensor& offsets) const;
  at::Tensor embedding;  ///< [12, 8]
};

class PairedArchitecture final : public vitrine::Architecture {
 public:
  [[nodiscard]] vitrine::ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<vitrine::Model> build(const vitrine::Config& config,
                                                      std::uint64_t seed) const override;
};

/// 64 training and 32 test samples: image, tokens, label. A pure function of split and id.
class PairedData final : public vitrine::DatasetSource {
 public:
  [[nodiscard]] vitrine::ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const vitrine::Dataset> open(
      const vitrine::Config& config) const override;
};

/// Loss parts `velocity`, of pixels, and with `teach` also `teacher`, of words. Scores: loss, and
/// `distance`, how far the mean and the deviation of sampled images are from those of the split.
class PairedTask final : public vitrine::Task {
 public:
  [[nodiscard]] vitrine::ItemCard card() const override;
  [[nodiscard]] std::unique_ptr<vitrine::TaskSession> open(
      const vitrine::TaskSetup& setup) const override;
};

class PairedSampler final : public vitrine::Sampler {
 public:
  [[nodiscard]] vitrine::ItemCard card() const override;
  void sample(const vitrine::SampleRequest& request, vitrine::Results& results) const override;
};

/// All four items.
void addPairedItems(vitrine::Registry& registry);

/// Euler steps from noise [batch, 1, 8, 8] at time 1 to an image at time 0.
[[nodiscard]] at::Tensor drawn(TextDenoiser& model, const at::Tensor& noise, const at::Tensor& text,
                               std::int64_t steps);

}  // namespace paired

// The model of LlamaFusion. For source files only: this brings torch/nn/module.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/text_image_model.h"
#include "plugins/llamafusion/image_io.h"
#include "plugins/llamafusion/text_decoder.h"

namespace vitrine::llamafusion {

struct FusionConfig {
  LlamaConfig text;
  Separation separation = Separation::Deep;
  bool ownImageNorm = true;
  ImageMask mask = ImageMask::Hybrid;
  ImagePositions positions = ImagePositions::Sequential;
  std::int64_t beginImage = 0, endImage = 0, beginText = 0, endText = 0;  ///< tokens
  double diffusionWeight = 5;
  std::optional<ImageIoConfig> io;  ///< absent: image tokens are given
};

class FusionModel final : public TextDecoder,
                          public TextImageModel,
                          public AttentionSource,
                          public TensorProgram {
 public:
  FusionModel(const FusionConfig& config, std::uint64_t seed);

  /// \throws ConfigError  the image modules of the file are those of another separation
  void transform(WeightSource& source) override;
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  [[nodiscard]] std::vector<BlockCost> cost() const override;

  [[nodiscard]] Sizes textImageSizes() const override;
  [[nodiscard]] at::Tensor keptShares() const override { return shares_; }
  [[nodiscard]] MixedPrediction mixed(const MixedSequences& sequences) override;
  [[nodiscard]] at::Tensor noiseAfter(Cache& cache, const at::Tensor& images,
                                      const at::Tensor& time, Keep keep) override;
  [[nodiscard]] bool isOfText(const std::string& parameter) const override;

  /// Of joint passes, and of images behind a cache, which read its tokens.
  [[nodiscard]] std::int64_t attentionLayers() const override { return config().depth; }
  [[nodiscard]] std::int64_t attentionHeads(std::int64_t) const override { return config().heads; }
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override {
    attentionTap_ = std::move(tap);
  }

  [[nodiscard]] std::vector<TensorInput> tensorInputs() const override;
  [[nodiscard]] std::vector<TensorOutput> tensorOutputs() const override;
  [[nodiscard]] TensorMap runTensors(const TensorMap& inputs,
                                     const std::set<std::string>& wanted) override;

 private:
  /// Everything of one joint pass but the way out of the images.
  struct Joint {
    at::Tensor logits;       ///< [B, N, vocab], zero at images
    at::Tensor imageHidden;  ///< [images, tokens, dim], normalised
  };
  [[nodiscard]] Joint joint(const MixedSequences& sequences, const at::Tensor& imageTokens,
                            const std::function<void(std::int64_t, const at::Tensor&)>& tap) const;
  /// The same where each layer is one operation; nothing where that is not taken.
  [[nodiscard]] std::optional<Joint> jointSorted(const at::Tensor& tokens,
                                                 const at::Tensor& imageTokens,
                                                 const at::Tensor& imageIndex,
                                                 const DecoderPass& pass) const;
  [[nodiscard]] ImageIo& io() const;
  /// Function that gives the probabilities of a pass to the tap.
  /// \param imageIndex  of all keys; the queries are the last of them
  /// \param time        of the image's noise; NaN of several images
  [[nodiscard]] std::function<void(std::int64_t, const at::Tensor&)> attentionReceiver(
      const at::Tensor& imageIndex, double time) const;
  [[nodiscard]] at::Tensor noised(const at::Tensor& start, const at::Tensor& noise,
                                  const at::Tensor& time) const;
  /// \throws ConfigError  the mask of the sequences is another one
  void requireMask(const at::Tensor& given, const MixedSequences& sequences) const;

  FusionConfig config_;
  std::shared_ptr<ImageIo> io_;  ///< null: none
  at::Tensor shares_;
  std::shared_ptr<const AttentionTap> attentionTap_;  ///< null: nothing is handed out
};

}  // namespace vitrine::llamafusion

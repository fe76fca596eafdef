// An encoder that runs in a millisecond and has every kind of layer.
#pragma once

#include <ATen/ATen.h>

#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

/// A token sees itself, those before it, and the others by a factor.
class TestMask final : public SequenceMask {
 public:
  explicit TestMask(MaskMode mode, double others = 0) : mode_(mode), others_(others) {}
  at::Tensor factor(std::int64_t tokens, at::Device device) override {
    return at::ones({tokens, tokens}, device).tril().clamp_min(others_);
  }
  MaskMode mode() const override { return mode_; }
  std::string name() const override { return "causal"; }

 private:
  MaskMode mode_;
  double others_;
};

/// 12 patches and a class token of 24 channels.
inline VisionTransformerConfig smallEncoder() {
  return {.imageSize = {12, 16},
          .patchSize = {4, 4},
          .inChannels = 2,
          .classes = 5,
          .width = 24,
          .depth = 3,
          .heads = 3,
          .mlpWidth = 32};
}

}  // namespace vitrine::nn

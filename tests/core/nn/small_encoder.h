// An encoder that runs in a millisecond and has every kind of layer.
#pragma once

#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

/// 12 patches and a class token of 24 channels.
inline VisionTransformerConfig smallEncoder() {
  VisionTransformerConfig c;
  c.imageSize = {12, 16};
  c.patchSize = {4, 4};
  c.inChannels = 2;
  c.classes = 5;
  c.width = 24;
  c.depth = 3;
  c.heads = 3;
  c.mlpWidth = 32;
  c.init = InitRecipe::TruncatedNormal;  // a head that is not zero
  return c;
}

}  // namespace vitrine::nn

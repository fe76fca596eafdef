// The encoder's modules, named as public checkpoints name them, built from those of layers.h. For
// source files only: it brings torch/nn/module.h.
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "core/model/model.h"
#include "core/nn/block.h"
#include "core/nn/layers.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

/// The whole network; the root of all parameter names.
struct Encoder final : torch::nn::Module {
  explicit Encoder(const VisionTransformerConfig& config);
  [[nodiscard]] std::vector<BlockCost> cost(const VisionTransformerConfig& config) const;
  at::Tensor classToken, positions;
  at::Tensor fixedPositions;  ///< sin-cos table; not saved, follows the device of the input
  std::shared_ptr<PatchEmbed> projection;
  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<Norm> norm, fcNorm;
  std::shared_ptr<Linear> head;
};

}  // namespace vitrine::nn

// A LlamaFusion for tests.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "core/config/experiment.h"
#include "plugins/llamafusion/architectures.h"
#include "tests/core/nn/tensors.h"

namespace vitrine::llamafusion {

/// Of 32 channels and two layers, for images of `side` x `side` pixels in patches of 2.
inline Json smallFusion(std::int64_t side) {
  return {{"dim", 32},           {"depth", 2},           {"heads", 4},
          {"kv_heads", 2},       {"ffn_hidden", 48},     {"vocab", 40},
          {"max_positions", 64}, {"bos_id", 1},          {"eos_id", 2},
          {"boi_id", 38},        {"eoi_id", 39},         {"image_io", "linear"},
          {"image_patch", 2},    {"latent_channels", 1}, {"latent_size", {side, side}}};
}

/// With all parameters moved from their start, so that each of them matters.
inline std::shared_ptr<Model> movedFusion(Json values) {
  const LlamaFusionArchitecture architecture;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  auto model = architecture.build(Config(values), 5);
  const at::NoGradGuard noGradient;
  std::uint64_t seed = 20;
  for (const at::Tensor& parameter : model->module().parameters())
    parameter.add_(nn::randomFloats(parameter.sizes(), seed++), 0.05);
  return model;
}

}  // namespace vitrine::llamafusion

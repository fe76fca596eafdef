// What a model makes of images, by name: for `infer`, on the command line and in `serve`.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"
#include "core/train/device.h"

namespace vitrine::app {

struct OutputChoice {
  bool wantsFeatures = true, wantsLogits = true;  ///< "features", "logits"
  bool wantsBlocks = false;                       ///< "block_<i>" [batch, tokens, width]
  bool wantsAttention = false;                    ///< "attention_<i>" [batch, heads, queries, keys]
  bool isEffective = false;     ///< of attention: what multiplies the values, after a mask
  std::int64_t batchSize = 64;  ///< images per pass
};

/// Images as the model reads them, some at a time.
struct ImageSource {
  std::int64_t count = 0;
  /// [number, channels, height, width] from `first` on, on the CPU.
  std::function<at::Tensor(std::int64_t first, std::int64_t number)> read;
};

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Batch first, on the CPU, float32 where it was computed in half precision. The model is in
/// evaluation mode and on `device`.
/// \param passed  called after every pass with the images done so far; what it throws comes through
/// \throws RefusedError  the model does not offer what is asked for
[[nodiscard]] NamedTensors modelOutputs(Model& model, const ImageSource& images,
                                        const OutputChoice& choice, at::Device device,
                                        train::Precision precision,
                                        const std::function<void(std::int64_t)>& passed = {});

}  // namespace vitrine::app

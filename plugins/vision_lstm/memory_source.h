// The capability of a model whose layers mix tokens through a gated memory: what analyses of the
// memory look into.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/mlstm.h"
#include "core/model/capabilities.h"

namespace vitrine::vision_lstm {

/// Inputs of one layer's memory by head, tokens in the order of its scan.
struct MemoryRecord {
  std::int64_t layer = 0;
  kernels::MlstmInput cell;
  at::Tensor
      positions;  ///< [tokens, 2] row and column of the j-th token of the scan, -1: class token
};

class MemorySource : public Capability {
 public:
  static constexpr const char* kId = "signed_memory_weights";
  [[nodiscard]] virtual kernels::MlstmOptions memoryOptions() const = 0;
  /// Runs the model up to the last wanted layer. \param layers  counted from 0; empty means all
  /// \throws ConfigError  there is no such layer
  [[nodiscard]] virtual std::vector<MemoryRecord> memories(
      const at::Tensor& images, const std::vector<std::int64_t>& layers) = 0;
};

}  // namespace vitrine::vision_lstm

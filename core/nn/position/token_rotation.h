// Rotary positions that belong to a model: which angles its tokens turn by is the model's business.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string>

#include "core/engine_export.h"

namespace vitrine::nn {

class VITRINE_ENGINE_EXPORT TokenRotation {
 public:
  virtual ~TokenRotation();
  /// \param places  [tokens, 2] or [batch, tokens, 2]: row and column in patches; -1 for a class
  ///                token
  /// \param grid    patches of the whole image, [height, width]
  /// \returns       angles of AttendOptions, float32; undefined where nothing turns
  [[nodiscard]] virtual at::Tensor angles(const at::Tensor& places,
                                          std::array<std::int64_t, 2> grid) const = 0;
  /// "2-D, column first": what a cost table calls it.
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace vitrine::nn

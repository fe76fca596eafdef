// The factor of the loss that keeps small float16 gradients from vanishing.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine::train {

struct LossScaleOptions {
  double initial = 65536;
  double minimum = 1;
  std::int64_t growthSteps = 2000;  ///< good steps in a row after which it is doubled
};
/// Reads `loss_scale` of a [train] table.
[[nodiscard]] VITRINE_ENGINE_EXPORT LossScaleOptions lossScaleFrom(const Config& train);

/// Dynamic loss scaling (Micikevicius et al. 2018, arXiv:1710.03740, section 3.2): halved where a
/// gradient is not finite, doubled after many steps without. It lives on the device and is never
/// waited for.
class VITRINE_ENGINE_EXPORT LossScale {
 public:
  LossScale(const LossScaleOptions& options, const at::TensorOptions& device);

  /// 0-d float32, of the current step.
  [[nodiscard]] const at::Tensor& value() const noexcept { return value_; }
  /// 0-d bool: the gradient is not finite while the loss is, and a smaller scale may help.
  [[nodiscard]] at::Tensor overflows(const at::Tensor& loss, const at::Tensor& norm) const;
  /// After a step.
  /// \param overflow  what overflows() said
  /// \param hold      0-d float32: 1 if it changed nothing
  void update(const at::Tensor& overflow, const at::Tensor& hold);

  /// "loss_scale/value" and "loss_scale/good_steps".
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state() const;
  /// Values that `saved` lacks stay: the run began in another precision.
  void load(const std::map<std::string, at::Tensor>& saved);

 private:
  LossScaleOptions options_;
  at::Tensor value_, goodSteps_;
};

}  // namespace vitrine::train

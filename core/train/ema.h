// The exponential moving average of the weights.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/engine_export.h"

namespace vitrine {

/// e = decay * e + (1 - decay) * p after every step, beginning with e = p.
class VITRINE_ENGINE_EXPORT Ema {
 public:
  /// \param parameters  what is averaged; kept, and copied as the first average
  Ema(std::vector<at::Tensor> parameters, double decay);
  /// \param skip  0-d float32: 1 leaves the average as it is
  void update(const at::Tensor& skip);
  [[nodiscard]] const std::vector<at::Tensor>& average() const noexcept { return average_; }
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const noexcept { return parameters_; }

 private:
  std::vector<at::Tensor> parameters_, average_;
  double decay_;
};

/// While it lives the parameters hold the average; no copy is made.
class VITRINE_ENGINE_EXPORT WithAverage {
 public:
  explicit WithAverage(const Ema& ema);
  ~WithAverage();
  WithAverage(const WithAverage&) = delete;
  WithAverage& operator=(const WithAverage&) = delete;

 private:
  std::vector<at::Tensor> parameters_, own_;
};

}  // namespace vitrine

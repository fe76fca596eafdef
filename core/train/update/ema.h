// The exponential moving average of the weights.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/engine_export.h"

namespace vitrine::train {

/// e = decay * e + (1 - decay) * p after every step, beginning with e = p. With warm-up the decay
/// of update n, counted from 1, is at most (1 + n) / (10 + n).
class VITRINE_ENGINE_EXPORT Ema {
 public:
  /// \param parameters  the averaged ones; kept, and copied as the first average
  enum class WarmUp { None, ByUpdates };
  Ema(std::vector<at::Tensor> parameters, double decay, WarmUp warmUp = WarmUp::None);
  /// Continues from an average that lies in tensors of the caller.
  Ema(std::vector<at::Tensor> parameters, const std::vector<at::Tensor>& average, double decay);
  /// \param skip     0-d float32: 1 leaves the average as it is
  /// \param updates  0-d float32: updates of the parameters so far, including this one
  void update(const at::Tensor& skip, const at::Tensor& updates);
  [[nodiscard]] const std::vector<at::Tensor>& average() const noexcept { return average_; }
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const noexcept { return parameters_; }

 private:
  std::vector<at::Tensor> parameters_, average_;
  double decay_;
  WarmUp warmUp_;
};

/// While it lives the parameters hold the average; no copy is made. Within an AutocastScope, too.
class VITRINE_ENGINE_EXPORT WithAverage {
 public:
  explicit WithAverage(const Ema& ema);
  ~WithAverage();
  WithAverage(const WithAverage&) = delete;
  WithAverage& operator=(const WithAverage&) = delete;

 private:
  std::vector<at::Tensor> parameters_, own_;
};

}  // namespace vitrine::train

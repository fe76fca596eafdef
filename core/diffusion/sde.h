// Stochastic samplers along a transport: dx = (velocity + w score) dt + sqrt(2 w) dW.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/diffusion/ode.h"
#include "core/diffusion/transport.h"
#include "core/engine_export.h"

namespace vitrine::diffusion {

enum class SdeMethod {
  Euler,  ///< Euler-Maruyama
  Heun,   ///< noise first, then the explicit trapezoid
};
/// Form of the last step, without noise.
enum class LastStep {
  None,     ///< not at all: the equation is solved to the end
  Mean,     ///< along velocity + w score
  Euler,    ///< along the velocity
  Tweedie,  ///< to the expected data, (x + sigma^2 score) / alpha
};
/// euler heun; none mean euler tweedie. \throws ConfigError  another word
[[nodiscard]] VITRINE_ENGINE_EXPORT SdeMethod sdeMethodOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT LastStep lastStepOf(const std::string& word);

struct SdeOptions {
  SdeMethod method = SdeMethod::Euler;
  DiffusionForm form = DiffusionForm::Sigma;
  LastStep last = LastStep::Mean;
  double lastLength = 0.04;  ///< in time; not read for LastStep::None
  /// steps - 1 of the equation and the last one.
  std::int64_t steps = 250;
  OdeWatch watch{};
  bool keepsLastAlone = false;  ///< the solution has the newest state and no other
  double norm = 1;              ///< of w, as DiffusionForm says
};

/// A network's output, as transport.options().predicts says.
using Predictor = OdeField;
/// Standard normal numbers of the shape of the state for step k.
using StepNoise = std::function<at::Tensor(std::int64_t k)>;

struct SdeSolution {
  std::vector<at::Tensor> states;  ///< after each step
  std::int64_t evaluations = 0;    ///< of the network
  bool isComplete = true;
};

/// \param start  noise, [B, ..]; `noise` gives tensors of its shape
/// \throws ConfigError  fewer than 2 steps, or a form that this transport refuses. Also Heun
/// without a last step on a path whose score is infinite at its end
[[nodiscard]] VITRINE_ENGINE_EXPORT SdeSolution solve(const Transport& transport,
                                                      const Predictor& network,
                                                      const at::Tensor& start,
                                                      const StepNoise& noise,
                                                      const SdeOptions& options);

}  // namespace vitrine::diffusion

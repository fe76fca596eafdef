// Solvers of dx/dt = field(x, t).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::diffusion {

/// \param time  in float64 whatever the type of the state
using OdeField = std::function<at::Tensor(const at::Tensor& state, double time)>;
/// Called after each step; false ends the solution early. \param share  of the interval that is
///         done
using OdeWatch = std::function<bool(double share, const at::Tensor& state)>;

enum class OdeMethod {
  Euler,
  Heun,        ///< explicit trapezoid, two evaluations a step
  Heun3,       ///< of third order, three
  Midpoint,    ///< two
  RungeKutta,  ///< four; the 3/8 rule
  Dopri5,      ///< Dormand & Prince 1980, adaptive: six and those of rejected steps
};
/// euler heun heun3 midpoint rk4 dopri5, and heun2 for heun. \throws ConfigError  another word
[[nodiscard]] VITRINE_ENGINE_EXPORT OdeMethod odeMethodOf(const std::string& word);

struct OdeOptions {
  OdeMethod method = OdeMethod::Dopri5;
  /// Dopri5: a step is taken when the root mean square over the whole batch of error / (absolute +
  /// relative max(|x|, |x'|)) is at most 1. A sample's result therefore depends on its batch.
  double absolute = 1e-6, relative = 1e-3;
  /// Dopri5: the last step goes as far as the error allows and the end is interpolated, as in
  /// torchdiffeq. The field is then called beyond the last time. Otherwise it ends there.
  bool mayOvershoot = false;
  OdeWatch watch{};
  bool keepsLastAlone = false;  ///< the solution has the newest state and no other
};

struct OdeSolution {
  std::vector<at::Tensor> states;  ///< at each of the times, the first as it was given
  std::int64_t evaluations = 0;    ///< of the field
  bool isComplete = true;          ///< false: the watch ended it, and states are missing
};

/// A fixed method takes one step between two times. Dopri5 chooses its own steps and
/// interpolates the states between by a polynomial of degree 4.
/// \param times  at least two, ascending
/// \throws ConfigError  fewer, or not ascending, or the error cannot be brought below the tolerance
[[nodiscard]] VITRINE_ENGINE_EXPORT OdeSolution solve(const OdeField& field,
                                                      const at::Tensor& start,
                                                      const std::vector<double>& times,
                                                      const OdeOptions& options);

/// `count` times evenly from first to last, both included.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> evenTimes(double first, double last,
                                                                  std::int64_t count);

}  // namespace vitrine::diffusion

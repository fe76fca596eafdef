// Initial values of parameters: from the `init` stream of the run's seed, addressed by (parameter
// name, element).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/engine_export.h"

namespace torch::nn {
class Module;
}

namespace vitrine::nn {

/// One distribution. Zero scale gives the mean.
struct Init {
  enum class Kind {
    Constant,         ///< `mean`
    Normal,           ///< mean, scale = standard deviation
    TruncatedNormal,  ///< normal of deviation `scale`, cut at `cut` deviations
    Uniform,          ///< mean +- scale
  };
  Kind kind = Kind::Constant;
  double mean = 0, scale = 0, cut = 0;
};

[[nodiscard]] VITRINE_ENGINE_EXPORT Init constantInit(double value);
/// Normal of mean 0.
[[nodiscard]] VITRINE_ENGINE_EXPORT Init normalInit(double deviation);
/// Normal cut at +-`cut` deviations; the deviation is that before the cut.
[[nodiscard]] VITRINE_ENGINE_EXPORT Init truncatedNormalInit(double deviation, double cut);
/// LeCun normal as flax draws it: variance 1 / fanIn after a cut at two deviations (hence the
/// factor 1 / 0.87962566).
[[nodiscard]] VITRINE_ENGINE_EXPORT Init lecunNormalInit(std::int64_t fanIn);
/// Glorot & Bengio 2010: uniform in +-sqrt(6 / (fanIn + fanOut)).
[[nodiscard]] VITRINE_ENGINE_EXPORT Init xavierUniformInit(std::int64_t fanIn, std::int64_t fanOut);
/// PyTorch's default for weight and bias of a convolution or linear map: uniform in +-1 /
/// sqrt(fanIn).
[[nodiscard]] VITRINE_ENGINE_EXPORT Init torchDefaultInit(std::int64_t fanIn);

/// Fills `parameter` in place; a parameter on the Meta device is left alone.
///
/// Element i takes word i % 4 of Philox block i / 4 at (name, block), so a value depends on seed,
/// name and place alone.
VITRINE_ENGINE_EXPORT void initialise(const at::Tensor& parameter, const Init& init,
                                      const std::string& name, std::uint64_t seed);

/// First values of each parameter of a model, by its name and shape; nothing leaves it unchanged.
using InitRule =
    std::function<std::optional<Init>(const std::string& name, const at::Tensor& parameter)>;
/// Fills every parameter of `module` for which `rule` gives a value.
VITRINE_ENGINE_EXPORT void initialise(torch::nn::Module& module, const InitRule& rule,
                                      std::uint64_t seed);

}  // namespace vitrine::nn

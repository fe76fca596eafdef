// AdamW, SGD, LAMB and LARS over groups of parameters; the first two without a loop over parameters
// of our own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/engine_export.h"
#include "core/plugin/registry.h"

namespace vitrine {

struct OptimizerOptions {
  enum class Rule { AdamW, Sgd, Lamb, Lars };
  Rule rule = Rule::AdamW;
  /// AdamW and SGD decouple it: p -= learning rate * decay * p. LAMB and LARS add it to the update.
  double weightDecay = 0;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  ///< AdamW, LAMB
  double momentum = 0.9;                          ///< SGD, LARS
  bool nesterov = false;                          ///< SGD
  bool correctsBias = true;                       ///< LAMB: divides the moments by 1 - beta^t
  bool alwaysAdapts = false;        ///< LAMB: also parameters without decay get a trust ratio
  bool clipsRatio = false;          ///< LAMB: the ratio is at most 1
  bool decouplesDecay = false;      ///< LAMB: p -= learning rate * decay * p before the update
  double trustCoefficient = 0.001;  ///< LARS
};

/// Reads `optimizer` of a table of trainSchema().
[[nodiscard]] VITRINE_ENGINE_EXPORT OptimizerOptions optimizerFrom(const Config& train);

/// Everything the host hands to a step lives in tensors on the parameters' device, so a step never
/// waits for them.
///
/// All parameters share one count of updates. A parameter whose gradient is undefined keeps its
/// value and moments.
class VITRINE_ENGINE_EXPORT Optimizer {
 public:
  /// \throws ConfigError  a parameter is in two groups, or there is none
  Optimizer(const OptimizerOptions& options, std::vector<ParameterGroup> groups);

  /// Global Euclidean norm of all gradients: 0-d float32 on their device.
  [[nodiscard]] at::Tensor gradientNorm() const;
  /// One update.
  /// \param skip     0-d float32: 1 leaves parameters, moments and count as they are; 0 updates
  /// \param divisor  0-d float32 that gradients are divided by first (clipping), or undefined
  void step(double learningRate, const at::Tensor& skip, const at::Tensor& divisor);
  /// Drops the gradients: the next backward pass hands its own buffers over instead of adding to
  /// ours.
  void clearGradients();

  /// Updates applied: 0-d float32 on the device (exact to 16,777,216).
  [[nodiscard]] const at::Tensor& updates() const noexcept { return updates_; }
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const noexcept { return all_; }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  /// Moments by "<parameter>/exp_avg", "<parameter>/exp_avg_sq" or "<parameter>/momentum".
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state() const;
  /// \throws FileError  a moment is missing or has another shape
  void load(const std::map<std::string, at::Tensor>& moments, std::int64_t updates);

 private:
  struct Group {
    double weightDecay = 0, learningRateScale = 1;
    std::vector<at::Tensor> parameters, gradients, first, second, counts;
    std::vector<std::string> names;
    at::Tensor learningRate;  ///< 0-d float32
  };
  void update(Group& group, const at::Tensor& skip, const at::Tensor& divisor);
  void updateByTrustRatio(Group& group, const at::Tensor& skip, const at::Tensor& divisor);
  [[nodiscard]] bool hasSecondMoment() const noexcept {
    return options_.rule == OptimizerOptions::Rule::AdamW ||
           options_.rule == OptimizerOptions::Rule::Lamb;
  }

  OptimizerOptions options_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> all_;
  std::vector<std::string> names_;
  at::Tensor updates_;
};

/// sqrt of the sum of squares of all elements of all tensors: 0-d float32 on their device. On the
/// CPU one pass in chunks of fixed size, summed in float64: the same result for every number of
/// threads.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor globalNorm(const std::vector<at::Tensor>& tensors);

}  // namespace vitrine

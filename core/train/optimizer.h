// The optimizer of a run: a rule for each group of parameters, and what they share.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/engine_export.h"
#include "core/plugin/optimizer.h"
#include "core/plugin/registry.h"

namespace vitrine::train {

/// Everything the host hands to a step lives in tensors on the parameters' device, so a step never
/// waits for them.
///
/// All parameters share one count of updates. A parameter whose gradient is undefined keeps its
/// value and moments.
class VITRINE_ENGINE_EXPORT Optimizer {
 public:
  /// \param item   the rule of every group
  /// \param table  `optimizer` of a [train] table; what it lacks is as by default
  /// \throws ConfigError  a parameter is in two groups, or there is none
  Optimizer(const OptimizerItem& item, const Config& table, std::vector<ParameterGroup> groups);

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

  /// State of the rule, by "<parameter>/exp_avg" and so on.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state() const;
  /// \throws FileError  a moment is missing or has another shape
  void load(const std::map<std::string, at::Tensor>& moments, std::int64_t updates);

 private:
  struct Group {
    std::unique_ptr<UpdateRule> rule;
    std::vector<std::string> stateNames, names;
    double learningRateScale = 1;
    UpdateStep step;  ///< of all its parameters
  };
  [[nodiscard]] static Group groupOf(const OptimizerItem& item, const Config& config,
                                     ParameterGroup given);
  static void update(Group& group);

  std::vector<Group> groups_;
  std::vector<at::Tensor> all_;
  std::vector<std::string> names_;
  at::Tensor updates_;
};

/// sqrt of the sum of squares of all elements of all tensors: 0-d float32 on their device. On the
/// CPU one pass in chunks of fixed size, summed in float64: the same result for every number of
/// threads.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor globalNorm(const std::vector<at::Tensor>& tensors);

}  // namespace vitrine::train

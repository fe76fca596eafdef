// The interface of an optimizer in a plugin: the rule that turns gradients into new parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine {

/// The parameters of one group that have a gradient in this step, and what their update needs. All
/// tensors lie on one device.
struct UpdateStep {
  std::vector<at::Tensor> parameters;          ///< float32, changed in place
  std::vector<at::Tensor> gradients;           ///< next to `parameters`, not to be changed
  std::vector<std::vector<at::Tensor>> state;  ///< by place in stateNames(), then by parameter
  at::Tensor learningRate;                     ///< 0-d float32, of this group
  at::Tensor updates;                          ///< 0-d float32: updates so far with this one
  at::Tensor skip;         ///< 0-d float32: 1 leaves parameters and state as they are, 0 updates
  at::Tensor divisor;      ///< 0-d float32: gradients are divided by it first; or undefined
  double weightDecay = 0;  ///< of this group
};

/// An update rule with its settings.
class VITRINE_ENGINE_EXPORT UpdateRule {
 public:
  virtual ~UpdateRule();
  /// What the rule remembers of each parameter, always the same: {"exp_avg", "exp_avg_sq"}. A
  /// checkpoint has it as "<parameter>/exp_avg".
  [[nodiscard]] virtual std::vector<std::string> stateNames() const = 0;
  /// The first value of one of these: zeros of the parameter's shape.
  [[nodiscard]] virtual at::Tensor firstState(const std::string& name,
                                              const at::Tensor& parameter) const;
  /// One update, without gradients being recorded. It must not wait for the device: what the host
  /// would decide by `skip` becomes a factor or a choice (at::where) on the device. A gradient of a
  /// skipped step may hold anything, NaN included.
  virtual void update(UpdateStep& step) const = 0;
};

/// An optimizer, by its name in `[train] optimizer`. Its card's schema has its own keys besides
/// name, learning_rate and weight_decay.
class VITRINE_ENGINE_EXPORT OptimizerItem {
 public:
  virtual ~OptimizerItem();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// \param config  the table `optimizer`, with every key of the schema
  /// \throws ConfigError  what the schema's rules cannot say
  [[nodiscard]] virtual std::unique_ptr<UpdateRule> open(const Config& config) const = 0;
};

}  // namespace vitrine

// A model, and what it can do. A model is a torch::nn::Module that also offers capabilities: tasks,
// analyses and samplers ask for what they need with capabilityOf<>(). Those of core are in
// core/model/capabilities.h; a plugin may bring others.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine_export.h"

namespace torch::nn {
class Module;
}

namespace vitrine {

class WeightSource;

/// A capability of a model, as an interface with the name `kId`:
///
///     class Captioner : public vitrine::Capability {
///      public:
///       static constexpr const char* kId = "captioner";
///       virtual at::Tensor caption(const at::Tensor& images) = 0;
///     };
class VITRINE_ENGINE_EXPORT Capability {
 public:
  virtual ~Capability();
};

/// A capability of a model and its name.
struct OfferedCapability {
  const char* id;
  Capability* capability;
};

/// Layer and decay of a parameter, for rules about groups of parameters.
struct ParameterInfo {
  std::int64_t layer = 0;   ///< 0: embedding, 1 .. depth: blocks, depth + 1: what follows them
  std::int64_t layers = 2;  ///< depth + 2
  bool decays = true;       ///< weight decay is meant for it
};

/// Cost of one block for one image, forward only. `flops` counts a multiply-add as two, attention
/// in full (bidirectional) whatever the mask; papers that print "FLOPs" mostly mean multiply-adds,
/// `macs` is theirs.
struct BlockCost {
  std::string name;  ///< "blocks.3.attn"
  std::string kind;  ///< "norm:RMSNorm": what it is, and after the colon which operator; parts that
                     ///< two models share align
  std::int64_t parameters = 0;
  double flops = 0;
  double macs = 0;             ///< multiply-adds of matrix products and convolutions only
  double activationBytes = 0;  ///< kept for the backward pass of one image in float32
};

class VITRINE_ENGINE_EXPORT Model {
 public:
  virtual ~Model();
  /// The module itself; its parameter names are those of the public checkpoints.
  [[nodiscard]] virtual torch::nn::Module& module() = 0;
  [[nodiscard]] virtual std::vector<BlockCost> cost() const = 0;
  /// Makes the tensors of a weight file the model's own: gives them its names, merges and splits
  /// them, resizes those of another resolution (core/model/weight_source.h). Here: nothing, the
  /// file has the model's names and shapes.
  virtual void transform(WeightSource& source);
  /// Capabilities of the model; called once, so the list may be built each time. Default: none.
  [[nodiscard]] virtual std::vector<OfferedCapability> capabilities();
  /// Of every parameter, by name, in the order of named_parameters(). The default uses names and
  /// shapes. "blocks.N." or "layers.N." is layer N + 1; parameters before the first of them are
  /// layer 0, those after them the last layer. Matrices and kernels decay; vectors, position tables
  /// and class tokens do not.
  [[nodiscard]] virtual std::vector<std::pair<std::string, ParameterInfo>> parameterInfo();
  /// Chooses where dropout and drop path draw from. Nothing draws from torch's global generator.
  virtual void setGenerator(const at::Generator& generator) = 0;
};

/// {{A::kId, &model}, {B::kId, &model}, ...}: what capabilities() returns of a model that is all of
/// these.
template <class... Capabilities, class AnyModel>
[[nodiscard]] std::vector<OfferedCapability> offersOf(AnyModel& model) {
  return {{Capabilities::kId, static_cast<Capabilities*>(&model)}...};
}

/// The capability called `id`, or nullptr when the model lacks it.
[[nodiscard]] VITRINE_ENGINE_EXPORT Capability* capabilityOf(Model& model, std::string_view id);
template <class Kind>
[[nodiscard]] Kind* capabilityOf(Model& model) {
  return dynamic_cast<Kind*>(capabilityOf(model, Kind::kId));
}
/// The same, or a ConfigError: "<asker> needs a model that offers <id>; this one offers ..."
[[nodiscard]] VITRINE_ENGINE_EXPORT Capability& requireCapability(Model& model, std::string_view id,
                                                                  const std::string& asker);
template <class Kind>
[[nodiscard]] Kind& requireCapability(Model& model, const std::string& asker) {
  return dynamic_cast<Kind&>(requireCapability(model, Kind::kId, asker));
}
/// Names of what a built model can do.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::string> capabilitiesOf(Model& model);

}  // namespace vitrine

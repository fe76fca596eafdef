// The denoising transformer as a model: what it can do, and what it makes of named tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/diffusion/guidance.h"
#include "core/engine_export.h"
#include "core/model/capabilities.h"
#include "core/model/tensor_program.h"
#include "core/nn/mlp.h"
#include "core/nn/norm.h"
#include "core/nn/position/rope.h"

namespace vitrine::diffusion {

/// Rotary positions of queries and keys.
struct RotaryChoice {
  enum class Mode { None, Line, Grid };
  enum class Scale {
    None,
    Anchor,  ///< positions times anchor / grid
    Ntk,     ///< another base
  };
  Mode mode = Mode::None;
  double theta = 1e4;
  double ratio = 1;      ///< share of a head's channels that turn
  bool isShared = true;  ///< one spectrum for every head
  bool isRowFirst = false;
  Scale scale = Scale::None;
  std::array<std::int64_t, 2> anchor{0, 0};  ///< grid of training; 0: this model's own
  bool isPerAxis = false;
  double ntkAlpha = 1;
  nn::NtkRule ntkRule = nn::NtkRule::Plain;
};

struct DiffusionTransformerOptions {
  std::array<std::int64_t, 2> inputSize{32, 32}, patchSize{2, 2};
  std::int64_t channels = 4;
  std::int64_t width = 384, depth = 12, heads = 6, mlpWidth = 1536;
  nn::MlpKind mlp = nn::MlpKind::GeluTanh;
  nn::NormKind norm = nn::NormKind::Layer;
  double normEps = 1e-6;
  bool isNormAffine = false;
  bool addsPositions = true;
  RotaryChoice rope{};
  std::int64_t classes = 1000;
  double labelDrop = 0.1;   ///< above 0 the table has a row for "none of them"
  bool learnsSigma = true;  ///< the head has twice the channels
  /// Step: all of the head is the prediction. Flow: its first half, whatever the head has.
  GuidedDenoiser::Time time = GuidedDenoiser::Time::Step;
};

/// \throws ConfigError  sizes that do not fit together: names them and the remedy
VITRINE_ENGINE_EXPORT void requireSizes(const DiffusionTransformerOptions& options);

class VITRINE_ENGINE_EXPORT DiffusionTransformer final : public Model,
                                                         public Denoiser,
                                                         public GuidedDenoiser,
                                                         public AttentionSource,
                                                         public TensorProgram {
 public:
  /// Initialised from the `init` stream of `seed`, on buildDevice().
  /// \throws ConfigError  as requireSizes()
  DiffusionTransformer(const DiffusionTransformerOptions& options, std::uint64_t seed);
  ~DiffusionTransformer() override;
  DiffusionTransformer(const DiffusionTransformer&) = delete;
  DiffusionTransformer& operator=(const DiffusionTransformer&) = delete;

  [[nodiscard]] torch::nn::Module& module() override;
  [[nodiscard]] std::vector<BlockCost> cost() const override;
  /// Leaves out a table of positions of another grid where none is added, and resizes it otherwise.
  void transform(WeightSource& source) override;
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  void setGenerator(const at::Generator& generator) override;

  [[nodiscard]] Sizes denoiserSizes() const override;
  /// A label that is not given is "none of them".
  [[nodiscard]] at::Tensor denoise(const at::Tensor& x, const at::Tensor& time,
                                   const Condition& condition) override;
  [[nodiscard]] Time timeUnit() const override;
  [[nodiscard]] double labelDrop() const override;

  [[nodiscard]] std::int64_t attentionLayers() const override;
  [[nodiscard]] std::int64_t attentionHeads(std::int64_t layer) const override;
  /// Records carry the time of the first sample.
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override;

  /// latent, t, y and, for losses, noise; for the guided pass cfg_latent, cfg_t, cfg_y, cfg_scale.
  [[nodiscard]] std::vector<TensorInput> tensorInputs() const override;
  /// prediction, block_<i>, attention_<i>; loss and its parts; x_t; cfg. Of a flow also the losses
  /// transport_<path>_<prediction>_<weight> and the states x_t_<path>, u_t_<path>.
  [[nodiscard]] std::vector<TensorOutput> tensorOutputs() const override;
  [[nodiscard]] TensorMap runTensors(const TensorMap& inputs,
                                     const std::set<std::string>& wanted) override;

 private:
  struct State;
  class Program;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::diffusion

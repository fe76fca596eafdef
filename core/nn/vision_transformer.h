// The encoder that several architectures configure: patches, class token, positions, pre-norm
// blocks, norm, pooling, head. Each difference between them is one switch of the configuration, so
// all of them are this class.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine_export.h"
#include "core/model/capabilities.h"
#include "core/nn/attention_mask.h"
#include "core/nn/norm.h"
#include "core/nn/position_embedding.h"

namespace vitrine::nn {

enum class MlpKind {
  GeluErf,   ///< fc2(gelu(fc1(x))), exact
  GeluTanh,  ///< fc2(gelu(fc1(x))), tanh approximation
  SwiGlu,    ///< fc2(silu(fc1(x)) * fc3(x))
};

enum class PositionKind { None, Learned, SinCos };
enum class Pool { ClassToken, Average };         ///< Average: over patches, never the class token
enum class FinalNorm { BeforePool, AfterPool };  ///< called `norm` and `fc_norm`, as timm does
enum class Bias { None, Present };

/// How each weight is initialised.
enum class InitRecipe {
  Xavier,  ///< Xavier maps, LeCun-normal patch kernel, zero class token, positions N(0, 0.02), zero
           ///< head
  TruncatedNormal,  ///< truncated normal 0.02 for every map, class token, table and head; torch's
                    ///< default patch kernel
};

struct VisionTransformerConfig {
  std::array<std::int64_t, 2> imageSize{224, 224};  ///< [height, width], pixels
  std::array<std::int64_t, 2> patchSize{16, 16};    ///< [height, width], pixels
  std::int64_t inChannels = 3;
  std::int64_t classes = 1000;
  std::int64_t width = 768, depth = 12, heads = 12;
  std::int64_t mlpWidth = 3072;
  MlpKind mlp = MlpKind::GeluErf;
  Bias mlpBias = Bias::Present;
  Bias qkvBias = Bias::Present;
  NormKind norm = NormKind::Layer;
  double normEps = 1e-6;
  PositionKind positions = PositionKind::Learned;
  ClassToken classToken = ClassToken::First;
  Pool pool = Pool::ClassToken;
  FinalNorm finalNorm = FinalNorm::BeforePool;
  std::optional<double> layerScale;  ///< initial value of a gain per channel on each branch
  double dropPath = 0;               ///< rate of the last block; linear from 0 in the first
  double dropout = 0;                ///< after positions, attention projection and both MLP maps
  std::optional<double>
      ropeTheta;  ///< interleaved 1-D RoPE over the sequence, class token included
  MaskKind mask = MaskKind::Bidirectional;
  MaskMode maskMode = MaskMode::Multiplicative;
  InitRecipe init = InitRecipe::Xavier;
  double headBias = 0;  ///< initial value
};

/// Parameter names are those of the public checkpoints: `cls_token pos_embed
/// patch_embed.proj blocks.N.norm1 blocks.N.attn.qkv blocks.N.attn.proj blocks.N.ls1.gamma
/// blocks.N.norm2 blocks.N.mlp.fc1 norm fc_norm head`.
class VITRINE_ENGINE_EXPORT VisionTransformer : public Model,
                                                public ImageClassifier,
                                                public TokenEncoder,
                                                public AttentionSource {
 public:
  /// Initialised from the `init` stream of `seed`, on buildDevice().
  /// \throws ConfigError  sizes that do not fit together
  VisionTransformer(const VisionTransformerConfig& config, std::uint64_t seed);
  ~VisionTransformer() override;
  VisionTransformer(const VisionTransformer&) = delete;
  VisionTransformer& operator=(const VisionTransformer&) = delete;

  [[nodiscard]] const VisionTransformerConfig& config() const noexcept;
  [[nodiscard]] std::array<std::int64_t, 2> grid() const noexcept;  ///< patches, [height, width]

  [[nodiscard]] torch::nn::Module& module() override;
  [[nodiscard]] std::vector<BlockCost> cost() const override;
  [[nodiscard]] std::vector<std::vector<WeightRename>> otherNames() const override;
  [[nodiscard]] at::Tensor adapt(const std::string& parameter, const at::Tensor& value,
                                 const std::string& rule) const override;
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  void setGenerator(const at::Generator& generator) override;

  [[nodiscard]] at::Tensor classify(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor features(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor head(const at::Tensor& features) override;

  [[nodiscard]] Tokens embed(const at::Tensor& images) override;
  /// The stream after the last block, after the final norm where that comes before pooling. RoPE
  /// follows `tokens.positions`, masks follow the order of the tokens given.
  [[nodiscard]] at::Tensor encode(const Tokens& tokens, const at::Tensor& mask) override;
  void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> tap) override;

  [[nodiscard]] std::int64_t attentionLayers() const override;
  [[nodiscard]] std::int64_t attentionHeads(std::int64_t layer) const override;
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override;

  /// The mask's factor S for a sequence of `tokens`, [tokens, tokens] float32 on the model's
  /// device, whatever the mode.
  [[nodiscard]] at::Tensor attentionMask(std::int64_t tokens) const;
  /// Soft mask only: the factor where causal is 0. Lives on the device; setting it waits for
  /// nothing.
  void setMaskAlpha(double alpha);
  [[nodiscard]] double maskAlpha() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Cost of every piece of the encoder, from its configuration alone.
///
/// `macs` counts matrix products (papers' "FLOPs"); `flops` is twice that plus, per element, 1 for
/// a bias, sum or scale, 4 for a norm, 5 for a softmax, 8 for a GELU or SiLU. `kind` is the part, a
/// colon, and which operator it is: "norm:RMSNorm", "mask:causal, multiplicative".
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<BlockCost> costOf(
    const VisionTransformerConfig& config);

}  // namespace vitrine::nn

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
#include <vector>

#include "core/engine_export.h"
#include "core/model/capabilities.h"
#include "core/nn/attention_mask.h"
#include "core/nn/bias.h"
#include "core/nn/block_names.h"
#include "core/nn/init.h"
#include "core/nn/mlp.h"
#include "core/nn/norm.h"
#include "core/nn/position/position_embedding.h"
#include "core/nn/position/token_rotation.h"

namespace vitrine::nn {

enum class PositionKind { None, Learned, SinCos };
enum class Pool { ClassToken, Average };         ///< Average: over patches, never the class token
enum class FinalNorm { BeforePool, AfterPool };  ///< called `norm` and `fc_norm`, as timm does
/// Rates of drop path over the blocks: from 0 in the first to the last one's, or alike in all.
enum class DropPathRule { Linear, Constant };

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
  double dropPath = 0;               ///< rate of the last block
  DropPathRule dropPathRule = DropPathRule::Linear;
  double dropout = 0;  ///< after positions, attention projection and both MLP maps
  std::optional<double>
      ropeTheta;  ///< interleaved 1-D RoPE over the sequence, class token included
  std::shared_ptr<TokenRotation> rotation;  ///< of queries and keys, in place of ropeTheta
  std::shared_ptr<SequenceMask> mask;       ///< between tokens; none: every token sees every token
  /// A table of relative positions in each block, added to its scores (position/relative_bias.h);
  /// zero at first, whatever `init` says.
  bool relativeBias = false;
  /// First values of parameters. None: maps, class token and table truncated normal 0.02, the rest
  /// as its layer has it.
  InitRule init;
  EncoderNames names = {};
};

/// Parameter names are those of the public checkpoints: `cls_token pos_embed
/// patch_embed.proj blocks.N.norm1 blocks.N.attn.qkv blocks.N.attn.proj blocks.N.ls1.gamma
/// blocks.N.norm2 blocks.N.mlp.fc1 norm fc_norm head`.
class VITRINE_ENGINE_EXPORT VisionTransformer : public Model,
                                                public ImageClassifier,
                                                public TokenEncoder,
                                                public AttentionSource,
                                                public FeaturePyramid {
 public:
  /// Initialised from the `init` stream of `seed`, on buildDevice().
  /// \throws ConfigError  sizes that do not fit together
  VisionTransformer(const VisionTransformerConfig& config, std::uint64_t seed);
  ~VisionTransformer() override;
  VisionTransformer(const VisionTransformer&) = delete;
  VisionTransformer& operator=(const VisionTransformer&) = delete;

  [[nodiscard]] const VisionTransformerConfig& config() const noexcept;

  [[nodiscard]] torch::nn::Module& module() override;
  /// By core/nn/cost.h. `kind` is the part, a colon, and which operator it is: "norm:RMSNorm",
  /// "mask:causal, multiplicative".
  [[nodiscard]] std::vector<BlockCost> cost() const override;
  /// Resizes `pos_embed` and tables of relative positions of another square grid.
  void transform(WeightSource& source) override;
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  void setGenerator(const at::Generator& generator) override;

  [[nodiscard]] at::Tensor classify(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor features(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor head(const at::Tensor& features) override;

  [[nodiscard]] Tokens embed(const at::Tensor& images) override;
  /// The stream after the last block, after the final norm where that comes before pooling. RoPE
  /// and masks follow `tokens.positions`: [tokens, 2], or [batch, tokens, 2] where each sample has
  /// tokens of its own. \throws ShapeError  positions that are neither
  [[nodiscard]] at::Tensor encode(const Tokens& tokens, const at::Tensor& mask) override;
  void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> tap) override;

  [[nodiscard]] std::int64_t attentionLayers() const override;
  [[nodiscard]] std::int64_t attentionHeads(std::int64_t layer) const override;
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override;

  /// \throws ConfigError  no such block, or patches that are not square
  [[nodiscard]] std::vector<Level> levels(const std::vector<std::int64_t>& blocks) const override;
  /// The stream after each of `blocks`, without class token and final norm. Images of another size
  /// than the configuration's need a model without tables of positions.
  [[nodiscard]] std::vector<at::Tensor> pyramid(const at::Tensor& images,
                                                const std::vector<std::int64_t>& blocks) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::nn

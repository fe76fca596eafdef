// A model, and what it can do. A model is a torch::nn::Module that also implements the capabilities it has; tasks and
// analyses ask for what they need with capabilityOf<>().
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/engine_export.h"

namespace torch::nn {
class Module;
}

namespace vitrine {

/// What goes in and what comes out.
struct IoSpec {
  std::int64_t channels = 3;
  std::int64_t height = 0, width = 0;  ///< pixels
  std::int64_t classes = 0;
};

/// Cost of one block for one image, forward only. `flops` counts a multiply-add as two, attention in full (bidirectional)
/// whatever the mask; papers that print "FLOPs" mostly mean multiply-adds, `macs` is theirs.
struct BlockCost {
  std::string name;   ///< "blocks.3.attn"
  std::string kind;   ///< "norm:RMSNorm": what it is, and after the colon which operator; parts that two models share align
  std::int64_t parameters = 0;
  double flops = 0;
  double macs = 0;             ///< multiply-adds of matrix products and convolutions only
  double activationBytes = 0;  ///< kept for the backward pass of one image in float32
};

/// How a public name becomes ours: one checkpoint tensor, or a row block of ours (separate q, k, v into a fused qkv).
struct WeightRename {
  std::string theirs;  ///< name in the file
  std::string ours;    ///< parameter name
  int part = 0, parts = 1;  ///< rows [part, part+1) / parts of ours
};

class VITRINE_ENGINE_EXPORT Model {
 public:
  virtual ~Model();
  /// The module itself; its parameter names are those of the public checkpoints.
  [[nodiscard]] virtual torch::nn::Module& module() = 0;
  [[nodiscard]] virtual std::vector<BlockCost> cost() const = 0;
  /// Other public namings of the same weights, each a complete table ("huggingface").
  [[nodiscard]] virtual std::vector<std::vector<WeightRename>> otherNames() const;
  /// Turns a tensor of a checkpoint made at another resolution into this model's shape; undefined when it is not such a
  /// tensor. \param rule  bicubic | bicubic_antialias | linear_corners
  [[nodiscard]] virtual at::Tensor adapt(const std::string& parameter, const at::Tensor& value,
                                         const std::string& rule) const;
  /// Chooses where dropout and drop path draw from. Nothing draws from torch's global generator.
  virtual void setGenerator(const at::Generator& generator) = 0;
};

/// images [batch, channels, height, width] -> logits [batch, classes]
class VITRINE_ENGINE_EXPORT ImageClassifier {
 public:
  virtual ~ImageClassifier();
  [[nodiscard]] virtual at::Tensor classify(const at::Tensor& images) = 0;
  /// What the classifier head reads: [batch, width].
  [[nodiscard]] virtual at::Tensor features(const at::Tensor& images) = 0;
  [[nodiscard]] virtual at::Tensor head(const at::Tensor& features) = 0;
};

struct Tokens {
  at::Tensor values;     ///< [batch, tokens, width]
  at::Tensor positions;  ///< [tokens, 2] row and column in patches; -1 for a class token
};

/// Whole images, subsets of patches and mixed sequences go through this.
class VITRINE_ENGINE_EXPORT TokenEncoder {
 public:
  virtual ~TokenEncoder();
  [[nodiscard]] virtual Tokens embed(const at::Tensor& images) = 0;
  /// \param mask  additive, broadcastable to [batch, heads, tokens, tokens], or undefined
  [[nodiscard]] virtual at::Tensor encode(const Tokens& tokens, const at::Tensor& mask) = 0;
  /// Called with (block index, residual stream after it [batch, tokens, width]) while set; an empty function clears it.
  virtual void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> tap) = 0;
};

/// One layer's attention of one forward pass.
struct AttentionRecord {
  std::int64_t layer = 0;
  at::Tensor weights;         ///< [batch, heads, queries, keys]; rows need not sum to one
  at::Tensor queryPositions;  ///< [queries, 2] patches, -1 for a class token
  at::Tensor keyPositions;    ///< [keys, 2]
};

struct AttentionTap {
  enum class Kind {
    Softmax,    ///< after the softmax
    Effective,  ///< what multiplies the values, after a mask
  };
  std::vector<std::int64_t> layers;  ///< empty means all
  Kind kind = Kind::Effective;
  std::function<void(const AttentionRecord&)> receive;
};

/// Hands out attention one layer at a time while a tap is set; costs nothing while none is.
class VITRINE_ENGINE_EXPORT AttentionSource {
 public:
  virtual ~AttentionSource();
  [[nodiscard]] virtual std::int64_t attentionLayers() const = 0;
  [[nodiscard]] virtual std::int64_t attentionHeads() const = 0;
  virtual void setAttentionTap(std::shared_ptr<const AttentionTap> tap) = 0;  ///< nullptr clears it
};

/// A model that changes along the run (soft mask). The trainer alone calls it, once before each optimizer step.
class VITRINE_ENGINE_EXPORT Scheduled {
 public:
  virtual ~Scheduled();
  struct Position {
    std::int64_t step = 0;           ///< optimizer steps completed
    std::int64_t totalSteps = 0;
    std::int64_t stepsPerEpoch = 0;
  };
  virtual void beforeStep(const Position& position) = 0;
  /// Values worth a curve: {"model/mask_alpha", 0.4}.
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> scheduledValues() const = 0;
  /// The finished model: what evaluation after training uses (soft mask factor 0).
  virtual void finish() = 0;
};

/// The capability, or nullptr when the model lacks it.
template <class Capability>
[[nodiscard]] Capability* capabilityOf(Model& model) noexcept {
  return dynamic_cast<Capability*>(&model);
}
/// Names (core/config/catalog.h) of the capabilities a built model has.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::string> capabilitiesOf(Model& model);

}  // namespace vitrine

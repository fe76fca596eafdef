// The capabilities that core knows. Shapes: B batch, C channels, H and W pixels, N tokens, D width.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/model/model.h"

namespace vitrine {

/// images [B, C, H, W] -> logits [B, classes]
class VITRINE_ENGINE_EXPORT ImageClassifier : public Capability {
 public:
  static constexpr const char* kId = "image_classifier";
  [[nodiscard]] virtual at::Tensor classify(const at::Tensor& images) = 0;
  /// What the classifier head reads: [B, D].
  [[nodiscard]] virtual at::Tensor features(const at::Tensor& images) = 0;
  [[nodiscard]] virtual at::Tensor head(const at::Tensor& features) = 0;
};

struct Tokens {
  at::Tensor values;     ///< [B, N, D]
  at::Tensor positions;  ///< [N, 2], or [B, N, 2]: row and column in patches; -1 for a class token
};

/// Whole images, subsets of patches and mixed sequences go through this.
class VITRINE_ENGINE_EXPORT TokenEncoder : public Capability {
 public:
  static constexpr const char* kId = "token_encoder";
  [[nodiscard]] virtual Tokens embed(const at::Tensor& images) = 0;
  /// \param mask  additive, broadcastable to [B, heads, N, N], or undefined
  [[nodiscard]] virtual at::Tensor encode(const Tokens& tokens, const at::Tensor& mask) = 0;
  /// Called with (block index, residual stream after it [B, N, D]) while set; an empty function
  /// clears it.
  virtual void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> tap) = 0;
};

/// Maps of several resolutions, or of several depths: [B, channels, height, width] each.
class VITRINE_ENGINE_EXPORT FeaturePyramid : public Capability {
 public:
  static constexpr const char* kId = "feature_pyramid";
  struct Level {
    std::int64_t channels = 0, stride = 1;  ///< pixels of the image per cell
  };
  /// \param blocks  counted from 0: of a plain model, after which blocks. Empty: the levels
  ///                that the model has by itself, finest first (of a plain model the last block)
  /// \throws ConfigError  there is no such block, or the model's levels are its only ones
  [[nodiscard]] virtual std::vector<Level> levels(
      const std::vector<std::int64_t>& blocks) const = 0;
  /// Differentiable. \param images  [B, C, H, W] of any size that the strides divide
  [[nodiscard]] virtual std::vector<at::Tensor> pyramid(
      const at::Tensor& images, const std::vector<std::int64_t>& blocks) = 0;
};

/// What a generation is steered by; a field that is undefined is not given.
struct Condition {
  at::Tensor label;   ///< [B] int64; the number of classes means "none of them"
  at::Tensor tokens;  ///< [B, N] int64 of a text
  at::Tensor mask;    ///< [B, N] bool: which of them count
};

/// A network that takes noise away. Guidance is the sampler's.
class VITRINE_ENGINE_EXPORT Denoiser : public Capability {
 public:
  static constexpr const char* kId = "denoiser";
  struct Sizes {
    std::int64_t channels = 3, height = 0, width = 0;  ///< of x: pixels or latents
    std::int64_t classes = 0;                          ///< 0: not steered by a class
    std::int64_t outputs = 3;                          ///< channels of the prediction
  };
  [[nodiscard]] virtual Sizes denoiserSizes() const = 0;
  /// \param x     [B, channels, H, W]
  /// \param time  [B] float32, in the units that the model was trained with
  /// \returns     [B, outputs, H, W]
  [[nodiscard]] virtual at::Tensor denoise(const at::Tensor& x, const at::Tensor& time,
                                           const Condition& condition) = 0;
};

/// Images to latents and back. Latents here are the codec's own. A network that works on them reads
/// latents times scale(), and what it makes is divided by scale() before it is decoded.
class VITRINE_ENGINE_EXPORT LatentCodec : public Capability {
 public:
  static constexpr const char* kId = "latent_codec";
  struct Latent {
    at::Tensor mean, logVariance;  ///< [B, c, H / factor, W / factor]; no variance: a point
    /// mean + exp(logVariance / 2) noise; of a point its mean. \param noise  of the shape of `mean`
    [[nodiscard]] at::Tensor draw(const at::Tensor& noise) const;
  };
  struct Pixels {
    std::int64_t channels = 3;
    double low = -1, high = 1;  ///< black and white of the images that it reads and makes
  };
  [[nodiscard]] virtual Pixels pixels() const = 0;
  [[nodiscard]] virtual std::int64_t factor() const = 0;  ///< pixels per cell
  [[nodiscard]] virtual std::int64_t latentChannels() const = 0;
  [[nodiscard]] virtual double scale() const = 0;  ///< latents times this have about unit variance
  /// \param images  [B, channels, H, W], black `low`, white `high`, sides multiples of factor()
  [[nodiscard]] virtual Latent encodeLatent(const at::Tensor& images) = 0;
  /// Not clamped. \param latent  [B, c, h, w], not scaled
  [[nodiscard]] virtual at::Tensor decodeLatent(const at::Tensor& latent) = 0;
};

/// Logits over a vocabulary, with keys and values of earlier tokens kept. Causal: a token that is
/// padded on the right changes nothing before it.
class VITRINE_ENGINE_EXPORT LanguageModel : public Capability {
 public:
  static constexpr const char* kId = "language_model";
  class VITRINE_ENGINE_EXPORT Cache {
   public:
    virtual ~Cache();
    [[nodiscard]] virtual std::int64_t length() const = 0;  ///< tokens so far
    /// Forgets all tokens from `length` on. Then comes another continuation of the same beginning,
    /// or the rows of an image that are computed again at every step of its sampling.
    virtual void truncate(std::int64_t length) = 0;
  };
  enum class Rows {
    All,   ///< logits of every token: training, scores of given texts
    Last,  ///< of the last one: generation
  };
  [[nodiscard]] virtual std::int64_t vocabularySize() const = 0;
  /// Tokens that it was made for, with those of the cache; 0: no limit.
  [[nodiscard]] virtual std::int64_t contextLength() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Cache> makeCache(std::int64_t batch) = 0;
  /// Differentiable without a cache.
  /// \param tokens  [B, N] int64
  /// \param cache   of the tokens before these, brought up to date; nullptr: there are none
  /// \returns       [B, N or 1, vocabulary]
  [[nodiscard]] virtual at::Tensor next(const at::Tensor& tokens, Cache* cache, Rows rows) = 0;
};

/// One layer's attention of one forward pass.
struct AttentionRecord {
  std::int64_t layer = 0;
  at::Tensor weights;         ///< [B, heads, queries, keys]; rows need not sum to one
  at::Tensor queryPositions;  ///< [queries, 2] patches, -1 for a class token
  at::Tensor keyPositions;    ///< [keys, 2], in the units of the query grid
  std::int64_t window = -1;   ///< of windowed attention: which window; -1: the whole grid
  double time = std::numeric_limits<double>::quiet_NaN();  ///< of a denoiser
};

struct AttentionTap {
  enum class Kind {
    Softmax,    ///< after the softmax
    Effective,  ///< what multiplies the values, after a mask; may be signed
  };
  std::vector<std::int64_t> layers;  ///< empty means all
  Kind kind = Kind::Effective;
  std::function<void(const AttentionRecord&)> receive;
};

/// Hands out attention one layer at a time while a tap is set; costs nothing while none is.
class VITRINE_ENGINE_EXPORT AttentionSource : public Capability {
 public:
  static constexpr const char* kId = "attention_source";
  [[nodiscard]] virtual std::int64_t attentionLayers() const = 0;
  [[nodiscard]] virtual std::int64_t attentionHeads(std::int64_t layer) const = 0;
  virtual void setAttentionTap(std::shared_ptr<const AttentionTap> tap) = 0;  ///< nullptr clears it
};

/// Where a run is.
struct StepPosition {
  std::int64_t step = 0;  ///< optimizer steps completed
  std::int64_t totalSteps = 0;
  std::int64_t stepsPerEpoch = 0;
};

/// A model or a session of a task that changes along the run. The trainer alone calls it, once
/// before each optimizer step.
class VITRINE_ENGINE_EXPORT Scheduled : public Capability {
 public:
  static constexpr const char* kId = "scheduled";
  virtual void beforeStep(const StepPosition& position) = 0;
  /// Values worth a curve: {"model/dropout", 0.4}.
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> scheduledValues() const = 0;
  /// What happened in the last beforeStep() and is worth one message.
  struct Occurrence {
    std::string kind, text;  ///< "phase_changed", one sentence
  };
  [[nodiscard]] virtual std::vector<Occurrence> occurrences() const;
  /// What beforeStep() cannot find out from the position alone; kept with checkpoints. Here: null.
  [[nodiscard]] virtual Json scheduledState() const;
  virtual void restoreScheduled(const Json& state);
  /// The finished model: what evaluation after training uses.
  virtual void finish() = 0;
};

}  // namespace vitrine

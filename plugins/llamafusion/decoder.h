// The decoder of a Llama, and its copies for images (LlamaFusion: Shi et al. 2024,
// arXiv:2412.15188, equations 5 to 14, in pre-norm form). For source files only: this brings
// torch/nn/module.h.
//
// Parameters have the names of transformers' Llama; those of the image copies stand below `img`.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/model/capabilities.h"
#include "core/nn/layers.h"
#include "core/nn/multi_head_attention.h"
#include "plugins/llamafusion/layout.h"
#include "plugins/llamafusion/llama_config.h"

namespace vitrine::llamafusion {

/// Modules that images do not share with text.
enum class Separation {
  Dense,    ///< none
  Shallow,  ///< the SwiGLU and its norm
  Deep,     ///< also the attention's maps and its norm
};

/// The modules of one modality in one layer; those that it shares are null.
struct ModalityLayer : torch::nn::Module {
  ModalityLayer(const LlamaConfig& config, bool hasAttention, bool hasMlp);
  std::shared_ptr<nn::Norm> attentionNorm, mlpNorm;
  std::shared_ptr<nn::MultiHeadAttention> attention;
  std::shared_ptr<nn::Mlp> mlp;
};

struct DecoderLayer final : ModalityLayer {
  DecoderLayer(const LlamaConfig& config, Separation separation);
  std::shared_ptr<ModalityLayer> image;  ///< null of a dense decoder
};

/// Keys, turned, and values of earlier tokens, with their positions and images. Room grows ahead of
/// the tokens: a step writes its own rows and copies no others.
class DecoderCache final : public LanguageModel::Cache {
 public:
  DecoderCache(std::int64_t batch, std::int64_t depth);
  [[nodiscard]] std::int64_t length() const override {
    return static_cast<std::int64_t>(positions_.size());
  }
  void truncate(std::int64_t length) override;

  /// [batch, length, keyHeads, headDim]; undefined while there are none.
  struct Layer {
    at::Tensor keys, values;
  };
  /// Keys and values of layer `i`.
  [[nodiscard]] Layer layer(std::int64_t i) const;

  /// What one operation needs of an attention: its maps of queries, keys and values in one, and
  /// keys and values of the tokens before, as many as there are queries (undefined: none).
  struct Whole {
    at::Tensor maps, keys, values;
  };
  /// Of layer `i`, made once for the tokens that the cache has.
  template <class Make>
  [[nodiscard]] const Whole& whole(std::int64_t i, const Make& make) {
    wholes_.resize(rooms_.size());
    Whole& kept = wholes_[static_cast<std::size_t>(i)];
    if (!kept.maps.defined()) kept = make();
    return kept;
  }
  /// Those of layer `i` with these behind them, [batch, tokens, keyHeads, headDim]. They stay where
  /// append() follows, and are written over otherwise. Without gradient.
  [[nodiscard]] Layer extended(std::int64_t i, const Layer& more);
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] std::int64_t nextPosition() const {
    return positions_.empty() ? 0 : positions_.back() + 1;
  }
  /// Of tokens that extended every layer. \param image  that they belong to, as in imageIndex()
  void append(const std::vector<std::int64_t>& positions, std::int64_t image);
  /// Of each token 0 for text, k for the k-th image.
  [[nodiscard]] const std::vector<std::int64_t>& imageIndex() const { return images_; }

 private:
  /// extended(), as a tensor of inference: no view of it is followed, which costs a decoded token a
  /// fifth of its time.
  Layer written(std::int64_t i, const Layer& more);

  std::int64_t batch_;
  std::vector<Layer> rooms_;
  std::vector<Whole> wholes_;
  std::vector<std::int64_t> positions_, images_;
};

/// One pass through the layers. B samples of N tokens. The first P are text that sees no image; the
/// other M = N - P are rows of text and image, mixed.
struct DecoderPass {
  at::Tensor prefix;  ///< [B, P, dim]; undefined where P is 0
  at::Tensor tail;    ///< [B * M, dim]; undefined where M is 0
  std::int64_t batch = 0;
  Routing routing;                ///< of the tail
  at::Tensor positions;           ///< [N] or [B, N]
  at::Tensor firstKey, lastKey;   ///< [N] or [B, N]; undefined: 0, and the token itself
  DecoderCache* cache = nullptr;  ///< of the tokens before; with one, P or M is 0
  bool keepsKeys = false;         ///< the cache takes the keys of this pass
  at::Tensor textMask;            ///< of a text alone, where its layers go as one operation each
  std::function<void(std::int64_t, const at::Tensor&)> tap;  ///< layer and stream [B, N, dim]
  /// Layer and probabilities [B, heads, N, keys], keys those of the cache and then of the pass.
  /// What the pass computes stays the same.
  std::function<void(std::int64_t, const at::Tensor&)> attentionTap;
};

struct DecoderStream {
  at::Tensor prefix, tail;  ///< as in DecoderPass, behind the last layer, without the final norm
};

/// The root of all parameter names.
struct Decoder : torch::nn::Module {
  /// \param ownImageNorm  images have a final norm of their own
  Decoder(const LlamaConfig& config, Separation separation, bool ownImageNorm);

  [[nodiscard]] at::Tensor embed(const at::Tensor& tokens) const;      ///< [..] -> [.., dim]
  [[nodiscard]] DecoderStream forward(const DecoderPass& pass) const;  ///< without the last norm
  /// The same for texts and images that share sequences, each layer as one operation on the CPU.
  /// \param rows  [B, N, dim], in the order of the columns
  /// \param pass  without a cache; its prefix and tail are not read
  /// \returns  like `rows`; undefined where the layers are not one operation
  [[nodiscard]] at::Tensor forwardSorted(const at::Tensor& rows, const SortedColumns& sorted,
                                         const DecoderPass& pass) const;
  /// Whether forwardSorted() would go through, were there such rows.
  [[nodiscard]] bool takesSorted(const SortedColumns& sorted, const DecoderPass& pass) const;
  /// Rows behind the last layer, each normalised as its modality is.
  [[nodiscard]] at::Tensor finishTail(const at::Tensor& tail, const Routing& routing) const;
  [[nodiscard]] at::Tensor finishText(const at::Tensor& text) const { return norm->forward(text); }
  /// [.., dim], normalised -> [.., vocab]
  [[nodiscard]] at::Tensor logits(const at::Tensor& features) const;
  /// A whole text pass: tokens [B, N] -> stream [B, N, dim] behind the last layer.
  [[nodiscard]] at::Tensor text(const at::Tensor& tokens, DecoderPass pass) const;

  [[nodiscard]] const LlamaConfig& config() const { return config_; }
  [[nodiscard]] Separation separation() const { return separation_; }

  at::Tensor embedding, headWeight;  ///< of a tied decoder both are one
  std::vector<std::shared_ptr<DecoderLayer>> layers;
  std::shared_ptr<nn::Norm> norm, imageNorm;  ///< imageNorm null: images take the text's

 private:
  struct Projected {
    at::Tensor query, key, value;  ///< [B, tokens, heads, headDim], turned
  };
  [[nodiscard]] Projected turned(at::Tensor packed, const at::Tensor& angles,
                                 std::int64_t batch) const;
  [[nodiscard]] DecoderStream layer(std::int64_t index, const DecoderStream& stream,
                                    const DecoderPass& pass, const at::Tensor& angles) const;
  /// Additive mask of the hidden keys of a text, [tokens, tokens] or [batch, tokens, tokens];
  /// undefined where a layer cannot go as one operation.
  [[nodiscard]] at::Tensor textMask(const DecoderPass& pass) const;
  /// Whether a pass has images alone, each of which sees a whole cache and itself, and a layer may
  /// go as one operation: steps of drawing.
  [[nodiscard]] bool isImageAfterCache(const DecoderPass& pass) const;
  /// \param before  keys and values that all rows see, or none
  [[nodiscard]] DecoderCache::Whole wholeOf(const nn::MultiHeadAttention& attention,
                                            const DecoderCache::Layer& before) const;
  /// A layer of one modality alone as one operation on the CPU; undefined where that is not taken.
  /// \param rows  [batch, tokens, dim]
  [[nodiscard]] at::Tensor whole(const ModalityLayer& layer, const at::Tensor& rows,
                                 const at::Tensor& mask, const at::Tensor& angles,
                                 const DecoderCache::Whole& parts) const;
  /// What the operation is given besides the parameters.
  [[nodiscard]] cpu::BlockInput wholeInput(const at::Tensor& rows, const at::Tensor& mask,
                                           const at::Tensor& angles) const;

  LlamaConfig config_;
  Separation separation_;
  at::Tensor frequencies_;
};

/// One line of a cost table for each layer, the embedding and the head, of `tokens` text tokens.
[[nodiscard]] std::vector<BlockCost> decoderCost(const Decoder& decoder, double tokens);

/// First values of a decoder by name: maps and embeddings N(0, 0.02) as transformers draws them,
/// norms 1; image copies equal to the text's modules.
void initialiseDecoder(Decoder& decoder, std::uint64_t seed);
/// Name of the text parameter that `name`, of an image copy, begins as; "" of any other.
[[nodiscard]] std::string textCounterpart(const std::string& name);

}  // namespace vitrine::llamafusion

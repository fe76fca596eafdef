// One head of softmax attention over one image, forward and backward, by the calling thread alone.
// It includes RoPE and masks, and reads straight from rows of the packed projections.
#pragma once

#include <cstdint>

#include "core/kernels/cpu/gemm.h"

namespace vitrine::cpu {

/// Sizes, strides and constants of every head of a call. Rows of q are `queryStride` floats apart,
/// those of k and v `keyStride`, those of the output `outStride`.
struct HeadShape {
  std::int64_t queries = 0, keys = 0, headDim = 0;
  std::int64_t queryStride = 0, keyStride = 0, outStride = 0;
  std::int64_t firstQuery = 0;  ///< position of the first query among the keys
  float scale = 1;
  const float* cosine = nullptr;  ///< [keys, headDim/2] or null
  const float* sine = nullptr;
  const float* additive = nullptr;        ///< [queries, keys] of this head or null
  const float* multiplicative = nullptr;  ///< [queries, keys] or null
};

/// Room for one head, kept by a thread from head to head.
class HeadScratch {
 public:
  explicit HeadScratch(const HeadShape& shape);

 private:
  friend struct HeadPass;
  std::int64_t stride_;  ///< of a row of logits
  AlignedFloats query_, key_, packed_, logits_, weights_;
};

/// out = (softmax(scale q k^T + additive) * multiplicative) v
/// \param probabilities  receives the softmax, [queries, keys]
void forwardHead(const HeadShape& shape, const float* query, const float* key, const float* value,
                 float* out, float* probabilities, HeadScratch& scratch);

/// Gradients of one head, rows as far apart as those of q, k and v; written, not added to.
struct HeadGradients {
  float* query;
  float* key;
  float* value;
  float* additive = nullptr;  ///< [queries, keys], dense, of the mask; null where it is a constant
};
void backwardHead(const HeadShape& shape, const float* query, const float* key, const float* value,
                  const float* outGradient, const float* probabilities,
                  const HeadGradients& gradients, HeadScratch& scratch);

}  // namespace vitrine::cpu

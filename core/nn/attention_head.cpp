#include "core/nn/attention_head.h"

#include <algorithm>
#include <limits>

#include "core/kernels/vector_clones.h"
#include "core/nn/fast_exp.h"
#include "core/nn/tile_product.h"

namespace vitrine::nn {

namespace {

constexpr Factor kFloat = Factor::Float32;

/// Vectors are filled whole: rows that are walked along the keys end at a multiple of 16.
constexpr std::int64_t padded(std::int64_t keys) { return (keys + 15) / 16 * 16; }

/// Turns rows by their positions; direction -1 turns back. `out` may be `rows`.
VITRINE_VECTOR_CLONES
void turnRows(const HeadShape& p, const float* rows, std::int64_t stride, std::int64_t count,
              std::int64_t firstPosition, float direction, float* out, std::int64_t outStride) {
  const std::int64_t pairs = p.headDim / 2;
  for (std::int64_t i = 0; i < count; ++i) {
    const float* row = rows + i * stride;
    float* turned = out + i * outStride;
    const float* cosine = p.cosine + (firstPosition + i) * pairs;
    const float* sine = p.sine + (firstPosition + i) * pairs;
    for (std::int64_t m = 0; m < pairs; ++m) {
      const float a = row[2 * m], b = row[2 * m + 1], s = direction * sine[m];
      turned[2 * m] = a * cosine[m] - b * s;
      turned[2 * m + 1] = a * s + b * cosine[m];
    }
  }
}

/// Probabilities of rows of plain products, and where a mask multiplies, what is left of them in
/// `logits`.
VITRINE_VECTOR_CLONES
void softmaxRows(const HeadShape& p, std::int64_t stride, float* logits, float* probabilities) {
  for (std::int64_t i = 0; i < p.queries; ++i) {
    float* row = logits + i * stride;
    for (std::int64_t j = 0; j < stride; ++j) row[j] *= p.scale;
    if (p.additive != nullptr) {
      for (std::int64_t j = 0; j < p.keys; ++j) row[j] += p.additive[i * p.keys + j];
    }
    for (std::int64_t j = p.keys; j < stride; ++j) row[j] = -std::numeric_limits<float>::infinity();
    float lanes[16];
    for (int j = 0; j < 16; ++j) lanes[j] = row[j];
    for (std::int64_t first = 16; first < stride; first += 16) {
      for (int j = 0; j < 16; ++j) lanes[j] = lanes[j] > row[first + j] ? lanes[j] : row[first + j];
    }
    float largest = lanes[0];
    for (int j = 1; j < 16; ++j) largest = largest > lanes[j] ? largest : lanes[j];
    float sums[16] = {};
    for (std::int64_t first = 0; first < stride; first += 16) {
      for (int j = 0; j < 16; ++j) {
        const float e = expNegative(row[first + j] - largest);
        row[first + j] = e;
        sums[j] += e;
      }
    }
    float sum = 0;
    for (int j = 0; j < 16; ++j) sum += sums[j];
    const float inverse = 1 / sum;
    float* out = probabilities + i * p.keys;
    for (std::int64_t j = 0; j < p.keys; ++j) out[j] = row[j] * inverse;
    if (p.multiplicative != nullptr) {
      for (std::int64_t j = 0; j < p.keys; ++j) row[j] = out[j] * p.multiplicative[i * p.keys + j];
    }
  }
}

/// From gradients of P * S in `slopes` to those of the plain products; `weights` receives P * S
/// where there is an S.
VITRINE_VECTOR_CLONES
void slopeRows(const HeadShape& p, std::int64_t stride, const float* probabilities, float* slopes,
               float* weights) {
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const float* row = probabilities + i * p.keys;
    float* slope = slopes + i * stride;
    if (p.multiplicative != nullptr) {
      const float* factor = p.multiplicative + i * p.keys;
      float* weight = weights + i * p.keys;
      for (std::int64_t j = 0; j < p.keys; ++j) {
        weight[j] = row[j] * factor[j];
        slope[j] *= factor[j];
      }
    }
    const std::int64_t whole = p.keys / 16 * 16;
    float lanes[16] = {};
    for (std::int64_t j = 0; j < whole; j += 16) {
      for (int lane = 0; lane < 16; ++lane) lanes[lane] += row[j + lane] * slope[j + lane];
    }
    float mean = 0;
    for (int lane = 0; lane < 16; ++lane) mean += lanes[lane];
    for (std::int64_t j = whole; j < p.keys; ++j) mean += row[j] * slope[j];
    for (std::int64_t j = 0; j < p.keys; ++j) slope[j] = row[j] * (slope[j] - mean) * p.scale;
  }
}

}  // namespace

HeadScratch::HeadScratch(const HeadShape& p) : stride_(padded(p.keys)) {
  if (p.cosine != nullptr) {
    query_.resize(static_cast<std::size_t>(p.queries * p.headDim));
    key_.resize(static_cast<std::size_t>(p.keys * p.headDim));
  }
  packed_.resize(static_cast<std::size_t>(std::max(
      {packedRightSize(kFloat, p.headDim, p.keys), packedRightSize(kFloat, p.keys, p.headDim),
       packedRightSize(kFloat, p.queries, p.headDim)})));
  logits_.resize(static_cast<std::size_t>(p.queries * stride_));
  if (p.multiplicative != nullptr) weights_.resize(static_cast<std::size_t>(p.queries * p.keys));
}

/// What both directions begin with: q and k, turned where there are angles.
struct HeadPass {
  HeadPass(const HeadShape& p, const float* q, const float* k, HeadScratch& s)
      : query{q, p.queryStride, 1},
        key{k, p.keyStride, 1},
        packed(s.packed_.data()),
        logits(s.logits_.data()),
        weights(s.weights_.data()),
        stride(s.stride_) {
    if (p.cosine == nullptr) return;
    turnRows(p, q, p.queryStride, p.queries, p.firstQuery, 1, s.query_.data(), p.headDim);
    turnRows(p, k, p.keyStride, p.keys, 0, 1, s.key_.data(), p.headDim);
    query = {s.query_.data(), p.headDim, 1};
    key = {s.key_.data(), p.headDim, 1};
  }

  /// out = left right, one of them being small: the right factor is packed first.
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const MatrixView& left,
               const MatrixView& right, float* out, std::int64_t outStride) const {
    packRight(kFloat, depth, columns, right, packed);
    multiply(kFloat, rows, columns, depth, left, packed, {}, out, outStride);
  }

  MatrixView query, key;
  float *packed, *logits, *weights;
  std::int64_t stride;
};

void forwardHead(const HeadShape& p, const float* query, const float* key, const float* value,
                 float* out, float* probabilities, HeadScratch& scratch) {
  const HeadPass pass(p, query, key, scratch);
  pass.product(p.queries, p.keys, p.headDim, pass.query, transposed(pass.key), pass.logits,
               pass.stride);
  softmaxRows(p, pass.stride, pass.logits, probabilities);
  const MatrixView weights = p.multiplicative != nullptr ? MatrixView{pass.logits, pass.stride, 1}
                                                         : MatrixView{probabilities, p.keys, 1};
  pass.product(p.queries, p.headDim, p.keys, weights, {value, p.keyStride, 1}, out, p.outStride);
}

void backwardHead(const HeadShape& p, const float* query, const float* key, const float* value,
                  const float* outGradient, const float* probabilities,
                  const HeadGradients& gradients, HeadScratch& scratch) {
  const HeadPass pass(p, query, key, scratch);
  const MatrixView out{outGradient, p.outStride, 1}, slopes{pass.logits, pass.stride, 1};
  pass.product(p.queries, p.keys, p.headDim, out, transposed({value, p.keyStride, 1}), pass.logits,
               pass.stride);
  slopeRows(p, pass.stride, probabilities, pass.logits, pass.weights);
  const MatrixView weights{p.multiplicative != nullptr ? pass.weights : probabilities, p.keys, 1};
  pass.product(p.keys, p.headDim, p.queries, transposed(weights), out, gradients.value,
               p.keyStride);
  pass.product(p.queries, p.headDim, p.keys, slopes, pass.key, gradients.query, p.queryStride);
  pass.product(p.keys, p.headDim, p.queries, transposed(slopes), pass.query, gradients.key,
               p.keyStride);
  if (p.cosine == nullptr) return;
  turnRows(p, gradients.query, p.queryStride, p.queries, p.firstQuery, -1, gradients.query,
           p.queryStride);
  turnRows(p, gradients.key, p.keyStride, p.keys, 0, -1, gradients.key, p.keyStride);
}

}  // namespace vitrine::nn

#include "core/kernels/cpu/attention_head.h"

#include <algorithm>

#include "core/kernels/cpu/gemm.h"
#include "core/kernels/cpu/kernels.h"

namespace vitrine::cpu {

namespace {

constexpr Factor kFloat = Factor::Float32;

/// Of a row that is walked along the keys.
constexpr std::int64_t padded(std::int64_t keys) {
  return (keys + kScoreStep - 1) / kScoreStep * kScoreStep;
}

ScoreRows scoreRows(const HeadShape& p, std::int64_t stride) {
  return {p.queries, p.keys, stride, p.scale, p.additive, p.multiplicative};
}

/// Turns rows by their positions; direction -1 turns back. `out` may be `rows`.
void turnRows(const HeadShape& p, const float* rows, std::int64_t stride, std::int64_t count,
              std::int64_t firstPosition, float direction, float* out, std::int64_t outStride) {
  const std::int64_t pairs = p.headDim / 2;
  const auto turnRow = kernels().turnRow;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = (firstPosition + i) * pairs;
    turnRow(rows + i * stride, p.cosine + at, p.sine + at, direction, pairs, out + i * outStride);
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

  /// Rows of plain products along the keys, `rightKeys` being k or v. What follows reads `keys`
  /// columns, but whole vectors are written.
  void scores(const HeadShape& p, const MatrixView& left, const MatrixView& rightKeys) const {
    packRight(kFloat, p.headDim, p.keys, transposed(rightKeys), packed);
    const std::int64_t columns = std::min(stride, packedRightSize(kFloat, 1, p.keys));
    gemm(kFloat, p.queries, columns, p.headDim, left, packed, {}, logits, stride);
  }

  /// out = left right, one of them being small: the right factor is packed first.
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const MatrixView& left,
               const MatrixView& right, float* out, std::int64_t outStride) const {
    packRight(kFloat, depth, columns, right, packed);
    gemm(kFloat, rows, columns, depth, left, packed, {}, out, outStride);
  }

  MatrixView query, key;
  float *packed, *logits, *weights;
  std::int64_t stride;
};

void forwardHead(const HeadShape& p, const float* query, const float* key, const float* value,
                 float* out, float* probabilities, HeadScratch& scratch) {
  const HeadPass pass(p, query, key, scratch);
  pass.scores(p, pass.query, pass.key);
  kernels().softmaxRows(scoreRows(p, pass.stride), pass.logits, probabilities);
  const MatrixView weights = p.multiplicative != nullptr ? MatrixView{pass.logits, pass.stride, 1}
                                                         : MatrixView{probabilities, p.keys, 1};
  pass.product(p.queries, p.headDim, p.keys, weights, {value, p.keyStride, 1}, out, p.outStride);
}

void backwardHead(const HeadShape& p, const float* query, const float* key, const float* value,
                  const float* outGradient, const float* probabilities,
                  const HeadGradients& gradients, HeadScratch& scratch) {
  const HeadPass pass(p, query, key, scratch);
  const MatrixView out{outGradient, p.outStride, 1}, slopes{pass.logits, pass.stride, 1};
  pass.scores(p, out, {value, p.keyStride, 1});
  kernels().slopeRows(scoreRows(p, pass.stride), probabilities, pass.logits, pass.weights);
  if (gradients.additive != nullptr) {
    // Slopes are those of q k^T, which the scale multiplies; the mask is added after it.
    const float unscale = 1 / p.scale;
    for (std::int64_t i = 0; i < p.queries; ++i) {
      const float* row = pass.logits + i * pass.stride;
      float* slopesOfMask = gradients.additive + i * p.keys;
      for (std::int64_t j = 0; j < p.keys; ++j) slopesOfMask[j] = row[j] * unscale;
    }
  }
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

}  // namespace vitrine::cpu

#include "core/kernels/cpu/block_chunk.h"

#include <algorithm>

#include "core/kernels/cpu/chunk_rows.h"

namespace vitrine::cpu {

namespace {

class ForwardChunk : Chunk {
 public:
  ForwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& packed)
      : Chunk(plan, index, packed, 0) {}

  void run(const float* stream, const SavedTensors& saved, float* result) {
    const float* x = stream + first * p.tokens * p.width;
    const float* sum = p.hasAttention() ? throughAttention(saved, x) : x + p.firstRow * p.width;
    throughMlp(saved, sum, result + first * p.rows * p.width);
  }

 private:
  /// \returns  the stream after attention
  const float* throughAttention(const SavedTensors& saved, const float* x) {
    const std::int64_t width = p.width, three = 3 * width;
    float* normed = work(Workspace::kNormed, all * width);
    normalise(x, all, kNorm1Weight, normed);

    float* qkv = place(saved.qkv, Workspace::kQkv, p.keys() * three);
    // Rows of one image after the other lie close together, unless keys are given between them.
    const std::int64_t pieces = p.before > 0 ? images : 1;
    for (std::int64_t i = 0; i < pieces; ++i) {
      project(some / pieces, all / pieces, normed + i * p.tokens * width,
              qkv + (i * p.keys() + p.before) * three);
      placeBefore(first + i, qkv + i * p.keys() * three);
    }

    float* probabilities = place(saved.probabilities, Workspace::kProbabilities, p.probabilities());
    float* attended = place(saved.attended, Workspace::kAttended, p.rows * width);
    HeadScratch scratch(p.head);
    forEachHead([&](const HeadShape& shape, const Head& at) {
      forwardHead(shape, qkv + at.query, qkv + at.key, qkv + at.value, attended + at.out,
                  probabilities + at.probabilities, scratch);
    });

    float* sum = place(saved.sum, Workspace::kSum, p.rows * width);
    float* branch = placeOfBranch(attentionFactors(), saved.attentionBranch, sum);
    product(some, width, width, {attended, width, 1}, &Maps::proj, {kProjBias}, branch, width);
    addBranch(attentionFactors(), x + p.firstRow * width, p.tokens * width, branch, sum);
    return sum;
  }

  /// Queries of `queries` rows and keys and values of all `rows`.
  void project(std::int64_t queries, std::int64_t rows, const float* normed, float* qkv) {
    const std::int64_t width = p.width, three = 3 * width;
    product(queries, width, width, {normed + p.firstRow * width, p.rowStep * width, 1},
            &Maps::query, {kQkvBias}, qkv + p.firstRow * three, p.rowStep * three);
    product(rows, 2 * width, width, {normed, width, 1}, &Maps::keyValue, {kQkvBias, width},
            qkv + width, three);
  }

  /// The given keys and values of an image.
  void placeBefore(std::int64_t image, float* qkv) const {
    for (std::int64_t row = 0; row < p.before; ++row, qkv += 3 * p.width) {
      const std::int64_t from = (image * p.before + row) * p.width;
      std::copy_n(p.keysBefore + from, p.width, qkv + p.width);
      std::copy_n(p.valuesBefore + from, p.width, qkv + 2 * p.width);
    }
  }

  void throughMlp(const SavedTensors& saved, const float* sum, float* out) {
    const std::int64_t width = p.width, hidden = p.hidden;
    float* normed = work(Workspace::kNormed, some * width);
    normalise(sum, some, kNorm2Weight, normed);
    float* before = place(saved.hidden, Workspace::kHidden, p.rows * hidden);
    product(some, hidden, width, {normed, width, 1}, &Maps::fc1, {kFc1Bias}, before, hidden);
    float* activated = work(Workspace::kActivated, some * hidden);
    if (p.mlp == MlpKind::SwiGlu) {
      float* up = place(saved.up, Workspace::kUp, p.rows * hidden);
      product(some, hidden, width, {normed, width, 1}, &Maps::fc3, {kFc3Bias}, up, hidden);
      loops.swiGlu(some * hidden, before, up, activated);
    } else {
      gelu(some * hidden, before, activated, work(Workspace::kSlopes, some * hidden));
    }
    drop(p.hiddenDropout, hidden, activated, activated);
    float* branch = placeOfBranch(mlpFactors(), saved.mlpBranch, out);
    product(some, width, hidden, {activated, hidden, 1}, &Maps::fc2, {kFc2Bias}, branch, width);
    addBranch(mlpFactors(), sum, p.rows * width, branch, out);
  }
};

class BackwardChunk : Chunk {
 public:
  BackwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& packed,
                const GradientLayout& layout, const BlockGradients& gradients)
      : Chunk(plan, index, packed, plan.constantTokens), layout_(layout), gradients_(gradients) {}

  void run(const float* stream, const SavedTensors& saved, const float* outGradient) {
    const float* gradient = outGradient + first * p.rows * p.width;
    const float* x = stream + first * p.tokens * p.width;
    float* xGradient = gradients_.x + first * p.tokens * p.width;
    if (!p.hasAttention()) return throughMlp(saved, x, gradient, xGradient);
    float* sumGradient = work(Workspace::kSumGradient, some * p.width);
    throughMlp(saved, place(saved.sum, Workspace::kSum, p.rows * p.width), gradient, sumGradient);
    throughAttention(saved, x, sumGradient, xGradient);
  }

 private:
  float* gradientOf(std::size_t which, const Part& part) {
    return gradients_.share + layout_.offsets[part.kind][which];
  }

  /// Norms and gates add to their gradients in the pass that computes their input's; one that is
  /// not wanted goes where nothing reads it.
  float* rowGradient(std::size_t which, const Part& part) {
    const TokenKind& kind = p.kinds[part.kind];
    if (!kind.isTrained[which]) return work(Workspace::kUnwanted, p.width);
    return kind.isOfImage[which] ? gradients_.ofImages[which] + offsetOf(which, part.image)
                                 : gradientOf(which, part);
  }

  /// Adds to the gradients of each kind's map [out, in] and of its bias, of `rows` rows. The map
  /// may begin at a later row of the parameter.
  void mapGradient(BlockParameter weight, std::int64_t firstOut, std::int64_t out, std::int64_t in,
                   std::int64_t rows, const MatrixView& gradient, const MatrixView& input) {
    forEachKind(rows, [&](const Part& part) {
      const auto& isTrained = p.kinds[part.kind].isTrained;
      const MatrixView slopes = rowsFrom(gradient, part.row);
      if (isTrained[weight + 1]) {
        loops.addRows(part.rows, out, slopes.values, slopes.rowStride,
                      gradientOf(weight + 1, part) + firstOut);
      }
      if (!isTrained[weight]) return;
      float* target = gradientOf(weight, part) + firstOut * in;
      float* right = work(Workspace::kRight, packedRightSize(p.factor, part.rows, in));
      float* left = work(Workspace::kLeft, packedLeftSize(p.factor, out, part.rows));
      packRight(p.factor, part.rows, in, rowsFrom(input, part.row), right);
      const bool isFirst = gradients_.isFirst && part.row < p.tokens;  // of its kind
      gemm(p.factor, out, in, part.rows,
           packLeft(p.factor, out, part.rows, transposed(slopes), left), right,
           {isFirst ? nullptr : target, in}, target, in);
    });
  }

  /// \param through  the gradient that reaches x past the norm, or null
  void normBackward(std::int64_t rows, BlockParameter weight, const float* x, const float* through,
                    const float* outGradient, float* gradient) {
    const float* statistics = work(Workspace::kStatistics, 2 * rows);  // as normalise() left them
    forEachGains(weight, rows, [&](const Part& part) {
      const std::int64_t at = part.row * p.width;
      loops.normRowsBackward(
          p.norm == NormKind::Rms, part.rows, p.width,
          {x + at, parameterOf(weight, part), statistics + part.row, statistics + rows + part.row,
           through == nullptr ? nullptr : through + at, outGradient + at, gradient + at,
           rowGradient(weight, part), rowGradient(weight + 1, part)});
    });
    for (std::int64_t i = 0; skipped > 0 && i < images; ++i)
      std::fill_n(gradient + i * p.tokens * p.width, skipped * p.width, 0.0F);
  }

  /// The gradient of a branch, from that of the sum; adds to that of its gate.
  const float* branchGradient(const Factors& factors, const at::Tensor& saved,
                              const float* gradient) {
    const bool hasGate = p.kinds[0].parameters[factors.gate] != nullptr;
    if (!hasGate && factors.gains == nullptr && factors.dropout == nullptr) return gradient;
    const std::int64_t count = p.rows * p.width;
    float* scaled = work(Workspace::kScaled, some * p.width);
    for (std::int64_t i = 0; i < images; ++i) {
      const float* from = gradient + i * count;
      const float gain = gainOf(factors, i);
      if (hasGate) {
        const float* branch = place(saved, Workspace::kBranch, count) + i * count;
        loops.gateBackward(p.rows, p.width, from, branch, parameterOf(factors.gate, {0, 0, 0, i}),
                           gain, scaled + i * count, rowGradient(factors.gate, {0, 0, 0, i}));
      } else {
        for (std::int64_t c = 0; c < count; ++c) scaled[i * count + c] = gain * from[c];
      }
    }
    drop(factors.dropout, p.width, scaled, scaled);
    return scaled;
  }

  /// \param sum  the stream after attention
  void throughMlp(const SavedTensors& saved, const float* sum, const float* gradient,
                  float* sumGradient) {
    const std::int64_t width = p.width, hidden = p.hidden;
    const bool isSwiGlu = p.mlp == MlpKind::SwiGlu;
    const float* before = place(saved.hidden, Workspace::kHidden, p.rows * hidden);
    float* activated = work(Workspace::kActivated, some * hidden);
    float* slopes = work(Workspace::kSlopes, some * hidden);
    const float* up = isSwiGlu ? place(saved.up, Workspace::kUp, p.rows * hidden) : nullptr;
    forEachRun(hidden, [&](std::int64_t at, std::int64_t count) {
      if (isSwiGlu) {
        loops.swiGlu(count, before + at, up + at, activated + at);
      } else {
        gelu(count, before + at, activated + at, slopes + at);
      }
    });
    drop(p.hiddenDropout, hidden, activated, activated);
    const MatrixView branch{branchGradient(mlpFactors(), saved.mlpBranch, gradient), width, 1};
    mapGradient(kFc2Weight, 0, width, hidden, some, branch, {activated, hidden, 1});
    float* hiddenGradient = work(Workspace::kHiddenGradient, some * hidden);
    product(some, hidden, width, branch, &Maps::fc2, {}, hiddenGradient, hidden);
    drop(p.hiddenDropout, hidden, hiddenGradient, hiddenGradient);

    float* normed = work(Workspace::kNormed, all * width);
    normalise(sum, some, kNorm2Weight, normed);
    float* normedGradient = work(Workspace::kNormedGradient, all * width);
    const MatrixView normedView{normed, width, 1}, hiddenView{hiddenGradient, hidden, 1};
    if (isSwiGlu) {
      float* upGradient = slopes;
      forEachRun(hidden, [&](std::int64_t at, std::int64_t count) {
        loops.swiGluBackward(count, before + at, up + at, hiddenGradient + at, activated + at,
                             upGradient + at);
      });
      const MatrixView gateView{activated, hidden, 1}, upView{upGradient, hidden, 1};
      mapGradient(kFc1Weight, 0, hidden, width, some, gateView, normedView);
      mapGradient(kFc3Weight, 0, hidden, width, some, upView, normedView);
      product(some, width, hidden, gateView, &Maps::fc1, {}, normedGradient, width);
      product(some, width, hidden, upView, &Maps::fc3, {.isOut = true}, normedGradient, width);
    } else {
      loops.multiplyRows(some * hidden, hiddenGradient, slopes, hiddenGradient);
      mapGradient(kFc1Weight, 0, hidden, width, some, hiddenView, normedView);
      product(some, width, hidden, hiddenView, &Maps::fc1, {}, normedGradient, width);
    }
    normBackward(some, kNorm2Weight, sum, gradient, normedGradient, sumGradient);
  }

  void throughAttention(const SavedTensors& saved, const float* x, const float* sumGradient,
                        float* result) {
    const std::int64_t width = p.width, three = 3 * width;
    const float* qkv = place(saved.qkv, Workspace::kQkv, p.tokens * three);
    const float* probabilities =
        place(saved.probabilities, Workspace::kProbabilities, p.probabilities());
    const float* attended = place(saved.attended, Workspace::kAttended, p.rows * width);
    const MatrixView branch{branchGradient(attentionFactors(), saved.attentionBranch, sumGradient),
                            width, 1};
    mapGradient(kProjWeight, 0, width, width, some, branch, {attended, width, 1});
    float* attendedGradient = work(Workspace::kActivated, some * width);
    product(some, width, width, branch, &Maps::proj, {}, attendedGradient, width);

    float* qkvGradient = work(Workspace::kHiddenGradient, all * three);
    float* mask =
        gradients_.mask == nullptr ? nullptr : gradients_.mask + first * p.probabilities();
    HeadScratch scratch(p.head);
    forEachHead([&](const HeadShape& shape, const Head& at) {
      backwardHead(shape, qkv + at.query, qkv + at.key, qkv + at.value, attendedGradient + at.out,
                   probabilities + at.probabilities,
                   {qkvGradient + at.query, qkvGradient + at.key, qkvGradient + at.value,
                    mask == nullptr ? nullptr : mask + at.probabilities},
                   scratch);
    });

    float* normed = work(Workspace::kNormed, all * width);
    normalise(x, all, kNorm1Weight, normed);
    const MatrixView queries{qkvGradient + p.firstRow * three, p.rowStep * three, 1},
        keysValues{qkvGradient + width, three, 1};
    mapGradient(kQkvWeight, 0, width, width, some, queries,
                {normed + p.firstRow * width, p.rowStep * width, 1});
    mapGradient(kQkvWeight, width, 2 * width, width, all, keysValues, {normed, width, 1});
    float* normedGradient = work(Workspace::kNormedGradient, all * width);
    product(all, width, 2 * width, keysValues, &Maps::keyValue, {}, normedGradient, width);
    float* ofQueries = normedGradient + p.firstRow * width;
    product(some, width, width, queries, &Maps::query, {.isOut = true}, ofQueries,
            p.rowStep * width);
    const bool isWhole = p.rows == p.tokens;
    normBackward(all, kNorm1Weight, x, isWhole ? sumGradient : nullptr, normedGradient, result);
    if (isWhole) return;
    for (std::int64_t i = 0; i < images; ++i) {
      float* row = result + (i * p.tokens + p.firstRow) * width;
      loops.addScaledRows(width, row, sumGradient + i * width, 1, row);
    }
  }

  const GradientLayout& layout_;
  const BlockGradients& gradients_;
};

}  // namespace

void forwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& maps,
                  const float* stream, const SavedTensors& saved, float* result) {
  ForwardChunk(plan, index, maps).run(stream, saved, result);
}

void backwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& maps,
                   const float* stream, const SavedTensors& saved, const float* outGradient,
                   const GradientLayout& layout, const BlockGradients& gradients) {
  BackwardChunk(plan, index, maps, layout, gradients).run(stream, saved, outGradient);
}

}  // namespace vitrine::cpu

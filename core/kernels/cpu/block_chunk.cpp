#include "core/kernels/cpu/block_chunk.h"

#include <algorithm>

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::cpu {

namespace {

/// Floats of a thread, by what they hold, kept from call to call.
class Workspace {
 public:
  enum Slot {
    kNormed,
    kStatistics,
    kQkv,
    kProbabilities,
    kAttended,
    kSum,
    kHidden,
    kUp,
    kActivated,
    kSlopes,
    kLeft,
    kRight,
    kScaled,
    kBranch,
    kHiddenGradient,
    kNormedGradient,
    kSumGradient,
    kUnwanted,
    kSlots
  };
  float* operator()(Slot slot, std::int64_t count) {
    auto& floats = slots_[slot];
    if (floats.size() < static_cast<std::size_t>(count))
      floats.resize(static_cast<std::size_t>(count));
    return floats.data();
  }
  static Workspace& ofThread() {
    static thread_local Workspace workspace;
    return workspace;
  }

 private:
  std::array<AlignedFloats, kSlots> slots_;
};

/// Some images on their way through a block, in either direction.
class Chunk {
 public:
  Chunk(const BlockPlan& plan, std::int64_t index)
      : p(plan),
        first(index * p.imagesAtOnce),
        images(std::min(p.imagesAtOnce, p.batch - first)),
        all(images * p.tokens),
        some(images * p.rows),
        work(Workspace::ofThread()),
        loops(kernels()),
        gelu(p.mlp == MlpKind::GeluTanh ? loops.geluTanh : loops.geluErf) {}

 protected:
  /// out = left right + start
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const MatrixView& left,
               const AlignedFloats& right, const Start& start, float* out, std::int64_t outStride) {
    float* packed = work(Workspace::kLeft, packedLeftSize(p.factor, rows, depth));
    gemm(p.factor, rows, columns, depth, packLeft(p.factor, rows, depth, left, packed),
         right.data(), start, out, outStride);
  }
  [[nodiscard]] const float* parameter(BlockParameter which) const { return p.parameters[which]; }

  /// Where this chunk's floats lie: in the tensor that keeps them, or in the workspace.
  float* place(const at::Tensor& saved, Workspace::Slot slot, std::int64_t perImage) {
    if (saved.defined()) return saved.data_ptr<float>() + first * perImage;
    return work(slot, images * perImage);
  }

  /// The row of an image, where each has its own.
  [[nodiscard]] std::int64_t offsetOf(std::size_t which, std::int64_t image) const {
    return p.isOfImage[which] ? (first + image) * p.width : 0;
  }
  [[nodiscard]] const float* parameterOf(std::size_t which, std::int64_t image) const {
    const float* values = p.parameters[which];
    return values == nullptr ? nullptr : values + offsetOf(which, image);
  }

  /// Calls body(image, its first row, rows) for each part of a norm's rows that has gains of its
  /// own. A part has all of them at once, or those of one image.
  template <class Body>
  void forEachGains(BlockParameter weight, std::int64_t rows, const Body& body) {
    if (!p.isOfImage[weight] && !p.isOfImage[weight + 1]) return body(0, 0, rows);
    const std::int64_t ofImage = rows / images;
    for (std::int64_t i = 0; i < images; ++i) body(i, i * ofImage, ofImage);
  }

  void normalise(const float* x, std::int64_t rows, BlockParameter weight, float* out) {
    float* statistics = work(Workspace::kStatistics, 2 * rows);
    forEachGains(weight, rows, [&](std::int64_t image, std::int64_t row, std::int64_t count) {
      loops.normRows(
          p.norm == NormKind::Rms, p.eps, count, p.width,
          {x + row * p.width, nullptr, parameterOf(weight, image), parameterOf(weight + 1, image),
           nullptr, out + row * p.width, statistics + row, statistics + rows + row});
    });
  }

  /// Of an image, with the angles and the mask that are its own.
  [[nodiscard]] HeadShape headOf(std::int64_t image) const {
    HeadShape shape = p.head;
    if (p.angleStep > 0) {
      shape.cosine += (first + image) * p.angleStep;
      shape.sine += (first + image) * p.angleStep;
    }
    if (p.additiveStep > 0) shape.additive += (first + image) * p.additiveStep;
    return shape;
  }

  /// Calls body(shape, head of the chunk) with the offsets of each head of each image.
  struct Head {
    std::int64_t query, key, value, out, probabilities;
  };
  template <class Body>
  void forEachHead(const Body& body) {
    for (std::int64_t image = 0; image < images; ++image) {
      HeadShape shape = headOf(image);
      for (std::int64_t head = 0; head < p.heads; ++head) {
        if (p.headMaskStep > 0) shape.additive = p.head.additive + head * p.headMaskStep;
        const std::int64_t channel = head * p.head.headDim;
        const std::int64_t key = image * p.keys() * 3 * p.width + p.width + channel;
        body(shape, Head{(image * p.keys() + p.before + p.firstRow) * 3 * p.width + channel, key,
                         key + p.width, image * p.rows * p.width + channel,
                         (image * p.heads + head) * p.rows * p.keys()});
      }
    }
  }

  /// What multiplies a branch before it is added to the stream.
  struct Factors {
    const float* gains;    ///< of each image
    BlockParameter gate;   ///< of each channel of each image
    const float* dropout;  ///< of each element
  };
  [[nodiscard]] Factors attentionFactors() const {
    return {p.attentionGain, kAttentionGate, p.attentionDropout};
  }
  [[nodiscard]] Factors mlpFactors() const { return {p.mlpGain, kMlpGate, p.mlpDropout}; }
  [[nodiscard]] float gainOf(const Factors& factors, std::int64_t image) const {
    return factors.gains == nullptr ? 1 : factors.gains[first + image];
  }

  /// values *= the dropout of this chunk, `perRow` values a row.
  void drop(const float* dropout, std::int64_t perRow, const float* values, float* out) {
    if (dropout == nullptr) return;
    loops.multiplyRows(some * perRow, values, dropout + first * p.rows * perRow, out);
  }

  /// Where a branch is made: in `out`, but separately where its gate needs it again.
  float* placeOfBranch(const Factors& factors, const at::Tensor& saved, float* out) {
    if (p.parameters[factors.gate] == nullptr) return out;
    return place(saved, Workspace::kBranch, p.rows * p.width);
  }

  /// out = x + factors * branch, image by image; x is the stream before attention or after it.
  /// Drops elements of `branch` first.
  void addBranch(const Factors& factors, const float* x, std::int64_t imageStride, float* branch,
                 float* out) {
    const std::int64_t count = p.rows * p.width;
    drop(factors.dropout, p.width, branch, branch);
    for (std::int64_t i = 0; i < images; ++i) {
      const float *from = x + i * imageStride, *gate = parameterOf(factors.gate, i);
      if (gate == nullptr) {
        loops.addScaledRows(count, from, branch + i * count, gainOf(factors, i), out + i * count);
      } else {
        loops.addGatedRows(p.rows, p.width, from, branch + i * count, gate, gainOf(factors, i),
                           out + i * count);
      }
    }
  }

  const BlockPlan& p;
  std::int64_t first, images, all, some;
  Workspace& work;
  const Kernels& loops;
  decltype(Kernels::geluErf) gelu;
};

class ForwardChunk : Chunk {
 public:
  using Chunk::Chunk;

  void run(const PackedMaps& maps, const float* stream, const SavedTensors& saved, float* result) {
    const float* x = stream + first * p.tokens * p.width;
    const float* sum =
        p.hasAttention() ? throughAttention(maps, saved, x) : x + p.firstRow * p.width;
    throughMlp(maps, saved, sum, result + first * p.rows * p.width);
  }

 private:
  /// \returns  the stream after attention
  const float* throughAttention(const PackedMaps& maps, const SavedTensors& saved, const float* x) {
    const std::int64_t width = p.width, three = 3 * width;
    float* normed = work(Workspace::kNormed, all * width);
    normalise(x, all, kNorm1Weight, normed);

    float* qkv = place(saved.qkv, Workspace::kQkv, p.keys() * three);
    // Rows of one image after the other lie close together, unless keys are given between them.
    const std::int64_t pieces = p.before > 0 ? images : 1;
    for (std::int64_t i = 0; i < pieces; ++i) {
      project(maps, some / pieces, all / pieces, normed + i * p.tokens * width,
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
    product(some, width, width, {attended, width, 1}, maps.proj, {parameter(kProjBias), 0}, branch,
            width);
    addBranch(attentionFactors(), x + p.firstRow * width, p.tokens * width, branch, sum);
    return sum;
  }

  /// Queries of `queries` rows and keys and values of all `rows`.
  void project(const PackedMaps& maps, std::int64_t queries, std::int64_t rows, const float* normed,
               float* qkv) {
    const std::int64_t width = p.width, three = 3 * width;
    const float* bias = parameter(kQkvBias);
    product(queries, width, width, {normed + p.firstRow * width, p.rowStep * width, 1}, maps.query,
            {bias, 0}, qkv + p.firstRow * three, p.rowStep * three);
    product(rows, 2 * width, width, {normed, width, 1}, maps.keyValue,
            {bias == nullptr ? nullptr : bias + width, 0}, qkv + width, three);
  }

  /// The given keys and values of an image.
  void placeBefore(std::int64_t image, float* qkv) const {
    for (std::int64_t row = 0; row < p.before; ++row, qkv += 3 * p.width) {
      const std::int64_t from = (image * p.before + row) * p.width;
      std::copy_n(p.keysBefore + from, p.width, qkv + p.width);
      std::copy_n(p.valuesBefore + from, p.width, qkv + 2 * p.width);
    }
  }

  void throughMlp(const PackedMaps& maps, const SavedTensors& saved, const float* sum, float* out) {
    const std::int64_t width = p.width, hidden = p.hidden;
    float* normed = work(Workspace::kNormed, some * width);
    normalise(sum, some, kNorm2Weight, normed);
    float* before = place(saved.hidden, Workspace::kHidden, p.rows * hidden);
    product(some, hidden, width, {normed, width, 1}, maps.fc1, {parameter(kFc1Bias), 0}, before,
            hidden);
    float* activated = work(Workspace::kActivated, some * hidden);
    if (p.mlp == MlpKind::SwiGlu) {
      float* up = place(saved.up, Workspace::kUp, p.rows * hidden);
      product(some, hidden, width, {normed, width, 1}, maps.fc3, {parameter(kFc3Bias), 0}, up,
              hidden);
      loops.swiGlu(some * hidden, before, up, activated);
    } else {
      gelu(some * hidden, before, activated, work(Workspace::kSlopes, some * hidden));
    }
    drop(p.hiddenDropout, hidden, activated, activated);
    float* branch = placeOfBranch(mlpFactors(), saved.mlpBranch, out);
    product(some, width, hidden, {activated, hidden, 1}, maps.fc2, {parameter(kFc2Bias), 0}, branch,
            width);
    addBranch(mlpFactors(), sum, p.rows * width, branch, out);
  }
};

class BackwardChunk : Chunk {
 public:
  BackwardChunk(const BlockPlan& plan, std::int64_t index, const GradientLayout& layout,
                const BlockGradients& gradients)
      : Chunk(plan, index), layout_(layout), gradients_(gradients) {}

  void run(const PackedMaps& maps, const float* stream, const SavedTensors& saved,
           const float* outGradient) {
    const float* gradient = outGradient + first * p.rows * p.width;
    const float* x = stream + first * p.tokens * p.width;
    float* xGradient = gradients_.x + first * p.tokens * p.width;
    if (!p.hasAttention()) return throughMlp(maps, saved, x, gradient, xGradient);
    float* sumGradient = work(Workspace::kSumGradient, some * p.width);
    throughMlp(maps, saved, place(saved.sum, Workspace::kSum, p.rows * p.width), gradient,
               sumGradient);
    throughAttention(maps, saved, x, sumGradient, xGradient);
  }

 private:
  float* gradientOf(std::size_t which) { return gradients_.share + layout_.offsets[which]; }

  /// Norms and gates add to their gradients in the pass that computes their input's; one that is
  /// not wanted goes where nothing reads it.
  float* rowGradient(std::size_t which, std::int64_t image) {
    if (!p.isTrained[which]) return work(Workspace::kUnwanted, p.width);
    return p.isOfImage[which] ? gradients_.ofImages[which] + offsetOf(which, image)
                              : gradientOf(which);
  }

  /// Adds to the gradients of a map [out, in] and of its bias, of `rows` rows. The map may begin at
  /// a later row of the parameter.
  void mapGradient(BlockParameter weight, std::int64_t firstOut, std::int64_t out, std::int64_t in,
                   std::int64_t rows, const MatrixView& gradient, const MatrixView& input) {
    if (p.isTrained[weight + 1]) {
      loops.addRows(rows, out, gradient.values, gradient.rowStride,
                    gradientOf(weight + 1) + firstOut);
    }
    if (!p.isTrained[weight]) return;
    float* target = gradientOf(weight) + firstOut * in;
    float* right = work(Workspace::kRight, packedRightSize(p.factor, rows, in));
    float* left = work(Workspace::kLeft, packedLeftSize(p.factor, out, rows));
    packRight(p.factor, rows, in, input, right);
    gemm(p.factor, out, in, rows, packLeft(p.factor, out, rows, transposed(gradient), left), right,
         {gradients_.isFirst ? nullptr : target, in}, target, in);
  }

  /// \param through  the gradient that reaches x past the norm, or null
  void normBackward(std::int64_t rows, BlockParameter weight, const float* x, const float* through,
                    const float* outGradient, float* gradient) {
    const float* statistics = work(Workspace::kStatistics, 2 * rows);  // as normalise() left them
    forEachGains(weight, rows, [&](std::int64_t image, std::int64_t row, std::int64_t count) {
      const std::int64_t at = row * p.width;
      loops.normRowsBackward(
          p.norm == NormKind::Rms, count, p.width,
          {x + at, parameterOf(weight, image), statistics + row, statistics + rows + row,
           through == nullptr ? nullptr : through + at, outGradient + at, gradient + at,
           rowGradient(weight, image), rowGradient(weight + 1, image)});
    });
  }

  /// The gradient of a branch, from that of the sum; adds to that of its gate.
  const float* branchGradient(const Factors& factors, const at::Tensor& saved,
                              const float* gradient) {
    const bool hasGate = p.parameters[factors.gate] != nullptr;
    if (!hasGate && factors.gains == nullptr && factors.dropout == nullptr) return gradient;
    const std::int64_t count = p.rows * p.width;
    float* scaled = work(Workspace::kScaled, some * p.width);
    for (std::int64_t i = 0; i < images; ++i) {
      const float* from = gradient + i * count;
      const float gain = gainOf(factors, i);
      if (hasGate) {
        const float* branch = place(saved, Workspace::kBranch, count) + i * count;
        loops.gateBackward(p.rows, p.width, from, branch, parameterOf(factors.gate, i), gain,
                           scaled + i * count, rowGradient(factors.gate, i));
      } else {
        for (std::int64_t c = 0; c < count; ++c) scaled[i * count + c] = gain * from[c];
      }
    }
    drop(factors.dropout, p.width, scaled, scaled);
    return scaled;
  }

  /// \param sum  the stream after attention
  void throughMlp(const PackedMaps& maps, const SavedTensors& saved, const float* sum,
                  const float* gradient, float* sumGradient) {
    const std::int64_t width = p.width, hidden = p.hidden;
    const bool isSwiGlu = p.mlp == MlpKind::SwiGlu;
    const float* before = place(saved.hidden, Workspace::kHidden, p.rows * hidden);
    float* activated = work(Workspace::kActivated, some * hidden);
    float* slopes = work(Workspace::kSlopes, some * hidden);
    const float* up = isSwiGlu ? place(saved.up, Workspace::kUp, p.rows * hidden) : nullptr;
    if (isSwiGlu) {
      loops.swiGlu(some * hidden, before, up, activated);
    } else {
      gelu(some * hidden, before, activated, slopes);
    }
    drop(p.hiddenDropout, hidden, activated, activated);
    const MatrixView branch{branchGradient(mlpFactors(), saved.mlpBranch, gradient), width, 1};
    mapGradient(kFc2Weight, 0, width, hidden, some, branch, {activated, hidden, 1});
    float* hiddenGradient = work(Workspace::kHiddenGradient, some * hidden);
    product(some, hidden, width, branch, maps.fc2, {}, hiddenGradient, hidden);
    drop(p.hiddenDropout, hidden, hiddenGradient, hiddenGradient);

    float* normed = work(Workspace::kNormed, all * width);
    normalise(sum, some, kNorm2Weight, normed);
    float* normedGradient = work(Workspace::kNormedGradient, all * width);
    const MatrixView normedView{normed, width, 1}, hiddenView{hiddenGradient, hidden, 1};
    if (isSwiGlu) {
      float* upGradient = slopes;
      loops.swiGluBackward(some * hidden, before, up, hiddenGradient, activated, upGradient);
      const MatrixView gateView{activated, hidden, 1}, upView{upGradient, hidden, 1};
      mapGradient(kFc1Weight, 0, hidden, width, some, gateView, normedView);
      mapGradient(kFc3Weight, 0, hidden, width, some, upView, normedView);
      product(some, width, hidden, gateView, maps.fc1, {}, normedGradient, width);
      product(some, width, hidden, upView, maps.fc3, {normedGradient, width}, normedGradient,
              width);
    } else {
      loops.multiplyRows(some * hidden, hiddenGradient, slopes, hiddenGradient);
      mapGradient(kFc1Weight, 0, hidden, width, some, hiddenView, normedView);
      product(some, width, hidden, hiddenView, maps.fc1, {}, normedGradient, width);
    }
    normBackward(some, kNorm2Weight, sum, gradient, normedGradient, sumGradient);
  }

  void throughAttention(const PackedMaps& maps, const SavedTensors& saved, const float* x,
                        const float* sumGradient, float* result) {
    const std::int64_t width = p.width, three = 3 * width;
    const float* qkv = place(saved.qkv, Workspace::kQkv, p.tokens * three);
    const float* probabilities =
        place(saved.probabilities, Workspace::kProbabilities, p.probabilities());
    const float* attended = place(saved.attended, Workspace::kAttended, p.rows * width);
    const MatrixView branch{branchGradient(attentionFactors(), saved.attentionBranch, sumGradient),
                            width, 1};
    mapGradient(kProjWeight, 0, width, width, some, branch, {attended, width, 1});
    float* attendedGradient = work(Workspace::kActivated, some * width);
    product(some, width, width, branch, maps.proj, {}, attendedGradient, width);

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
    product(all, width, 2 * width, keysValues, maps.keyValue, {}, normedGradient, width);
    float* ofQueries = normedGradient + p.firstRow * width;
    product(some, width, width, queries, maps.query, {ofQueries, p.rowStep * width}, ofQueries,
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
  ForwardChunk(plan, index).run(maps, stream, saved, result);
}

void backwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& maps,
                   const float* stream, const SavedTensors& saved, const float* outGradient,
                   const GradientLayout& layout, const BlockGradients& gradients) {
  BackwardChunk(plan, index, layout, gradients).run(maps, stream, saved, outGradient);
}

}  // namespace vitrine::cpu

#include "core/kernels/cpu/block_chunk.h"

#include <algorithm>

#include "core/kernels/cpu/kernels.h"

namespace vitrine::cpu {

PackedMaps& PackedMaps::pack(const BlockPlan& p, Way way) {
  const auto one = [&](std::vector<float>& packed, const float* weight, std::int64_t out,
                       std::int64_t in) {
    if (weight == nullptr) return;
    const MatrixView plain{weight, in, 1};
    const std::int64_t depth = way == Way::Forward ? in : out,
                       columns = way == Way::Forward ? out : in;
    packed.resize(static_cast<std::size_t>(packedRightSize(p.factor, depth, columns)));
    packRight(p.factor, depth, columns, way == Way::Forward ? transposed(plain) : plain,
              packed.data());
  };
  const auto& w = p.parameters;
  one(query, w[kQkvWeight], p.width, p.width);
  one(keyValue, w[kQkvWeight] + p.width * p.width, 2 * p.width, p.width);
  one(proj, w[kProjWeight], p.width, p.width);
  one(fc1, w[kFc1Weight], p.hidden, p.width);
  one(fc3, w[kFc3Weight], p.hidden, p.width);
  one(fc2, w[kFc2Weight], p.width, p.hidden);
  return *this;
}

PackedMaps& PackedMaps::ofThread() {
  static thread_local PackedMaps maps;
  return maps;
}

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
  std::array<std::vector<float>, kSlots> slots_;
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
               const std::vector<float>& right, const Start& start, float* out,
               std::int64_t outStride) {
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

  void normalise(const float* x, std::int64_t rows, BlockParameter weight, float* out) {
    float* statistics = work(Workspace::kStatistics, 2 * rows);
    loops.normRows(p.norm == NormKind::Rms, p.eps, rows, p.width,
                   {x, nullptr, parameter(weight), p.parameters[weight + 1], nullptr, out,
                    statistics, statistics + rows});
  }

  /// Calls body(head of the chunk) with the offsets of each head of each image.
  struct Head {
    std::int64_t query, key, value, out, probabilities;
  };
  template <class Body>
  void forEachHead(const Body& body) {
    for (std::int64_t image = 0; image < images; ++image) {
      for (std::int64_t head = 0; head < p.heads; ++head) {
        const std::int64_t channel = head * p.head.headDim;
        const std::int64_t key = image * p.tokens * 3 * p.width + p.width + channel;
        body(Head{(image * p.tokens + p.firstRow) * 3 * p.width + channel, key, key + p.width,
                  image * p.rows * p.width + channel,
                  (image * p.heads + head) * p.rows * p.tokens});
      }
    }
  }

  /// out = x + gain * branch, image by image; x is the stream before attention or after it.
  void addBranch(const float* x, std::int64_t imageStride, const float* gains, const float* branch,
                 float* out) {
    const std::int64_t count = p.rows * p.width;
    for (std::int64_t i = 0; i < images; ++i) {
      loops.addScaledRows(count, x + i * imageStride, branch + i * count,
                          gains == nullptr ? 1 : gains[first + i], out + i * count);
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
    const std::int64_t width = p.width, three = 3 * width, hidden = p.hidden;
    const float* x = stream + first * p.tokens * width;
    float* normed = work(Workspace::kNormed, all * width);
    normalise(x, all, kNorm1Weight, normed);

    float* qkv = place(saved.qkv, Workspace::kQkv, p.tokens * three);
    const float* bias = parameter(kQkvBias);
    product(some, width, width, {normed + p.firstRow * width, p.rowStep * width, 1}, maps.query,
            {bias, 0}, qkv + p.firstRow * three, p.rowStep * three);
    product(all, 2 * width, width, {normed, width, 1}, maps.keyValue,
            {bias == nullptr ? nullptr : bias + width, 0}, qkv + width, three);

    float* probabilities = place(saved.probabilities, Workspace::kProbabilities, p.probabilities());
    float* attended = place(saved.attended, Workspace::kAttended, p.rows * width);
    HeadScratch scratch(p.head);
    forEachHead([&](const Head& at) {
      forwardHead(p.head, qkv + at.query, qkv + at.key, qkv + at.value, attended + at.out,
                  probabilities + at.probabilities, scratch);
    });

    float* sum = place(saved.sum, Workspace::kSum, p.rows * width);
    product(some, width, width, {attended, width, 1}, maps.proj, {parameter(kProjBias), 0}, sum,
            width);
    addBranch(x + p.firstRow * width, p.tokens * width, p.attentionGain, sum, sum);

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
    float* out = result + first * p.rows * width;
    product(some, width, hidden, {activated, hidden, 1}, maps.fc2, {parameter(kFc2Bias), 0}, out,
            width);
    addBranch(sum, p.rows * width, p.mlpGain, out, out);
  }
};

class BackwardChunk : Chunk {
 public:
  BackwardChunk(const BlockPlan& plan, std::int64_t index, const GradientLayout& layout,
                float* share)
      : Chunk(plan, index), layout_(layout), share_(share) {}

  void run(const PackedMaps& maps, const float* stream, const SavedTensors& saved,
           const float* outGradient, float* result) {
    const float* gradient = outGradient + first * p.rows * p.width;
    float* sumGradient = work(Workspace::kSumGradient, some * p.width);
    throughMlp(maps, saved, gradient, sumGradient);
    const float* x = stream + first * p.tokens * p.width;
    throughAttention(maps, saved, x, sumGradient, result + first * p.tokens * p.width);
  }

 private:
  float* gradientOf(BlockParameter which) { return share_ + layout_.offsets[which]; }

  /// A norm adds to both of its gradients in the pass that computes its input's; one that is not
  /// wanted goes where nothing reads it.
  float* normGradient(std::size_t which) {
    return p.isTrained[which] ? share_ + layout_.offsets[which]
                              : work(Workspace::kUnwanted, p.width);
  }

  /// Adds to the gradients of a map [out, in] and of its bias, of `rows` rows. The map may begin at
  /// a later row of the parameter.
  void mapGradient(BlockParameter weight, std::int64_t firstOut, std::int64_t out, std::int64_t in,
                   std::int64_t rows, const MatrixView& gradient, const MatrixView& input) {
    if (p.isTrained[weight + 1]) {
      loops.addRows(rows, out, gradient.values, gradient.rowStride,
                    share_ + layout_.offsets[weight + 1] + firstOut);
    }
    if (!p.isTrained[weight]) return;
    float* target = gradientOf(weight) + firstOut * in;
    float* right = work(Workspace::kRight, packedRightSize(p.factor, rows, in));
    float* left = work(Workspace::kLeft, packedLeftSize(p.factor, out, rows));
    packRight(p.factor, rows, in, input, right);
    gemm(p.factor, out, in, rows, packLeft(p.factor, out, rows, transposed(gradient), left), right,
         {target, in}, target, in);
  }

  void normBackward(std::int64_t rows, BlockParameter weight, const float* x, const float* through,
                    const float* outGradient, float* gradient) {
    const float* statistics = work(Workspace::kStatistics, 2 * rows);  // as normalise() left them
    loops.normRowsBackward(p.norm == NormKind::Rms, rows, p.width,
                           {x, parameter(weight), statistics, statistics + rows, through,
                            outGradient, gradient, normGradient(weight), normGradient(weight + 1)});
  }

  /// The gradient of a branch: that of the sum, times the branch's gain.
  const float* branchGradient(const float* gradient, const float* gains) {
    if (gains == nullptr) return gradient;
    const std::int64_t count = p.rows * p.width;
    float* scaled = work(Workspace::kScaled, some * p.width);
    for (std::int64_t i = 0; i < images; ++i) {
      for (std::int64_t c = 0; c < count; ++c)
        scaled[i * count + c] = gains[first + i] * gradient[i * count + c];
    }
    return scaled;
  }

  void throughMlp(const PackedMaps& maps, const SavedTensors& saved, const float* gradient,
                  float* sumGradient) {
    const std::int64_t width = p.width, hidden = p.hidden;
    const bool isSwiGlu = p.mlp == MlpKind::SwiGlu;
    const float* sum = place(saved.sum, Workspace::kSum, p.rows * width);
    const float* before = place(saved.hidden, Workspace::kHidden, p.rows * hidden);
    float* activated = work(Workspace::kActivated, some * hidden);
    float* slopes = work(Workspace::kSlopes, some * hidden);
    const float* up = isSwiGlu ? place(saved.up, Workspace::kUp, p.rows * hidden) : nullptr;
    if (isSwiGlu) {
      loops.swiGlu(some * hidden, before, up, activated);
    } else {
      gelu(some * hidden, before, activated, slopes);
    }
    const MatrixView branch{branchGradient(gradient, p.mlpGain), width, 1};
    mapGradient(kFc2Weight, 0, width, hidden, some, branch, {activated, hidden, 1});
    float* hiddenGradient = work(Workspace::kHiddenGradient, some * hidden);
    product(some, hidden, width, branch, maps.fc2, {}, hiddenGradient, hidden);

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
    const MatrixView branch{branchGradient(sumGradient, p.attentionGain), width, 1};
    mapGradient(kProjWeight, 0, width, width, some, branch, {attended, width, 1});
    float* attendedGradient = work(Workspace::kActivated, some * width);
    product(some, width, width, branch, maps.proj, {}, attendedGradient, width);

    float* qkvGradient = work(Workspace::kHiddenGradient, all * three);
    HeadScratch scratch(p.head);
    forEachHead([&](const Head& at) {
      backwardHead(p.head, qkv + at.query, qkv + at.key, qkv + at.value, attendedGradient + at.out,
                   probabilities + at.probabilities,
                   {qkvGradient + at.query, qkvGradient + at.key, qkvGradient + at.value}, scratch);
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
  float* share_;
};

}  // namespace

void forwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& maps,
                  const float* stream, const SavedTensors& saved, float* result) {
  ForwardChunk(plan, index).run(maps, stream, saved, result);
}

void backwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& maps,
                   const float* stream, const SavedTensors& saved, const float* outGradient,
                   float* result, const GradientLayout& layout, float* share) {
  BackwardChunk(plan, index, layout, share).run(maps, stream, saved, outGradient, result);
}

}  // namespace vitrine::cpu

#include "core/nn/fused_block.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/nn/attention_head.h"
#include "core/nn/row_kernels.h"

namespace vitrine::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows that a thread takes through the block at once: few enough for its cache, enough for the
/// products to run at full speed.
constexpr std::int64_t kChunkRows = 136;
/// Gradients of parameters are summed in at most this many fixed shares, so the result does not
/// depend on the number of threads.
constexpr std::int64_t kShares = 8;
/// Above, the probabilities of a head leave the cache.
constexpr std::int64_t kTokens = 288;
constexpr std::int64_t kWidth = 512;

/// What does not change from image to image.
struct Plan {
  std::int64_t batch, tokens, width, hidden, heads;
  std::int64_t firstRow, rowStep;  ///< tokens that go on after attention: firstRow, + rowStep, ...
  std::int64_t rows;               ///< how many of an image
  std::int64_t imagesAtOnce;
  NormKind norm;
  MlpKind mlp;
  float eps;
  Factor factor;
  HeadShape head;
  std::array<const float*, kBlockParameters> parameters;
  const float *attentionGain, *mlpGain;

  [[nodiscard]] std::int64_t chunks() const { return (batch + imagesAtOnce - 1) / imagesAtOnce; }
  [[nodiscard]] std::int64_t probabilities() const { return heads * rows * tokens; }
};

/// Tensors of a call that the backward pass wants again; undefined: kept by nobody.
struct Kept {
  at::Tensor qkv, probabilities, attended, sum, hidden, up;
};

const float* read(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

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

/// Hands `count` tasks to whichever thread is free: one that has to share its core takes fewer.
template <class Body>
void forEach(std::int64_t count, const Body& body) {
  std::atomic<std::int64_t> next{0};
  at::parallel_for(0, std::min<std::int64_t>(count, at::get_num_threads()), 1,
                   [&](std::int64_t, std::int64_t) {
                     for (std::int64_t task; (task = next.fetch_add(1)) < count;) body(task);
                   });
}

/// The six maps of a block as right factors: their transposes on the way forward, themselves on the
/// way back.
struct PackedMaps {
  std::vector<float> query, keyValue, proj, fc1, fc2, fc3;

  enum class Way { Forward, Backward };
  PackedMaps& pack(const Plan& p, Way way) {
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
  static PackedMaps& ofThread() {
    static thread_local PackedMaps maps;
    return maps;
  }
};

/// Some images on their way through a block, in either direction.
class Chunk {
 public:
  Chunk(const Plan& plan, std::int64_t index)
      : p(plan),
        first(index * p.imagesAtOnce),
        images(std::min(p.imagesAtOnce, p.batch - first)),
        all(images * p.tokens),
        some(images * p.rows),
        work(Workspace::ofThread()) {}

 protected:
  /// out = left right + start
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const MatrixView& left,
               const std::vector<float>& right, const Start& start, float* out,
               std::int64_t outStride) {
    float* packed = work(Workspace::kLeft, packedLeftSize(p.factor, rows, depth));
    multiply(p.factor, rows, columns, depth, packLeft(p.factor, rows, depth, left, packed),
             right.data(), start, out, outStride);
  }
  [[nodiscard]] const float* parameter(BlockParameter which) const { return p.parameters[which]; }

  /// Where this chunk's floats lie: in the tensor that keeps them, or in the workspace.
  float* place(const at::Tensor& kept, Workspace::Slot slot, std::int64_t perImage) {
    if (kept.defined()) return kept.data_ptr<float>() + first * perImage;
    return work(slot, images * perImage);
  }

  void normalise(const float* x, std::int64_t rows, BlockParameter weight, float* out) {
    float* statistics = work(Workspace::kStatistics, 2 * rows);
    normRows(p.norm, p.eps, rows, p.width,
             {x, nullptr, parameter(weight), p.parameters[weight + 1], nullptr, out, statistics,
              statistics + rows});
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
      addScaledRows(count, x + i * imageStride, branch + i * count,
                    gains == nullptr ? 1 : gains[first + i], out + i * count);
    }
  }

  const Plan& p;
  std::int64_t first, images, all, some;
  Workspace& work;
};

class ForwardChunk : Chunk {
 public:
  using Chunk::Chunk;

  void run(const PackedMaps& maps, const float* stream, const Kept& kept, float* result) {
    const std::int64_t width = p.width, three = 3 * width, hidden = p.hidden;
    const float* x = stream + first * p.tokens * width;
    float* normed = work(Workspace::kNormed, all * width);
    normalise(x, all, kNorm1Weight, normed);

    float* qkv = place(kept.qkv, Workspace::kQkv, p.tokens * three);
    const float* bias = parameter(kQkvBias);
    product(some, width, width, {normed + p.firstRow * width, p.rowStep * width, 1}, maps.query,
            {bias, 0}, qkv + p.firstRow * three, p.rowStep * three);
    product(all, 2 * width, width, {normed, width, 1}, maps.keyValue,
            {bias == nullptr ? nullptr : bias + width, 0}, qkv + width, three);

    float* probabilities = place(kept.probabilities, Workspace::kProbabilities, p.probabilities());
    float* attended = place(kept.attended, Workspace::kAttended, p.rows * width);
    HeadScratch scratch(p.head);
    forEachHead([&](const Head& at) {
      forwardHead(p.head, qkv + at.query, qkv + at.key, qkv + at.value, attended + at.out,
                  probabilities + at.probabilities, scratch);
    });

    float* sum = place(kept.sum, Workspace::kSum, p.rows * width);
    product(some, width, width, {attended, width, 1}, maps.proj, {parameter(kProjBias), 0}, sum,
            width);
    addBranch(x + p.firstRow * width, p.tokens * width, p.attentionGain, sum, sum);

    normalise(sum, some, kNorm2Weight, normed);
    float* before = place(kept.hidden, Workspace::kHidden, p.rows * hidden);
    product(some, hidden, width, {normed, width, 1}, maps.fc1, {parameter(kFc1Bias), 0}, before,
            hidden);
    float* activated = work(Workspace::kActivated, some * hidden);
    if (p.mlp == MlpKind::SwiGlu) {
      float* up = place(kept.up, Workspace::kUp, p.rows * hidden);
      product(some, hidden, width, {normed, width, 1}, maps.fc3, {parameter(kFc3Bias), 0}, up,
              hidden);
      swiGluRows(some * hidden, before, up, activated);
    } else {
      geluRows(p.mlp == MlpKind::GeluTanh ? Gelu::Tanh : Gelu::Erf, some * hidden, before,
               activated, work(Workspace::kSlopes, some * hidden));
    }
    float* out = result + first * p.rows * width;
    product(some, width, hidden, {activated, hidden, 1}, maps.fc2, {parameter(kFc2Bias), 0}, out,
            width);
    addBranch(sum, p.rows * width, p.mlpGain, out, out);
  }
};

/// Where the gradient of each parameter lies in a share.
struct GradientLayout {
  explicit GradientLayout(const Plan& p) {
    const std::int64_t d = p.width, h = p.hidden;
    const std::array<std::int64_t, kBlockParameters> sizes{d,
                                                           d,
                                                           3 * d * d,
                                                           3 * d,
                                                           d * d,
                                                           d,
                                                           d,
                                                           d,
                                                           h * d,
                                                           h,
                                                           d * h,
                                                           d,
                                                           p.mlp == MlpKind::SwiGlu ? h * d : 0,
                                                           p.mlp == MlpKind::SwiGlu ? h : 0};
    for (std::size_t i = 0; i < kBlockParameters; ++i) {
      offsets[i] = total;
      total += sizes[i];
    }
  }
  std::array<std::int64_t, kBlockParameters> offsets{};
  std::int64_t total = 0;
};

class BackwardChunk : Chunk {
 public:
  BackwardChunk(const Plan& plan, std::int64_t index, const GradientLayout& layout, float* share)
      : Chunk(plan, index), layout_(layout), share_(share) {}

  void run(const PackedMaps& maps, const float* stream, const Kept& kept, const float* outGradient,
           float* result) {
    const float* gradient = outGradient + first * p.rows * p.width;
    float* sumGradient = work(Workspace::kSumGradient, some * p.width);
    throughMlp(maps, kept, gradient, sumGradient);
    const float* x = stream + first * p.tokens * p.width;
    throughAttention(maps, kept, x, sumGradient, result + first * p.tokens * p.width);
  }

 private:
  float* gradientOf(BlockParameter which) { return share_ + layout_.offsets[which]; }

  /// Adds to the gradients of a map [out, in] and of its bias, of `rows` rows. The map may begin at
  /// a later row of the parameter.
  void mapGradient(BlockParameter weight, std::int64_t firstOut, std::int64_t out, std::int64_t in,
                   std::int64_t rows, const MatrixView& gradient, const MatrixView& input) {
    float* target = gradientOf(weight) + firstOut * in;
    float* right = work(Workspace::kRight, packedRightSize(p.factor, rows, in));
    float* left = work(Workspace::kLeft, packedLeftSize(p.factor, out, rows));
    packRight(p.factor, rows, in, input, right);
    multiply(p.factor, out, in, rows, packLeft(p.factor, out, rows, transposed(gradient), left),
             right, {target, in}, target, in);
    addRows(rows, out, gradient.values, gradient.rowStride,
            share_ + layout_.offsets[weight + 1] + firstOut);
  }

  void normBackward(std::int64_t rows, BlockParameter weight, const float* x, const float* through,
                    const float* outGradient, float* gradient) {
    const float* statistics = work(Workspace::kStatistics, 2 * rows);  // as normalise() left them
    normRowsBackward(p.norm, rows, p.width,
                     {x, parameter(weight), statistics, statistics + rows, through, outGradient,
                      gradient, gradientOf(weight), share_ + layout_.offsets[weight + 1]});
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

  void throughMlp(const PackedMaps& maps, const Kept& kept, const float* gradient,
                  float* sumGradient) {
    const std::int64_t width = p.width, hidden = p.hidden;
    const bool isSwiGlu = p.mlp == MlpKind::SwiGlu;
    const float* sum = place(kept.sum, Workspace::kSum, p.rows * width);
    const float* before = place(kept.hidden, Workspace::kHidden, p.rows * hidden);
    float* activated = work(Workspace::kActivated, some * hidden);
    float* slopes = work(Workspace::kSlopes, some * hidden);
    const float* up = isSwiGlu ? place(kept.up, Workspace::kUp, p.rows * hidden) : nullptr;
    if (isSwiGlu) {
      swiGluRows(some * hidden, before, up, activated);
    } else {
      geluRows(p.mlp == MlpKind::GeluTanh ? Gelu::Tanh : Gelu::Erf, some * hidden, before,
               activated, slopes);
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
      swiGluRowsBackward(some * hidden, before, up, hiddenGradient, activated, upGradient);
      const MatrixView gateView{activated, hidden, 1}, upView{upGradient, hidden, 1};
      mapGradient(kFc1Weight, 0, hidden, width, some, gateView, normedView);
      mapGradient(kFc3Weight, 0, hidden, width, some, upView, normedView);
      product(some, width, hidden, gateView, maps.fc1, {}, normedGradient, width);
      product(some, width, hidden, upView, maps.fc3, {normedGradient, width}, normedGradient,
              width);
    } else {
      multiplyRows(some * hidden, hiddenGradient, slopes, hiddenGradient);
      mapGradient(kFc1Weight, 0, hidden, width, some, hiddenView, normedView);
      product(some, width, hidden, hiddenView, maps.fc1, {}, normedGradient, width);
    }
    normBackward(some, kNorm2Weight, sum, gradient, normedGradient, sumGradient);
  }

  void throughAttention(const PackedMaps& maps, const Kept& kept, const float* x,
                        const float* sumGradient, float* result) {
    const std::int64_t width = p.width, three = 3 * width;
    const float* qkv = place(kept.qkv, Workspace::kQkv, p.tokens * three);
    const float* probabilities =
        place(kept.probabilities, Workspace::kProbabilities, p.probabilities());
    const float* attended = place(kept.attended, Workspace::kAttended, p.rows * width);
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
      addScaledRows(width, row, sumGradient + i * width, 1, row);
    }
  }

  const GradientLayout& layout_;
  float* share_;
};

/// Everything of a call that is a constant, dense and float32.
struct Constants {
  at::Tensor cosine, sine, additive, multiplicative, attentionGain, mlpGain;
};

/// What identifies a call beside its tensors.
struct Settings {
  NormKind norm;
  MlpKind mlp;
  double eps;
  std::int64_t heads, row;
  Factor factor;
};

Plan planOf(const at::Tensor& x, at::TensorList parameters, const Constants& constants,
            const Settings& settings) {
  Plan p{};
  p.batch = x.size(0), p.tokens = x.size(1), p.width = x.size(2);
  p.hidden = parameters[kFc1Weight].size(0);
  p.heads = settings.heads;
  p.rows = settings.row < 0 ? p.tokens : 1;
  p.firstRow = std::max<std::int64_t>(settings.row, 0);
  p.rowStep = settings.row < 0 ? 1 : p.tokens;
  p.imagesAtOnce = std::max<std::int64_t>(1, kChunkRows / p.tokens);
  p.norm = settings.norm, p.mlp = settings.mlp, p.eps = static_cast<float>(settings.eps);
  p.factor = settings.factor;
  p.head.queries = p.rows, p.head.keys = p.tokens, p.head.headDim = p.width / p.heads;
  p.head.queryStride = p.head.keyStride = 3 * p.width;
  p.head.outStride = p.width;
  p.head.firstQuery = p.firstRow;
  p.head.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.head.headDim)));
  p.head.cosine = read(constants.cosine), p.head.sine = read(constants.sine);
  p.head.additive = read(constants.additive);
  p.head.multiplicative = read(constants.multiplicative);
  p.attentionGain = read(constants.attentionGain), p.mlpGain = read(constants.mlpGain);
  for (std::size_t i = 0; i < kBlockParameters; ++i) p.parameters[i] = read(parameters[i]);
  return p;
}

at::Tensor runForward(const Plan& p, const at::Tensor& x, const Kept& kept) {
  at::Tensor out = at::empty({p.batch, p.rows, p.width}, x.options());
  const PackedMaps& maps = PackedMaps::ofThread().pack(p, PackedMaps::Way::Forward);
  forEach(p.chunks(), [&](std::int64_t index) {
    ForwardChunk(p, index).run(maps, read(x), kept, out.data_ptr<float>());
  });
  return out;
}

class FusedBlock : public torch::autograd::Function<FusedBlock> {
 public:
  // The list holds the parameters that there are: autograd takes no undefined ones.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, at::TensorList,
                            const BlockParameters& parameters, const Constants& constants,
                            const Settings& settings) {
    const Plan p = planOf(x, parameters, constants, settings);
    const auto empty = [&](at::IntArrayRef shape) { return at::empty(shape, x.options()); };
    Kept kept;
    kept.qkv = empty({p.batch, p.tokens, 3 * p.width});
    kept.probabilities = empty({p.batch, p.heads, p.rows, p.tokens});
    kept.attended = empty({p.batch, p.rows, p.width});
    kept.sum = empty({p.batch, p.rows, p.width});
    kept.hidden = empty({p.batch, p.rows, p.hidden});
    if (p.mlp == MlpKind::SwiGlu) kept.up = empty({p.batch, p.rows, p.hidden});
    const at::Tensor out = runForward(p, x, kept);

    variable_list saved{x,
                        kept.qkv,
                        kept.probabilities,
                        kept.attended,
                        kept.sum,
                        kept.hidden,
                        kept.up,
                        constants.cosine,
                        constants.sine,
                        constants.additive,
                        constants.multiplicative,
                        constants.attentionGain,
                        constants.mlpGain};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    context->save_for_backward(std::move(saved));
    auto& data = context->saved_data;
    data["norm"] = static_cast<std::int64_t>(settings.norm);
    data["mlp"] = static_cast<std::int64_t>(settings.mlp);
    data["eps"] = settings.eps;
    data["heads"] = settings.heads;
    data["row"] = settings.row;
    data["factor"] = static_cast<std::int64_t>(settings.factor);
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const Kept kept{saved[1], saved[2], saved[3], saved[4], saved[5], saved[6]};
    const Constants constants{saved[7], saved[8], saved[9], saved[10], saved[11], saved[12]};
    const at::TensorList parameters(saved.data() + 13, kBlockParameters);
    auto& data = context->saved_data;
    const Plan p = planOf(
        x, parameters, constants,
        {static_cast<NormKind>(data["norm"].toInt()), static_cast<MlpKind>(data["mlp"].toInt()),
         data["eps"].toDouble(), data["heads"].toInt(), data["row"].toInt(),
         static_cast<Factor>(data["factor"].toInt())});
    const at::Tensor outGradient = gradients[0].contiguous();
    const at::Tensor result = at::empty_like(x);
    const GradientLayout layout(p);
    const std::int64_t chunks = p.chunks(), count = std::min(kShares, chunks);
    const at::Tensor shares = at::empty({count, layout.total}, x.options());
    const PackedMaps& maps = PackedMaps::ofThread().pack(p, PackedMaps::Way::Backward);
    forEach(count, [&](std::int64_t index) {
      float* share = shares.data_ptr<float>() + index * layout.total;
      std::fill_n(share, layout.total, 0.0F);
      for (std::int64_t i = chunks * index / count; i < chunks * (index + 1) / count; ++i) {
        BackwardChunk(p, i, layout, share)
            .run(maps, read(x), kept, read(outGradient), result.data_ptr<float>());
      }
    });
    const at::Tensor sums = at::empty({layout.total}, x.options());
    at::parallel_for(0, layout.total, 16384, [&](std::int64_t begin, std::int64_t end) {
      float* target = sums.data_ptr<float>() + begin;
      std::fill_n(target, end - begin, 0.0F);
      addRows(count, end - begin, read(shares) + begin, layout.total, target);
    });

    variable_list results{result};
    for (std::size_t i = 0; i < kBlockParameters; ++i) {
      if (!parameters[i].defined()) continue;
      results.push_back(
          sums.narrow(0, layout.offsets[i], parameters[i].numel()).view_as(parameters[i]));
    }
    results.resize(results.size() + 3);  // none for what is not a variable
    return results;
  }
};

at::Tensor plain(const at::Tensor& values) {
  return values.defined() ? values.detach().to(at::kFloat).contiguous() : values;
}

bool fits(const at::Tensor& mask, std::int64_t values) {
  return !mask.defined() || (mask.numel() == values && !mask.requires_grad());
}

}  // namespace

std::optional<Factor> fusedFactor() {
  if (!hasFastProducts()) return {};
  if (!at::autocast::is_autocast_enabled(at::kCPU)) return Factor::Float32;
  if (at::autocast::get_autocast_dtype(at::kCPU) != at::kBFloat16 || !hasBFloat16Products())
    return {};
  return Factor::BFloat16;
}

bool isFusable(const BlockInput& input) {
  const at::Tensor& x = input.x;
  const bool isTaken = x.scalar_type() == at::kFloat ||
                       (input.factor == Factor::BFloat16 && x.scalar_type() == at::kBFloat16);
  if (x.dim() != 3 || !x.device().is_cpu() || !isTaken) return false;
  const std::int64_t tokens = x.size(1), width = x.size(2);
  const std::int64_t queries = input.row < 0 ? tokens : 1;
  if (tokens > kTokens || width > kWidth || width % input.heads != 0) return false;
  for (const at::Tensor& parameter : input.parameters) {
    if (parameter.defined() &&
        (parameter.scalar_type() != at::kFloat || !parameter.is_contiguous()))
      return false;
  }
  if (input.parameters[kNorm1Weight].size(0) != width) return false;
  return x.size(0) * tokens >= 2 * kChunkRows && fits(input.additive, queries * tokens) &&
         fits(input.multiplicative, queries * tokens);
}

at::Tensor fusedBlock(const BlockInput& input) {
  const at::Tensor x = input.x.to(at::kFloat).contiguous();
  Constants constants;
  if (input.angles.defined()) {
    constants.cosine = input.angles.cos().contiguous();
    constants.sine = input.angles.sin().contiguous();
  }
  constants.additive = plain(input.additive);
  constants.multiplicative = plain(input.multiplicative);
  constants.attentionGain = plain(input.attentionGain);
  constants.mlpGain = plain(input.mlpGain);
  const Settings settings{input.norm,  input.mlp, input.normEps,
                          input.heads, input.row, input.factor};
  variable_list given;
  for (const at::Tensor& parameter : input.parameters) {
    if (parameter.defined()) given.push_back(parameter);
  }
  const bool isTraining =
      at::GradMode::is_enabled() &&
      (x.requires_grad() || std::any_of(given.begin(), given.end(),
                                        [](const at::Tensor& t) { return t.requires_grad(); }));
  if (!isTraining) return runForward(planOf(x, input.parameters, constants, settings), x, {});
  return FusedBlock::apply(x, at::TensorList(given), input.parameters, constants, settings);
}

}  // namespace vitrine::nn

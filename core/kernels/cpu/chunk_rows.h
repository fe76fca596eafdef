// What both directions of a fused block share: a chunk's rows, their norms and products. Included
// by block_chunk.cpp alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/kernels/cpu/block_chunk.h"
#include "core/kernels/cpu/kernels.h"

namespace vitrine::cpu {

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
  Chunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& packed,
        std::int64_t skippedTokens)
      : p(plan),
        maps(packed),
        skipped(skippedTokens),
        first(index * p.imagesAtOnce),
        images(std::min(p.imagesAtOnce, p.batch - first)),
        all(images * p.tokens),
        some(images * p.rows),
        work(Workspace::ofThread()),
        loops(kernels()),
        gelu(p.mlp == MlpKind::GeluTanh ? loops.geluTanh : loops.geluErf) {}

 protected:
  using Maps = PackedMaps::Maps;
  using Map = AlignedFloats Maps::*;
  /// What a product begins with: zero, or the bias of a kind from one of its channels on, or what
  /// `out` holds.
  struct Begin {
    BlockParameter bias = kBlockParameters;
    std::int64_t firstChannel = 0;
    bool isOut = false;
  };

  /// Rows that have the same parameters.
  struct Part {
    std::size_t kind;  ///< of tokens
    std::int64_t row, rows;
    std::int64_t image = 0;  ///< whose parameters they are, where each has its own
  };
  /// Calls body(part) for the rows of each kind, in order. Those of constant tokens are left out on
  /// the way back.
  template <class Body>
  void forEachKind(std::int64_t rows, const Body& body) const {
    if (p.firstOther == p.tokens) return body(Part{0, 0, rows});
    for (std::int64_t i = 0; i < images; ++i) {
      const std::int64_t row = i * p.tokens;
      if (p.firstOther > skipped) body(Part{0, row + skipped, p.firstOther - skipped});
      body(Part{1, row + p.firstOther, p.tokens - p.firstOther});
    }
  }

  /// out = left * the map of each row's kind + begin
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const MatrixView& left,
               Map map, const Begin& begin, float* out, std::int64_t outStride) {
    forEachKind(rows, [&](const Part& part) {
      float* packed = work(Workspace::kLeft, packedLeftSize(p.factor, part.rows, depth));
      float* target = out + part.row * outStride;
      Start start{begin.isOut ? target : nullptr, outStride};
      if (begin.bias != kBlockParameters)
        start = {shifted(p.kinds[part.kind].parameters[begin.bias], begin.firstChannel), 0};
      gemm(p.factor, part.rows, columns, depth,
           packLeft(p.factor, part.rows, depth, rowsFrom(left, part.row), packed),
           (maps.kinds[part.kind].*map).data(), start, target, outStride);
    });
  }

  static const float* shifted(const float* values, std::int64_t index) {
    return values == nullptr ? nullptr : values + index;
  }
  static MatrixView rowsFrom(const MatrixView& all, std::int64_t row) {
    return {all.values + row * all.rowStride, all.rowStride, all.columnStride};
  }

  /// Calls body(first value, values) for the rows that take part, of `perRow` values each.
  template <class Body>
  void forEachRun(std::int64_t perRow, const Body& body) const {
    if (skipped == 0) return body(0, some * perRow);
    for (std::int64_t i = 0; i < images; ++i)
      body((i * p.tokens + skipped) * perRow, (p.tokens - skipped) * perRow);
  }

  /// Where this chunk's floats lie: in the tensor that keeps them, or in the workspace.
  float* place(const at::Tensor& saved, Workspace::Slot slot, std::int64_t perImage) {
    if (saved.defined()) return saved.data_ptr<float>() + first * perImage;
    return work(slot, images * perImage);
  }

  /// The row of an image, where each has its own.
  [[nodiscard]] std::int64_t offsetOf(std::size_t which, std::int64_t image) const {
    return p.kinds[0].isOfImage[which] ? (first + image) * p.width : 0;
  }
  [[nodiscard]] const float* parameterOf(std::size_t which, const Part& part) const {
    return shifted(p.kinds[part.kind].parameters[which], offsetOf(which, part.image));
  }

  /// Calls body(part) for each part of a norm's rows that has gains of its own: all rows, those of
  /// one kind of tokens, or those of one image.
  template <class Body>
  void forEachGains(BlockParameter weight, std::int64_t rows, const Body& body) {
    if (!p.kinds[0].isOfImage[weight] && !p.kinds[0].isOfImage[weight + 1])
      return forEachKind(rows, body);
    const std::int64_t ofImage = rows / images;
    for (std::int64_t i = 0; i < images; ++i) body(Part{0, i * ofImage, ofImage, i});
  }

  void normalise(const float* x, std::int64_t rows, BlockParameter weight, float* out) {
    float* statistics = work(Workspace::kStatistics, 2 * rows);
    forEachGains(weight, rows, [&](const Part& part) {
      const std::int64_t at = part.row * p.width;
      loops.normRows(p.norm == NormKind::Rms, p.eps, part.rows, p.width,
                     {x + at, nullptr, parameterOf(weight, part), parameterOf(weight + 1, part),
                      nullptr, out + at, statistics + part.row, statistics + rows + part.row});
    });
  }

  /// Of an image, with the angles and the mask that are its own, without the queries that are left
  /// out.
  [[nodiscard]] HeadShape headOf(std::int64_t image) const {
    HeadShape shape = p.head;
    if (p.angleStep > 0) {
      shape.cosine += (first + image) * p.angleStep;
      shape.sine += (first + image) * p.angleStep;
    }
    if (p.additiveStep > 0) shape.additive += (first + image) * p.additiveStep;
    shape.queries -= skipped;
    shape.firstQuery += skipped;
    for (const float** mask : {&shape.additive, &shape.multiplicative})
      *mask = shifted(*mask, skipped * p.keys());
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
        if (p.headMaskStep > 0)
          shape.additive = p.head.additive + head * p.headMaskStep + skipped * p.keys();
        const std::int64_t channel = head * p.head.headDim;
        const std::int64_t query = image * p.keys() + p.before + p.firstRow + skipped;
        const std::int64_t key = image * p.keys() * 3 * p.width + p.width + channel;
        body(shape, Head{query * 3 * p.width + channel, key, key + p.width,
                         (image * p.rows + skipped) * p.width + channel,
                         ((image * p.heads + head) * p.rows + skipped) * p.keys()});
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
    if (p.kinds[0].parameters[factors.gate] == nullptr) return out;
    return place(saved, Workspace::kBranch, p.rows * p.width);
  }

  /// out = x + factors * branch, image by image; x is the stream before attention or after it.
  /// Drops elements of `branch` first.
  void addBranch(const Factors& factors, const float* x, std::int64_t imageStride, float* branch,
                 float* out) {
    const std::int64_t count = p.rows * p.width;
    drop(factors.dropout, p.width, branch, branch);
    for (std::int64_t i = 0; i < images; ++i) {
      const float *from = x + i * imageStride, *gate = parameterOf(factors.gate, {0, 0, 0, i});
      if (gate == nullptr) {
        loops.addScaledRows(count, from, branch + i * count, gainOf(factors, i), out + i * count);
      } else {
        loops.addGatedRows(p.rows, p.width, from, branch + i * count, gate, gainOf(factors, i),
                           out + i * count);
      }
    }
  }

  const BlockPlan& p;
  const PackedMaps& maps;
  const std::int64_t skipped;  ///< constant tokens of each image, on the way back
  std::int64_t first, images, all, some;
  Workspace& work;
  const Kernels& loops;
  decltype(Kernels::geluErf) gelu;
};

}  // namespace vitrine::cpu

#include <ATen/Parallel.h>

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "core/kernels/cpu/block_chunk.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::cpu {

PackedMaps& PackedMaps::pack(const BlockPlan& p, Way way) {
  struct Part {
    MatrixView right;
    std::int64_t depth, columns;
    float* packed;
  };
  constexpr std::int64_t kColumns = 128;  // of a part; whole panels
  std::vector<Part> parts;
  std::int64_t floats = 0;
  const auto one = [&](AlignedFloats& packed, const float* weight, std::int64_t out,
                       std::int64_t in) {
    if (weight == nullptr) return;
    const MatrixView plain{weight, in, 1};
    const MatrixView right = way == Way::Forward ? transposed(plain) : plain;
    const std::int64_t depth = way == Way::Forward ? in : out,
                       columns = way == Way::Forward ? out : in;
    packed.resize(static_cast<std::size_t>(packedRightSize(p.factor, depth, columns)));
    for (std::int64_t j = 0; j < columns; j += kColumns)
      parts.push_back({{right.values + j * right.columnStride, right.rowStride, right.columnStride},
                       depth,
                       std::min(kColumns, columns - j),
                       packed.data() + packedRightSize(p.factor, depth, j)});
    floats += depth * columns;
  };
  for (std::size_t i = 0; i < p.kinds.size(); ++i) {
    const auto& w = p.kinds[i].parameters;
    Maps& maps = kinds[i];
    if (w[kQkvWeight] != nullptr) {
      one(maps.query, w[kQkvWeight], p.width, p.width);
      one(maps.keyValue, w[kQkvWeight] + p.width * p.width, 2 * p.width, p.width);
      one(maps.proj, w[kProjWeight], p.width, p.width);
    }
    one(maps.fc1, w[kFc1Weight], p.hidden, p.width);
    one(maps.fc3, w[kFc3Weight], p.hidden, p.width);
    one(maps.fc2, w[kFc2Weight], p.width, p.hidden);
  }
  const auto count = static_cast<std::int64_t>(parts.size());
  at::parallel_for(0, count, floats < kSerial ? count : 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const Part& part = parts[static_cast<std::size_t>(i)];
                       packRight(p.factor, part.depth, part.columns, part.right, part.packed);
                     }
                   });
  return *this;
}

PackedMaps& PackedMaps::ofThread() {
  static thread_local PackedMaps maps;
  return maps;
}

namespace {

/// Maps of one block, packed.
struct KeptMaps {
  std::vector<at::Tensor> sources;  ///< held: no other map can come to lie at their addresses
  Factor factor;
  PackedMaps maps;
};

/// What a thread keeps while a ConstantParameters lives.
struct KeptBlocks {
  static constexpr std::int64_t kMostFloats = 64 << 20;
  int scopes = 0;
  std::int64_t floats = 0;
  std::list<KeptMaps> blocks;

  static KeptBlocks& ofThread() {
    static thread_local KeptBlocks kept;
    return kept;
  }
};

std::vector<at::Tensor> sourcesOf(const BothParameters& parameters) {
  std::vector<at::Tensor> sources;
  for (std::size_t i = 0; i < kBothKinds; i += kBlockParameters) {
    for (const BlockParameter map : {kQkvWeight, kProjWeight, kFc1Weight, kFc2Weight, kFc3Weight})
      sources.push_back(parameters[i + map]);
  }
  return sources;
}

bool isSameMap(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.const_data_ptr() == b.const_data_ptr() && a.sizes() == b.sizes();
}

}  // namespace

const PackedMaps& PackedMaps::withoutGradient(const BlockPlan& plan,
                                              const BothParameters& parameters) {
  KeptBlocks& kept = KeptBlocks::ofThread();
  if (kept.scopes == 0) return ofThread().pack(plan, Way::Forward);
  std::vector<at::Tensor> sources = sourcesOf(parameters);
  for (const KeptMaps& block : kept.blocks) {
    if (block.factor == plan.factor &&
        std::equal(sources.begin(), sources.end(), block.sources.begin(), isSameMap))
      return block.maps;
  }
  std::int64_t floats = 0;
  for (const at::Tensor& map : sources) floats += map.defined() ? map.numel() : 0;
  if (kept.floats + floats > KeptBlocks::kMostFloats) return ofThread().pack(plan, Way::Forward);
  kept.floats += floats;
  KeptMaps& block = kept.blocks.emplace_back(KeptMaps{std::move(sources), plan.factor, {}});
  return block.maps.pack(plan, Way::Forward);
}

ConstantParameters::ConstantParameters() { ++KeptBlocks::ofThread().scopes; }
ConstantParameters::~ConstantParameters() {
  KeptBlocks& kept = KeptBlocks::ofThread();
  if (--kept.scopes > 0) return;
  kept.blocks.clear();
  kept.floats = 0;
}

}  // namespace vitrine::cpu

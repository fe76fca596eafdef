#include <ATen/Parallel.h>

#include <algorithm>
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

}  // namespace vitrine::cpu

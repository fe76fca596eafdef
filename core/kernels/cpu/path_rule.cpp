#include "core/kernels/cpu/path_rule.h"

#include <limits>

#include "core/base/cpu_path.h"
#include "core/kernels/cpu/cpu_layers.h"

namespace vitrine::cpu {

namespace {

/// Widest models whose blocks and whose heads are faster here than with a library's products,
/// measured by `tests/bench/run.sh step`. A library loses by its calls, by threads that meet after
/// each, and by memory between them.
struct Widths {
  std::int64_t training, inference, attention;
};

Widths widthsOf(CpuPath path) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  switch (path) {
    case CpuPath::Reference:
      return {0, 0, 0};
    case CpuPath::Baseline:
      // Against SSE4.2 in MKL, a training step of a width of 64 takes 0.8 times as long as layer by
      // layer. One of 192 takes 1.15 times as long.
      return {64, 64, 64};
    case CpuPath::Avx2:
    case CpuPath::Avx512:
      break;
  }
  // Wider, an image no longer fits a core's cache. Inference at 768 still takes 0.7 times as long
  // as layer by layer; shares of parameter gradients would take 226 MB a block.
  return {512, 768, kAny};
}

}  // namespace

bool hasOwnLoops() { return cpuPath() != CpuPath::Reference; }

bool takesMlpBranch(const BlockShape& shape) {
  // A step sums gradients in shares of the batch; without them few rows are enough to be worth the
  // packing of the maps.
  constexpr std::int64_t kLeastRows = 48;
  const Widths widths = widthsOf(cpuPath());
  return shape.width <= (shape.hasGradient ? widths.training : widths.inference) &&
         shape.batch * shape.tokens >= (shape.hasGradient ? 2 * kChunkRows : kLeastRows);
}

bool takesBlock(const BlockShape& shape) {
  return takesMlpBranch(shape) && shape.tokens <= kMostKeys && shape.width % shape.heads == 0 &&
         shape.width / shape.heads <= kMostHeadDim;
}

bool takesAttention(const AttentionShape& shape) {
  return shape.heads * shape.headDim <= widthsOf(cpuPath()).attention && shape.keys <= kMostKeys &&
         shape.headDim <= kMostHeadDim;
}

bool isSharedMask(const at::Tensor& mask, std::int64_t queries, std::int64_t keys) {
  if (!mask.defined()) return true;
  return mask.dim() >= 2 && mask.size(-1) == keys && mask.size(-2) == queries &&
         mask.numel() == queries * keys && !mask.requires_grad();
}

bool isMaskOfHeads(const at::Tensor& mask, std::int64_t heads, std::int64_t queries,
                   std::int64_t keys) {
  return mask.defined() && mask.dim() == 4 && mask.size(0) == 1 && mask.size(1) == heads &&
         mask.size(2) == queries && mask.size(3) == keys;
}

bool canAttend(const at::Tensor& query, const AttentionShape& shape, const at::Tensor& additive,
               const at::Tensor& multiplicative) {
  const at::ScalarType type = query.scalar_type();
  const bool isItsType = type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
  return query.device().is_cpu() && isItsType && shape.keys <= kMostKeys &&
         shape.headDim <= kMostHeadDim &&
         (isSharedMask(additive, shape.queries, shape.keys) ||
          isMaskOfHeads(additive, shape.heads, shape.queries, shape.keys)) &&
         isSharedMask(multiplicative, shape.queries, shape.keys);
}

std::string attentionLimits() {
  return "float32 or half types on the CPU, at most " + std::to_string(kMostKeys) + " keys and " +
         std::to_string(kMostHeadDim) + " channels a head, masks that all samples share";
}

}  // namespace vitrine::cpu

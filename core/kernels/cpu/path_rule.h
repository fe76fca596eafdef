// The rule that decides by shape which calls this folder computes, for cpu_layers.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace vitrine::cpu {

/// Rows that a thread takes through a block at once: few enough for its cache, enough for the
/// products to run at full speed.
inline constexpr std::int64_t kChunkRows = 136;
/// Above, a head's probabilities leave the cache, or its rows the room of a thread.
inline constexpr std::int64_t kMostKeys = 288, kMostHeadDim = 256;

/// Below so many multiply-adds one thread is faster: waking a second one takes longer.
inline constexpr std::int64_t kSerial = 1 << 18;

/// Whether a mask (or none) is a constant that all samples and heads share.
[[nodiscard]] bool isSharedMask(const at::Tensor& mask, std::int64_t queries, std::int64_t keys);
/// Whether a mask has values of each head, [1, heads, queries, keys], which all samples share; it
/// may be trained.
[[nodiscard]] bool isMaskOfHeads(const at::Tensor& mask, std::int64_t heads, std::int64_t queries,
                                 std::int64_t keys);

/// Whether layers may use the loops here: cpuPath() is not the reference path.
[[nodiscard]] bool hasOwnLoops();

}  // namespace vitrine::cpu

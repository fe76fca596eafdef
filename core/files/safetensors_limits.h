// Limits of one file of weights, and of the list of a set of such files.
#pragma once

#include <cstddef>

namespace vitrine::safetensors_limits {

inline constexpr std::size_t kMostTensors = 1'000'000;
inline constexpr std::size_t kLongestName = 1024;  ///< bytes
inline constexpr int kDeepestJson = 8;             ///< levels

}  // namespace vitrine::safetensors_limits

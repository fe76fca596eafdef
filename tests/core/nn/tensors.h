// Tensors that tests of layers draw and compare.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace vitrine::nn {

inline at::Generator seeded(std::uint64_t seed) { return at::detail::createCPUGenerator(seed); }

/// Of normal distribution, drawn in double precision.
inline at::Tensor drawn(at::IntArrayRef shape, std::uint64_t seed,
                        at::ScalarType type = at::kDouble) {
  return at::randn(shape, seeded(seed), at::TensorOptions(at::kDouble)).to(type);
}

inline at::Tensor randomFloats(at::IntArrayRef shape, std::uint64_t seed) {
  return at::randn(shape, seeded(seed));
}

inline at::Tensor row(std::initializer_list<double> values) {
  return at::tensor(std::vector<double>(values)).to(at::kFloat);
}

inline double largestDifference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace vitrine::nn

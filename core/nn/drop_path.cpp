#include "core/nn/drop_path.h"

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cmath>

#include "core/base/error.h"

namespace vitrine::nn {

namespace {

void checkGenerator(const at::Generator& generator) {
  if (!generator.defined())
    throw Error("dropout has no generator to draw from; give the model one with setGenerator");
}

at::Tensor keepScale(at::IntArrayRef shape, const at::Tensor& like, double rate,
                     const at::Generator& generator) {
  checkGenerator(generator);
  const double keep = 1 - rate;
  // 1 / keep is a float32 number at least: in bfloat16, a rate of 0.1 would scale by 1.109
  // for 1.111 and every mean with it.
  const bool isHalf = at::isReducedFloatingType(like.scalar_type());
  at::Tensor scale = at::empty(shape, isHalf ? like.options().dtype(at::kFloat) : like.options());
  scale.bernoulli_(keep, generator);
  // A rate of one keeps nothing, and 0 / 0 is not wanted.
  return keep > 0 ? scale.div_(keep) : scale;
}

}  // namespace

at::Tensor dropPathGains(std::int64_t batch, const at::Tensor& like, double rate,
                         const at::Generator& generator) {
  return rate <= 0 ? at::Tensor() : keepScale({batch}, like, rate, generator);
}

at::Tensor dropPath(const at::Tensor& branch, double rate, const at::Generator& generator) {
  if (rate <= 0) return branch;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(branch.dim()), 1);
  shape[0] = branch.size(0);
  return (branch * dropPathGains(shape[0], branch, rate, generator).view(shape))
      .to(branch.scalar_type());
}

at::Tensor keptSamples(std::int64_t batch, double rate, const at::Generator& generator,
                       at::Device device) {
  if (rate <= 0) return {};
  const double wanted = static_cast<double>(batch) * (1 - rate);
  const auto kept = static_cast<std::int64_t>(wanted + 1e-9);  // 10 * (1 - 0.9) is below 1
  if (std::abs(wanted - static_cast<double>(kept)) > 0.01 * static_cast<double>(batch)) return {};
  checkGenerator(generator);
  return at::randperm(batch, generator, at::TensorOptions(at::kLong).device(device))
      .narrow(0, 0, kept);
}

at::Tensor dropoutFactors(at::IntArrayRef shape, const at::Tensor& like, double rate,
                          const at::Generator& generator) {
  return rate <= 0 ? at::Tensor() : keepScale(shape, like, rate, generator);
}

at::Tensor dropout(const at::Tensor& x, double rate, const at::Generator& generator) {
  if (rate <= 0) return x;
  return (x * dropoutFactors(x.sizes(), x, rate, generator)).to(x.scalar_type());
}

std::vector<double> dropPathRates(double last, std::int64_t depth) {
  std::vector<double> rates;
  for (std::int64_t i = 0; i < depth; ++i)
    rates.push_back(depth > 1 ? last * static_cast<double>(i) / static_cast<double>(depth - 1) : 0);
  return rates;
}

}  // namespace vitrine::nn

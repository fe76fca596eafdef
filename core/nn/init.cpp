#include "core/nn/init.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>

#include "core/base/random.h"

namespace vitrine::nn {

namespace {

/// Deviation of a unit normal cut at +-2.
constexpr double kTruncatedDeviation = 0.87962566103423978;
constexpr std::int64_t kChunk = 1 << 20;

double normalCdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// Uniform in (0, 1): the middle of one of 2^32 equal cells, so neither end is ever drawn.
double toOpenUnit(std::uint32_t word) { return (static_cast<double>(word) + 0.5) / 4294967296.0; }

void fillUniform(const RandomStream& stream, std::uint64_t address, std::int64_t first, double* out,
                 std::int64_t count) {
  at::parallel_for(0, (count + 3) / 4, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      const auto words = stream.bits(address, static_cast<std::uint64_t>(first / 4 + block));
      const std::int64_t last = std::min<std::int64_t>(4, count - block * 4);
      for (std::int64_t i = 0; i < last; ++i)
        out[block * 4 + i] = toOpenUnit(words[static_cast<std::size_t>(i)]);
    }
  });
}

}  // namespace

Init constantInit(double value) { return {Init::Kind::Constant, value, 0, 0}; }
Init normalInit(double deviation) { return {Init::Kind::Normal, 0, deviation, 0}; }
Init truncatedNormalInit(double deviation, double cut) {
  return {Init::Kind::TruncatedNormal, 0, deviation, cut};
}
Init lecunNormalInit(std::int64_t fanIn) {
  return truncatedNormalInit(std::sqrt(1.0 / static_cast<double>(fanIn)) / kTruncatedDeviation, 2);
}
Init xavierUniformInit(std::int64_t fanIn, std::int64_t fanOut) {
  return {Init::Kind::Uniform, 0, std::sqrt(6.0 / static_cast<double>(fanIn + fanOut)), 0};
}
Init torchDefaultInit(std::int64_t fanIn) {
  return {Init::Kind::Uniform, 0, 1.0 / std::sqrt(static_cast<double>(fanIn)), 0};
}

void initialise(const at::Tensor& parameter, const Init& init, const std::string& name,
                std::uint64_t seed) {
  if (parameter.is_meta()) return;
  c10::NoGradGuard noGrad;
  if (init.kind == Init::Kind::Constant || init.scale == 0) {
    parameter.fill_(init.mean);
    return;
  }
  const RandomStream stream(seed, "init");
  const std::uint64_t address = nameHash(name);
  const bool isNormal = init.kind != Init::Kind::Uniform;
  // Normal values are the inverse distribution function of a uniform one: one draw each, cut
  // exactly where asked.
  double low = 0, high = 1;
  if (init.kind == Init::Kind::TruncatedNormal) {
    low = normalCdf(-init.cut);
    high = normalCdf(init.cut);
  }
  const at::Tensor values = at::empty({parameter.numel()}, parameter.options().device(at::kCPU));
  for (std::int64_t first = 0; first < values.numel(); first += kChunk) {
    const std::int64_t count = std::min(kChunk, values.numel() - first);
    at::Tensor chunk = at::empty({count}, at::kDouble);
    fillUniform(stream, address, first, chunk.data_ptr<double>(), count);
    if (isNormal) {
      chunk.mul_(2 * (high - low))
          .add_(2 * low - 1)
          .erfinv_()
          .mul_(init.scale * std::sqrt(2.0))
          .add_(init.mean);
    } else {
      chunk.mul_(2 * init.scale).add_(init.mean - init.scale);
    }
    values.narrow(0, first, count).copy_(chunk);
  }
  parameter.copy_(values.view(parameter.sizes()));
}

void initialise(torch::nn::Module& module, const InitRule& rule, std::uint64_t seed) {
  for (const auto& item : module.named_parameters()) {
    if (const std::optional<Init> init = rule(item.key(), item.value()))
      initialise(item.value(), *init, item.key(), seed);
  }
}

}  // namespace vitrine::nn

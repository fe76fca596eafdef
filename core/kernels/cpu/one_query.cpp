// Attention of one query a head, as in decoding with a cache. A library's kernel hands its few
// thousand products to all threads, and waiting for them takes longer than the products.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <vector>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::cpu {

namespace {

bool isPlain(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && x.numel() > 0 && x.stride(-1) == 1;
}

}  // namespace

bool takesOneQuery(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  return hasOwnLoops() && !kernels::isDifferentiated({query, key, value}) && query.size(2) == 1 &&
         isPlain(query) && isPlain(key) && isPlain(value) &&
         !at::autocast::is_autocast_enabled(at::kCPU);
}

at::Tensor attendOneQuery(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          double scale) {
  const std::int64_t batch = query.size(0), heads = query.size(1), width = query.size(3);
  const std::int64_t keys = key.size(2), shared = heads / key.size(1), valueWidth = value.size(3);
  const at::Tensor out = at::empty({batch, heads, 1, valueWidth}, query.options());
  const float *q = query.const_data_ptr<float>(), *k = key.const_data_ptr<float>(),
              *v = value.const_data_ptr<float>();
  float* to = out.data_ptr<float>();
  const Kernels& loops = kernels();
  ScoreRows rows{
      1,       keys,   (keys + kScoreStep - 1) / kScoreStep * kScoreStep, static_cast<float>(scale),
      nullptr, nullptr};
  const std::int64_t grain = std::max<std::int64_t>(1, kSerial / (keys * (width + valueWidth)));
  at::parallel_for(0, batch * heads, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> logits(static_cast<std::size_t>(rows.stride)),
        shares(static_cast<std::size_t>(keys));
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t b = unit / heads, h = unit % heads;
      const float* own = q + b * query.stride(0) + h * query.stride(1);
      const float* key0 = k + b * key.stride(0) + h / shared * key.stride(1);
      const float* value0 = v + b * value.stride(0) + h / shared * value.stride(1);
      loops.dotRows(width, own, keys, key0, key.stride(2), logits.data());
      loops.softmaxRows(rows, logits.data(), shares.data());
      float* sums = to + unit * valueWidth;
      std::fill(sums, sums + valueWidth, 0.0F);
      for (std::int64_t j = 0; j < keys; ++j)
        loops.addScaledRows(valueWidth, sums, value0 + j * value.stride(2),
                            shares[static_cast<std::size_t>(j)], sums);
    }
  });
  return out;
}

}  // namespace vitrine::cpu

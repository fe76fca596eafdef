#include "core/plugin/loss_mean.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace vitrine {

at::Tensor divisorOf(const at::Tensor& count) { return count.add(count.eq(0)); }

at::Tensor meanOf(const LossPart& part, std::int64_t samples) {
  if (part.count.defined()) return part.sum.div(divisorOf(part.count));
  return part.sum.div(static_cast<double>(std::max<std::int64_t>(1, samples)));
}

}  // namespace vitrine

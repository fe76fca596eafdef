#include "core/plugin/optimizer.h"

#include <ATen/ops/zeros_like.h>

namespace vitrine {

UpdateRule::~UpdateRule() = default;
OptimizerItem::~OptimizerItem() = default;

at::Tensor UpdateRule::firstState(const std::string&, const at::Tensor& parameter) const {
  return at::zeros_like(parameter, at::MemoryFormat::Preserve);
}

}  // namespace vitrine

#include "core/data/batch.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine {

const at::Tensor& Batch::at(const std::string& field) const {
  if (const auto found = fields.find(field); found != fields.end()) return found->second;
  const std::string there = joined(fields, [](const auto& each) { return each.first; });
  throw ConfigError("the batch has no dense field '" + field + "'; it has " +
                    (there.empty() ? "none" : there));
}

Batch Batch::to(const at::Device& device) const {
  Batch moved = *this;
  const auto move = [&](at::Tensor& tensor) { tensor = tensor.to(device, /*non_blocking=*/true); };
  for (auto& [name, tensor] : moved.fields) move(tensor);
  for (auto& [name, field] : moved.ragged) {
    move(field.values);
    move(field.offsets);
    move(field.shapes);
  }
  return moved;
}

}  // namespace vitrine

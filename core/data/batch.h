// Several samples together: what a task sees.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/engine_export.h"

namespace vitrine {

/// A field whose shape differs from sample to sample: the values one after another.
struct Ragged {
  /// [sum of first sides, other sides], or [all values] where more than the first side differs.
  at::Tensor values;
  at::Tensor offsets;  ///< int64 [batch + 1]: where in `values` each sample begins, and the end
  at::Tensor shapes;   ///< int64 [batch, rank]: of each sample
};

/// Named fields of several samples. `image` is float [batch, channels, height, width] and `label`
/// int64 [batch] where a task needs them so; the pipeline says which fields there are.
struct VITRINE_ENGINE_EXPORT Batch {
  std::map<std::string, at::Tensor> fields;  ///< dense: [batch, ...]
  std::map<std::string, Ragged> ragged;
  std::map<std::string, std::vector<std::vector<std::string>>> texts;  ///< of each sample
  std::vector<std::int64_t> sampleIds;                                 ///< index within the split
  [[nodiscard]] std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(sampleIds.size());
  }
  /// A dense field. \throws ConfigError  there is none: names those there are
  [[nodiscard]] const at::Tensor& at(const std::string& field) const;
  /// The same batch with every tensor on `device`; does not wait for the copies.
  [[nodiscard]] Batch to(const at::Device& device) const;
};

}  // namespace vitrine

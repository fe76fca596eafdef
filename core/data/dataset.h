// Samples, batches and where they come from.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine {

enum class Split { Train, Validation, Test };
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string toString(Split split);  ///< "train" ...
/// \throws ConfigError
[[nodiscard]] VITRINE_ENGINE_EXPORT Split splitFromString(const std::string& name);

/// Named fields of several samples: `image` float [batch, channels, height, width], `label` int64 [batch].
struct Batch {
  std::map<std::string, at::Tensor> fields;
  std::vector<std::int64_t> sampleIds;  ///< index within the split
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(sampleIds.size()); }
  [[nodiscard]] const at::Tensor& at(const std::string& field) const { return fields.at(field); }
};

struct DatasetInfo {
  std::int64_t channels = 1, height = 0, width = 0;  ///< of a stored image
  std::vector<std::string> classes;
  std::vector<double> mean, deviation;  ///< per channel of pixels scaled to [0, 1]; the defaults for normalising
};

/// Images of unsigned bytes with one label each. Reading is thread-safe.
class VITRINE_ENGINE_EXPORT Dataset {
 public:
  virtual ~Dataset();
  [[nodiscard]] virtual const DatasetInfo& info() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t size(Split split) const = 0;
  /// Copies one image, [channels, height, width] uint8, and returns its label.
  virtual std::int64_t read(Split split, std::int64_t id, std::span<std::uint8_t> image) const = 0;
  /// Bytes of memory that a run takes for this once every image was read; for the estimate before it.
  /// Here: every image and its label of every split.
  [[nodiscard]] virtual double memoryBytes() const;
  /// The label of one image. Here: what read() returns; a data set that knows its labels without
  /// the images says so faster. Thread-safe.
  [[nodiscard]] virtual std::int64_t label(Split split, std::int64_t id) const;

 protected:
  /// For read(). \throws ShapeError  the split has no image `id`, or `image` is not as long as one
  void requireImage(Split split, std::int64_t id, std::span<const std::uint8_t> image) const;
};

}  // namespace vitrine

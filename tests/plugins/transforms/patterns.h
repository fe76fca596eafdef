// A small data set and pipelines over it, for tests.
#pragma once

#include <memory>

#include "core/plugin/pipeline.h"
#include "core/plugin/registry.h"
#include "tests/plugins/transforms/registry.h"
#include "tests/support/refusal.h"

namespace vitrine::test {

/// Images of a pattern that depends on the id; label id % 7. All splits have `count` samples but
/// validation, which has none.
class Patterns final : public LabelledImages {
 public:
  Patterns(std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t count)
      : count_(count) {
    info_.channels = channels;
    info_.height = height;
    info_.width = width;
    info_.classes = {"a", "b", "c", "d", "e", "f", "g"};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override { return split == Split::Validation ? 0 : count_; }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] =
          static_cast<std::uint8_t>(31 * static_cast<std::size_t>(id) + 13 * i + (i * i) % 17);
    return id % 7;
  }
  DatasetInfo info_;

 private:
  std::int64_t count_;
};

/// `[data]` with every key of core's own.
inline Json dataValues() { return dataSchema().defaults(); }

inline std::shared_ptr<const Pipeline> pipelineOf(std::shared_ptr<const Dataset> dataset,
                                                  const Json& data, std::uint64_t seed = 0,
                                                  const Pipeline::ImageShape& wanted = {}) {
  return std::make_shared<const Pipeline>(transformRegistry(), Config(data), std::move(dataset),
                                          seed, wanted);
}

}  // namespace vitrine::test

// Labelled images that a test knows by heart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/plugin/pipeline.h"

namespace vitrine::text_image {

/// Images of 4 x 4 pixels, dark or bright by their label.
class TwoKinds final : public LabelledImages {
 public:
  TwoKinds() {
    info_.height = info_.width = 4;
    info_.classes = {"dark", "bright"};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override { return split == Split::Validation ? 0 : 16; }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
    std::fill(image.begin(), image.end(), static_cast<std::uint8_t>(id % 2 == 0 ? 20 : 230));
    return id % 2;
  }

 private:
  DatasetInfo info_;
};

}  // namespace vitrine::text_image

// The 8-bit images of a sample, for transforms that change colours.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/data/sample.h"
#include "plugins/transforms/color_ops.h"

namespace vitrine::transforms {

/// Names of the images. \throws ConfigError  one is not of bytes any more
[[nodiscard]] inline std::vector<std::string> byteImages(const std::vector<SampleField>& fields,
                                                         const char* transform) {
  std::vector<std::string> names;
  for (const SampleField& field : fields) {
    if (field.kind != FieldKind::Image) continue;
    if (field.type != at::kByte) {
      throw ConfigError(std::string("data.pipeline: ") + transform +
                        " works on bytes; put it before normalize");
    }
    names.push_back(field.name);
  }
  return names;
}

[[nodiscard]] inline Pixels pixelsOf(SampleValue& image) {
  const std::vector<std::int64_t>& shape = image.shape();
  return {image.edit<std::uint8_t>().data(), shape[0], shape[1], shape[2]};
}

}  // namespace vitrine::transforms

#include "core/data/dataset.h"

#include "core/base/error.h"

namespace vitrine {

Dataset::~Dataset() = default;

double Dataset::memoryBytes() const {
  const auto perImage = static_cast<double>(info().channels * info().height * info().width + 1);
  double images = 0;
  for (const Split split : {Split::Train, Split::Validation, Split::Test})
    images += static_cast<double>(size(split));
  return images * perImage;
}

std::int64_t Dataset::label(Split split, std::int64_t id) const {
  std::vector<std::uint8_t> image(
      static_cast<std::size_t>(info().channels * info().height * info().width));
  return read(split, id, image);
}

void Dataset::requireImage(Split split, std::int64_t id,
                           std::span<const std::uint8_t> image) const {
  const std::int64_t bytes = info().channels * info().height * info().width;
  if (id >= 0 && id < size(split) && image.size() == static_cast<std::size_t>(bytes)) return;
  throw ShapeError("the " + toString(split) + " split has " + std::to_string(size(split)) +
                   " images of " + std::to_string(bytes) + " bytes; asked for image " +
                   std::to_string(id) + " in " + std::to_string(image.size()) + " bytes");
}

std::string toString(Split split) {
  switch (split) {
    case Split::Train:
      return "train";
    case Split::Validation:
      return "validation";
    case Split::Test:
      return "test";
  }
  return "";
}

Split splitFromString(const std::string& name) {
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    if (toString(split) == name) return split;
  }
  throw ConfigError("there is no split '" + name + "'; use train, validation or test");
}

}  // namespace vitrine

#include "core/artifact/artifact.h"

#include <bit>
#include <cstring>
#include <limits>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"

namespace vitrine {

namespace {

static_assert(std::endian::native == std::endian::little, "artifacts are stored little-endian");

constexpr std::int64_t kLargestEmptySide = 65'536;  ///< of an array without values

std::string describe(const std::vector<std::int64_t>& shape) {
  return "[" + joined(shape, [](std::int64_t side) { return std::to_string(side); }) + "]";
}

/// The product of the sides, or -1 when a side is negative or the product does not fit.
std::int64_t productOf(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  bool isEmpty = false;
  for (const std::int64_t side : shape) {
    if (side < 0) return -1;
    isEmpty = isEmpty || side == 0;
  }
  if (isEmpty) return 0;
  for (const std::int64_t side : shape) {
    if (product > std::numeric_limits<std::int64_t>::max() / side) return -1;
    product *= side;
  }
  return product;
}

std::int64_t widthOf(const std::string& dtype) {
  if (dtype == "float64") return 8;
  if (dtype == "float32") return 4;
  if (dtype == "uint8") return 1;
  return 0;
}

void setArray(Artifact& artifact, std::span<const std::byte> bytes, std::size_t count,
              const char* dtype, std::vector<std::int64_t> shape, std::vector<std::string> axes) {
  if (productOf(shape) != static_cast<std::int64_t>(count)) {
    throw ShapeError("artifact '" + artifact.name + "' has " + std::to_string(count) +
                     " values, which do not fill shape " + describe(shape));
  }
  if (!axes.empty() && axes.size() != shape.size()) {
    throw ShapeError("artifact '" + artifact.name + "' names " + std::to_string(axes.size()) +
                     " axes for shape " + describe(shape));
  }
  artifact.meta["version"] = 1;
  artifact.meta["dtype"] = dtype;
  artifact.meta["shape"] = std::move(shape);
  artifact.meta["axes"] = std::move(axes);
  artifact.data.assign(bytes.begin(), bytes.end());
}

}  // namespace

void setFloat64(Artifact& artifact, std::span<const double> values, std::vector<std::int64_t> shape,
                std::vector<std::string> axes) {
  setArray(artifact, std::as_bytes(values), values.size(), "float64", std::move(shape),
           std::move(axes));
}

void setFloat32(Artifact& artifact, std::span<const float> values, std::vector<std::int64_t> shape,
                std::vector<std::string> axes) {
  setArray(artifact, std::as_bytes(values), values.size(), "float32", std::move(shape),
           std::move(axes));
}

void setUint8(Artifact& artifact, std::span<const std::uint8_t> values,
              std::vector<std::int64_t> shape, std::vector<std::string> axes) {
  setArray(artifact, std::as_bytes(values), values.size(), "uint8", std::move(shape),
           std::move(axes));
}

void setJson(Artifact& artifact, const Json& value) {
  artifact.meta["version"] = 1;
  artifact.meta["dtype"] = "json";
  const std::string text = dumpJson(value);
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  artifact.data.assign(bytes.begin(), bytes.end());
}

std::int64_t ArrayView::count() const noexcept {
  return static_cast<std::int64_t>(bytes.size()) / widthOf(dtype);
}

double ArrayView::at(std::int64_t index) const noexcept {
  const std::byte* place = bytes.data() + index * widthOf(dtype);
  if (dtype == "float64") {
    double value;
    std::memcpy(&value, place, sizeof value);
    return value;
  }
  if (dtype == "float32") {
    float value;
    std::memcpy(&value, place, sizeof value);
    return static_cast<double>(value);
  }
  return static_cast<double>(std::to_integer<unsigned>(*place));
}

ArrayView arrayOf(const Json& meta, std::span<const std::byte> data) {
  const auto refuse = [](const std::string& why) -> void {
    throw FileError("the artifact's data cannot be read: " + why);
  };
  if (!meta.is_object()) refuse("its meta is not an object");
  const auto dtype = meta.find("dtype");
  if (dtype == meta.end() || !dtype->is_string()) refuse("its meta names no dtype");
  ArrayView view{.dtype = dtype->get<std::string>()};
  const std::int64_t width = widthOf(view.dtype);
  if (width == 0)
    refuse("dtype '" + shorten(view.dtype, 40) + "' is none of float64, float32 and uint8");
  const auto shape = meta.find("shape");
  if (shape == meta.end() || !shape->is_array()) refuse("its meta has no shape");
  if (shape->size() > 16)
    refuse("its shape has " + std::to_string(shape->size()) + " sides, more than 16");
  for (const Json& side : *shape) {
    if (!side.is_number_integer()) refuse("its shape has a side that is not an integer");
    if (side.is_number_unsigned() && side.get<std::uint64_t>() > std::uint64_t{1} << 62)
      refuse("its shape is too large");
    view.shape.push_back(side.get<std::int64_t>());
  }
  const std::int64_t count = productOf(view.shape);
  if (count < 0 || count > std::numeric_limits<std::int64_t>::max() / width)
    refuse("shape " + describe(view.shape) + " has a negative side or is too large");
  if (static_cast<std::uint64_t>(count * width) != data.size()) {
    refuse("shape " + describe(view.shape) + " of " + view.dtype + " takes " +
           std::to_string(count * width) + " bytes, there are " + std::to_string(data.size()));
  }
  if (count == 0) {
    // Nothing stands behind the other sides then, and readers make something for each of them.
    for (const std::int64_t side : view.shape) {
      if (side > kLargestEmptySide) {
        refuse("shape " + describe(view.shape) + " has no values and a side above " +
               std::to_string(kLargestEmptySide));
      }
    }
  }
  view.bytes = data;
  return view;
}

}  // namespace vitrine

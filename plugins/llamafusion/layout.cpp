#include "plugins/llamafusion/layout.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "core/base/error.h"

namespace vitrine::llamafusion {

namespace {

/// Rows of integers on the host.
class Rows {
 public:
  explicit Rows(const at::Tensor& tensor)
      : kept_(tensor.to(at::kCPU, at::kLong).contiguous()),
        width_(tensor.size(-1)),
        count_(width_ > 0 ? tensor.numel() / width_ : 0) {
    if (tensor.dim() < 1 || tensor.dim() > 2)
      throw ShapeError("an image index " + c10::str(tensor.sizes()) +
                       " is neither [tokens] nor [batch, tokens]");
  }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const std::int64_t* operator[](std::int64_t row) const {
    return kept_.const_data_ptr<std::int64_t>() + row * width_;
  }

 private:
  at::Tensor kept_;
  std::int64_t width_, count_;
};

/// A tensor of the shape of `like`, filled row by row.
template <class Fill>
at::Tensor filled(const at::Tensor& like, const Rows& rows, const Fill& fill) {
  at::Tensor out = at::empty(like.sizes(), at::kLong);
  for (std::int64_t row = 0; row < rows.count(); ++row)
    fill(rows[row], out.mutable_data_ptr<std::int64_t>() + row * rows.width());
  return out;
}

at::Tensor integers(const std::vector<std::int64_t>& values, at::Device device) {
  return at::tensor(values, at::kLong).to(device);
}

}  // namespace

at::Tensor lastAllowedKey(const at::Tensor& imageIndex, ImageMask mask) {
  const Rows rows(imageIndex);
  return filled(imageIndex, rows, [&](const std::int64_t* image, std::int64_t* last) {
    for (std::int64_t i = rows.width() - 1; i >= 0; --i) {
      const bool goesOn = mask == ImageMask::Hybrid && i + 1 < rows.width() && image[i] > 0 &&
                          image[i] == image[i + 1];
      last[i] = goesOn ? last[i + 1] : i;
    }
  });
}

at::Tensor firstAllowedKey(const at::Tensor& document) {
  const Rows rows(document);
  return filled(document, rows, [&](const std::int64_t* of, std::int64_t* first) {
    for (std::int64_t i = 0; i < rows.width(); ++i)
      first[i] = i > 0 && of[i] == of[i - 1] ? first[i - 1] : i;
  });
}

at::Tensor tokenPositions(const at::Tensor& imageIndex, ImagePositions kind) {
  const Rows rows(imageIndex);
  return filled(imageIndex, rows, [&](const std::int64_t* image, std::int64_t* position) {
    for (std::int64_t i = 0; i < rows.width(); ++i) {
      const bool stays =
          kind == ImagePositions::Shared && i > 0 && image[i] > 0 && image[i] == image[i - 1];
      position[i] = i == 0 ? 0 : position[i - 1] + (stays ? 0 : 1);
    }
  });
}

at::Tensor patchPlaces(const at::Tensor& imageIndex, std::int64_t rows, std::int64_t columns) {
  const Rows indices(imageIndex);
  const std::int64_t width = indices.width();
  for (std::int64_t row = 1; row < indices.count(); ++row) {
    if (!std::equal(indices[0], indices[0] + width, indices[row])) return {};
  }
  at::Tensor places = at::full({width, 2}, -1.0, at::kDouble);
  auto* place = places.mutable_data_ptr<double>();
  const std::int64_t* image = indices[0];
  std::int64_t patch = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    patch = i > 0 && image[i] == image[i - 1] ? patch + 1 : 0;
    if (image[i] == 0) continue;
    place[2 * i] = static_cast<double>((image[i] - 1) * rows + patch / columns);
    place[2 * i + 1] = static_cast<double>(patch % columns);
  }
  return places;
}

Routing routingOf(const at::Tensor& imageIndex, std::int64_t batch, at::Device device) {
  const Rows rows(imageIndex);
  Routing routing{.prefix = rows.width()};
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    const std::int64_t* image = rows[row];
    const std::int64_t* first =
        std::find_if(image, image + rows.width(), [](std::int64_t k) { return k > 0; });
    routing.prefix = std::min(routing.prefix, static_cast<std::int64_t>(first - image));
  }
  const std::int64_t width = rows.width() - routing.prefix;
  std::vector<std::int64_t> text, image;
  std::vector<std::int64_t> inverse(static_cast<std::size_t>(batch * width));
  for (std::int64_t row = 0; row < batch * width; ++row) {
    const std::int64_t* of = rows[rows.count() == 1 ? 0 : row / width];
    const bool isImage = of[routing.prefix + row % width] > 0;
    (isImage ? image : text).push_back(row);
  }
  for (std::size_t i = 0; i < text.size(); ++i)
    inverse[static_cast<std::size_t>(text[i])] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < image.size(); ++i)
    inverse[static_cast<std::size_t>(image[i])] = static_cast<std::int64_t>(text.size() + i);
  routing.text = integers(text, device);
  routing.image = integers(image, device);
  routing.inverse = integers(inverse, device);
  return routing;
}

SortedColumns sortedColumns(const at::Tensor& imageIndex) {
  const Rows rows(imageIndex);
  SortedColumns sorted;
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    const std::int64_t text = std::count(rows[row], rows[row] + rows.width(), 0);
    if (row > 0 && text != sorted.text) return {};
    sorted.text = text;
  }
  sorted.columns = filled(imageIndex, rows, [&](const std::int64_t* image, std::int64_t* column) {
    std::int64_t *text = column, *images = column + sorted.text;
    for (std::int64_t i = 0; i < rows.width(); ++i) *(image[i] > 0 ? images : text)++ = i;
  });
  return sorted;
}

}  // namespace vitrine::llamafusion

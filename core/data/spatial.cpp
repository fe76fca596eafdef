#include "core/data/spatial.h"

#include <algorithm>

#include "core/base/error.h"

namespace vitrine {

namespace {

struct Planes {
  std::int64_t count = 1, height = 0, width = 0;
};

Planes planesOf(const SampleValue& value) {
  const std::vector<std::int64_t>& shape = value.shape();
  Planes planes;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) planes.count *= shape[i];
  planes.height = shape[shape.size() - 2];
  planes.width = shape[shape.size() - 1];
  return planes;
}

template <class T>
void cropPlanes(SampleValue& value, const Window& window, SampleValue& scratch) {
  const Planes from = planesOf(value);
  std::vector<std::int64_t> shape = value.shape();
  shape[shape.size() - 2] = window.height;
  shape[shape.size() - 1] = window.width;
  const std::span<const T> in = value.get<T>();
  const std::span<T> out = scratch.resize<T>(std::span<const std::int64_t>(shape));
  // Columns [begin, end) of the window lie inside the image.
  const std::int64_t begin = std::clamp<std::int64_t>(-window.left, 0, window.width);
  const std::int64_t end = std::clamp<std::int64_t>(from.width - window.left, begin, window.width);
  T* row = out.data();
  for (std::int64_t plane = 0; plane < from.count; ++plane) {
    const T* image = in.data() + plane * from.height * from.width;
    for (std::int64_t y = 0; y < window.height; ++y, row += window.width) {
      const std::int64_t source = y + window.top;
      if (source < 0 || source >= from.height) {
        std::fill_n(row, window.width, T{0});
        continue;
      }
      std::fill(row, row + begin, T{0});
      std::copy_n(image + source * from.width + window.left + begin, end - begin, row + begin);
      std::fill(row + end, row + window.width, T{0});
    }
  }
  value.swap(scratch);
}

template <class T>
void mirrorPlanes(SampleValue& value) {
  const Planes planes = planesOf(value);
  T* row = value.edit<T>().data();
  for (std::int64_t y = 0; y < planes.count * planes.height; ++y, row += planes.width)
    std::reverse(row, row + planes.width);
}

/// \param move  called with the four numbers of each box
template <class Move>
void moveBoxes(Sample& sample, const std::string& name, const Move& move) {
  const std::span<float> boxes = sample[name].edit<float>();
  for (std::size_t i = 0; i + 4 <= boxes.size(); i += 4) move(&boxes[i]);
}

}  // namespace

SpatialFields::SpatialFields(const std::vector<SampleField>& fields) {
  // The first image gives the size.
  for (const FieldKind kind : {FieldKind::Image, FieldKind::Mask}) {
    for (const SampleField& field : fields) {
      if (field.kind != kind) continue;
      planes_.push_back(field.name);
      isMask_.push_back(kind == FieldKind::Mask);
    }
    if (planes_.empty()) throw ConfigError("samples without an image cannot be cut or resized");
  }
  for (const SampleField& field : fields) {
    if (field.kind == FieldKind::Boxes) boxes_.push_back(field.name);
  }
}

SpatialFields::Size SpatialFields::sizeOf(const Sample& sample) const {
  const Planes first = planesOf(sample.at(planes_.front()));
  for (std::size_t i = 1; i < planes_.size(); ++i) {
    const Planes other = planesOf(sample.at(planes_[i]));
    if (other.height == first.height && other.width == first.width) continue;
    throw ShapeError("sample " + std::to_string(sample.id()) + " has a '" + planes_.front() +
                     "' of " + std::to_string(first.height) + " x " + std::to_string(first.width) +
                     " pixels and a '" + planes_[i] + "' of " + std::to_string(other.height) +
                     " x " + std::to_string(other.width) + "; they must have one size");
  }
  return {first.height, first.width};
}

void SpatialFields::crop(Sample& sample, const Window& window) {
  const Size from = sizeOf(sample);
  if (window.top == 0 && window.left == 0 && window.height == from.height &&
      window.width == from.width) {
    return;
  }
  for (const std::string& name : planes_) {
    SampleValue& value = sample[name];
    if (value.type() == at::kByte) {
      cropPlanes<std::uint8_t>(value, window, scratch_);
    } else {
      cropPlanes<float>(value, window, scratch_);
    }
  }
  const auto height = static_cast<float>(window.height), width = static_cast<float>(window.width);
  const auto top = static_cast<float>(window.top), left = static_cast<float>(window.left);
  for (const std::string& name : boxes_) {
    moveBoxes(sample, name, [&](float* box) {
      box[0] = std::clamp(box[0] - left, 0.0F, width);
      box[1] = std::clamp(box[1] - top, 0.0F, height);
      box[2] = std::clamp(box[2] - left, 0.0F, width);
      box[3] = std::clamp(box[3] - top, 0.0F, height);
    });
  }
}

void SpatialFields::mirror(Sample& sample) {
  const auto width = static_cast<float>(sizeOf(sample).width);
  for (const std::string& name : planes_) {
    SampleValue& value = sample[name];
    if (value.type() == at::kByte) {
      mirrorPlanes<std::uint8_t>(value);
    } else {
      mirrorPlanes<float>(value);
    }
  }
  for (const std::string& name : boxes_) {
    moveBoxes(sample, name, [&](float* box) {
      const float left = box[0];
      box[0] = width - box[2];
      box[2] = width - left;
    });
  }
}

void SpatialFields::resizePlanes(SampleValue& value, Size size, ResampleFilter filter) {
  const Planes from = planesOf(value);
  std::optional<CachedResampler>& kept = filter == ResampleFilter::Nearest ? forMasks_ : forImages_;
  if (!kept || kept->from.height != from.height || kept->from.width != from.width ||
      kept->to.height != size.height || kept->to.width != size.width || kept->filter != filter) {
    kept.emplace(
        CachedResampler{{from.height, from.width},
                        size,
                        filter,
                        Resampler(filter, from.height, from.width, size.height, size.width)});
  }
  std::vector<std::int64_t> shape = value.shape();
  shape[shape.size() - 2] = size.height;
  shape[shape.size() - 1] = size.width;
  const std::span<std::uint8_t> out =
      scratch_.resize<std::uint8_t>(std::span<const std::int64_t>(shape));
  kept->resampler.apply(from.count, value.get<std::uint8_t>(), out);
  value.swap(scratch_);
}

void SpatialFields::resize(Sample& sample, Size size, ResampleFilter filter) {
  const Size from = sizeOf(sample);
  if (from.height == size.height && from.width == size.width) return;
  for (std::size_t i = 0; i < planes_.size(); ++i)
    resizePlanes(sample[planes_[i]], size, isMask_[i] ? ResampleFilter::Nearest : filter);
  const float down = static_cast<float>(size.height) / static_cast<float>(from.height);
  const float across = static_cast<float>(size.width) / static_cast<float>(from.width);
  for (const std::string& name : boxes_) {
    moveBoxes(sample, name, [&](float* box) {
      box[0] *= across;
      box[1] *= down;
      box[2] *= across;
      box[3] *= down;
    });
  }
}

void SpatialFields::redraw(Sample& sample, Size size, const DrawPlanes& draw, const MoveBox& move) {
  (void)sizeOf(sample);  // all have one
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    SampleValue& value = sample[planes_[i]];
    const Planes from = planesOf(value);
    std::vector<std::int64_t> shape = value.shape();
    shape[shape.size() - 2] = size.height;
    shape[shape.size() - 1] = size.width;
    const std::uint8_t* const bytes = value.get<std::uint8_t>().data();
    const auto out = scratch_.resize<std::uint8_t>(std::span<const std::int64_t>(shape));
    draw({bytes, from.count, from.height, from.width}, isMask_[i], out.data());
    value.swap(scratch_);
  }
  for (const std::string& name : boxes_) moveBoxes(sample, name, move);
}

std::vector<SampleField> SpatialFields::resized(std::vector<SampleField> fields, Size size) {
  for (SampleField& field : fields) {
    if (field.kind != FieldKind::Image && field.kind != FieldKind::Mask) continue;
    field.shape[field.shape.size() - 2] = size.height;
    field.shape[field.shape.size() - 1] = size.width;
  }
  return fields;
}

}  // namespace vitrine

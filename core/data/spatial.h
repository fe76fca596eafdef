// Moves of everything in a sample that lies on its image: images, masks and boxes together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/data/resample.h"
#include "core/data/sample.h"
#include "core/engine_export.h"

namespace vitrine {

/// Part of an image in pixels; may reach beyond it.
struct Window {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
};

/// Planes of bytes in memory: the channels of an image, or masks.
struct BytePlanes {
  const std::uint8_t* values = nullptr;  ///< [count, height, width]
  std::int64_t count = 0, height = 0, width = 0;
};

/// Moves the images, masks and boxes of samples. Images are resized by a filter, masks by the
/// nearest pixel; boxes keep their number and order, those outside become empty. One object per
/// thread: it owns its scratch memory.
class VITRINE_ENGINE_EXPORT SpatialFields {
 public:
  struct Size {
    std::int64_t height = 0, width = 0;  ///< pixels
  };

  /// \throws ConfigError  there is no image among `fields`
  explicit SpatialFields(const std::vector<SampleField>& fields);

  /// Of the sample's first image. \throws ShapeError  an image or a mask of it has another size
  [[nodiscard]] Size sizeOf(const Sample& sample) const;
  [[nodiscard]] const std::vector<std::string>& boxes() const noexcept { return boxes_; }
  /// Keeps a window; what lies outside the image becomes 0.
  void crop(Sample& sample, const Window& window);
  /// Left to right.
  void mirror(Sample& sample);
  /// \throws ShapeError  an image is not of bytes
  void resize(Sample& sample, Size size, ResampleFilter filter);

  /// Writes the planes of one image or mask at the new size.
  using DrawPlanes = std::function<void(const BytePlanes& from, bool isMask, std::uint8_t* to)>;
  /// Changes left, top, right, bottom of one box.
  using MoveBox = std::function<void(float* box)>;
  /// Any other move: draws each image and mask again and moves each box.
  /// \throws ShapeError  an image or a mask is not of bytes
  void redraw(Sample& sample, Size size, const DrawPlanes& draw, const MoveBox& move);

  /// These fields with images and masks of `size`; -1 where it is not known.
  [[nodiscard]] static std::vector<SampleField> resized(std::vector<SampleField> fields, Size size);

 private:
  void resizePlanes(SampleValue& value, Size size, ResampleFilter filter);

  std::vector<std::string> planes_;  // images and masks
  std::vector<bool> isMask_;         // by plane
  std::vector<std::string> boxes_;
  SampleValue scratch_;
  struct CachedResampler {
    Size from, to;
    ResampleFilter filter = ResampleFilter::Bilinear;
    Resampler resampler;
  };
  std::optional<CachedResampler> forImages_, forMasks_;  // of the last size
};

}  // namespace vitrine

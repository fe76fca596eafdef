// Moves of everything in a sample that lies on its image: images, masks and boxes together.
#pragma once

#include <cstdint>
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
  /// Keeps a window; what lies outside the image becomes 0.
  void crop(Sample& sample, const Window& window);
  /// Left to right.
  void mirror(Sample& sample);
  /// \throws ShapeError  an image is not of bytes
  void resize(Sample& sample, Size size, ResampleFilter filter);

  /// These fields with images and masks of `size`; -1 where it is not known.
  [[nodiscard]] static std::vector<SampleField> resized(std::vector<SampleField> fields, Size size);

 private:
  void resizePlanes(SampleValue& value, Size size, ResampleFilter filter);

  std::vector<std::string> planes_;  // images and masks
  std::vector<bool> isMask_;         // by plane
  std::vector<std::string> boxes_;
  SampleValue scratch_;
  struct Kept {
    Size from, to;
    ResampleFilter filter = ResampleFilter::Bilinear;
    Resampler resampler;
  };
  std::optional<Kept> forImages_, forMasks_;  // of the last size
};

}  // namespace vitrine

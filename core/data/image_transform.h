// From stored bytes to the floats a model sees: resize, random crop, flip, normalise. Knows no
// torch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/data/loader.h"
#include "core/data/resample.h"
#include "core/engine_export.h"

namespace vitrine {

/// Where a crop lies in the padded image and whether it is mirrored.
struct Placement {
  std::int64_t top =
      0;  ///< first row taken, in pixels of the image before padding: -padding .. padding
  std::int64_t left = 0;  ///< first column taken
  bool isMirrored = false;
};

/// The draw of one sample in one epoch; depends on nothing else. Lanes 0, 1, 2 are mirror, top and
/// left.
[[nodiscard]] VITRINE_ENGINE_EXPORT Placement drawPlacement(const RandomStream& augment,
                                                            std::uint64_t epoch,
                                                            std::int64_t sample,
                                                            const Augmentation& augmentation);

/// Turns stored images into model input; a resize is bilinear, antialiased when smaller. One object per thread: it owns its scratch memory and
/// allocates nothing per image.
class VITRINE_ENGINE_EXPORT ImageTransform {
 public:
  /// \param height, width  of the result; 0: as stored
  /// \param mean, deviation  per channel, of pixels in [0, 1]; empty: 0 and 1
  /// \throws ConfigError  mean or deviation do not fit the channels, a deviation is not above 0
  ImageTransform(const DatasetInfo& info, std::int64_t height, std::int64_t width,
                 std::span<const double> mean, std::span<const double> deviation);

  [[nodiscard]] std::int64_t height() const noexcept { return height_; }
  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  [[nodiscard]] std::int64_t inputSize() const noexcept;   ///< bytes of a stored image
  [[nodiscard]] std::int64_t outputSize() const noexcept;  ///< floats of a result

  /// \param image  [channels, stored height, stored width]
  /// \param out    [channels, height, width]; outside the image lie black pixels, normalised like
  /// the others
  void apply(std::span<const std::uint8_t> image, const Placement& placement, std::span<float> out);

 private:
  void place(const std::uint8_t* plane, const Placement& placement,
             const std::array<float, 256>& table, float* out) const;

  std::int64_t channels_, storedHeight_, storedWidth_, height_, width_;
  std::vector<double> mean_, deviation_;
  std::vector<std::array<float, 256>> table_;  // per channel: byte -> normalised value
  std::optional<Resampler> resampler_;  // where the wanted size is not the stored one
  std::vector<std::uint8_t> resized_;   // [channels, height, width]
};

}  // namespace vitrine

// Resizing of 8-bit images, antialiased, to the bit as Pillow 12 does it. Knows no torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine_export.h"

namespace vitrine {

/// Filter whose weighted mean of neighbours makes a resized pixel. The support is in output pixels
/// when an image becomes smaller (antialiasing), in input pixels when it becomes larger.
enum class ResampleFilter {
  Nearest,   ///< the pixel below the centre; no mean, no antialiasing
  Box,       ///< support 0.5
  Bilinear,  ///< support 1
  Hamming,   ///< support 1
  Bicubic,   ///< support 2, a = -0.5
  Lanczos,   ///< support 3
};

/// Weights of a one-dimensional resize.
///
/// Output i of n lies over the input at c = start + (i + 1/2) s with s = (end - start) / n. Let r
/// be the filter's support and f = max(s, 1). The output is the mean of these inputs, cut to the
/// image:
///
///     j from int(c - f r + 1/2) to int(c + f r + 1/2), with weight filter((j + 1/2 - c) / f)
///
/// Weights are scaled to the sum 1 and rounded to 22 bits.
class VITRINE_ENGINE_EXPORT ResampleAxis {
 public:
  /// \param start, end  part of the input that becomes the output, in pixels; may be fractions
  /// \pre from > 0, to > 0, 0 <= start < end <= from
  ResampleAxis(ResampleFilter filter, std::int64_t from, double start, double end, std::int64_t to);

  static constexpr int kBits = 22;  ///< a weight of 1 is 2^22
  struct Taps {
    std::int64_t first = 0;                 ///< input index of the first weight
    std::span<const std::int32_t> weights;  ///< sum to about 2^kBits
  };
  [[nodiscard]] Taps taps(std::int64_t output) const& noexcept;
  Taps taps(std::int64_t output) const&& = delete;  // the weights would be gone
  [[nodiscard]] bool isIdentity() const noexcept { return isIdentity_; }

 private:
  bool isIdentity_;
  std::int64_t width_ = 0;  // most weights of one output
  std::vector<std::int64_t> first_, count_;
  std::vector<std::int32_t> weights_;
};

/// Part of an image, in pixels; may be fractions.
struct ResampleBox {
  double top = 0, left = 0, bottom = 0, right = 0;
};

/// Resizes images of one size to another: the columns of each row first, rounded to bytes, then the
/// rows. One object per thread: it owns its scratch memory and allocates nothing per image.
class VITRINE_ENGINE_EXPORT Resampler {
 public:
  /// \throws ConfigError  a size is not above 0, or the box is empty or not inside the image: names
  /// both
  Resampler(ResampleFilter filter, std::int64_t fromHeight, std::int64_t fromWidth,
            std::int64_t toHeight, std::int64_t toWidth);
  Resampler(ResampleFilter filter, std::int64_t fromHeight, std::int64_t fromWidth,
            const ResampleBox& box, std::int64_t toHeight, std::int64_t toWidth);

  /// \param image  [channels, from height, from width]
  /// \param out    [channels, to height, to width]
  /// \throws ShapeError  either is not as long as that
  void apply(std::int64_t channels, std::span<const std::uint8_t> image,
             std::span<std::uint8_t> out);

 private:
  std::int64_t fromHeight_, fromWidth_, toHeight_, toWidth_;
  ResampleAxis rows_, columns_;
  std::vector<std::uint8_t> narrowed_;  // [from height, to width]
  std::vector<std::int32_t> sums_;      // [to width]
};

}  // namespace vitrine

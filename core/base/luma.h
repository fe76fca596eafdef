// Grey value of a colour.
#pragma once

namespace vitrine {

/// 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601), as readers of images have it.
[[nodiscard]] constexpr double lumaOf(double red, double green, double blue) noexcept {
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

}  // namespace vitrine

// Random erasing: boxes of an image are replaced (Zhong et al. 2020).
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

struct EraseRules {
  std::array<double, 2> area{0.02, 1.0 / 3};     ///< share of the image, of all boxes together
  std::array<double, 2> aspect{0.3, 1.0 / 0.3};  ///< height / width, even in its logarithm
  std::int64_t count = 1;                        ///< boxes
};
/// Up to ten attempts a box, each with four numbers in [0, 1): area, aspect, top, left. A box that
/// never fits is left out. \param uniform  called for one number after another
[[nodiscard]] std::vector<Window> drawErasing(Size image, const EraseRules& rules,
                                              const std::function<double()>& uniform);

/// Fill of a box.
enum class EraseFill { Constant, Channel, Pixel };  ///< 0, one number a channel, one a pixel
/// \param image  [channels, image]
/// \param next   the number for each channel or pixel, in the order they lie in
void erase(std::span<float> image, Size size, const Window& box, EraseFill fill,
           const std::function<float()>& next);

}  // namespace vitrine::transforms

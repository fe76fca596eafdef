// Random changes of colours: the draws, separate from their use.
#pragma once

#include <vector>

#include "plugins/transforms/color_ops.h"
#include "plugins/transforms/lanes.h"

namespace vitrine::transforms {

enum class ColorStep { Brightness, Contrast, Saturation, Hue };
struct ColorChange {
  ColorStep step = ColorStep::Brightness;
  double amount = 1;  ///< factor of a blend; of the hue a share of the circle
};
/// Applies one change in place.
void applyColor(const Pixels& image, const ColorChange& change);

/// Ranges of colour jitter: factors within 1 - s and 1 + s, hues within -hue and hue.
struct ColorJitterRules {
  double brightness = 0.4, contrast = 0.4, saturation = 0.4, hue = 0;
};
/// Those that are not 0, in random order.
[[nodiscard]] std::vector<ColorChange> drawColorJitter(const ColorJitterRules& rules, Lanes& lanes);

/// One of three, each as often: grey, inverted from 128 on, or blurred.
enum class ThreeAugmentKind { Gray, Solarize, Blur };
struct ThreeAugmentChange {
  ThreeAugmentKind kind = ThreeAugmentKind::Gray;
  double radius = 0;  ///< of the blur: standard deviation, pixels
};
/// Draws one of the three (Touvron et al. 2022, "DeiT III", arXiv:2204.07118), the radius evenly.
[[nodiscard]] ThreeAugmentChange drawThreeAugment(double leastRadius, double mostRadius,
                                                  Lanes& lanes);
void applyThreeAugment(const Pixels& image, const ThreeAugmentChange& change);

/// Photometric distortion; each of the four is done or not.
struct PhotometricChange {
  bool isBrighter = false, isContrasted = false, isSaturated = false, isTurned = false;
  bool isContrastFirst = false;  ///< before the saturation, else at the end
  double offset = 0;             ///< added to every value
  double contrast = 1, saturation = 1;
  int hue = 0;  ///< in steps of 2 degrees
};
/// Draws each of the four with probability 1/2: offsets within +-brightness, factors within
/// 1 +- spread, hues within +-hue steps.
[[nodiscard]] PhotometricChange drawPhotometric(double brightness, double spread, int hue,
                                                Lanes& lanes);
void applyPhotometric(const Pixels& image, const PhotometricChange& change);

}  // namespace vitrine::transforms

// RandAugment: a few random operations of random strength (Cubuk et al. 2020).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/transforms/lanes.h"
#include "plugins/transforms/transforms.h"
#include "plugins/transforms/warp.h"

namespace vitrine::transforms {

/// The operations whose strength grows with the level ("increasing").
enum class AugmentOperation {
  AutoContrast,
  Equalize,
  Invert,
  Rotate,       ///< degrees
  Posterize,    ///< bits that are kept
  Solarize,     ///< threshold
  SolarizeAdd,  ///< added to values below 128
  Color,        ///< factors of a blend
  Contrast,
  Brightness,
  Sharpness,
  ShearX,  ///< pixels per pixel
  ShearY,
  TranslateX,  ///< share of the side
  TranslateY,
};
inline constexpr std::size_t kAugmentOperations = 15;
[[nodiscard]] const std::string& toString(AugmentOperation operation);  ///< "auto_contrast" ...

/// Argument of an operation at a level from 0 to 10.
/// \param isNegative  to the other side, where there is one
/// \returns  nothing where the operation takes no number
[[nodiscard]] std::optional<double> augmentArgument(AugmentOperation operation, double level,
                                                    bool isNegative);

struct AugmentStep {
  AugmentOperation operation = AugmentOperation::Invert;
  double argument = 0;
};
struct RandAugmentRules {
  std::int64_t operations = 2;
  double level = 9, spread = 0.5;  ///< each step's level is normal with this deviation
  double probability = 0.5;        ///< of each step
};
/// Draws the steps of one sample, those that are applied, in order (Cubuk et al. 2019,
/// arXiv:1909.13719).
[[nodiscard]] std::vector<AugmentStep> drawRandAugment(const RandAugmentRules& rules, Lanes& lanes);

/// Changes the images of a sample, and with the geometric operations what lies on them.
class Augmenter {
 public:
  /// \param fill  of what lies outside, a value for each channel
  Augmenter(const std::vector<SampleField>& fields, WarpFilter filter,
            std::vector<std::uint8_t> fill);
  /// Applies one step in place.
  void apply(Sample& sample, const AugmentStep& step);

 private:
  SpatialFields spatial_;
  std::vector<std::string> images_;
  WarpFilter filter_;
  std::vector<std::uint8_t> fill_;
};

}  // namespace vitrine::transforms

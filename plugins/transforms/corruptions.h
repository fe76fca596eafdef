// Corruptions of images at five severities (Hendrycks and Dietterich 2019, arXiv:1903.12261), with
// the constants of imagecorruptions 1.1.2 (Michaelis et al. 2019, arXiv:1907.07484). Frost and
// spatter are not here: the first needs photographs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/transform.h"
#include "plugins/transforms/color_ops.h"

namespace vitrine::transforms {

/// Source of a corruption's numbers, called in the order of use: rows, columns, channels.
struct CorruptionNumbers {
  std::function<double()> normal;                          ///< standard normal
  std::function<double(double low, double high)> between;  ///< in [low, high)
  std::function<std::int64_t(std::int64_t bound)> below;   ///< in [0, bound)
  std::function<double(double mean)> poisson;
};

/// Names of the 17 kinds: gaussian_noise ... jpeg_compression.
[[nodiscard]] const std::vector<std::string>& corruptionKinds();

/// In place. A grey image is corrupted as a colour image of equal channels would be, but for
/// `saturate`, which leaves it as it is.
/// \param severity  1 to 5
/// \throws ConfigError  there is no such kind
void corrupt(const Pixels& image, const std::string& kind, int severity,
             const CorruptionNumbers& numbers);

/// Transform `corrupt`: before normalize, the numbers drawn by sample and epoch.
[[nodiscard]] std::unique_ptr<Transform> makeCorrupt();

}  // namespace vitrine::transforms

// Compares a picture with the one that is kept beside the tests, allowing for what another version
// of the font renderer does to the edges of letters.
#pragma once

#include <gtest/gtest.h>

#include <QImage>
#include <QRect>
#include <QString>
#include <cstdint>

namespace vitrine::ui {

/// How far a picture may be from its golden one.
struct GoldenTolerance {
  int channel = 32;       ///< of 255: a pixel differs when a channel is further away
  double share = 0.0008;  ///< of the pixels may differ
};

struct GoldenDifference {
  std::int64_t pixels = 0;  ///< that differ
  std::int64_t total = 0;
  QRect where;     ///< the smallest rectangle around them
  QImage picture;  ///< the golden one faint, what differs in red
  [[nodiscard]] bool isWithin(const GoldenTolerance& tolerance) const {
    return static_cast<double>(pixels) <= tolerance.share * static_cast<double>(total);
  }
};
/// Both of one size.
[[nodiscard]] GoldenDifference differenceOf(const QImage& golden, const QImage& actual,
                                            const GoldenTolerance& tolerance);

/// Against tests/ui/golden/NAME.png. With VITRINE_REMAKE_GOLDEN=1 that file is written instead. On
/// failure the picture and what differs of it are written to tests/golden_failures of the build.
[[nodiscard]] ::testing::AssertionResult isGolden(const QImage& actual, const QString& name,
                                                  const GoldenTolerance& tolerance = {});

}  // namespace vitrine::ui

#include "ui/figures/extremes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace vitrine::ui {
namespace {

/// Falls at first, then swings: the greatest value comes early, as that of a loss.
std::vector<double> losses(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = 1000.0 / (1.0 + static_cast<double>(i)) + std::sin(static_cast<double>(i));
  return values;
}

TEST(Extremes, OfACurveThatGrewFromAnyLengthAreThoseOfTheWholeCurve) {
  const std::vector<double> all = losses(4500);
  // Lengths at which a level is full, and their neighbours.
  for (const std::size_t first : {0U, 1U, 15U, 16U, 17U, 255U, 256U, 257U, 4095U, 4096U, 4097U}) {
    Extremes grown;
    grown.update(std::span(all).first(first), 0);
    grown.update(all, first);
    const Extremes::Bounds bounds = grown.bounds(all, 0, all.size());
    EXPECT_EQ(bounds.greatest, all[0]) << first;
    EXPECT_EQ(bounds.least, *std::min_element(all.begin(), all.end())) << first;
    EXPECT_EQ(grown.find(all, 0, all.size()).high, 0U) << first;
  }
}

}  // namespace
}  // namespace vitrine::ui

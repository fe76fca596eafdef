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

TEST(Extremes, FindTheSameAsLookingAtEveryValue) {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i)
    values.push_back(i % 97 == 0 ? std::nan("") : std::sin(i * 12.9898) * 43758);
  Extremes grown;
  for (const std::size_t size : {10U, 17U, 300U, 4097U, 5000U})
    grown.update({values.data(), size}, grown.size());
  for (std::size_t from = 0; from < values.size(); from += 37) {
    for (const std::size_t length : {1U, 5U, 40U, 700U, 5000U}) {
      const std::size_t to = std::min(from + length, values.size());
      const auto found = grown.find(values, from, to);
      double low = INFINITY, high = -INFINITY;
      for (std::size_t i = from; i < to; ++i) {
        if (std::isnan(values[i])) continue;
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
      }
      ASSERT_EQ(found.isAny, low <= high);
      if (!found.isAny) continue;
      ASSERT_EQ(values[found.low], low) << from << " to " << to;
      ASSERT_EQ(values[found.high], high);
    }
  }
}

}  // namespace
}  // namespace vitrine::ui

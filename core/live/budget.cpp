#include "core/live/budget.h"

#include <algorithm>

namespace vitrine::live {

namespace {
// Budget saved while no frame is due: a long evaluation buys no burst of frames after it.
constexpr double kMostSavedSeconds = 1;
}  // namespace

void Budget::begin(double now) {
  begun_ = earnedAt_ = now;
  lastFrame_ = -1e300;
  credit_ = spent_ = lastCost_ = 0;
}

void Budget::earn(double now) {
  credit_ = std::min(credit_ + share_ * std::max(0.0, now - earnedAt_), share_ * kMostSavedSeconds);
  earnedAt_ = std::max(earnedAt_, now);
}

bool Budget::isDue(double now, double rate) {
  earn(now);
  const double wanted = std::clamp(rate, 0.1, kMostRate);
  return credit_ >= 0 && now - lastFrame_ >= 1 / wanted;
}

void Budget::spend(double now, double seconds) {
  earn(now);
  credit_ -= seconds;
  spent_ += seconds;
  lastCost_ = seconds;
  lastFrame_ = now - seconds;
}

double Budget::shareSpent(double now) const { return now > begun_ ? spent_ / (now - begun_) : 0; }

}  // namespace vitrine::live

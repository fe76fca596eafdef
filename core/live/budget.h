// The rate of frames: never faster than the window asks, never more expensive than its share.
#pragma once

#include "core/foundation_export.h"

namespace vitrine::live {

inline constexpr double kWatchShare = 0.06;  ///< of the running time, for frames
inline constexpr double kMostRate = 10;      ///< frames a second

/// Spends at most `share` of the time that passes, and the last frame. Times are seconds of any
/// steady clock.
class VITRINE_FOUNDATION_EXPORT Budget {
 public:
  explicit Budget(double share = kWatchShare) : share_(share) {}
  /// A window began to watch: the first frame is due at once.
  void begin(double now);
  /// \param rate  frames a second that are wished for
  [[nodiscard]] bool isDue(double now, double rate);
  /// A frame was made. \param now  after it
  void spend(double now, double seconds);
  /// Spent since begin(), as a share of the time since then.
  [[nodiscard]] double shareSpent(double now) const;
  [[nodiscard]] double lastCost() const noexcept { return lastCost_; }

 private:
  void earn(double now);
  double share_;
  double begun_ = 0, earnedAt_ = 0, lastFrame_ = -1e300;
  double credit_ = 0;  ///< seconds; below zero after a dear frame
  double spent_ = 0, lastCost_ = 0;
};

}  // namespace vitrine::live

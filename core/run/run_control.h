// Requests from outside to a run in progress. Signals and the row's `request` set it; the trainer
// reads it at step boundaries.
#pragma once

#include <atomic>

namespace vitrine {

/// Later values win over earlier ones.
enum class Request : int {
  None = 0,
  Checkpoint = 1,  ///< write one and continue
  Pause = 2,       ///< checkpoint, end as `paused`
  Interrupt = 3,   ///< a signal: checkpoint, end as `interrupted`
  Stop = 4,        ///< the user: checkpoint, end as `stopped`
};

class RunControl {
 public:
  /// Async-signal-safe.
  void ask(Request request) noexcept {
    int now = request_.load(std::memory_order_relaxed);
    while (now < static_cast<int>(request) &&
           !request_.compare_exchange_weak(now, static_cast<int>(request))) {
    }
  }
  [[nodiscard]] Request request() const noexcept {
    return static_cast<Request>(request_.load(std::memory_order_relaxed));
  }
  /// Forgets a served Checkpoint request.
  void served() noexcept {
    int expected = static_cast<int>(Request::Checkpoint);
    request_.compare_exchange_strong(expected, 0);
  }

 private:
  std::atomic<int> request_{0};
  static_assert(std::atomic<int>::is_always_lock_free);
};

}  // namespace vitrine

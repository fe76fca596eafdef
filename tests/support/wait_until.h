// Waiting for what another process or thread does without telling.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace vitrine {

/// Looks until `holds()`, first every millisecond, then fifty times a second. The limit is for what
/// never comes true: long enough for a machine many times slower than this one. \returns  whether
/// it holds
template <typename Holds>
[[nodiscard]] bool waitUntil(Holds&& holds,
                             std::chrono::milliseconds limit = std::chrono::minutes(2)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (std::chrono::milliseconds pause{1};;
       pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    if (holds()) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace vitrine

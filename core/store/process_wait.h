// Waiting for a program that was started, with a way to give up.
#pragma once

#include <QProcess>
#include <algorithm>
#include <chrono>
#include <stop_token>

namespace vitrine::store {

/// Until it has ended, or `stop` is asked for. \returns  whether it has ended
inline bool waitFor(QProcess& process, std::chrono::milliseconds patience,
                    const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kLook{50};
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!process.waitForFinished(static_cast<int>(std::min(patience, kLook).count()))) {
    const bool isOver = std::chrono::steady_clock::now() >= until || stop.stop_requested();
    if (isOver || process.state() == QProcess::NotRunning) return false;
  }
  return true;
}

}  // namespace vitrine::store

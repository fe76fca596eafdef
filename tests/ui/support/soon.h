// Waiting for something that the window does in its own time.
#pragma once

#include <QTest>
#include <utility>

namespace vitrine::ui {

/// Runs the event loop until `holds()`. The limit is for what never comes true: long enough for a
/// machine many times slower than this one. \returns  whether it holds
template <typename Holds>
[[nodiscard]] bool soon(Holds&& holds) {
  constexpr int kPatienceMs = 60'000;
  return QTest::qWaitFor(std::forward<Holds>(holds), kPatienceMs);
}

}  // namespace vitrine::ui

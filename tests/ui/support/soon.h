// Waiting for something that the window does in its own time.
#pragma once

#include <gtest/gtest.h>

#include <QTest>
#include <QWidget>
#include <utility>

namespace vitrine::ui {

/// Runs the event loop until `holds()`. The limit is for what never comes true: long enough for a
/// machine many times slower than this one. \returns  whether it holds
template <typename Holds>
[[nodiscard]] bool soon(Holds&& holds) {
  constexpr int kPatienceMs = 60'000;
  return QTest::qWaitFor(std::forward<Holds>(holds), kPatienceMs);
}

/// Shows the window until the keyboard is its own.
inline void bringUp(QWidget& window) {
  window.show();
  window.activateWindow();
  EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
}

}  // namespace vitrine::ui

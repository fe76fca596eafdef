// Ctrl-C and SIGTERM while a run trains.
#pragma once

#include "core/run/run_control.h"

namespace vitrine::app {

/// While it lives, the first SIGINT or SIGTERM asks the current run to end at a checkpoint and a
/// second SIGINT ends the process with code 130 at once. One at a time.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
};

/// Whom a signal is passed on to; nullptr for none. A signal that came before is passed on at
/// once.
void setSignalledRun(RunControl* control) noexcept;
[[nodiscard]] bool wasSignalled() noexcept;

}  // namespace vitrine::app

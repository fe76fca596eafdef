// Ctrl-C and SIGTERM while a run trains.
#pragma once

#include "core/run/run_control.h"

namespace vitrine::app {

/// While an object lives, the first SIGINT or SIGTERM asks the current run to end at a checkpoint.
/// A second SIGINT ends the process with code 130 at once. There is one object at a time.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
};

/// Sets the run that gets the signal; nullptr for none. An earlier signal is passed on at once.
void setSignalledRun(RunControl* control) noexcept;
[[nodiscard]] bool wasSignalled() noexcept;

}  // namespace vitrine::app

#include "app/vitrine/run/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/base/error.h"

namespace vitrine::app {

namespace {

std::atomic<RunControl*> currentRun{nullptr};
std::atomic<int> handlers{0};  ///< threads in onSignal()
std::atomic<bool> isSignalled{false};
std::atomic<int> interrupts{0};
struct sigaction oldInterrupt, oldTerminate;

static_assert(std::atomic<RunControl*>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

// Async-signal-safe calls alone.
void onSignal(int number) {
  if (number == SIGINT && interrupts.fetch_add(1) > 0) ::_exit(static_cast<int>(ExitCode::Aborted));
  isSignalled.store(true);
  handlers.fetch_add(1);
  if (RunControl* run = currentRun.load()) run->ask(Request::Interrupt);
  handlers.fetch_sub(1);
}

}  // namespace

SignalScope::SignalScope() {
  isSignalled.store(false);
  interrupts.store(0);
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &oldInterrupt);
  ::sigaction(SIGTERM, &action, &oldTerminate);
}

SignalScope::~SignalScope() {
  ::sigaction(SIGINT, &oldInterrupt, nullptr);
  ::sigaction(SIGTERM, &oldTerminate, nullptr);
  setSignalledRun(nullptr);
}

void setSignalledRun(RunControl* control) noexcept {
  currentRun.store(control);
  // A handler on another thread may have read the pointer to the one before, which its owner
  // destroys as soon as this returns.
  while (handlers.load() > 0) std::this_thread::yield();
  if (control != nullptr && isSignalled.load()) control->ask(Request::Interrupt);
}

bool wasSignalled() noexcept { return isSignalled.load(); }

}  // namespace vitrine::app

// Processes that a test starts and ends. No test forks or sends signals without these.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace vitrine {

/// fork(2) whose child is killed when the thread that forked is gone, so that a test that is killed
/// leaves no loop behind. \throws std::system_error  instead of -1
[[nodiscard]] inline pid_t forkChild() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
  }
  return child;
}

/// Waits for its end. \returns  the exit code; 128 + number when a signal ended it
inline int exitCodeOf(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// kill(2) for one process. To kill(2) itself, a fork that failed (-1) is every process of the
/// user, for root of the machine, and a number that was never read (0) is the test's whole group.
/// \throws std::invalid_argument  for these, and for the first process
inline void signalProcess(pid_t process, int number) {
  if (process <= 1)
    throw std::invalid_argument("no signal is sent to process " + std::to_string(process));
  ::kill(process, number);
}
/// The same for the process group that `leader` leads.
inline void signalGroup(pid_t leader, int number) {
  if (leader <= 1)
    throw std::invalid_argument("no signal is sent to process group " + std::to_string(leader));
  ::kill(-leader, number);
}

}  // namespace vitrine

// A process that is watched at its system calls: killed at the n-th, or told that it failed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace vitrine::testing {

struct Tracing {
  std::vector<std::string> command;  ///< raises SIGSTOP where counting begins
  std::set<long> counted;            ///< system calls that count; empty: all
  std::int64_t killAt = 0;           ///< counted from 1, before it is made; 0: never
  std::int64_t failAt = 0;           ///< counted from 1; 0: none fails
  bool isForEver = false;            ///< every later counted one fails too
  int error = 0;                     ///< what a failing one reports
};

struct Traced {
  int status = 0;          ///< exit code, or 128 + signal
  std::int64_t calls = 0;  ///< counted ones that were begun
};

/// \returns  none where processes may not be traced here
[[nodiscard]] std::optional<Traced> trace(const Tracing& tracing);
/// Whether trace() can make a system call fail on this machine.
[[nodiscard]] bool canFail();

/// Calls that change what is on the disk.
[[nodiscard]] std::set<long> changingCalls();
/// Those of them that remove.
[[nodiscard]] std::set<long> removingCalls();

}  // namespace vitrine::testing

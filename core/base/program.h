// Starts other programs: one that is waited for, and one that is talked to. No shell is involved.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct ProgramStart {
  std::vector<std::string> arguments;  ///< the program first; looked up in PATH without a slash
  std::vector<std::string> environment = {};  ///< NAME=value, in place of this process's own
  // Descriptors of this process that become its standard streams; -1: /dev/null.
  int in = -1, out = -1, err = -1;
  bool isOwnSession = false;  ///< what ends this process's session does not end the program
};

/// `own` (NAME=value) and what this process has of other names.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::string> environmentWith(
    std::vector<std::string> own);
/// As exec(3) takes `texts`, which have to stay as long.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<char*> execPointers(
    const std::vector<std::string>& texts);

struct StartedProgram {
  int pid = -1;
  int error = 0;  ///< errno; 0: it runs
};
/// Does not wait for it: the caller does, with waitpid(2).
[[nodiscard]] VITRINE_FOUNDATION_EXPORT StartedProgram startProgram(const ProgramStart& start);

struct RunLimits {
  std::chrono::milliseconds patience = std::chrono::milliseconds::max();
  std::stop_token stop = {};  ///< ends the wait
};

struct ProgramEnd {
  enum class How {
    Exited,
    Signalled,   ///< or otherwise not by itself
    Overdue,     ///< longer than `patience`, or `stop` was asked for: it was killed
    NotStarted,  ///< `err` says why
  };
  How how = How::NotStarted;
  int code = -1;         ///< exit status when it exited
  std::string out, err;  ///< what it wrote, as far as it got

  [[nodiscard]] bool isSuccess() const noexcept { return how == How::Exited && code == 0; }
};
/// Runs the program to its end. Its streams are files in memory: no full pipe holds it up, and a
/// process that it leaves behind does not hold up the caller. \param start  its streams are not
/// used
[[nodiscard]] VITRINE_FOUNDATION_EXPORT ProgramEnd runProgram(ProgramStart start,
                                                              const std::string& input = {},
                                                              const RunLimits& limits = {});
/// As above with no input. \param arguments  the program first
[[nodiscard]] VITRINE_FOUNDATION_EXPORT ProgramEnd
runProgram(const std::vector<std::string>& arguments, const RunLimits& limits = {});
/// Its stdout without the line breaks at the end; none when it cannot be started or fails.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<std::string> outputOf(
    const std::vector<std::string>& arguments);

}  // namespace vitrine

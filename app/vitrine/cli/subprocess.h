// Programs that are started: those that answer at once (git, nvcc), and those that are talked to.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace vitrine::app {

/// Runs `arguments` (the program first, looked up in PATH) without a shell, stderr dropped.
/// \returns  its stdout without the last line break; empty when it cannot be started or fails
[[nodiscard]] std::optional<std::string> outputOf(const std::vector<std::string>& arguments);

/// Waits for the program, stdout dropped, with more environment variables ("NAME=value"). \returns
/// its exit status, or -1
[[nodiscard]] int runAndWait(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment = {});

struct Completed {
  int code = -1;  ///< exit status; -1 when it could not be started or a signal ended it
  std::string out, err;
};
/// Waits for the program, in a session of its own: what ends this one's does not end it.
[[nodiscard]] Completed runWithInput(const std::vector<std::string>& arguments,
                                     const std::string& input);

/// A program that is talked to; its stderr is this one's. Who started it closes both ends and waits
/// for it.
struct Conversation {
  int pid = -1;
  int in = -1;   ///< what is written here it reads
  int out = -1;  ///< what it writes is read here
};
/// In a session of its own. \throws Error  it cannot be started: says why
[[nodiscard]] Conversation startConversation(const std::vector<std::string>& arguments);

/// Starts the program in a session of its own and does not wait. \returns false when it cannot be
/// started
bool startDetached(const std::vector<std::string>& arguments);

}  // namespace vitrine::app

#include "core/jobs/ending.h"

#include <signal.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/jobs/log_ring.h"

namespace vitrine::jobs {

namespace {

std::string causeName(const ProcessEnd& end) {
  switch (end.endedBy) {
    case EndedBy::GraceTime:
      return "grace_time";
    case EndedBy::TimeLimit:
      return "time_limit";
    case EndedBy::Hang:
      return "hang";
    case EndedBy::MemoryLimit:
      return "memory_limit";
    case EndedBy::TaskLimit:
      return "task_limit";
    case EndedBy::Itself:
      break;
  }
  if (end.isOutOfMemory) return "out_of_memory";
  return end.signal != 0 ? "signal" : "exit";
}

/// The sentence without the end of the log.
std::string sentenceOf(const ProcessEnd& end, store::RunState state) {
  switch (end.endedBy) {
    case EndedBy::GraceTime:
      return "killed: it did not end within " + end.detail + " of being asked to";
    case EndedBy::TimeLimit:
      return "stopped at its time limit of " + end.detail +
             (end.signal == SIGKILL ? ", and killed because it did not end" : "");
    case EndedBy::Hang:
      return "killed: nothing of it was heard for " + end.detail;
    case EndedBy::MemoryLimit:
      return "killed: it took more memory than its limit of " + end.detail;
    case EndedBy::TaskLimit:
      return "killed: it had more processes and threads than its limit of " + end.detail;
    case EndedBy::Itself:
      break;
  }
  if (end.isOutOfMemory)
    return "killed by the kernel: out of memory; take a smaller model or batch";
  if (end.signal == SIGKILL) return "its process was killed (SIGKILL) from outside";
  if (end.signal == SIGTERM || end.signal == SIGHUP || end.signal == SIGINT)
    return "its process was ended by " + signalName(end.signal) + " from outside";
  if (end.signal != 0) return "its process crashed with " + signalName(end.signal);
  if (!isAlive(state) && state != store::RunState::Interrupted) return "";
  return "its process ended with exit code " + std::to_string(end.exitCode) +
         " in the middle of the run";
}

}  // namespace

std::string signalName(int number) {
  const char* name = ::sigabbrev_np(number);
  const char* words = ::sigdescr_np(number);
  if (name == nullptr) return "signal " + std::to_string(number);
  std::string text = "SIG";
  text += name;
  if (words != nullptr) {
    std::string lower = words;
    lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
    text += " (" + lower + ")";
  }
  return text;
}

RunEnding classify(const ProcessEnd& end, store::RunState state) {
  RunEnding ending{.seconds = end.seconds};
  // What the run has said of itself counts when its process ended as it should.
  const bool isOrderly =
      end.signal == 0 && end.endedBy == EndedBy::Itself && !isAlive(state) &&
      (end.exitCode == static_cast<int>(ExitCode::Done) ||
       end.exitCode == static_cast<int>(ExitCode::Interrupted) || hasEnded(state) ||
       state == store::RunState::Paused || state == store::RunState::Queued);
  if (isOrderly) {
    ending.mayResume = end.exitCode == static_cast<int>(ExitCode::Interrupted);
    return ending;
  }
  const std::string cause = causeName(end);
  const std::string line = lastLines(end.logTail, 1);
  ending.reason = sentenceOf(end, state);
  if (!ending.reason.empty() && !line.empty() && cause != "time_limit")
    ending.reason += "; the last line of its log: " + shorten(line, 300);
  ending.mayResume = cause == "signal" && (end.signal == SIGKILL || end.signal == SIGTERM ||
                                           end.signal == SIGHUP || end.signal == SIGINT);
  ending.data =
      Json{{"cause", cause}, {"seconds", end.seconds}, {"log_tail", lastLines(end.logTail, 20)}};
  ending.data["exit_code"] = end.signal == 0 ? Json(end.exitCode) : Json(nullptr);
  ending.data["signal"] = end.signal == 0 ? Json(nullptr) : Json(signalName(end.signal));
  return ending;
}

}  // namespace vitrine::jobs

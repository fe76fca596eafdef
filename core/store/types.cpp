#include "core/store/types.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "core/base/error.h"
#include "core/files/posix_file.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

// In the order of the states and of the fields.
constexpr std::array kStateNames = {"queued",   "starting", "running", "pausing", "paused",
                                    "stopping", "stopped",  "done",    "failed",  "interrupted"};
constexpr std::array kFieldNames = {"name",       "note",     "tags",     "curve_notes",
                                    "image_tags", "archived", "baseline", "colour"};

constexpr unsigned bit(RunState state) { return 1u << static_cast<unsigned>(state); }

template <typename... States>
constexpr unsigned setOf(States... states) {
  return (bit(states) | ...);
}

using enum RunState;

/// Legal next states, by state. A run that ended can be queued or started again, except when it is
/// done. Starting -> Starting: the process takes over the claim of its launcher.
constexpr std::array<unsigned, 10> kLegal{
    /* queued      */ setOf(Starting, Running, Stopped, Failed),
    /* starting    */ setOf(Starting, Running, Pausing, Stopping, Stopped, Failed, Interrupted),
    /* running     */ setOf(Pausing, Paused, Stopping, Stopped, Done, Failed, Interrupted),
    /* pausing     */ setOf(Paused, Stopping, Stopped, Done, Failed, Interrupted),
    /* paused      */ setOf(Queued, Starting, Running, Stopped),
    /* stopping    */ setOf(Stopped, Done, Failed, Interrupted),
    /* stopped     */ setOf(Queued, Starting, Running),
    /* done        */ 0u,
    /* failed      */ setOf(Queued, Starting, Running),
    /* interrupted */ setOf(Queued, Starting, Running, Stopped),
};

std::string readWord(const char* file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// Field 22 of /proc/<pid>/stat, or "" when there is no such process or it is a zombie.
std::string startTimeOf(std::int64_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  // Not with stream iterators: they throw when the process ends between opening and reading.
  std::string text;
  std::getline(stream, text, '\0');
  const auto end = text.rfind(')');  // the name, field 2, may hold spaces and brackets
  if (end == std::string::npos) return {};
  std::string field;
  std::size_t at = end + 1;
  for (int number = 3; number <= 22; ++number) {
    at = text.find_first_not_of(' ', at);
    if (at == std::string::npos) return {};
    const std::size_t stop = text.find(' ', at);
    field = text.substr(at, stop - at);
    if (number == 3 && (field == "Z" || field == "X")) return {};
    at = stop;
  }
  return field;
}

std::string bootId() { return readWord("/proc/sys/kernel/random/boot_id"); }

std::string hostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace

UnwritableError::UnwritableError(const std::string& message) : StoreError(message) {}
UnwritableError::~UnwritableError() = default;
ProtectedError::ProtectedError(const std::string& message) : UnwritableError(message) {}
ProtectedError::~ProtectedError() = default;

void throwUnopened(const std::string& what, int error) {
  const std::string message =
      "cannot open " + what + ": " + std::strerror(error) + "; make its folder writable";
  if (files::isForbidden(error)) throw ProtectedError(message);
  throw UnwritableError(message);
}

std::string nameOf(std::int64_t run) { return "run " + std::to_string(run); }

std::string toString(RunState state) { return kStateNames.at(static_cast<std::size_t>(state)); }

std::vector<std::string> runStateNames() { return {kStateNames.begin(), kStateNames.end()}; }

RunState runStateFromString(const std::string& text) {
  const auto found = std::find(kStateNames.begin(), kStateNames.end(), text);
  if (found != kStateNames.end()) return static_cast<RunState>(found - kStateNames.begin());
  throw StoreError("there is no run state '" + shown(text) + "'");
}

bool canChange(RunState from, RunState to) noexcept {
  return (kLegal[static_cast<std::size_t>(from)] & bit(to)) != 0;
}

bool isAlive(RunState state) noexcept {
  return (setOf(Starting, Running, Pausing, Stopping) & bit(state)) != 0;
}

bool hasEnded(RunState state) noexcept { return (setOf(Done, Failed, Stopped) & bit(state)) != 0; }

Worker workerOf(std::int64_t pid) { return {pid, startTimeOf(pid), bootId(), hostName()}; }

Worker thisWorker() { return workerOf(::getpid()); }

bool isWorkerAlive(const Worker& worker) {
  if (worker.pid <= 0 || worker.host != hostName() || worker.bootId != bootId()) return false;
  const std::string start = startTimeOf(worker.pid);
  return !start.empty() && start == worker.startTime;
}

std::string toString(RunField field) { return kFieldNames.at(static_cast<std::size_t>(field)); }

std::string wordsOf(RunField field) {
  if (field == RunField::ImageTags) return "tags of images";
  if (field == RunField::Archived) return "archive mark";
  if (field == RunField::Baseline) return "baseline mark";
  return field == RunField::CurveNotes ? "notes on curves" : toString(field);
}

std::optional<RunField> runFieldFromString(const std::string& text) {
  const auto found = std::find(kFieldNames.begin(), kFieldNames.end(), text);
  if (found == kFieldNames.end()) return std::nullopt;
  return static_cast<RunField>(found - kFieldNames.begin());
}

}  // namespace vitrine::store

#include "core/jobs/containment.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/base/program.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"

namespace vitrine::jobs {

namespace {

namespace fs = std::filesystem;

/// Written in one call, as control files need it.
bool writeControl(const fs::path& file, const std::string& text) {
  const files::Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return ::write(descriptor.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// The number after `key` in a file of "key number" lines, or 0.
std::int64_t counterOf(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  std::string word;
  std::int64_t value = 0;
  while (stream >> word >> value) {
    if (word == key) return value;
    stream.clear();
  }
  return 0;
}

/// Where control groups are mounted, and where this process is in them.
struct Hierarchies {
  fs::path unified;       ///< own group in version 2, or ""
  fs::path memory, pids;  ///< own groups in version 1, or ""
};

fs::path groupFolder(const fs::path& mount, const std::string& group) {
  return group == "/" ? mount : mount / group.substr(1);
}

Hierarchies hierarchies() {
  fs::path unifiedMount, memoryMount, pidsMount;
  {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line; std::getline(mounts, line);) {
      const std::vector<std::string> fields = split(line, ' ');
      if (fields.size() < 4) continue;
      if (fields[2] == "cgroup2") unifiedMount = fields[1];
      if (fields[2] != "cgroup") continue;
      for (const std::string& option : split(fields[3], ',')) {
        if (option == "memory") memoryMount = fields[1];
        if (option == "pids") pidsMount = fields[1];
      }
    }
  }
  Hierarchies found;
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (group.empty() || group[0] != '/' || group.find("..") != std::string::npos) continue;
    if (controllers.empty() && !unifiedMount.empty())
      found.unified = groupFolder(unifiedMount, group);
    for (const std::string& controller : split(controllers, ',')) {
      if (controller == "memory" && !memoryMount.empty())
        found.memory = groupFolder(memoryMount, group);
      if (controller == "pids" && !pidsMount.empty()) found.pids = groupFolder(pidsMount, group);
    }
  }
  return found;
}

bool hasWord(const fs::path& file, const std::string& word) {
  std::ifstream stream(file);
  for (std::string each; stream >> each;) {
    if (each == word) return true;
  }
  return false;
}

/// Has a file for every user whose manager continues after the last log-out.
constexpr const char* kLingering = "/var/lib/systemd/linger";

std::string userName() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "";
}

const RunLimits kAnswersSoon{std::chrono::seconds(5)};

}  // namespace

bool outlivesLogOut(const fs::path& lingering, const std::string& user) {
  std::error_code error;
  return !user.empty() && fs::exists(lingering / user, error);
}

Containment::Containment(const std::string& name, const JobLimits& limits) {
  const char* choice = std::getenv("VITRINE_CONTAINMENT");  // "watched": none of the others
  if (choice != nullptr && std::string(choice) == "watched") return;
  tryGroupV2(name, limits);
  if (kind_ == Kind::Watched) tryGroupV1(name, limits);
  if (kind_ == Kind::Watched) tryScope(name, limits);
}

Containment::~Containment() {
  for (const fs::path& group : groups_) {
    for (int i = 0; i < 50 && ::rmdir(group.c_str()) != 0 && errno == EBUSY; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// Next to the own group, because one that has processes cannot have limited groups below it.
void Containment::tryGroupV2(const std::string& name, const JobLimits& limits) {
  const fs::path own = hierarchies().unified;
  if (own.empty()) return;
  const fs::path parent = own.parent_path();
  if (!hasWord(parent / "cgroup.subtree_control", "memory") ||
      !hasWord(parent / "cgroup.subtree_control", "pids") ||
      ::access((parent / "cgroup.procs").c_str(), W_OK) != 0)
    return;
  const fs::path group = parent / name;
  std::error_code error;
  if (!fs::create_directory(group, error)) return;
  groups_.push_back(group);
  limitsTasks_ = writeControl(group / "pids.max", std::to_string(limits.tasks));
  limitsMemory_ = limits.memoryBytes > 0 &&
                  writeControl(group / "memory.max", std::to_string(limits.memoryBytes));
  if (limitsMemory_) writeControl(group / "memory.swap.max", "0");
  if (limitsTasks_) kind_ = Kind::GroupV2;
}

void Containment::tryGroupV1(const std::string& name, const JobLimits& limits) {
  const Hierarchies found = hierarchies();
  std::error_code error;
  if (!found.pids.empty() && fs::create_directory(found.pids / name, error)) {
    groups_.push_back(found.pids / name);
    limitsTasks_ = writeControl(groups_.back() / "pids.max", std::to_string(limits.tasks));
  }
  if (!found.memory.empty() && fs::create_directory(found.memory / name, error)) {
    groups_.push_back(found.memory / name);
    limitsMemory_ = limits.memoryBytes > 0 && writeControl(groups_.back() / "memory.limit_in_bytes",
                                                           std::to_string(limits.memoryBytes));
  }
  if (limitsTasks_ || limitsMemory_) kind_ = Kind::GroupV1;
}

void Containment::tryScope(const std::string& name, const JobLimits& limits) {
  // A scope belongs to the user's manager and is ended with it, while a run must continue.
  if (!outlivesLogOut(kLingering, userName())) return;
  // A machine without a manager for this user says so here; asked of no job.
  if (std::getenv("XDG_RUNTIME_DIR") == nullptr ||
      !runProgram({"systemd-run", "--user", "--scope", "--quiet", "true"}, kAnswersSoon)
           .isSuccess())
    return;
  scope_ = name + ".scope";
  prefix_ = {"systemd-run", "--user",           "--scope",
             "--quiet",     "--unit=" + scope_, "-pTasksMax=" + std::to_string(limits.tasks)};
  if (limits.memoryBytes > 0) {
    prefix_.push_back("-pMemoryMax=" + std::to_string(limits.memoryBytes));
    prefix_.push_back("-pMemorySwapMax=0");
  }
  prefix_.push_back("--");
  limitsTasks_ = true;
  limitsMemory_ = limits.memoryBytes > 0;
  kind_ = Kind::Scope;
}

void Containment::enter() const noexcept {
  for (const fs::path& group : groups_) {
    const files::Descriptor file(::open((group / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    static_cast<void>(!::write(file.get(), "0", 1));
  }
}

bool Containment::wasKilledForMemory() const {
  for (const fs::path& group : groups_) {
    if (counterOf(group / "memory.events", "oom_kill") > 0 ||
        counterOf(group / "memory.oom_control", "oom_kill") > 0)
      return true;
  }
  if (kind_ != Kind::Scope) return false;
  const ProgramEnd end =
      runProgram({"systemctl", "--user", "show", "-pResult", scope_}, kAnswersSoon);
  return end.out.find("oom-kill") != std::string::npos;
}

void Containment::killAll() const {
  for (const fs::path& group : groups_) {
    if (writeControl(group / "cgroup.kill", "1")) continue;
    for (int round = 0; round < 100; ++round) {
      std::ifstream stream(group / "cgroup.procs");
      int count = 0;
      for (pid_t pid = 0; stream >> pid; ++count) {
        if (pid > 1) ::kill(pid, SIGKILL);  // 0: of another process namespace
      }
      if (count == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

std::string describeContainment() {
  const Containment here("vitrine-look-" + std::to_string(::getpid()),
                         {std::int64_t{1} << 40, 4096});
  std::string text;
  switch (here.kind()) {
    case Containment::Kind::GroupV2:
      text = "control group (version 2)";
      break;
    case Containment::Kind::GroupV1:
      text = "control group (version 1)";
      break;
    case Containment::Kind::Scope:
      text = "scope of the user's systemd";
      break;
    case Containment::Kind::Watched: {
      std::error_code error;
      const bool couldHaveScopes = ::geteuid() != 0 && fs::exists("/run/systemd/system", error) &&
                                   !outlivesLogOut(kLingering, userName());
      return std::string(
                 "no control group is available: the memory of a job is read twice a second, the "
                 "number of its processes a hundred times") +
             (couldHaveScopes
                  ? "; `loginctl enable-linger` lets a run have a scope of systemd that "
                    "continues after the log-out"
                  : "");
    }
  }
  if (!here.limitsMemory()) text += ", memory read twice a second";
  if (!here.limitsTasks()) text += ", processes counted a hundred times a second";
  return text;
}

}  // namespace vitrine::jobs

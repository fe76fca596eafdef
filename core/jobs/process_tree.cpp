#include "core/jobs/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "core/base/parse_number.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"

namespace vitrine::jobs {

namespace {

struct Stat {
  pid_t parent = 0, group = 0;
  char state = '?';
  std::int64_t residentPages = 0, threads = 0;
};

/// Reads /proc/<pid>/stat; false when there is no such process any more.
bool readStat(pid_t pid, Stat& stat) {
  std::array<char, 1024> buffer{};
  const std::string file = "/proc/" + std::to_string(pid) + "/stat";
  const files::Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = ::read(descriptor.get(), buffer.data(), buffer.size() - 1);
  if (got <= 0) return false;
  const std::string text(buffer.data(), static_cast<std::size_t>(got));
  const auto end = text.rfind(')');  // the name may hold spaces and brackets
  if (end == std::string::npos) return false;
  const std::vector<std::string> fields = split(text.substr(end + 2), ' ');
  if (fields.size() < 22) return false;
  const auto number = [&](std::size_t field) {  // as proc(5) counts them
    return parseNumber<std::int64_t>(fields[field - 3]).value_or(0);
  };
  stat.state = fields[0].empty() ? '?' : fields[0][0];
  stat.parent = static_cast<pid_t>(number(4));
  stat.group = static_cast<pid_t>(number(5));
  stat.threads = number(20);
  stat.residentPages = number(24);
  return true;
}

enum class Dead { LeftOut, Included };

std::vector<ProcessFacts> treeBelow(pid_t root, Dead dead) {
  std::multimap<pid_t, ProcessFacts> byParent;
  const long page = ::sysconf(_SC_PAGESIZE);
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return {};
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    Stat stat;
    if (!readStat(pid, stat)) continue;
    const bool isDead = stat.state == 'Z' || stat.state == 'X';
    byParent.emplace(stat.parent, ProcessFacts{isDead ? -pid : pid, stat.group, stat.threads,
                                               isDead ? 0 : stat.residentPages * page});
  }
  ::closedir(folder);
  std::vector<ProcessFacts> found;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [first, last] = byParent.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      if (child->second.pid > 0 || dead == Dead::Included) found.push_back(child->second);
      open.push_back(std::abs(child->second.pid));
    }
  }
  return found;
}

}  // namespace

std::vector<ProcessFacts> descendantsOf(pid_t root) { return treeBelow(root, Dead::LeftOut); }

std::int64_t tasksOfUser() {
  std::int64_t tasks = 0;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return 0;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    struct stat owner {};
    Stat stat;
    const std::string path = std::string("/proc/") + entry->d_name;
    if (::stat(path.c_str(), &owner) != 0 || owner.st_uid != ::getuid()) continue;
    if (readStat(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)), stat))
      tasks += stat.threads;
  }
  ::closedir(folder);
  return tasks;
}

std::int64_t tasksOfMachine() {
  // "0.20 0.18 0.12 1/80 11206": running and all
  std::array<char, 128> text{};
  const files::Descriptor descriptor(::open("/proc/loadavg", O_RDONLY | O_CLOEXEC));
  const ssize_t got = ::read(descriptor.get(), text.data(), text.size() - 1);
  const char* slash = got > 0 ? std::strchr(text.data(), '/') : nullptr;
  std::int64_t tasks = 0;
  if (slash != nullptr) std::from_chars(slash + 1, text.data() + got, tasks);
  return tasks;
}

std::int64_t mostTasksOfMachine() {
  std::int64_t least = 0;
  for (const char* file : {"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"}) {
    std::int64_t most = 0;
    if (std::ifstream(file) >> most && (least == 0 || most < least)) least = most;
  }
  return least;
}

namespace {

void signalEach(const std::vector<ProcessFacts>& tree, int number) {
  std::set<pid_t> pids;
  for (const ProcessFacts& process : tree) pids.insert(std::abs(process.pid));
  // A group is reached at once, and its members cannot start others meanwhile. Only those that
  // began in the tree: the group of this process may have others in it.
  std::set<pid_t> groups;
  for (const ProcessFacts& process : tree) {
    if (pids.count(process.group) != 0) groups.insert(process.group);
  }
  for (const pid_t group : groups) {
    if (group > 1) ::kill(-group, number);
  }
  for (const ProcessFacts& process : tree) {
    if (process.pid > 1) ::kill(process.pid, number);
  }
}

}  // namespace

int signalDescendants(int number) {
  const std::vector<ProcessFacts> tree = treeBelow(::getpid(), Dead::Included);
  signalEach(tree, number);
  return static_cast<int>(std::count_if(
      tree.begin(), tree.end(), [](const ProcessFacts& process) { return process.pid > 0; }));
}

int killDescendants() {
  int left = 0;
  for (int round = 0; round < 200; ++round) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    // One that died while /proc was read may have left a child that was not listed yet. Only a list
    // without the dead is the last one.
    const std::vector<ProcessFacts> tree = treeBelow(::getpid(), Dead::Included);
    left = static_cast<int>(tree.size());
    if (left == 0) break;
    signalEach(tree, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(round < 5 ? 1 : 10));
  }
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return left;
}

bool wasKilledForMemory(pid_t pid) {
  const files::Descriptor descriptor(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const std::string needle = "Killed process " + std::to_string(pid) + " ";
  std::array<char, 8192> record{};
  for (int count = 0; count < 100'000; ++count) {
    const ssize_t got = ::read(descriptor.get(), record.data(), record.size());
    if (got < 0 && errno == EPIPE) continue;  // overtaken by newer records
    if (got <= 0) break;
    const std::string text(record.data(), static_cast<std::size_t>(got));
    if (text.find(needle) != std::string::npos) return true;
  }
  return false;
}

}  // namespace vitrine::jobs

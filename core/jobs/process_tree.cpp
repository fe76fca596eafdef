#include "core/jobs/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <thread>

#include "core/base/text.h"

namespace vitrine {

namespace {

struct Stat {
  pid_t parent = 0;
  char state = '?';
  std::int64_t residentPages = 0, threads = 0;
};

/// Reads /proc/<pid>/stat; false when there is no such process any more.
bool readStat(pid_t pid, Stat& stat) {
  std::array<char, 1024> buffer{};
  const std::string file = "/proc/" + std::to_string(pid) + "/stat";
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const ssize_t got = ::read(descriptor, buffer.data(), buffer.size() - 1);
  ::close(descriptor);
  if (got <= 0) return false;
  const std::string text(buffer.data(), static_cast<std::size_t>(got));
  const auto end = text.rfind(')');  // the name may hold spaces and brackets
  if (end == std::string::npos) return false;
  const std::vector<std::string> fields = split(text.substr(end + 2), ' ');
  if (fields.size() < 22) return false;
  const auto number = [&](std::size_t field) {  // as proc(5) counts them
    std::int64_t value = 0;
    const std::string& word = fields[field - 3];
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
  };
  stat.state = fields[0].empty() ? '?' : fields[0][0];
  stat.parent = static_cast<pid_t>(number(4));
  stat.threads = number(20);
  stat.residentPages = number(24);
  return true;
}

}  // namespace

MachineMemory machineMemory() {
  MachineMemory memory;
  std::ifstream stream("/proc/meminfo");
  std::string name;
  std::int64_t kilobytes = 0;
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    name = line.substr(0, colon);
    const auto digit = line.find_first_of("0123456789", colon);
    if (digit == std::string::npos) continue;
    std::from_chars(line.data() + digit, line.data() + line.size(), kilobytes);
    if (name == "MemTotal") memory.totalBytes = kilobytes << 10;
    if (name == "MemAvailable") memory.availableBytes = kilobytes << 10;
  }
  return memory;
}

namespace {

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
    byParent.emplace(stat.parent,
                     ProcessFacts{isDead ? -pid : pid, isDead ? 0 : stat.residentPages * page});
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

int killDescendants() {
  int left = 0;
  for (int round = 0; round < 200; ++round) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    // One that died while /proc was read may have left a child that was not listed yet: only a list
    // without the dead is the last one.
    const std::vector<ProcessFacts> tree = treeBelow(::getpid(), Dead::Included);
    left = static_cast<int>(tree.size());
    if (left == 0) break;
    for (const ProcessFacts& process : tree) {
      if (process.pid > 0) ::kill(process.pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(round < 5 ? 1 : 10));
  }
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return left;
}

bool wasKilledForMemory(pid_t pid) {
  const int descriptor = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const std::string needle = "Killed process " + std::to_string(pid) + " ";
  std::array<char, 8192> record{};
  bool isFound = false;
  for (int count = 0; count < 100'000 && !isFound; ++count) {
    const ssize_t got = ::read(descriptor, record.data(), record.size());
    if (got < 0 && errno == EPIPE) continue;  // overtaken by newer records
    if (got <= 0) break;
    const std::string text(record.data(), static_cast<std::size_t>(got));
    isFound = text.find(needle) != std::string::npos;
  }
  ::close(descriptor);
  return isFound;
}

}  // namespace vitrine

#include "app/vitrine/cli/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "core/base/error.h"

namespace vitrine::app {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

int waitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> environmentWith(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;  // the first of two values of one name wins
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

/// Starts the program in a session of its own and destroys `actions`. \returns 0, or why it was not
/// started: an errno
int spawnInOwnSession(pid_t& pid, const std::vector<std::string>& arguments,
                      posix_spawn_file_actions_t& actions) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const int failed = ::posix_spawnp(&pid, arguments.front().c_str(), &actions, &attributes,
                                    pointers(arguments).data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(::memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (isOpen()) ::close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] bool isOpen() const { return fd_ >= 0; }
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Leaves the position at the beginning, where who inherits it reads.
  [[nodiscard]] bool fill(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t wrote =
          ::pwrite(fd_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (wrote <= 0) return false;
      done += static_cast<std::size_t>(wrote);
    }
    return true;
  }
  [[nodiscard]] std::string content() const {
    std::string text;
    char buffer[65536];
    for (ssize_t got = 0;
         (got = ::pread(fd_, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    return text;
  }

 private:
  int fd_;
};

}  // namespace

std::optional<std::string> outputOf(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, arguments.front().c_str(), &actions, nullptr,
                                    pointers(arguments).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  if (failed == 0) {
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (failed != 0 || waitFor(pid) != 0) return std::nullopt;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

int runAndWait(const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  const std::vector<std::string> all = environmentWith(environment);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, arguments.front().c_str(), &actions, nullptr,
                                    pointers(arguments).data(), pointers(all).data());
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? waitFor(pid) : -1;
}

Completed runWithInput(const std::vector<std::string>& arguments, const std::string& input) {
  Completed completed;
  // Files in memory: no pipe fills up while the parent does not read it.
  const MemoryFile in("input"), out("output"), err("errors");
  if (!in.isOpen() || !out.isOpen() || !err.isOpen() || !in.fill(input)) return completed;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.descriptor(), STDERR_FILENO);
  pid_t pid = 0;
  const int failed = spawnInOwnSession(pid, arguments, actions);
  if (failed != 0) {
    completed.err = std::strerror(failed);
    return completed;
  }
  completed.code = waitFor(pid);
  completed.out = out.content();
  completed.err = err.content();
  return completed;
}

Conversation startConversation(const std::vector<std::string>& arguments) {
  const auto refuse = [&](int why) {
    throw Error("'" + arguments.front() + "' cannot be started: " + std::strerror(why));
  };
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) refuse(errno);
  if (::pipe2(out, O_CLOEXEC) != 0) {
    const int why = errno;
    for (const int end : in) ::close(end);
    refuse(why);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  Conversation conversation{-1, in[1], out[0]};
  const int failed = spawnInOwnSession(conversation.pid, arguments, actions);
  ::close(in[0]);
  ::close(out[1]);
  if (failed != 0) {
    ::close(conversation.in);
    ::close(conversation.out);
    refuse(failed);
  }
  return conversation;
}

bool startDetached(const std::vector<std::string>& arguments) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = 0;
  const int failed = spawnInOwnSession(pid, arguments, actions);
  return failed == 0;
}

}  // namespace vitrine::app

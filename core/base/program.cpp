#include "core/base/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace vitrine {

namespace {

using Clock = std::chrono::steady_clock;

class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(::memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Leaves the position at the beginning, where the program that inherits it reads.
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
    std::array<char, 65536> buffer;
    for (ssize_t got = 0;
         (got = ::pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  int fd_;
};

/// \returns  whether it has ended; `status` as waitpid(2) returns it
bool waitUntilOver(int pid, int& status, const RunLimits& limits) {
  const auto ended = [&](int options) {
    int got = 0;
    do {
      got = ::waitpid(pid, &status, options);
    } while (got < 0 && errno == EINTR);
    if (got < 0) status = SIGKILL;  // another thread took its status: only its end is known
    return got != 0;
  };
  const bool isPatient = limits.patience == std::chrono::milliseconds::max();
  if (isPatient && !limits.stop.stop_possible()) return ended(0);
  const auto begin = Clock::now();
  auto pause = std::chrono::milliseconds(1);
  while (!ended(WNOHANG)) {
    if (limits.stop.stop_requested()) return false;
    if (!isPatient && Clock::now() - begin >= limits.patience) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

std::vector<std::string> environmentWith(std::vector<std::string> own) {
  const auto count = static_cast<std::ptrdiff_t>(own.size());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "=") + 1);
    const bool isReplaced =
        std::any_of(own.begin(), own.begin() + count,
                    [&](const std::string& variable) { return variable.starts_with(name); });
    if (!isReplaced) own.emplace_back(*entry);
  }
  return own;
}

std::vector<char*> execPointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

StartedProgram startProgram(const ProgramStart& start) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const auto& [stream, descriptor] : {std::pair(STDIN_FILENO, start.in),
                                           {STDOUT_FILENO, start.out},
                                           {STDERR_FILENO, start.err}}) {
    if (descriptor >= 0) {
      posix_spawn_file_actions_adddup2(&files, descriptor, stream);
    } else {
      posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
    }
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // What this process ignores to survive a broken link would be ignored there, too.
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSIGDEF | (start.isOwnSession ? POSIX_SPAWN_SETSID : 0)));
  sigset_t standard;
  sigemptyset(&standard);
  sigaddset(&standard, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &standard);
  const std::vector<std::string> environment = environmentWith(start.environment);
  StartedProgram started;
  started.error = ::posix_spawnp(&started.pid, start.arguments.front().c_str(), &files, &attributes,
                                 execPointers(start.arguments).data(),
                                 execPointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return started;
}

ProgramEnd runProgram(ProgramStart start, const std::string& input, const RunLimits& limits) {
  ProgramEnd end;
  const MemoryFile in("input"), out("output"), err("errors");
  if (std::min({in.descriptor(), out.descriptor(), err.descriptor()}) < 0 || !in.fill(input)) {
    end.err = std::strerror(errno);
    return end;
  }
  start.in = in.descriptor();
  start.out = out.descriptor();
  start.err = err.descriptor();
  const StartedProgram started = startProgram(start);
  if (started.error != 0) {
    end.err = std::strerror(started.error);
    return end;
  }
  int status = 0;
  if (waitUntilOver(started.pid, status, limits)) {
    end.how = WIFEXITED(status) ? ProgramEnd::How::Exited : ProgramEnd::How::Signalled;
    if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  } else {
    end.how = ProgramEnd::How::Overdue;
    ::kill(started.pid, SIGKILL);
    (void)waitUntilOver(started.pid, status, {});
  }
  end.out = out.content();
  end.err = err.content();
  return end;
}

ProgramEnd runProgram(const std::vector<std::string>& arguments, const RunLimits& limits) {
  return runProgram(ProgramStart{arguments}, {}, limits);
}

std::optional<std::string> outputOf(const std::vector<std::string>& arguments) {
  ProgramEnd end = runProgram(arguments);
  if (!end.isSuccess()) return std::nullopt;
  end.out.erase(end.out.find_last_not_of('\n') + 1);
  return std::move(end.out);
}

}  // namespace vitrine

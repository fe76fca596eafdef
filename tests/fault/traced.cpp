#include "tests/fault/traced.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "tests/support/child.h"

namespace vitrine::testing {

namespace {

constexpr int kSystemCallStop = SIGTRAP | 0x80;

template <class Fourth>
long ask(int request, pid_t process, long third, Fourth fourth) {
  return ::ptrace(static_cast<__ptrace_request>(request), process, reinterpret_cast<void*>(third),
                  fourth);
}

/// What a call in progress answers.
void setResult([[maybe_unused]] pid_t process, [[maybe_unused]] long result,
               [[maybe_unused]] bool isBegin) {
#if defined(__x86_64__)
  struct user_regs_struct registers {};
  ask(PTRACE_GETREGS, process, 0, &registers);
  if (isBegin) {
    registers.orig_rax = static_cast<unsigned long long>(-1);  // no such call: nothing happens
  } else {
    registers.rax = static_cast<unsigned long long>(result);
  }
  ask(PTRACE_SETREGS, process, 0, &registers);
#endif
}

pid_t startTraced(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = forkChild();
  if (child != 0) return child;
  // What it says of its errors is not what a test looks at.
  ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(126);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

class Watch {
 public:
  explicit Watch(const Tracing& tracing) : tracing_(tracing) {}

  std::optional<Traced> run() {
    const pid_t child = startTraced(tracing_.command);
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
    constexpr long kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;
    if (ask(PTRACE_SETOPTIONS, child, 0, kOptions) != 0) {
      signalProcess(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return std::nullopt;
    }
    goOn(child, 0);
    for (;;) {
      // Its threads too; another child of the test would be one without a waiting parent.
      const pid_t stopped = ::waitpid(-1, &status, __WALL);
      if (stopped < 0 && errno == EINTR) continue;
      if (stopped < 0) return std::nullopt;
      if (WIFSTOPPED(status)) {
        handle(child, stopped, WSTOPSIG(status));
      } else if (stopped == child) {
        traced_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return traced_;
      }
    }
  }

 private:
  void goOn(pid_t process, int signal) {
    ask(isCounting_ ? PTRACE_SYSCALL : PTRACE_CONT, process, 0, static_cast<long>(signal));
  }

  void handle(pid_t child, pid_t stopped, int signal) {
    if (signal == kSystemCallStop) {
      const bool isKilled = systemCall(child, stopped);
      if (!isKilled) goOn(stopped, 0);
      return;
    }
    if (signal == SIGSTOP && stopped == child && !isCounting_) {
      isCounting_ = true;
      goOn(stopped, 0);
      return;
    }
    // A new thread begins with SIGSTOP, and its creator stops with SIGTRAP.
    const bool isOurs = signal == SIGTRAP || signal == SIGSTOP;
    goOn(stopped, isOurs ? 0 : signal);
  }

  /// \returns  whether the process was killed
  bool systemCall(pid_t child, pid_t stopped) {
    struct __ptrace_syscall_info info {};
    ask(PTRACE_GET_SYSCALL_INFO, stopped, sizeof(info), &info);
    if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
      if (failing_.erase(stopped) != 0) setResult(stopped, -tracing_.error, false);
      return false;
    }
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
    const auto call = static_cast<long>(info.entry.nr);
    if (!tracing_.counted.empty() && tracing_.counted.count(call) == 0) return false;
    // Opening what is there changes nothing.
    const bool isReading = call == SYS_openat && (info.entry.args[2] & O_CREAT) == 0;
    if (!tracing_.counted.empty() && isReading) return false;
    ++traced_.calls;
    if (traced_.calls == tracing_.killAt) {
      signalProcess(child, SIGKILL);
      return true;
    }
    const bool isFailing =
        tracing_.failAt > 0 && (traced_.calls == tracing_.failAt ||
                                (tracing_.isForEver && traced_.calls > tracing_.failAt));
    if (isFailing) {
      setResult(stopped, 0, true);
      failing_[stopped] = true;
    }
    return false;
  }

  const Tracing& tracing_;
  Traced traced_;
  bool isCounting_ = false;
  std::map<pid_t, bool> failing_;
};

}  // namespace

std::optional<Traced> trace(const Tracing& tracing) { return Watch(tracing).run(); }

bool canFail() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

std::set<long> changingCalls() {
  std::set<long> calls{SYS_openat,   SYS_write,     SYS_pwrite64, SYS_writev,
                       SYS_fsync,    SYS_fdatasync, SYS_renameat, SYS_renameat2,
                       SYS_unlinkat, SYS_mkdirat,   SYS_ftruncate};
#if defined(SYS_rename)  // not where there are the calls above alone
  calls.insert({SYS_rename, SYS_unlink, SYS_mkdir, SYS_rmdir});
#endif
  return calls;
}

std::set<long> removingCalls() {
  std::set<long> calls{SYS_unlinkat};
#if defined(SYS_unlink)
  calls.insert({SYS_unlink, SYS_rmdir});
#endif
  return calls;
}

}  // namespace vitrine::testing

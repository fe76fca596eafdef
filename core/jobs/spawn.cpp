#include "core/jobs/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/program.h"
#include "core/files/posix_file.h"

namespace vitrine::jobs {

namespace {

using files::Descriptor;

/// What the grandchild says before it becomes the program; sent again with `error` when it cannot.
struct Report {
  pid_t pid = 0;
  int error = 0;
};

/// In the grandchild: only async-signal-safe calls from here on.
[[noreturn]] void become(char* const* arguments, char* const* environment, int input, int log,
                         const std::vector<int>& keep, int reportTo) {
  ::setsid();
  Report report{::getpid(), 0};
  static_cast<void>(!::write(reportTo, &report, sizeof report));
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int descriptor : keep) ::fcntl(descriptor, F_SETFD, 0);
  if (::dup2(input, 0) >= 0 && ::dup2(log, 1) >= 0 && ::dup2(log, 2) >= 0)
    ::execve(arguments[0], arguments, environment);
  report.error = errno;
  static_cast<void>(!::write(reportTo, &report, sizeof report));
  ::_exit(127);
}

bool readReport(int from, Report& report) {
  ssize_t got = 0;
  do {
    got = ::read(from, &report, sizeof report);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof report);
}

}  // namespace

std::int64_t spawnDetached(const std::vector<std::string>& arguments,
                           const std::filesystem::path& log, const SpawnExtras& extras) {
  const Descriptor output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (output.get() < 0)
    throw Error("cannot write the log '" + log.string() + "': " + std::strerror(errno));
  const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  const Descriptor readEnd(ends[0]);
  Descriptor writeEnd(ends[1]);
  const std::vector<std::string> environment = environmentWith(extras.environment);
  const std::vector<char*> words = execPointers(arguments), variables = execPointers(environment);

  // Forked twice: the process between ends at once, so that its child has no parent that must
  // wait for it.
  const pid_t between = ::fork();
  if (between < 0) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  if (between == 0) {
    const pid_t child = ::fork();
    if (child == 0)
      become(words.data(), variables.data(), input.get(), output.get(), extras.keep,
             writeEnd.get());
    ::_exit(child < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  writeEnd = Descriptor();
  Report started;
  if (!readReport(readEnd.get(), started))
    throw Error("cannot start a process: the system has no room for more");
  Report failed;
  if (readReport(readEnd.get(), failed)) {  // otherwise execv closed the pipe
    throw Error("cannot run '" + arguments.front() + "': " + std::strerror(failed.error));
  }
  return started.pid;
}

}  // namespace vitrine::jobs

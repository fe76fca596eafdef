#include "core/jobs/run_supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/program.h"
#include "core/base/text.h"
#include "core/jobs/containment.h"
#include "core/jobs/device_load.h"
#include "core/jobs/ending.h"
#include "core/jobs/log_ring.h"
#include "core/jobs/process_tree.h"
#include "core/jobs/queue.h"
#include "core/jobs/task_watch.h"
#include "core/store/run_facts.h"

namespace vitrine::jobs {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(500);

std::atomic<bool> isAskedToEnd{false};

double secondsSince(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

std::string secondsText(double seconds) {
  return seconds < 120 ? formatReal(seconds, 3) + " s" : formatDuration(seconds);
}

/// Does `write` as soon as the database takes it, which may be full or busy: it must not be lost.
/// \param warn  is told why, when it is not at once
/// \throws NotFoundError  `write` did
template <typename Write, typename Warn>
auto doOnceWritable(const std::filesystem::path& database, const Write& write, const Warn& warn)
    -> decltype(write()) {
  for (int attempt = 0;; ++attempt) {
    try {
      return write();
    } catch (const NotFoundError&) {
      throw;
    } catch (const std::exception& error) {
      if (attempt == 0) warn(std::string(error.what()));
      std::error_code unknown;
      const bool isGone = !std::filesystem::exists(database, unknown) && !unknown;
      // Waiting for a deleted file would keep the device from the runs of other databases.
      if (isGone || attempt > 600) throw;
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
}

/// In the child: becomes the program, its own process group, output into the pipe.
[[noreturn]] void become(const SupervisorOptions& options, const Containment& containment,
                         int output) {
  ::setpgid(0, 0);
  containment.enter();
  if (!containment.limitsTasks() && options.settings.tasks > 0) {
    // The kernel counts all that the user has. Root is not held by this, only by TaskWatch.
    const auto most = static_cast<rlim_t>(options.settings.tasks + tasksOfUser());
    const rlimit processes{most, most};
    ::setrlimit(RLIMIT_NPROC, &processes);
  }
  const rlimit noCore{0, 0};
  ::setrlimit(RLIMIT_CORE, &noCore);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGHUP, SIG_DFL);
  // SIGPIPE stays ignored: the run continues when its supervisor has ended.
  std::vector<std::string> words = containment.prefix();
  words.insert(words.end(), options.command.begin(), options.command.end());
  const std::vector<char*> arguments = execPointers(words);
  ::setenv("VITRINE_RUN_LOG", "stderr", 1);
  if (::dup2(output, 1) >= 0 && ::dup2(output, 2) >= 0) ::execvp(arguments[0], arguments.data());
  const std::string problem =
      std::string("cannot run '") + arguments[0] + "': " + std::strerror(errno) + "\n";
  static_cast<void>(!::write(output, problem.data(), problem.size()));
  ::_exit(127);
}

class RunSupervisor {
 public:
  RunSupervisor(const SupervisorOptions& options, store::RunStore& store,
                const std::filesystem::path& log)
      : options_(options),
        store_(store),
        queue_(store),
        log_(log),
        containment_(
            "vitrine-run-" + std::to_string(options.run) + "-" + std::to_string(::getpid()),
            {options.memoryLimitBytes, options.settings.tasks}) {}

  int keep() {
    start();
    while (!look()) {
    }
    finish();
    return end_.signal != 0 ? 128 + end_.signal : end_.exitCode;
  }

 private:
  void start();
  [[nodiscard]] bool look();  ///< \returns true  the process has ended
  void readLog();
  void watch();
  void watchMemory();
  void watchLife(const store::RunRow& row);
  void askToStop();
  void kill(EndedBy why, const std::string& detail);
  void leaveNone();
  void finish();
  void note(const std::string& text) { log_.note("vitrine: " + text + "\n"); }

  const SupervisorOptions& options_;
  store::RunStore& store_;
  JobQueue queue_;
  LogRing log_;
  Containment containment_;
  std::optional<TaskWatch> taskWatch_;
  pid_t child_ = 0;
  int pipe_ = -1;
  Clock::time_point started_ = Clock::now(), looked_ = started_, lifeSeen_ = started_;
  double longestPause_ = 0;
  std::int64_t lifeMark_ = -1;
  bool isAlarmed_ = false, isPassedOn_ = false, isDatabaseLost_ = false;
  std::optional<Clock::time_point> askedAt_;
  ProcessEnd end_;
};

void RunSupervisor::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  child_ = ::fork();
  if (child_ < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (child_ == 0) become(options_, containment_, ends[1]);
  ::setpgid(child_, child_);
  ::close(ends[1]);
  pipe_ = ends[0];
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  if (!containment_.limitsTasks() && options_.settings.tasks > 0)
    taskWatch_.emplace(child_, taskLimit(options_.settings.tasks));
}

void RunSupervisor::readLog() {
  std::array<char, 65536> buffer;  // NOLINT: filled by read
  // A job that floods its log is slowed down by this: at most 4 MiB before the next look.
  for (int round = 0; round < 64 && pipe_ >= 0; ++round) {
    const ssize_t got = ::read(pipe_, buffer.data(), buffer.size());
    if (got > 0) {
      log_.write({buffer.data(), static_cast<std::size_t>(got)});
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || errno != EAGAIN) {  // closed by all that had it
      ::close(pipe_);
      pipe_ = -1;
    }
    return;
  }
}

bool RunSupervisor::look() {
  pollfd entry{pipe_, POLLIN, 0};
  if (pipe_ >= 0) {
    ::poll(&entry, 1, 50);
    readLog();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (;;) {
    siginfo_t gone{};
    if (::waitid(P_ALL, 0, &gone, WEXITED | WNOHANG | WNOWAIT) != 0 || gone.si_pid <= 0) break;
    const bool isJob = gone.si_pid == child_;
    if (isJob) leaveNone();  // until it is waited for, its number and its group are its own
    int status = 0;
    ::waitpid(gone.si_pid, &status, 0);
    if (!isJob) continue;  // an orphan of the job that came to this process
    if (WIFEXITED(status)) end_.exitCode = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    end_.seconds = secondsSince(started_);
    return true;
  }
  if (Clock::now() - looked_ >= kLook) {
    looked_ = Clock::now();
    watch();
  }
  return false;
}

void RunSupervisor::watch() {
  watchMemory();
  if (isAskedToEnd.load() && !isPassedOn_) {
    isPassedOn_ = true;  // the machine is shut down: a checkpoint, and on after the next start
    ::kill(child_, SIGTERM);
  }
  try {
    const store::RunRow row = store_.run(options_.run);
    isDatabaseLost_ = false;
    if (row.state == store::RunState::Stopping && !askedAt_) askedAt_ = Clock::now();
    watchLife(row);
    if (options_.timeLimitSeconds > 0 && secondsSince(started_) > options_.timeLimitSeconds &&
        end_.endedBy == EndedBy::Itself) {
      end_.endedBy = EndedBy::TimeLimit;
      end_.detail = secondsText(options_.timeLimitSeconds);
      note("the time limit of " + end_.detail + " is reached");
      askToStop();
    }
  } catch (const NotFoundError&) {
    kill(EndedBy::Itself, "");
  } catch (const std::exception& error) {
    if (!isDatabaseLost_) note(std::string("warning: ") + error.what());
    isDatabaseLost_ = true;
  }
  if (askedAt_ && secondsSince(*askedAt_) > options_.graceSeconds) {
    const bool isLimit = end_.endedBy == EndedBy::TimeLimit;
    kill(isLimit ? EndedBy::TimeLimit : EndedBy::GraceTime,
         isLimit ? end_.detail : secondsText(options_.graceSeconds));
  }
}

void RunSupervisor::askToStop() {
  askedAt_ = Clock::now();
  try {
    store_.setRequest(options_.run, "stop");
    if (canChange(store_.run(options_.run).state, store::RunState::Stopping))
      store_.setState(options_.run, store::RunState::Stopping);
  } catch (const Error& error) {
    // The checkpoint of the run is worth more than the row that says why it was written.
    note(std::string("warning: ") + error.what());
  }
  ::kill(child_, SIGTERM);
}

/// Measures where no control group does.
void RunSupervisor::watchMemory() {
  if (containment_.limitsMemory() || options_.memoryLimitBytes <= 0) return;
  std::int64_t bytes = 0;
  for (const ProcessFacts& process : descendantsOf(::getpid())) bytes += process.residentBytes;
  if (bytes > options_.memoryLimitBytes)
    kill(EndedBy::MemoryLimit, formatBytes(options_.memoryLimitBytes));
}

void RunSupervisor::watchLife(const store::RunRow& row) {
  const std::int64_t mark = signsOfLife(store_, options_.run);
  const double silent = secondsSince(lifeSeen_);
  if (mark != lifeMark_) {
    lifeMark_ = mark;
    lifeSeen_ = Clock::now();
    if (row.state == store::RunState::Running) longestPause_ = std::max(longestPause_, silent);
    isAlarmed_ = false;
    return;
  }
  // Steps may be slow: what was usual so far is not an alarm.
  if (!isAlarmed_ && silent > std::max(options_.settings.hangAlarmSeconds, 5 * longestPause_)) {
    isAlarmed_ = true;
    const std::string text = "nothing was heard of the run for " + secondsText(silent) +
                             "; it may hang: `vitrine stop " + std::to_string(options_.run) +
                             "` ends it";
    note(text);
    queue_.note(options_.run, "hang", text);
  }
  if (options_.settings.hangLimitSeconds > 0 && silent > options_.settings.hangLimitSeconds)
    kill(EndedBy::Hang, secondsText(options_.settings.hangLimitSeconds));
}

void RunSupervisor::kill(EndedBy why, const std::string& detail) {
  if (end_.endedBy == EndedBy::Itself || why == EndedBy::TimeLimit) {
    end_.endedBy = why;
    end_.detail = detail;
  }
  containment_.killAll();
  ::kill(-child_, SIGKILL);
  ::kill(child_, SIGKILL);
}

/// Ends the remaining processes of the job's group, and the watch.
void RunSupervisor::leaveNone() {
  ::kill(-child_, SIGKILL);
  if (!taskWatch_) return;
  taskWatch_->stop();
  if (taskWatch_->hasEndedTheJob() && end_.endedBy == EndedBy::Itself) {
    end_.endedBy = EndedBy::TaskLimit;
    end_.detail = std::to_string(taskWatch_->limit());
  }
}

void RunSupervisor::finish() {
  // What left the group stays behind neither.
  containment_.killAll();
  if (const int left = killDescendants(); left > 0)
    note("warning: " + std::to_string(left) + " processes of the run cannot be ended");
  for (int round = 0; round < 1000 && pipe_ >= 0; ++round) {
    pollfd entry{pipe_, POLLIN, 0};
    if (::poll(&entry, 1, 0) <= 0) break;
    readLog();
  }
  if (end_.signal == SIGKILL && end_.endedBy == EndedBy::Itself)
    end_.isOutOfMemory = containment_.wasKilledForMemory() || wasKilledForMemory(child_);
  end_.logTail = log_.tail();
  std::string noted;
  const auto write = [&] {
    const RunEnding ending = classify(end_, store_.run(options_.run).state);
    if (!ending.reason.empty() && ending.reason != noted) note(noted = ending.reason);
    queue_.ended(options_.run, ending);
  };
  try {
    doOnceWritable(options_.database, write,
                   [&](const std::string& why) { note("warning: " + why); });
  } catch (const NotFoundError&) {  // deleted meanwhile
  }
}

}  // namespace

int superviseRun(const SupervisorOptions& options) {
  struct sigaction action {};
  action.sa_handler = [](int) { isAskedToEnd.store(true); };
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  store::RunStore store(options.database, store::OpenMode::ReadWrite);
  JobQueue queue(store);
  const auto adopt = [&] {
    if (!queue.adopt(options.run)) return false;
    const store::RunRow row = store.run(options.run);
    if (row.logFile.empty())
      store.setLogFile(options.run, store::runFolderName(row.uuid) + "/run.log");
    return true;
  };
  if (!doOnceWritable(options.database, adopt, [](const std::string& why) { log::warning(why); }))
    return static_cast<int>(ExitCode::Refused);
  const store::RunRow row = store.run(options.run);
  const std::filesystem::path folder =
      store::filesFolder(options.database) / store::runFolderName(row.uuid);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return RunSupervisor(options, store, folder / "run.log").keep();
}

int superviseQueuedRun(const std::filesystem::path& database, std::int64_t run,
                       const std::filesystem::path& program, const SupervisorSettings& settings) {
  SupervisorOptions options;
  options.settings = settings;
  options.database = database;
  options.run = run;
  options.command = {program.string(),    "run",  "--id",
                     std::to_string(run), "--db", database.string()};
  {
    store::RunStore store(database, store::OpenMode::ReadWrite);
    if (const auto entry = JobQueue(store).find(run)) {
      options.graceSeconds = entry->options.graceSeconds;
      options.memoryLimitBytes = entry->options.memoryLimitBytes;
      if (entry->options.timeLimitSeconds > 0) {
        options.timeLimitSeconds =
            std::max(0.001, entry->options.timeLimitSeconds - entry->usedSeconds);
      }
    }
  }
  // The machine itself should survive a run that takes all it gets.
  if (options.memoryLimitBytes == 0) options.memoryLimitBytes = readMemory().total / 10 * 9;
  return superviseRun(options);
}

}  // namespace vitrine::jobs

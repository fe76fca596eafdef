// Stands in for the headless program where LibTorch would only cost time: a trainer that counts,
// the supervisor and the queue as they are. A run's configuration says what goes wrong:
//   {"train": {"steps": 30, "checkpoint_every": 5, "step_ms": 5},
//    "fault": {"kind": "segfault", "at": 7}}
//
//   fault_worker run --id N --db FILE
//   fault_worker work --supervise N --db FILE ...          one run's supervisor
//   fault_worker work --db FILE [--drain] [--retries N] [--hang-limit S] ...   the queue, on "cpu"
//   fault_worker watch --db FILE                      looks at the runs, as a window does
//   fault_worker write --db FILE --number N [--period MS] [--points N]
//     A trainer that commits every MS until SIGTERM, from when FILE.go is there. Then FILE.writer-N
//     holds a line per commit: milliseconds it took, milliseconds since the one before returned;
//     and one that begins with "error" for each commit that failed.
// $VITRINE_FAULT_ACKNOWLEDGED: where acknowledgements go, else FILE.acknowledged.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/jobs/launcher.h"
#include "core/jobs/work.h"
#include "core/run/run_control.h"
#include "core/store/run_store.h"
#include "core/store/spool/store_sink.h"
#include "tests/support/wait_until.h"

namespace {

using namespace vitrine;
namespace fs = std::filesystem;

RunControl control;
std::atomic<bool> isAsked{false};

[[gnu::noinline]] int dig(volatile char* above, long depth) {
  volatile char room[4096];
  room[0] = above[0];
  return depth == 0 ? room[0] : dig(room, depth - 1) + room[0];
}

/// Ends this process after `seconds`, whatever it does.
void limitLife(unsigned seconds) {
  ::signal(SIGALRM, [](int) { ::_exit(1); });  // the first process of a namespace needs a handler
  ::alarm(seconds);
}

/// Forks without end as far as anything that watches it can tell, and yet can harm no machine: its
/// copies try kMostForks times in all and live for a minute, and as root they are in a process
/// namespace of their own, where that can be had, which ends with the first of them.
[[noreturn]] void forkWithoutEnd(bool isScattered) {
  constexpr int kMostForks = 300;
  void* shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) ::_exit(9);
  auto* forks = new (shared) std::atomic<int>(0);
  limitLife(60);
  if (::geteuid() == 0 && ::unshare(CLONE_NEWPID) == 0) {
    const pid_t first = ::fork();
    while (first != 0) ::pause();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    limitLife(60);
  }
  while (forks->fetch_add(1) < kMostForks) {
    if (::fork() != 0) continue;
    limitLife(60);
    if (isScattered) ::setsid();
  }
  for (;;) ::pause();
}

/// Takes twice its limit and keeps it. Where the kernel wants memory back, this process goes first.
[[noreturn]] void takeMemory() {
  constexpr std::size_t kMegabytes = 400;
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  limitLife(60);
  for (std::size_t megabytes = 0; megabytes < kMegabytes; ++megabytes) {
    auto* bytes = static_cast<volatile char*>(std::malloc(1 << 20));
    if (bytes == nullptr) std::abort();
    for (int i = 0; i < 1 << 20; i += 4096) bytes[i] = 1;
  }
  for (;;) ::pause();
}

/// Nothing that hangs or is left behind stays for good, even if the test that started it is killed.
[[noreturn]] void hang() {
  limitLife(600);
  for (;;) ::pause();
}

/// What goes wrong, at the step at which it does. Each is bounded here, whatever contains it.
void misbehave(const std::string& kind) {
  if (kind == "segfault") ::raise(SIGSEGV);
  if (kind == "abort") std::abort();
  if (kind == "exit_0") ::_exit(0);
  if (kind == "exit_3") ::_exit(3);
  if (kind == "terminate")
    std::thread([] { throw std::runtime_error("not caught"); }).join();
  if (kind == "stack_overflow") {
    const rlimit stack{8 << 20, 8 << 20};  // where there is no limit, it would take all memory
    ::setrlimit(RLIMIT_STACK, &stack);
    volatile char byte = 1;
    std::printf("%d\n", dig(&byte, 1L << 40));
  }
  if (kind == "kill") ::raise(SIGKILL);
  if (kind == "hang") hang();
  if (kind == "fork_bomb") forkWithoutEnd(false);
  if (kind == "scattered_fork_bomb") forkWithoutEnd(true);
  if (kind == "memory_hog") takeMemory();
  if (kind == "flood") {
    const std::string line(79, 'x');
    for (int i = 0; i < 1'000'000; ++i) std::printf("%s%07d\n", line.c_str(), i);
    std::fflush(stdout);
  }
  if (kind == "close_stdout") {
    ::close(1);
    ::close(2);
  }
  if (kind == "orphan" && ::fork() == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    hang();
  }
  if (kind == "deaf_hang") {
    ::signal(SIGTERM, SIG_IGN);
    hang();
  }
}

/// What a step makes of the state before it: an interrupted run gives the same only if it continues
/// exactly where its checkpoint was.
std::int64_t advance(std::int64_t state, std::int64_t step) {
  return (state * 31 + step * 7919) % 1'000'003;
}

/// Written after the points up to `step` are durable: what must never be lost.
void acknowledge(const fs::path& database, std::int64_t run, std::int64_t segment,
                 std::int64_t step) {
  const char* elsewhere = std::getenv("VITRINE_FAULT_ACKNOWLEDGED");
  const std::string file = elsewhere != nullptr ? elsewhere : database.string() + ".acknowledged";
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string line =
      std::to_string(run) + " " + std::to_string(segment) + " " + std::to_string(step) + "\n";
  if (::write(descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    ::_exit(9);
  ::close(descriptor);
}

int train(const fs::path& database, std::int64_t id) {
  store::RunStore store(database, store::OpenMode::ReadWrite);
  const store::RunRow row = store.run(id);
  if (row.state == store::RunState::Done) return 4;
  if (isAlive(row.state)) {
    store.setWorker(id, store::thisWorker());
  } else {
    store.claim(id);
  }
  if (store.request(id) == "stop") {
    store.setState(id, store::RunState::Stopped, "stopped on request before its first step");
    return 75;
  }
  const Json config = store.config(id);
  const Json plan = config.at("train");
  const Json fault = config.value("fault", Json::object());
  const fs::path folder = store::filesFolder(database) / ("run-" + row.uuid);
  const auto resumed = newestCheckpoint(folder);
  // Two processes that work on one run at the same time are what must never happen.
  const int busy = ::open((folder / ".busy").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (::flock(busy, LOCK_EX | LOCK_NB) != 0) acknowledge(database, id, -1, -1);
  std::int64_t state = id, first = 0;
  if (resumed) {
    first = resumed->step;
    state = Json::parse(readTextFile(resumed->folder / "state.json")).at("state");
  }
  const std::int64_t segment =
      store.openSegment(id, first, store::thisWorker(), Json{{"device", "cpu"}, {"commit", ""}});
  std::printf("run %ld continues at step %ld, CUDA_VISIBLE_DEVICES=%s\n", static_cast<long>(id),
              static_cast<long>(first),
              std::getenv("CUDA_VISIBLE_DEVICES") != nullptr ? std::getenv("CUDA_VISIBLE_DEVICES")
                                                             : "unset");
  std::fflush(stdout);
  ::signal(SIGTERM, [](int) { control.ask(Request::Interrupt); });
  store::StoreSink sink(database, id, segment, control);
  const auto saveCheckpoint = [&](std::int64_t step) {
    CheckpointRecord record{.step = step, .folder = "run-" + row.uuid + "/" + checkpointName(step)};
    // Points first: a run that continues from here does not make them again.
    sink.flush();
    if (!fs::exists(folder / checkpointName(step))) {
      record.bytes = static_cast<std::int64_t>(
          writeCheckpointFolder(folder, step, Json::object(), [&](const fs::path& target) {
            std::ofstream(target / "state.json") << Json{{"state", state}}.dump();
          }));
    }
    sink.checkpoint(record);
    sink.flush();
    acknowledge(database, id, segment, step);
  };
  const std::int64_t steps = plan.at("steps"), every = plan.value("checkpoint_every", 5);
  std::int64_t step = first;
  while (step < steps && control.request() == Request::None) {
    ++step;
    std::this_thread::sleep_for(std::chrono::milliseconds(plan.value("step_ms", 5)));
    // Only the first time: what continues after a retry would come here again and again.
    const bool isOnce = fault.value("once", false);
    if (step == fault.value("at", -1) && (!isOnce || segment == 1))
      misbehave(fault.value("kind", ""));
    state = advance(state, step);
    MetricRecord record{step, static_cast<double>(step) / 10, static_cast<double>(step) / 20, {}};
    record.values = {{"train/loss", static_cast<double>(state)}, {"train/step", 1.0 * step}};
    sink.metrics(record);
    ProgressRecord progress{.step = step, .totalSteps = steps};
    sink.progress(progress);
    if (step % every == 0) saveCheckpoint(step);
  }
  if (step == steps) {
    sink.flush();
    acknowledge(database, id, segment, step);
    store.setState(id, store::RunState::Done);
    return 0;
  }
  saveCheckpoint(step);
  if (control.request() == Request::Stop) {
    store.setState(id, store::RunState::Stopped, "stopped on request");
  } else {
    const bool isPaused = control.request() == Request::Pause;
    jobs::endRun(store, id, isPaused ? store::RunState::Paused : store::RunState::Interrupted,
                 "ended on request at a checkpoint");
  }
  return 75;
}

/// One device, so that tests need no GPU and do not see those of the machine.
class OneDevice final : public jobs::DeviceSource {
 public:
  std::vector<jobs::Device> devices() override {
    return {{"cpu", "", "", std::int64_t{8} << 30, std::int64_t{8} << 30}};
  }
};

int work(const std::map<std::string, std::string>& options) {
  const auto number = [&](const char* name, double standard) {
    const auto found = options.find(name);
    return found == options.end() ? standard : std::strtod(found->second.c_str(), nullptr);
  };
  jobs::SupervisorSettings supervisor;
  supervisor.hangAlarmSeconds = number("--hang-alarm", supervisor.hangAlarmSeconds);
  supervisor.hangLimitSeconds = number("--hang-limit", supervisor.hangLimitSeconds);
  supervisor.tasks =
      static_cast<std::int64_t>(number("--max-processes", static_cast<double>(supervisor.tasks)));
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const fs::path database = options.at("--db");
  if (options.count("--supervise") != 0)
    return superviseQueuedRun(database, static_cast<std::int64_t>(number("--supervise", 0)), self,
                              supervisor);
  store::RunStore store(database, store::OpenMode::ReadWrite);
  jobs::WorkOptions work;
  work.until = options.count("--drain") != 0 ? jobs::WorkUntil::Drained : jobs::WorkUntil::Stopped;
  work.policy.retries = static_cast<int>(number("--retries", 3));
  work.policy.pauses = {number("--pause", 0.05)};
  work.supervisor = supervisor;
  work.program = self;
  work.isAsked = [] { return isAsked.load(); };
  ::signal(SIGTERM, [](int) { isAsked.store(true); });
  OneDevice device;
  static_cast<void>(workQueue(store, device, work));
  return 0;
}

/// As a window in use: reads what it draws, and edits.
[[noreturn]] void watch(const fs::path& database) {
  store::RunStore store(database, store::OpenMode::ReadWrite);
  for (std::int64_t look = 0;; ++look) {
    static_cast<void>(store.reapLostRuns());
    for (const store::RunRow& run : store.runs()) {
      static_cast<void>(store.points(run.id, "train/loss"));
      static_cast<void>(store.events(run.id));
      if (look % 3 == 0) store.setNote(run.id, "look " + std::to_string(look));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
}

int write(const fs::path& database, int number, int periodMs, int points) {
  using Clock = std::chrono::steady_clock;
  const auto milliseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  ::signal(SIGTERM, [](int) { isAsked.store(true); });
  store::RunStore store(database, store::OpenMode::ReadWrite);
  store::NewRun add{.name = "writer " + std::to_string(number)};
  const std::int64_t run = store.addRuns(store.experiment("writers", ""), {add}).front();
  const std::int64_t segment = store.openSegment(run, 0, store::thisWorker(), Json::object());
  std::ofstream(database.string() + ".ready-" + std::to_string(number));
  const fs::path go = database.string() + ".go";
  (void)waitUntil([&] { return fs::exists(go) || isAsked; }, std::chrono::hours(1));
  std::ofstream report(database.string() + ".writer-" + std::to_string(number));
  // Spread over the period, as trainers that were started one by one are.
  auto next = Clock::now() + std::chrono::microseconds(number * 7919 % periodMs * 1000);
  auto last = Clock::now();
  for (std::int64_t step = 0; !isAsked; next += std::chrono::milliseconds(periodMs)) {
    std::this_thread::sleep_until(next);
    store::RunStore::Batch batch;
    for (int i = 0; i < points; ++i) {
      ++step;
      batch.metrics.push_back({step,
                               0.01 * static_cast<double>(step),
                               0.1 * static_cast<double>(step),
                               {{"train/loss", static_cast<double>(step % 997)}}});
    }
    const auto start = Clock::now();
    try {
      store.append(run, segment, batch);
      const auto end = Clock::now();
      report << milliseconds(end - start) << ' ' << milliseconds(end - last) << '\n';
      last = end;
    } catch (const vitrine::Error& error) {
      report << "error " << error.what() << '\n';
      step -= points;
    }
  }
  store.setState(run, store::RunState::Done);
  return report.flush() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> options;
  for (int i = 2; i < count; ++i) {
    const bool hasValue = i + 1 < count && std::strncmp(words[i + 1], "--", 2) != 0;
    options[words[i]] = hasValue ? words[i + 1] : "";
    if (hasValue) ++i;
  }
  try {
    const std::string verb = count > 1 ? words[1] : "";
    if (verb == "run") return train(options.at("--db"), std::stoll(options.at("--id")));
    if (verb == "work") return work(options);
    if (verb == "watch") watch(options.at("--db"));
    if (verb == "write") {
      const auto number = [&](const char* name, int standard) {
        return options.count(name) != 0 ? std::stoi(options.at(name)) : standard;
      };
      return write(options.at("--db"), number("--number", 0), number("--period", 500),
                   number("--points", 10));
    }
    return 2;
  } catch (const vitrine::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

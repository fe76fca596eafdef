#include "tests/fault/fault_test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::testing {

FaultTest::FaultTest(const std::filesystem::path& parent) : StoreTest(parent) {
  for (char** entry = environ; *entry != nullptr; ++entry) environment_.emplace_back(*entry);
  // Locks of its own: other tests use the device "cpu" at the same time.
  ::setenv("VITRINE_DEVICE_LOCKS", folder_.c_str(), 1);
}

FaultTest::~FaultTest() {
  for (const pid_t child : children_) signalProcess(child, SIGKILL);
  (void)waitUntil([this] {
    const std::vector<pid_t> left = processes("");
    for (const pid_t pid : left) signalProcess(pid, SIGKILL);
    return left.empty();
  });
  for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
  // What a test sets is for the programs that it starts, not for the next test.
  ::clearenv();
  for (const std::string& entry : environment_) {
    const auto equals = entry.find('=');
    ::setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
}

std::int64_t FaultTest::add(store::RunStore& store, int steps, int stepMs, const Json& fault,
                            const store::QueueOptions& options) {
  store::NewRun run = newRun("a run");
  run.config["train"] = Json{{"steps", steps}, {"step_ms", stepMs}, {"device", "auto"}};
  if (!fault.is_null()) run.config["fault"] = fault;
  const std::int64_t id = store.addRuns(store.experiment("faults", ""), {run}).front();
  jobs::JobQueue(store).enqueue(std::vector{id}, options);
  return id;
}

pid_t FaultTest::start(const std::string& verb, const std::vector<std::string>& more) {
  std::vector<std::string> words{verb, "--db", file().string()};
  words.insert(words.end(), more.begin(), more.end());
  return startProgram(FAULT_WORKER, words);
}

pid_t FaultTest::startProgram(const std::string& program,
                              const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = forkChild();
  if (child == 0) {
    ::setpgid(0, 0);
    ::execv(program.c_str(), pointers.data());
    ::_exit(127);
  }
  ::setpgid(child, child);
  children_.push_back(child);
  return child;
}

int FaultTest::wait(pid_t child) {
  int status = 0;
  const auto hasEnded = [&] { return ::waitpid(child, &status, WNOHANG) != 0; };
  if (!waitUntil(hasEnded, std::chrono::minutes(4))) {
    ADD_FAILURE() << "it did not end within four minutes";
    signalProcess(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  std::erase(children_, child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void FaultTest::kill(pid_t child) {
  signalProcess(child, SIGKILL);
  wait(child);
}

std::vector<pid_t> FaultTest::processes(const std::string& words) const {
  std::vector<pid_t> found;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = ::readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream stream("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
    std::string line;
    std::getline(stream, line, '\n');  // iterators throw when it ends just now
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line.find("fault_worker " + words) != std::string::npos &&
        line.find(file().string()) != std::string::npos)
      found.push_back(pid);
  }
  ::closedir(folder);
  return found;
}

std::string FaultTest::log(const store::RunRow& run) const {
  std::ifstream stream(store::filesFolder(file()) / run.logFile, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void FaultTest::expectWhole(store::RunStore& store, std::int64_t run, int steps) {
  const auto points = store.points(run, "train/loss");
  ASSERT_EQ(points.size(), static_cast<std::size_t>(steps)) << "run " << run;
  std::int64_t state = run;
  for (int step = 1; step <= steps; ++step) {
    state = (state * 31 + step * 7919) % 1'000'003;
    const store::MetricPoint& point = points[static_cast<std::size_t>(step) - 1];
    ASSERT_EQ(point.step, step) << "run " << run;
    ASSERT_EQ(point.value, static_cast<double>(state))
        << "run " << run << ", step " << step << ": it did not continue where its checkpoint was";
  }
  std::map<std::int64_t, std::int64_t> acknowledged;  // segment -> step
  std::ifstream stream(file().string() + ".acknowledged");
  for (std::int64_t each = 0, segment = 0, step = 0; stream >> each >> segment >> step;) {
    if (each == run) acknowledged[segment] = std::max(acknowledged[segment], step);
  }
  EXPECT_EQ(acknowledged.count(-1), 0u) << "two processes worked on run " << run << " at once";
  RawDatabase raw(file());
  for (const store::SegmentRow& segment : store.segments(run)) {
    const auto found = acknowledged.find(segment.number);
    if (found == acknowledged.end()) continue;
    const std::string which =
        " WHERE run_id = " + std::to_string(run) +
        " AND segment = " + std::to_string(segment.number) +
        " AND metric_id = (SELECT id FROM metric_name WHERE name = 'train/loss')";
    const std::int64_t stored =
        raw.integer("SELECT count(*) FROM metric_tail" + which) +
        raw.integer("SELECT coalesce(sum(count), 0) FROM metric_chunk" + which);
    EXPECT_GE(stored, found->second - segment.firstStep)
        << "an acknowledged point of run " << run << ", segment " << segment.number << " is lost";
  }
  const auto events = store.events(run);
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const store::EventRow& event) {
                            return event.kind == "state" && event.data.at("to") == "done";
                          }),
            1)
      << "run " << run;
}

}  // namespace vitrine::testing

#include "core/jobs/task_watch.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "core/jobs/process_tree.h"

namespace vitrine::jobs {

namespace {

constexpr std::chrono::milliseconds kPollInterval{10}, kFullPollInterval{1000};
constexpr std::int64_t kLeast = 16;

/// Thousands of processes that want to run must not keep this thread from running. Without the
/// right to it, the thread is one among them.
void goFirst() {
  sched_param parameter{};
  parameter.sched_priority = ::sched_get_priority_min(SCHED_RR);
  ::pthread_setschedparam(::pthread_self(), SCHED_RR | SCHED_RESET_ON_FORK, &parameter);
}

}  // namespace

std::int64_t taskLimit(std::int64_t wanted) {
  const std::int64_t room = mostTasksOfMachine() - tasksOfMachine();
  return room > 0 ? std::min(wanted, std::max(kLeast, room / 2)) : wanted;
}

TaskWatch::TaskWatch(pid_t job, std::int64_t limit)
    : job_(job), limit_(limit), thread_([this](const std::stop_token& token) { watch(token); }) {}

void TaskWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void TaskWatch::watch(const std::stop_token& token) {
  goFirst();
  std::int64_t nextLook = tasksOfMachine() + limit_;
  // The count of the machine stays as it is when others end as fast as the job grows.
  auto nextFullLook = std::chrono::steady_clock::now();
  while (!token.stop_requested()) {
    std::this_thread::sleep_for(kPollInterval);
    const std::int64_t now = tasksOfMachine();
    if (now < nextLook && std::chrono::steady_clock::now() < nextFullLook) continue;
    std::int64_t tasks = 0;
    for (const ProcessFacts& process : descendantsOf(::getpid())) tasks += process.tasks;
    if (tasks > limit_) {
      hasEnded_.store(true);
      endJob(token);
      return;
    }
    nextLook = now + limit_ - tasks;
    nextFullLook =
        std::chrono::steady_clock::now() + (now > 0 ? kFullPollInterval : 10 * kPollInterval);
  }
}

void TaskWatch::endJob(const std::stop_token& token) const {
  // All of a group at once: none of them can start another meanwhile.
  ::kill(-job_, SIGKILL);
  ::kill(job_, SIGKILL);
  while (!token.stop_requested() && signalDescendants(SIGKILL) > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace vitrine::jobs

#include "app/vitrine/serve/compute_link.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "app/vitrine/serve/serve_fields.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/program.h"
#include "core/jobs/launcher.h"
#include "core/remote/frames.h"

namespace vitrine::app {

namespace {

constexpr auto kPatience = std::chrono::seconds(5);  // for a process that was asked to end

/// One sentence about a process that ended and should not have.
std::string endingOf(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    std::string text = "the compute process was ended by signal " + std::to_string(number) + " (" +
                       ::strsignal(number) + ")";
    if (number == SIGKILL) {
      return text +
             ", which is how the system ends a process when memory runs out; load the models "
             "again, and take fewer or smaller ones if it was that";
    }
    return text +
           ", which is an error in the program or in a plugin; load the models again, and do not "
           "repeat the request if it ends again";
  }
  return "the compute process ended with exit code " +
         std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) +
         "; the standard error of serve says more, and the next request starts it again";
}

/// Leaves it to be collected by waitpid().
bool hasEndedWithin(pid_t pid, std::chrono::steady_clock::duration patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    siginfo_t info{};
    const int asked = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
    if ((asked == 0 && info.si_pid == pid) || (asked != 0 && errno == ECHILD)) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

struct ComputeLink::Process {
  /// It reads from `in` and writes to `out`; its stderr is this one's.
  struct Ends {
    int pid = -1, in = -1, out = -1;
  };
  /// In a session of its own. \throws Error  it cannot be started
  [[nodiscard]] static Ends start(const std::vector<std::string>& words);

  explicit Process(const Ends& started) : ends(started), frames(started.in) {}
  ~Process() {
    if (reader.joinable()) reader.join();
    closeIn();
    ::close(ends.out);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void closeIn() {
    if (ends.in >= 0) ::close(std::exchange(ends.in, -1));
  }

  Ends ends;
  remote::FrameWriter frames;
  std::map<std::string, Json> pending;  ///< ids of the requests that are with it
  bool hasEnded = false;                ///< and nothing is with it any more
  std::thread reader;
};

ComputeLink::Process::Ends ComputeLink::Process::start(const std::vector<std::string>& words) {
  std::array<int, 2> in{-1, -1}, out{-1, -1};
  int why = 0;
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) why = errno;
  StartedProgram started;
  if (why == 0) {
    started = startProgram({.arguments = words,
                            .in = in[0],
                            .out = out[1],
                            .err = STDERR_FILENO,
                            .isOwnSession = true});
    why = started.error;
  }
  for (const int descriptor : {in[0], out[1], why != 0 ? in[1] : -1, why != 0 ? out[0] : -1}) {
    if (descriptor >= 0) ::close(descriptor);
  }
  if (why != 0) throw Error("'" + words.front() + "' cannot be started: " + std::strerror(why));
  return {started.pid, in[1], out[0]};
}

ComputeLink::ComputeLink(std::filesystem::path database, std::vector<std::string> options,
                         Deliver deliver)
    : database_(std::move(database)), options_(std::move(options)), deliver_(std::move(deliver)) {
  writer_ = std::thread([this] { write(); });
}

ComputeLink::~ComputeLink() {
  {
    const std::lock_guard lock(mutex_);
    isEnding_ = true;
    // A process that has stopped reading blocks the writer.
    if (process_ && !process_->hasEnded && !outgoing_.empty()) ::kill(process_->ends.pid, SIGKILL);
  }
  changed_.notify_all();
  writer_.join();
}

void ComputeLink::send(Json request) {
  {
    const std::lock_guard lock(mutex_);
    outgoing_.push_back(std::move(request));
  }
  changed_.notify_all();
}

void ComputeLink::cancel(const Json& id) { send({{"op", "cancel"}, {"of", id}}); }

void ComputeLink::write() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return isEnding_ || !outgoing_.empty(); });
    if (isEnding_) break;
    // It stays in the list until it is written: the destructor sees that a writer may be blocked.
    const Json request = outgoing_.front();
    lock.unlock();
    try {
      forward(request);
    } catch (const std::exception& problem) {
      failRequest(request, problem.what());
    }
    lock.lock();
    outgoing_.pop_front();
  }
  for (const Json& request : std::exchange(outgoing_, {})) {
    if (request.contains("id")) fail(request["id"], "cancelled", "serve ends");
  }
  if (!process_) return;
  // The end of its input ends it.
  process_->closeIn();
  if (!changed_.wait_for(lock, kPatience, [this] { return process_->hasEnded; }))
    ::kill(process_->ends.pid, SIGKILL);
  const std::unique_ptr<Process> last = std::move(process_);
  lock.unlock();
  last->reader.join();
}

void ComputeLink::failRequest(const Json& request, const std::string& why) {
  if (!request.contains("id")) return;
  {
    const std::lock_guard lock(mutex_);
    if (process_) process_->pending.erase(keyOf(request["id"]));
  }
  fail(request["id"], "failed", why);
}

ComputeLink::Process& ComputeLink::processFor(std::unique_lock<std::mutex>& lock) {
  if (process_ && !process_->hasEnded) return *process_;
  std::unique_ptr<Process> old = std::move(process_);
  lock.unlock();
  old.reset();
  std::vector<std::string> words{jobs::headlessProgram().string(), "compute", "--db",
                                 std::filesystem::absolute(database_).string()};
  words.insert(words.end(), options_.begin(), options_.end());
  auto started = std::make_unique<Process>(Process::start(words));
  lock.lock();
  process_ = std::move(started);
  process_->reader = std::thread([this, process = process_.get()] { read(*process); });
  return *process_;
}

void ComputeLink::forward(Json request) {
  std::unique_lock lock(mutex_);
  const bool isRunning = process_ && !process_->hasEnded;
  if (request.at("op") == "cancel") {
    if (!isRunning || !process_->pending.contains(keyOf(request.at("of")))) return;
  } else if (!isRunning && (request.at("op") == "models" || request.at("op") == "unload")) {
    lock.unlock();
    return answerWithoutProcess(request);
  }
  Process& process = processFor(lock);
  if (request.contains("id")) process.pending[keyOf(request["id"])] = request["id"];
  lock.unlock();
  // When the other end is closed, read() ends as well and answers pending requests.
  process.frames.write(request);
}

void ComputeLink::answerWithoutProcess(const Json& request) {
  const Json& id = request.at("id");
  if (request.at("op") == "models") {
    return deliver_({{"id", id},
                     {"models", Json::array()},
                     {"process", nullptr},
                     {"devices", Json::array()},
                     {"more", false}});
  }
  if (request.contains("model"))
    return fail(id, "not_found", "no model is loaded; the process that held the models has ended");
  deliver_({{"id", id}, {"unloaded", Json::array()}, {"more", false}});
}

void ComputeLink::read(Process& process) {
  try {
    while (const auto frame = remote::readFrame(process.ends.out)) {
      Json answer = remote::frameMap(*frame);
      const bool isLast = answer.contains("error") || !answer.value("more", false);
      if (isLast) {
        const std::lock_guard lock(mutex_);
        process.pending.erase(keyOf(answer.at("id")));
      }
      deliver_(std::move(answer));
    }
  } catch (const std::exception& problem) {
    log::error(std::string("the compute process sent an answer that cannot be read: ") +
               problem.what());
    ::kill(process.ends.pid, SIGKILL);
  }
  reap(process);
}

void ComputeLink::reap(Process& process) {
  // A process that closes the stream is about to end, or has to.
  if (!hasEndedWithin(process.ends.pid, kPatience)) ::kill(process.ends.pid, SIGKILL);
  (void)hasEndedWithin(process.ends.pid, std::chrono::hours(1));
  int status = 0;
  std::map<std::string, Json> lost;
  bool isWanted = false;
  {
    const std::lock_guard lock(mutex_);
    // No other process has its number before this.
    ::waitpid(process.ends.pid, &status, 0);
    process.hasEnded = true;
    lost.swap(process.pending);
    isWanted = isEnding_;
  }
  changed_.notify_all();
  if (!isWanted) log::warning(endingOf(status));
  for (const auto& [key, id] : lost) {
    if (isWanted) {
      fail(id, "cancelled", "serve ends");
    } else {
      fail(id, "failed", endingOf(status));
    }
  }
}

void ComputeLink::fail(const Json& id, const std::string& kind, const std::string& message) {
  deliver_({{"id", id}, {"error", {{"kind", kind}, {"message", message}}}});
}

}  // namespace vitrine::app

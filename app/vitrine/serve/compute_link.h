// The process of `vitrine serve` that computes, as serve sees it: started when it is first needed,
// and again after it ended. What goes wrong there costs the requests that were with it.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/json.h"

namespace vitrine::app {

class ComputeLink {
 public:
  /// Hears every answer, with its id, from a thread of the link. The last one of a request has
  /// `error`, or `more` = false.
  using Deliver = std::function<void(Json answer)>;

  /// \param options  words of `vitrine compute` after the database
  ComputeLink(std::filesystem::path database, std::vector<std::string> options, Deliver deliver);
  /// Ends the process, if need be by SIGKILL. What was with it is answered as `cancelled`.
  ~ComputeLink();
  ComputeLink(const ComputeLink&) = delete;
  ComputeLink& operator=(const ComputeLink&) = delete;

  /// Returns at once; every request is answered, whatever becomes of the process.
  void send(Json request);
  /// Passes the cancellation on if the request is still with the process.
  void cancel(const Json& id);

 private:
  struct Process;

  void write();
  void forward(Json request);
  void answerWithoutProcess(const Json& request);
  void failRequest(const Json& request, const std::string& why);
  void read(Process& process);
  void reap(Process& process);
  [[nodiscard]] Process& processFor(std::unique_lock<std::mutex>& lock);
  void fail(const Json& id, const std::string& kind, const std::string& message);

  std::filesystem::path database_;
  std::vector<std::string> options_;
  Deliver deliver_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Json> outgoing_;
  std::unique_ptr<Process> process_;  ///< the last one started; may have ended
  bool isEnding_ = false;
  /// Starts the processes, too: they end with the thread that started them.
  std::thread writer_;
};

}  // namespace vitrine::app

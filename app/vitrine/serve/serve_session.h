// One conversation of `vitrine serve`: requests in, answers out. See resources/docs/serve.md.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "app/vitrine/serve/compute_link.h"
#include "core/base/json.h"
#include "core/remote/frames.h"

namespace vitrine::store {
class MirrorSource;
}  // namespace vitrine::store

namespace vitrine::jobs {
class DeviceReader;
}  // namespace vitrine::jobs

namespace vitrine::app {

class ServeSession {
 public:
  static constexpr int kProtocol = 1;

  /// \param writer          must outlive the session
  /// \param computeOptions  words of `vitrine compute` after the database
  ServeSession(std::filesystem::path database, remote::FrameWriter& writer,
               std::vector<std::string> computeOptions = {});
  /// Ends queries and watches; what was to be enqueued or asked of a run is finished first.
  ~ServeSession();
  ServeSession(const ServeSession&) = delete;
  ServeSession& operator=(const ServeSession&) = delete;

  /// Answers, now or later from another thread.
  /// \returns  false: the conversation cannot continue: the first request was no `hello` of a
  ///         protocol that is spoken here
  bool take(const Json& request);

 private:
  struct Task {
    Json id;
    std::string op;
    Json request;
    std::shared_ptr<std::atomic<bool>> isCancelled = std::make_shared<std::atomic<bool>>(false);
  };
  /// A thread that works on tasks one after the other.
  class Lane;
  /// Waiting tasks of the same operation are replaced by a newer one, or kept in order.
  enum class Waiting { Replaced, Kept };

  /// A name, what does it, and the lane in which it waits; "" is done at once.
  struct Operation {
    const char* name;
    const char* lane;
    void (ServeSession::*act)(const Task&);
  };
  static std::span<const Operation> operations();
  /// nullptr where there is none of that name.
  static const Operation* operation(const std::string& name);

  void work(const Task& task);
  void hello(const Task& task);
  void describe(const Task& task);
  void query(const Task& task);
  void watch(const Task& task);
  void check(const Task& task);
  void enqueue(const Task& task);
  void request(const Task& task);
  void cancel(const Task& task);
  void copy(const Task& task);
  void log(const Task& task);
  void command(const Task& task);
  void edit(const Task& task);
  void devices(const Task& task);
  /// Left to the process that computes; its answers come through relay().
  void compute(const Task& task);
  void relay(const Json& answer);
  void answer(const Task& task, Json fields);
  /// An answer that others follow.
  void part(const Task& task, Json fields);
  /// An answer that is the last one of the task.
  void fail(const Task& task, const std::string& kind, const std::string& message);
  /// Answers a request that is not a task: an id that it names may belong to another request.
  void refuse(const Json& id, const std::string& message);
  void forget(const Task& task);

  std::filesystem::path database_;
  remote::FrameWriter& writer_;
  std::unique_ptr<store::MirrorSource> source_;  ///< of the lane that copies
  std::unique_ptr<jobs::DeviceReader> devices_;  ///< of the lane that asks for them
  bool isGreeted_ = false;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> open_;  ///< by id as text
  std::shared_ptr<std::atomic<bool>> watching_;                     ///< of the newest watch
  std::map<std::string, std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<ComputeLink> compute_;
};

}  // namespace vitrine::app

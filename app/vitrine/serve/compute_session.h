// Requests that compute, one after the other, while others come in. See resources/docs/serve.md.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "app/vitrine/serve/compute_models.h"
#include "app/vitrine/serve/compute_reply.h"

namespace vitrine::app {

class ComputeSession {
 public:
  /// \param writer  must outlive the session
  ComputeSession(const Engine& engine, std::filesystem::path database, const ModelLimits& limits,
                 remote::FrameWriter& writer);

  /// From the thread that reads; returns at once.
  void take(Json request);
  /// No more requests come; running and waiting ones are cancelled.
  void end();
  /// Computes until end(), on the thread of the caller.
  void work();

 private:
  struct Task {
    Json id;
    std::string op;
    Json request;
    std::shared_ptr<std::atomic<bool>> isCancelled = std::make_shared<std::atomic<bool>>(false);
  };
  [[nodiscard]] Reply replyTo(const Task& task);
  void enqueue(Task task);
  void cancel(const Json& id);
  /// Answers, whatever goes wrong.
  void perform(const Task& task);
  void act(const Task& task, Reply& reply);
  void infer(const Json& request, Reply& reply);
  void analyse(const Json& request, Reply& reply);
  void sample(const Json& request, Reply& reply);
  void samples(const Json& request, Reply& reply);

  const Engine& engine_;
  std::filesystem::path database_;
  remote::FrameWriter& writer_;
  WarmModels models_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  Json currentId_;  ///< of the running request; null: none
  std::shared_ptr<std::atomic<bool>> currentFlag_;
  bool isEnding_ = false;
};

}  // namespace vitrine::app

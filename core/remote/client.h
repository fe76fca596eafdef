// The near end of `vitrine serve` (resources/docs/serve.md): a process at the other end of pipes.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/remote/frames.h"
#include "core/store_export.h"

namespace vitrine::remote {

/// The link was lost: the request may or may not have been executed.
class VITRINE_STORE_EXPORT LinkError : public Error {
 public:
  explicit LinkError(const std::string& message);
  ~LinkError() override;
};

class VITRINE_STORE_EXPORT RemoteClient {
 public:
  /// Called with every answer, on the client's own thread, until one with `more` = false or
  /// `error`. When the link ends before that: {error: {kind: "link", message}}.
  using OnResponse = std::function<void(Json answer)>;

  /// Starts `command` (looked up in PATH). \throws LinkError  it cannot be started
  explicit RemoteClient(const std::vector<std::string>& command);
  /// Ends the conversation; what was accepted over there continues.
  ~RemoteClient();
  RemoteClient(const RemoteClient&) = delete;
  RemoteClient& operator=(const RemoteClient&) = delete;

  /// From any thread. `request` needs no id. \returns  the id it got
  std::int64_t send(Json request, OnResponse onResponse);
  /// All answers to a request.
  /// \throws the error of the other side (NotFoundError for `not_found`, RefusedError for
  ///         `refused`, ConfigError for `config`)
  /// \throws LinkError
  [[nodiscard]] std::future<std::vector<Json>> post(Json request);
  /// The same, waited for. \throws LinkError  no answer in that time
  std::vector<Json> ask(Json request, std::chrono::milliseconds within);

  /// Ends the link at once: waiting callers get an error.
  void stop();

 private:
  void readAnswers();
  void readMessages();
  void end(const std::string& why);

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, messages_ = -1;
  std::unique_ptr<FrameWriter> writer_;
  std::mutex mutex_;
  std::map<std::int64_t, OnResponse> open_;
  std::int64_t next_ = 0;
  bool hasEnded_ = false;
  std::atomic<bool> areMessagesOver_{false};
  std::string lastMessages_, ending_;
  std::thread answers_, reading_;
};

/// Whether no other answer to the same request follows.
[[nodiscard]] VITRINE_STORE_EXPORT bool isLastResponse(const Json& answer);
/// Throws what an answer's `error` says; does nothing where there is none.
VITRINE_STORE_EXPORT void throwAnswered(const Json& answer);

}  // namespace vitrine::remote

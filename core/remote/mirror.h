// Keeps the copy of a database on another machine up to date, and sends there the requests for
// it. A dropped link is taken up again by itself; what was read stays.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/json.h"
#include "core/remote/client.h"
#include "core/remote/place.h"
#include "core/store_export.h"

namespace vitrine::store {
class Mirror;
}  // namespace vitrine::store

namespace vitrine::remote {

/// State of the link.
struct RemoteState {
  enum class Link {
    Connecting,
    Copying,  ///< `done` of `total` runs of what changed
    Linked,   ///< all is here, and what comes follows
    Lost,     ///< `error` says why; it is tried again after `pause`
  };
  Link link = Link::Connecting;
  std::string error;
  std::int64_t done = 0, total = 0;
  std::chrono::seconds pause{0};
};

class VITRINE_STORE_EXPORT RemoteMirror {
 public:
  /// Called on a thread of its own.
  using OnState = std::function<void(const RemoteState& state)>;
  using OnResponse = std::function<void(const Json& answer)>;

  /// Makes the copy's file where there is none; the link is made in the background.
  /// \throws Error  the copy cannot be opened
  RemoteMirror(RemotePlace place, OnState onState);
  ~RemoteMirror();
  RemoteMirror(const RemoteMirror&) = delete;
  RemoteMirror& operator=(const RemoteMirror&) = delete;

  [[nodiscard]] const RemotePlace& place() const noexcept { return place_; }
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

  /// Does not wait until the pause is over.
  void tryNow();
  /// Logs of these runs are copied as well, from now on.
  void follow(std::vector<std::int64_t> runs);
  /// Sends a request of resources/docs/serve.md. `onResponse` is called with every answer, on any
  /// thread; without a link at once {error: {kind: "link", message}}, and nothing was sent.
  /// \returns  the id of the request, 0 without a link
  std::int64_t send(Json request, OnResponse onResponse);

 private:
  struct Batch {
    std::set<std::int64_t> changed, deleted;
    std::int64_t change = -1;  ///< -1: more of it comes
  };
  void work();
  void converse();
  void greet();
  void takeBatch(const Batch& batch);
  void copyShared();
  void copyRuns(const std::vector<std::int64_t>& runs);
  void copyLogs();
  void heard(const Json& answer);
  void tell(const RemoteState& state);
  [[nodiscard]] bool isEnding();

  RemotePlace place_;
  std::filesystem::path file_;
  OnState onState_;
  std::unique_ptr<store::Mirror> mirror_;  ///< of the thread, once it runs

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<RemoteClient> client_;  ///< once it has been greeted
  Batch next_;                            ///< what was heard and not taken
  std::string watchError_;                ///< of the watch
  std::set<std::int64_t> followed_;
  int underWay_ = 0;  ///< requests of send() without an answer
  bool isFollowNew_ = false, isAsked_ = false, isEnding_ = false;
  std::map<std::int64_t, std::int64_t> logEnds_;  ///< bytes of logs that are here; of the thread
  std::thread thread_;
};

}  // namespace vitrine::remote

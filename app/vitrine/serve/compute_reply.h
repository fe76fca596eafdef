// The answers to one request of the process that computes. See resources/docs/serve.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/base/json.h"
#include "core/remote/frames.h"

namespace vitrine::app {

/// Thrown where a computation sees that it was cancelled.
struct ComputeCancelled {};

class Reply {
 public:
  /// \param writer  must outlive the reply
  Reply(remote::FrameWriter& writer, Json id, std::shared_ptr<std::atomic<bool>> isCancelled);

  /// An answer that others follow. \throws LargeFrame
  void part(Json fields);
  /// `head` under the name `what`, with the field `bytes`. There are several answers where a frame
  /// cannot hold them: `size` is that of the whole, `offset` where the bytes of this answer begin.
  void data(const char* what, Json head, std::span<const std::byte> bytes);
  /// {done, total}, four times a second at most, and the first one at once.
  void progress(std::int64_t done, std::int64_t total);
  /// The last answer.
  void last(Json fields);
  /// The last answer, too.
  void fail(const std::string& kind, const std::string& message);

  [[nodiscard]] bool isCancelled() const { return isCancelled_->load(); }
  /// \throws ComputeCancelled
  void stopIfCancelled() const;

 private:
  remote::FrameWriter& writer_;
  Json id_;
  std::shared_ptr<std::atomic<bool>> isCancelled_;
  std::int64_t nextProgress_ = 0;  ///< milliseconds since 1970
};

}  // namespace vitrine::app

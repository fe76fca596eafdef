#include "app/vitrine/serve/compute_reply.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/utc.h"

namespace vitrine::app {

namespace {

constexpr std::size_t kPiece = std::size_t{16} << 20;  // bytes of data in one answer
constexpr std::size_t kLongestSentence = 4000;         // bytes
constexpr std::int64_t kProgressPause = 250;           // milliseconds

}  // namespace

Reply::Reply(remote::FrameWriter& writer, Json id, std::shared_ptr<std::atomic<bool>> isCancelled)
    : writer_(writer), id_(std::move(id)), isCancelled_(std::move(isCancelled)) {}

void Reply::part(Json fields) {
  fields["id"] = id_;
  fields["more"] = true;
  // The client has disconnected, so its requests need no answer.
  if (!writer_.write(fields)) isCancelled_->store(true);
}

void Reply::data(const char* what, Json head, std::span<const std::byte> bytes) {
  head["size"] = bytes.size();
  for (std::size_t offset = 0; offset == 0 || offset < bytes.size(); offset += kPiece) {
    stopIfCancelled();
    const auto piece = bytes.subspan(offset, std::min(kPiece, bytes.size() - offset));
    const auto* first = reinterpret_cast<const std::uint8_t*>(piece.data());
    Json answer;
    Json& sent = answer[what] = head;
    sent["offset"] = offset;
    sent["bytes"] = Json::binary(std::vector<std::uint8_t>(first, first + piece.size()));
    part(std::move(answer));
  }
}

void Reply::progress(std::int64_t done, std::int64_t total) {
  const std::int64_t now = utcMilliseconds();
  if (now < nextProgress_) return;
  nextProgress_ = now + kProgressPause;
  part({{"done", done}, {"total", total}});
}

void Reply::last(Json fields) {
  fields["id"] = id_;
  fields["more"] = false;
  writer_.write(fields);
}

void Reply::fail(const std::string& kind, const std::string& message) {
  writer_.write(
      {{"id", id_}, {"error", {{"kind", kind}, {"message", shorten(message, kLongestSentence)}}}});
}

void Reply::stopIfCancelled() const {
  if (isCancelled()) throw ComputeCancelled();
}

}  // namespace vitrine::app

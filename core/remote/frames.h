// Frames of `vitrine serve`: a length and a CBOR map each. See resources/docs/serve.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine::remote {

/// Bytes of a frame's map, at most.
constexpr std::size_t kLargestFrame = std::size_t{64} << 20;

/// The stream cannot be followed any further: what comes next is not the beginning of a frame.
class VITRINE_FOUNDATION_EXPORT BrokenStream : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The next frame's bytes; nullopt at the end of the stream between two frames. Memory grows with
/// what arrives, never with what a length claims.
/// \throws BrokenStream  a length of 0 or above kLargestFrame, an end within a frame, a read error
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<std::vector<std::uint8_t>> readFrame(int fd);

/// Map of a frame.
/// \throws std::invalid_argument  not CBOR, not a map, deeper than 32 levels, or bytes behind it;
///         the stream continues with the next frame
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json frameMap(std::span<const std::uint8_t> bytes);

/// A map that does not fit into a frame. Nothing of it was written: the stream is as it was.
class VITRINE_FOUNDATION_EXPORT LargeFrame : public std::length_error {
 public:
  using std::length_error::length_error;
};

/// Writes whole frames, from any thread.
class VITRINE_FOUNDATION_EXPORT FrameWriter {
 public:
  explicit FrameWriter(int fd) : fd_(fd) {}
  /// \returns false  the reader has disconnected; this and all later frames are dropped
  /// \throws LargeFrame
  bool write(const Json& map);

 private:
  int fd_;
  std::mutex mutex_;
  bool isBroken_ = false;
};

}  // namespace vitrine::remote

// The way of frames from a trainer to the windows that watch it, through shared memory.
//
// A window makes the segment, so that an unwatched run has none. It is named after the
// trainer's process and the run: `/vitrine-live-<pid>-<run>`. Both sides beat in it:
//
//  - The trainer looks for a segment at most four times a second. It writes frames while a window
//    has beaten within the last two seconds; after that it removes the segment.
//  - A window that closes removes the segment unless another one watches. When the trainer's
//  process
//    is gone, a window removes the segment.
//  - Where both were killed, the next window or trainer on the machine removes the segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine::live {

inline constexpr std::size_t kFrameCapacity = std::size_t{4} << 20;  ///< bytes of an encoded frame

/// The request of a window. The trainer holds every value in its range.
struct Wishes {
  double rate = 10;  ///< frames a second, at most 10
  std::int32_t image = 0;
  double queryRow = -1, queryColumn = -1;  ///< in shares of the image's sides; -1: the class token
  std::int32_t layer = 0, head = 0;        ///< whose matrices are wished for
  bool attention = true, matrices = true, gap = true, film = true;
  bool operator==(const Wishes&) const = default;
};

enum class TrainerState {
  Waiting,     ///< it has not seen the window yet
  Publishing,  ///< it writes frames
  Ended,       ///< it has left the loop over steps
  Gone,        ///< its process is not there any more
};

/// Seconds of the steady clock that all processes of the machine share.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT double liveNow() noexcept;
/// "/vitrine-live-<pid>-<run>". \param run  its UUID; other characters than letters and digits
///         become '-'
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string segmentName(std::int64_t trainer,
                                                                const std::string& run);
/// Removes segments whose trainer has ended or that no window has beaten in for ten seconds.
VITRINE_FOUNDATION_EXPORT void sweepLiveSegments() noexcept;

/// The trainer's side. One thread.
class VITRINE_FOUNDATION_EXPORT Publisher {
 public:
  /// \param run  its UUID; the process is this one
  explicit Publisher(const std::string& run);
  ~Publisher();  ///< informs the windows that the training has ended
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Whether a window watches. Costs one comparison, and a system call at most four times a second.
  [[nodiscard]] bool isWatched(double now);
  [[nodiscard]] Wishes wishes() const;
  /// \returns  false: the frame is larger than a segment holds, and was not written
  bool publish(std::span<const std::byte> frame);
  /// Number of searches for a segment.
  [[nodiscard]] std::int64_t looks() const noexcept { return looks_; }

 private:
  struct Mapping;
  std::string name_;
  std::unique_ptr<Mapping> mapping_;  ///< null while the run is not watched
  double nextLook_ = 0;
  std::int64_t looks_ = 0;
  std::uint64_t number_ = 0;
};

/// A window's side. One thread.
class VITRINE_FOUNDATION_EXPORT Viewer {
 public:
  /// \throws Error  there is no room for the segment
  Viewer(std::int64_t trainer, const std::string& run);
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// Says that the window is there; to be called at least once a second. Where the trainer removed
  /// the segment, since the window slept, another one is made. \throws Error  as the constructor
  TrainerState beat();
  void wish(const Wishes& wishes);
  /// The newest frame that was not taken yet, whole; nothing where there is none.
  [[nodiscard]] std::optional<std::vector<std::byte>> take();
  /// Windows that watch this run now.
  [[nodiscard]] int viewers() const;

 private:
  struct Mapping;
  void attach();
  void leave() noexcept;
  std::int64_t trainer_;
  std::string name_;
  std::unique_ptr<Mapping> mapping_;  ///< null when the trainer has ended
  int place_ = -1;                    ///< among the watching windows
  Wishes wishes_;
  std::uint64_t taken_ = 0;
};

}  // namespace vitrine::live

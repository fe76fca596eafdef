// The memory layout of a live segment. Private to core/live.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/live/channel.h"

namespace vitrine::live {

inline constexpr std::uint64_t kMagic = 0x3145'5649'4C54'4956;  // "VITLIVE1", little-endian
inline constexpr std::uint32_t kVersion = 3;
inline constexpr int kViewers = 8;  ///< windows that can watch a run at a time
inline constexpr int kSlots = 2;    ///< a reader has a whole frame's time to copy one
inline constexpr std::size_t kWishWords = 8;

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

/// A sequence lock: odd while the words behind it are being written.
struct Slot {
  Word sequence, bytes;
};

struct ViewerPlace {
  Word process, beat;  ///< nanoseconds of the steady clock; 0: the place is free
};

struct Head {
  Word magic;    ///< written last by the window that made the segment
  Word version;  ///< of this layout
  Word trainer;  ///< process
  Word state;    ///< TrainerState, as the trainer says
  std::array<ViewerPlace, kViewers> viewers;
  Word wishSequence;
  std::array<Word, kWishWords> wishes;
  Word newest;  ///< number of the newest whole frame; 0: none yet
  std::array<Slot, kSlots> slots;
};

inline constexpr std::size_t kHeadBytes = 4096;
static_assert(sizeof(Head) <= kHeadBytes);
inline constexpr std::size_t kSegmentBytes = kHeadBytes + kSlots * kFrameCapacity;

[[nodiscard]] inline Head& headOf(std::byte* segment) { return *reinterpret_cast<Head*>(segment); }
[[nodiscard]] inline Word* wordsOf(std::byte* segment, std::uint64_t slot) {
  return reinterpret_cast<Word*>(segment + kHeadBytes + slot * kFrameCapacity);
}

/// Writes words under a sequence lock that this process alone writes.
/// \param size  receives the number of bytes under the same lock; may be null
void writeLocked(Word& sequence, Word* words, std::span<const std::byte> bytes,
                 Word* size = nullptr);
/// Copies words that are not being written meanwhile. \returns  false: they were
[[nodiscard]] bool readLocked(const Word& sequence, const Word* words, std::span<std::byte> bytes);

[[nodiscard]] std::uint64_t nanoseconds() noexcept;

}  // namespace vitrine::live

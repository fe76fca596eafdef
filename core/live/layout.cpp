#include "core/live/layout.h"

#include <time.h>

#include <algorithm>
#include <cstring>

namespace vitrine::live {

void writeLocked(Word& sequence, Word* words, std::span<const std::byte> bytes, Word* size) {
  const std::uint64_t before = sequence.load(std::memory_order_relaxed) | 1U;
  sequence.store(before, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  if (size != nullptr) size->store(bytes.size(), std::memory_order_relaxed);
  for (std::size_t i = 0; i * sizeof(std::uint64_t) < bytes.size(); ++i) {
    std::uint64_t word = 0;
    const std::size_t first = i * sizeof word;
    std::memcpy(&word, bytes.data() + first, std::min(sizeof word, bytes.size() - first));
    words[i].store(word, std::memory_order_relaxed);
  }
  sequence.store(before + 1, std::memory_order_release);
}

bool readLocked(const Word& sequence, const Word* words, std::span<std::byte> bytes) {
  const std::uint64_t before = sequence.load(std::memory_order_acquire);
  if (before % 2 != 0) return false;
  for (std::size_t i = 0; i * sizeof(std::uint64_t) < bytes.size(); ++i) {
    const std::uint64_t word = words[i].load(std::memory_order_relaxed);
    const std::size_t first = i * sizeof word;
    std::memcpy(bytes.data() + first, &word, std::min(sizeof word, bytes.size() - first));
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return sequence.load(std::memory_order_relaxed) == before;
}

std::uint64_t nanoseconds() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace vitrine::live

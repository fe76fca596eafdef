#include "core/live/channel.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include "core/live/budget.h"
#include "core/live/layout.h"
#include "core/live/shared_segment.h"

namespace vitrine::live {

namespace {

constexpr const char* kPrefix = "vitrine-live-";
constexpr std::uint64_t kBeatNanoseconds = 2'000'000'000U;  // without one, the run is not watched
constexpr std::uint64_t kStaleNanoseconds = 10'000'000'000U;
constexpr double kStaleSeconds = 10;   // of a segment that was never completed
constexpr double kLookSeconds = 0.25;  // between two looks for a segment
constexpr int kTries = 4;              // of a copy that a writer disturbs

constexpr std::uint64_t kWantsAttention = 1, kWantsMatrices = 2, kWantsGap = 4, kWantsFilm = 8;

/// One that has ended and that its parent has not asked about yet is not alive: it still has a
/// number.
bool isAlive(std::int64_t process) {
  if (process <= 0 || (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH)) return false;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return true;
  const std::size_t name = line.rfind(')');  // the name may hold anything
  return name == std::string::npos || name + 2 >= line.size() || line[name + 2] != 'Z';
}

bool isRecent(std::uint64_t beat, std::uint64_t now, std::uint64_t limit) {
  return beat != 0 && (beat >= now || now - beat < limit);
}

bool hasViewer(const Head& head, std::uint64_t limit) {
  const std::uint64_t now = nanoseconds();
  return std::any_of(head.viewers.begin(), head.viewers.end(), [&](const ViewerPlace& place) {
    return isRecent(place.beat.load(std::memory_order_relaxed), now, limit);
  });
}

std::int64_t trainerIn(const std::string& name) {
  return std::atoll(name.c_str() + std::strlen(kPrefix));
}

/// A part of this machine's memory that is neither used nor will be.
bool isStale(const std::string& name, const std::string& bytes, double ageSeconds) {
  if (!isAlive(trainerIn(name))) return true;
  if (ageSeconds < kStaleSeconds || bytes.size() < sizeof(Head)) return ageSeconds >= kStaleSeconds;
  alignas(Head) std::array<std::byte, sizeof(Head)> copy{};
  std::memcpy(copy.data(), bytes.data(), copy.size());
  const Head& head = headOf(copy.data());
  return head.magic.load() != kMagic || !hasViewer(head, kStaleNanoseconds);
}

std::array<std::uint64_t, kWishWords> wordsOf(const Wishes& w) {
  const std::uint64_t flags = (w.attention ? kWantsAttention : 0U) |
                              (w.matrices ? kWantsMatrices : 0U) | (w.gap ? kWantsGap : 0U) |
                              (w.film ? kWantsFilm : 0U);
  return {std::bit_cast<std::uint64_t>(w.rate),
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(w.image)),
          std::bit_cast<std::uint64_t>(w.queryRow),
          std::bit_cast<std::uint64_t>(w.queryColumn),
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(w.layer)),
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(w.head)),
          flags,
          0};
}

std::int32_t indexFrom(std::uint64_t word) {
  return static_cast<std::int32_t>(std::min<std::uint64_t>(word, 1U << 20));
}

double shareFrom(std::uint64_t word) {
  const auto value = std::bit_cast<double>(word);
  return std::isfinite(value) && value >= 0 ? std::min(value, 1.0) : -1;
}

Wishes wishesFrom(const std::array<std::uint64_t, kWishWords>& words) {
  Wishes w;
  const auto rate = std::bit_cast<double>(words[0]);
  w.rate = std::isfinite(rate) ? std::clamp(rate, 0.1, kMostRate) : kMostRate;
  w.image = indexFrom(words[1]);
  w.queryRow = shareFrom(words[2]);
  w.queryColumn = shareFrom(words[3]);
  w.layer = indexFrom(words[4]);
  w.head = indexFrom(words[5]);
  w.attention = (words[6] & kWantsAttention) != 0;
  w.matrices = (words[6] & kWantsMatrices) != 0;
  w.gap = (words[6] & kWantsGap) != 0;
  w.film = (words[6] & kWantsFilm) != 0;
  return w;
}

bool isComplete(const Head& head) {
  return head.magic.load(std::memory_order_acquire) == kMagic &&
         head.version.load(std::memory_order_relaxed) == kVersion;
}

}  // namespace

double liveNow() noexcept { return static_cast<double>(nanoseconds()) * 1e-9; }

std::string segmentName(std::int64_t trainer, const std::string& run) {
  std::string name = std::string("/") + kPrefix + std::to_string(trainer) + "-";
  for (const char letter : run.substr(0, 64))
    name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '-';
  return name;
}

void sweepLiveSegments() noexcept { sweepSegments(kPrefix, sizeof(Head), isStale); }

struct Publisher::Mapping {
  SharedSegment segment;
  [[nodiscard]] Head& head() const { return headOf(segment.data()); }
};

Publisher::Publisher(const std::string& run) : name_(segmentName(::getpid(), run)) {}

Publisher::~Publisher() {
  if (mapping_ == nullptr) return;
  mapping_->head().state.store(static_cast<std::uint64_t>(TrainerState::Ended));
  mapping_->segment.unlink();
}

bool Publisher::isWatched(double now) {
  if (mapping_ != nullptr) {
    if (hasViewer(mapping_->head(), kBeatNanoseconds)) return true;
    mapping_->segment.unlink();
    mapping_.reset();
    return false;
  }
  if (now < nextLook_) return false;
  nextLook_ = now + kLookSeconds;
  ++looks_;
  auto segment = SharedSegment::open(name_, kSegmentBytes);
  if (!segment) return false;
  auto mapping = std::make_unique<Mapping>(Mapping{std::move(*segment)});
  if (!isComplete(mapping->head())) return false;
  mapping_ = std::move(mapping);
  number_ = 0;
  mapping_->head().state.store(static_cast<std::uint64_t>(TrainerState::Publishing));
  sweepLiveSegments();
  return hasViewer(mapping_->head(), kBeatNanoseconds);
}

Wishes Publisher::wishes() const {
  std::array<std::uint64_t, kWishWords> words{};
  if (mapping_ == nullptr) return {};
  const Head& head = mapping_->head();
  for (int i = 0; i < kTries; ++i) {
    if (readLocked(head.wishSequence, head.wishes.data(), std::as_writable_bytes(std::span(words))))
      return wishesFrom(words);
  }
  return {};
}

bool Publisher::publish(std::span<const std::byte> frame) {
  if (mapping_ == nullptr || frame.size() > kFrameCapacity) return false;
  Head& head = mapping_->head();
  // Counted here: nothing that a window writes decides where this process writes.
  const std::uint64_t slot = ++number_ % kSlots;
  writeLocked(head.slots[slot].sequence, live::wordsOf(mapping_->segment.data(), slot), frame,
              &head.slots[slot].bytes);
  head.newest.store(number_, std::memory_order_release);
  return true;
}

struct Viewer::Mapping {
  SharedSegment segment;
  [[nodiscard]] Head& head() const { return headOf(segment.data()); }
};

Viewer::Viewer(std::int64_t trainer, const std::string& run)
    : trainer_(trainer), name_(segmentName(trainer, run)) {
  sweepLiveSegments();
  if (isAlive(trainer_)) attach();
}

Viewer::~Viewer() { leave(); }

void Viewer::attach() {
  auto segment = SharedSegment::open(name_, kSegmentBytes);
  if (segment && !isComplete(headOf(segment->data()))) {
    // Of another version, or of a window that was killed while it made it.
    segment->unlink();
    segment.reset();
  }
  if (!segment) {
    segment = SharedSegment::create(name_, kSegmentBytes);
    if (!segment) return;  // another window makes it now; the next beat finds it
    Head& head = *new (segment->data()) Head{};
    head.version.store(kVersion, std::memory_order_relaxed);
    head.trainer.store(static_cast<std::uint64_t>(trainer_), std::memory_order_relaxed);
    head.magic.store(kMagic, std::memory_order_release);
  }
  mapping_ = std::make_unique<Mapping>(Mapping{std::move(*segment)});
  taken_ = mapping_->head().newest.load(std::memory_order_acquire);
  place_ = -1;
  wish(wishes_);
}

void Viewer::leave() noexcept {
  if (mapping_ == nullptr) return;
  Head& head = mapping_->head();
  if (place_ >= 0) head.viewers[static_cast<std::size_t>(place_)].beat.store(0);
  if (!isAlive(trainer_) || !hasViewer(head, kBeatNanoseconds)) mapping_->segment.unlink();
  mapping_.reset();
  place_ = -1;
}

TrainerState Viewer::beat() {
  if (!isAlive(trainer_)) {
    leave();
    return TrainerState::Gone;
  }
  const bool hasEnded = mapping_ != nullptr && mapping_->head().state.load() ==
                                                   static_cast<std::uint64_t>(TrainerState::Ended);
  // Frames that were left in an ended segment can still be taken.
  if (hasEnded && mapping_->head().newest.load() != taken_) return TrainerState::Ended;
  if (mapping_ == nullptr || !mapping_->segment.isNamed()) {
    mapping_.reset();
    attach();
    if (mapping_ == nullptr || hasEnded)
      return hasEnded ? TrainerState::Ended : TrainerState::Waiting;
  }
  Head& head = mapping_->head();
  const std::uint64_t now = nanoseconds();
  for (int i = 0; i < kViewers && place_ < 0; ++i) {
    ViewerPlace& place = head.viewers[static_cast<std::size_t>(i)];
    std::uint64_t beat = place.beat.load();
    if (!isRecent(beat, now, kBeatNanoseconds) && place.beat.compare_exchange_strong(beat, now))
      place_ = i;
  }
  if (place_ >= 0) {
    ViewerPlace& place = head.viewers[static_cast<std::size_t>(place_)];
    place.process.store(static_cast<std::uint64_t>(::getpid()), std::memory_order_relaxed);
    place.beat.store(now, std::memory_order_relaxed);
  }
  const std::uint64_t state = head.state.load();
  return state == static_cast<std::uint64_t>(TrainerState::Publishing) ? TrainerState::Publishing
                                                                       : TrainerState::Waiting;
}

void Viewer::wish(const Wishes& wishes) {
  wishes_ = wishes;
  if (mapping_ == nullptr) return;
  const auto words = wordsOf(wishes);
  Head& head = mapping_->head();
  writeLocked(head.wishSequence, head.wishes.data(), std::as_bytes(std::span(words)));
}

std::optional<std::vector<std::byte>> Viewer::take() {
  if (mapping_ == nullptr) return std::nullopt;
  const Head& head = mapping_->head();
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t newest = head.newest.load(std::memory_order_acquire);
    if (newest == taken_) return std::nullopt;
    const Slot& slot = head.slots[newest % kSlots];
    const std::uint64_t before = slot.sequence.load(std::memory_order_acquire);
    const std::uint64_t size = slot.bytes.load(std::memory_order_relaxed);
    if (before % 2 != 0 || size > kFrameCapacity) continue;
    std::vector<std::byte> frame(size);
    const Word* words = live::wordsOf(mapping_->segment.data(), newest % kSlots);
    // The size belongs to the words only if neither was written since.
    if (!readLocked(slot.sequence, words, frame) ||
        slot.sequence.load(std::memory_order_relaxed) != before)
      continue;
    taken_ = newest;
    return frame;
  }
  return std::nullopt;
}

int Viewer::viewers() const {
  if (mapping_ == nullptr) return 0;
  const std::uint64_t now = nanoseconds();
  int count = 0;
  for (const ViewerPlace& place : mapping_->head().viewers)
    count += isRecent(place.beat.load(), now, kBeatNanoseconds) ? 1 : 0;
  return count;
}

}  // namespace vitrine::live

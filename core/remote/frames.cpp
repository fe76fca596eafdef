#include "core/remote/frames.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/text.h"

namespace vitrine::remote {

namespace {

constexpr std::size_t kDeepestFrame = 32;
constexpr std::size_t kMostItems =
    4'000'000;                            // a list of one byte takes some sixty when it is read
constexpr std::size_t kLongBytes = 4096;  // the parser takes a byte string byte by byte

/// Reads until `bytes` is full. \returns how many came before the end of the stream
std::size_t readBytes(int fd, std::span<std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw BrokenStream(std::string("reading failed: ") + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

/// Walks over CBOR without building anything and without recursion. Before a value is made of it,
/// its depth is known, and every length is known to stay within the bytes. Chunks of a string of
/// indefinite length are strings of definite length (RFC 8949, 3.2.3): the parser would follow
/// others into each other without end. Tags are not taken. Remembers where long byte strings are.
class FrameWalk {
 public:
  explicit FrameWalk(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool isBounded() {
    do {
      if (!item()) return false;
      while (!open_.empty() && open_.back() == 0) close();
    } while (!open_.empty());
    return at_ == bytes_.size();
  }
  /// A byte string with the head before it.
  struct LongBytes {
    std::size_t head = 0;
    std::span<const std::uint8_t> content;
  };
  [[nodiscard]] const std::vector<LongBytes>& longBytes() const { return long_; }

 private:
  static constexpr std::uint64_t kUntilBreak = ~std::uint64_t{0};

  void close() {
    open_.pop_back();
    count();
  }
  /// One of the items of the innermost list or map is over.
  void count() {
    if (!open_.empty() && open_.back() != kUntilBreak) --open_.back();
  }

  bool item() {
    if (at_ == bytes_.size() || ++items_ > kMostItems) return false;
    const std::size_t begin = at_;
    const unsigned head = bytes_[at_++];
    const unsigned kind = head >> 5, info = head & 31;
    if (head == 0xff) {  // break
      if (open_.empty() || open_.back() != kUntilBreak) return false;
      close();
      return true;
    }
    std::uint64_t argument = info;
    const bool isIndefinite = info == 31;
    if (isIndefinite ? kind < 2 || kind > 5 : !number(info, argument)) return false;
    switch (kind) {
      case 2:
      case 3:
        if (!(isIndefinite ? chunks(kind) : skip(argument))) return false;
        if (kind == 2 && !isIndefinite && argument >= kLongBytes) {
          const auto size = static_cast<std::size_t>(argument);
          long_.push_back({begin, bytes_.subspan(at_ - size, size)});
        }
        break;
      case 4:
      case 5:
        if (!isIndefinite && argument > bytes_.size()) return false;
        open_.push_back(isIndefinite ? kUntilBreak : argument * (kind - 3));
        return open_.size() <= kDeepestFrame;
      case 6:
        return false;
      default:
        break;
    }
    count();
    return true;
  }

  /// The number that a head's `info` stands for.
  bool number(unsigned info, std::uint64_t& value) {
    if (info < 24) return true;
    if (info > 27) return false;
    const std::size_t size = std::size_t{1} << (info - 24);
    if (bytes_.size() - at_ < size) return false;
    value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes_[at_++];
    return true;
  }
  bool skip(std::uint64_t size) {
    if (bytes_.size() - at_ < size) return false;
    at_ += static_cast<std::size_t>(size);
    return true;
  }
  /// Of a string of indefinite length, up to its break.
  bool chunks(unsigned kind) {
    while (at_ < bytes_.size()) {
      const unsigned head = bytes_[at_++];
      if (head == 0xff) return true;
      std::uint64_t size = head & 31;
      if (head >> 5 != kind || !number(head & 31, size) || !skip(size)) return false;
    }
    return false;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0, items_ = 0;
  std::vector<std::uint64_t> open_;  ///< items that are still to come, innermost last
  std::vector<LongBytes> long_;
};

/// The same CBOR with an empty byte string for each long one, tagged with its number: the frame
/// itself has no tags.
std::vector<std::uint8_t> withoutLongBytes(std::span<const std::uint8_t> bytes,
                                           const std::vector<FrameWalk::LongBytes>& all) {
  constexpr std::uint8_t kTagOfFourBytes = 0xda, kEmptyBytes = 0x40;
  std::vector<std::uint8_t> brief;
  std::size_t from = 0;
  for (std::size_t number = 0; number < all.size(); ++number) {
    brief.insert(brief.end(), bytes.begin() + static_cast<std::ptrdiff_t>(from),
                 bytes.begin() + static_cast<std::ptrdiff_t>(all[number].head));
    brief.push_back(kTagOfFourBytes);
    for (int shift = 24; shift >= 0; shift -= 8)
      brief.push_back(static_cast<std::uint8_t>(number >> shift));
    brief.push_back(kEmptyBytes);
    from = static_cast<std::size_t>(all[number].content.data() - bytes.data()) +
           all[number].content.size();
  }
  brief.insert(brief.end(), bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end());
  return brief;
}

/// Puts them back.
void addLongBytes(Json& value, const std::vector<FrameWalk::LongBytes>& all) {
  if (value.is_structured()) {
    for (Json& each : value) addLongBytes(each, all);
  } else if (value.is_binary() && value.get_binary().has_subtype()) {
    const auto content = all.at(static_cast<std::size_t>(value.get_binary().subtype())).content;
    value = Json::binary(std::vector<std::uint8_t>(content.begin(), content.end()));
  }
}

}  // namespace

std::optional<std::vector<std::uint8_t>> readFrame(int fd) {
  std::array<std::uint8_t, 4> head{};
  const std::size_t got = readBytes(fd, head);
  if (got == 0) return std::nullopt;
  if (got < head.size()) throw BrokenStream("the stream ended within the length of a frame");
  std::size_t size = 0;
  for (std::size_t i = 0; i < head.size(); ++i) size |= std::size_t{head[i]} << (8 * i);
  if (size == 0 || size > kLargestFrame) {
    throw BrokenStream("a frame of " + std::to_string(size) + " bytes; they have 1 to " +
                       std::to_string(kLargestFrame));
  }
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min(size - before, std::size_t{1} << 20));
    if (readBytes(fd, std::span(bytes).subspan(before)) < bytes.size() - before)
      throw BrokenStream("the stream ended within a frame");
  }
  return bytes;
}

Json frameMap(std::span<const std::uint8_t> bytes) {
  FrameWalk walk(bytes);
  if (!walk.isBounded())
    throw std::invalid_argument("the frame is not one CBOR value of at most " +
                                std::to_string(kDeepestFrame) + " levels and " +
                                formatCount(kMostItems) + " items");
  std::vector<std::uint8_t> brief;
  if (!walk.longBytes().empty()) brief = withoutLongBytes(bytes, walk.longBytes());
  const std::span<const std::uint8_t> parsed =
      brief.empty() ? bytes : std::span(std::as_const(brief));
  Json map =
      Json::from_cbor(parsed.begin(), parsed.end(), true, false, Json::cbor_tag_handler_t::store);
  if (!map.is_object()) throw std::invalid_argument("the frame is not a CBOR map");
  if (!brief.empty()) addLongBytes(map, walk.longBytes());
  return map;
}

bool FrameWriter::write(const Json& map) {
  std::vector<std::uint8_t> bytes(4);
  Json::to_cbor(map, bytes);
  const std::size_t size = bytes.size() - 4;
  if (size > kLargestFrame) {
    throw LargeFrame("this takes " + formatCount(size) +
                     " bytes, more than the " + formatCount(kLargestFrame) + " of a frame");
  }
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(size >> (8 * i));
  const std::lock_guard lock(mutex_);
  for (std::size_t done = 0; done < bytes.size() && !isBroken_;) {
    const ssize_t wrote = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      isBroken_ = true;
    } else {
      done += static_cast<std::size_t>(wrote);
    }
  }
  return !isBroken_;
}

}  // namespace vitrine::remote

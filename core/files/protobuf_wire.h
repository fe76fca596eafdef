// The wire format of protocol buffers, as far as event files need it
// (https://protobuf.dev/programming-guides/encoding): strict, without copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vitrine::wire {

/// The bytes are not a message; caught by the reader of the file, which knows where they stand.
struct Malformed {};

/// One pass over the fields of a message.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  /// Goes to the next field; false at the end. \throws Malformed
  [[nodiscard]] bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = takeVarint(rest_);
    if (key >> 32 != 0 || key >> 3 == 0) throw Malformed{};
    field_ = static_cast<std::uint32_t>(key >> 3);
    type_ = static_cast<std::uint32_t>(key & 7);
    switch (type_) {
      case 0:
        number_ = takeVarint(rest_);
        value_ = {};
        break;
      case 1:
        value_ = take(8);
        break;
      case 2:
        value_ = take(takeVarint(rest_));
        break;
      case 5:
        value_ = take(4);
        break;
      default:  // groups are not used by anything that writes events
        throw Malformed{};
    }
    return true;
  }

  [[nodiscard]] std::uint32_t field() const noexcept { return field_; }
  [[nodiscard]] std::uint64_t varint() const {
    if (type_ != 0) throw Malformed{};
    return number_;
  }
  /// Of a string, bytes, a message, or a number of fixed size.
  [[nodiscard]] std::span<const std::byte> bytes() const {
    if (type_ == 0) throw Malformed{};
    return value_;
  }
  [[nodiscard]] std::span<const std::byte> fixed(std::size_t size) const {
    if (type_ == 0 || type_ == 2 || value_.size() != size) throw Malformed{};
    return value_;
  }
  /// Bytes there are, of a packed list or of one fixed number.
  [[nodiscard]] std::size_t length() const { return bytes().size(); }
  /// The first of a list of varints, packed or not; 0 of an empty one.
  [[nodiscard]] std::uint64_t firstVarint() const {
    if (type_ == 0) return number_;
    std::span<const std::byte> list = value_;
    return list.empty() ? 0 : takeVarint(list);
  }

 private:
  static std::uint64_t takeVarint(std::span<const std::byte>& from) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 10 && i < from.size(); ++i) {
      const auto byte = std::to_integer<std::uint64_t>(from[i]);
      value |= (byte & 0x7f) << (7 * i);
      if ((byte & 0x80) != 0) continue;
      if (i == 9 && byte > 1) break;
      from = from.subspan(i + 1);
      return value;
    }
    throw Malformed{};
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > rest_.size()) throw Malformed{};
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(static_cast<std::size_t>(count));
    return taken;
  }

  std::span<const std::byte> rest_, value_;
  std::uint64_t number_ = 0;
  std::uint32_t field_ = 0, type_ = 0;
};

/// A message being put together. Fields appear in the order of the calls.
class Writer {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    put(std::uint64_t{field} << 3);
    put(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    put(std::uint64_t{field} << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void fixed32(std::uint32_t field, std::uint32_t value) {
    put(std::uint64_t{field} << 3 | 5);
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void bytes(std::uint32_t field, std::span<const std::byte> value) {
    put(std::uint64_t{field} << 3 | 2);
    put(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void text(std::uint32_t field, std::string_view value) {
    bytes(field, std::as_bytes(std::span(value.data(), value.size())));
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  void put(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<std::byte>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::byte>(value));
  }
  std::vector<std::byte> bytes_;
};

}  // namespace vitrine::wire

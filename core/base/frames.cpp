#include "core/base/frames.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace vitrine {

namespace {

constexpr int kDeepestFrame = 32;

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

/// Walks over CBOR without building anything: the depth is known before a value is made of it.
class FrameDepth : public Json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kDeepestFrame; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return ++depth_ <= kDeepestFrame; }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool leave() {
    --depth_;
    return true;
  }
  int depth_ = 0;
};

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
  FrameDepth guard;
  if (!Json::sax_parse(bytes.begin(), bytes.end(), &guard, Json::input_format_t::cbor))
    throw std::invalid_argument("the frame is no CBOR value of at most " +
                                std::to_string(kDeepestFrame) + " levels");
  Json map = Json::from_cbor(bytes.begin(), bytes.end(), true, false);
  if (!map.is_object()) throw std::invalid_argument("the frame is no CBOR map");
  return map;
}

bool FrameWriter::write(const Json& map) {
  std::vector<std::uint8_t> bytes(4);
  Json::to_cbor(map, bytes);
  const std::size_t size = bytes.size() - 4;
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

}  // namespace vitrine

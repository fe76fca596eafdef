#include "core/files/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"

namespace vitrine {

namespace {

constexpr std::uint64_t kLargestArray = std::uint64_t{8} << 30;  // bytes
// Deflate cannot expand further than this; a header that promises more is false (zlib technical
// details).
constexpr std::uint64_t kLargestRatio = 1032;
// Memory reserved at first for a gzip stream; more only as data comes out of it.
constexpr std::uint64_t kFirstRoom = std::uint64_t{64} << 20;

/// Bytes of an IDX file in order, whatever it is wrapped in.
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& file) : file_(file) {
    std::tie(fd_, size_) = files::openToRead(file);
    std::array<std::byte, 2> magic{};
    const std::size_t got = files::readAt(fd_, file_, magic, 0);
    gzip_ = got == 2 && magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
    if (!gzip_) return;
    input_.resize(std::size_t{1} << 16);
    // 15: the largest window; 16: a gzip wrapper, whose CRC-32 and length zlib checks.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw Error("zlib cannot start: out of memory");
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource() {
    if (gzip_) inflateEnd(&stream_);
  }

  [[nodiscard]] bool isGzip() const noexcept { return gzip_; }
  [[nodiscard]] std::uint64_t fileSize() const noexcept { return size_; }

  /// Fills `out` as far as there is data; returns how much.
  [[nodiscard]] std::size_t read(std::span<std::byte> out) {
    if (gzip_) return inflateInto(out);
    const std::size_t got = files::readAt(fd_, file_, out, offset_);
    offset_ += got;
    return got;
  }

  /// True when nothing follows the gzip stream in the file.
  [[nodiscard]] bool isAtEnd() const noexcept {
    return gzip_ ? ended_ && stream_.avail_in == 0 && offset_ == size_ : offset_ == size_;
  }

 private:
  std::size_t inflateInto(std::span<std::byte> out) {
    std::size_t done = 0;
    while (done < out.size() && !ended_) {
      if (stream_.avail_in == 0) {
        const std::size_t got = files::readAt(fd_, file_, input_, offset_);
        offset_ += got;
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(got);
        if (got == 0) throw FileError(file_.string() + ": the gzip stream is cut");
      }
      const std::size_t chunk = std::min<std::size_t>(out.size() - done, std::size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = static_cast<uInt>(chunk);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += chunk - stream_.avail_out;
      if (status == Z_STREAM_END) {
        ended_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw FileError(file_.string() + ": the gzip stream is damaged" +
                        (stream_.msg != nullptr ? std::string(" (") + stream_.msg + ")" : ""));
      }
    }
    return done;
  }

  std::filesystem::path file_;
  files::Descriptor fd_;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;  // of the next byte of the file to read
  bool gzip_ = false;
  bool ended_ = false;
  z_stream stream_{};
  std::vector<std::byte> input_;
};

}  // namespace

IdxArray readIdx(const std::filesystem::path& file) {
  const std::string name = file.string();
  ByteSource source(file);
  std::array<std::uint8_t, 4> magic{};
  if (source.read(std::as_writable_bytes(std::span(magic))) < magic.size())
    throw FileError(name + " is too short for an IDX file: the 4-byte magic number is cut");
  if (magic[0] != 0 || magic[1] != 0)
    throw FileError(name + " is not an IDX file: its first two bytes are not zero");
  if (magic[2] != 0x08) {
    throw FileError(name + " holds IDX type " + std::to_string(magic[2]) +
                    "; only 8 (unsigned bytes) can be read");
  }
  if (magic[3] < 1 || magic[3] > 4)
    throw FileError(name + " has rank " + std::to_string(magic[3]) + "; 1 to 4 can be read");

  IdxArray array;
  std::uint64_t count = 1;
  for (int side = 0; side < magic[3]; ++side) {
    std::array<std::uint8_t, 4> big{};
    if (source.read(std::as_writable_bytes(std::span(big))) < big.size())
      throw FileError(name + " is cut inside its list of sizes");
    const std::uint64_t size = (std::uint64_t{big[0]} << 24) | (std::uint64_t{big[1]} << 16) |
                               (std::uint64_t{big[2]} << 8) | std::uint64_t{big[3]};
    array.shape.push_back(static_cast<std::int64_t>(size));
    if (__builtin_mul_overflow(count, size, &count) || count > kLargestArray)
      throw FileError(name + " declares more than " + formatBytes(kLargestArray) + " of data");
  }

  // What the header promises is checked against the file before memory is taken for it.
  const std::uint64_t header = 4 + 4 * std::uint64_t{magic[3]};
  if (!source.isGzip() && source.fileSize() != header + count) {
    throw FileError(name + " has " + formatCount(source.fileSize()) +
                    " bytes, but its header promises " + formatCount(header + count) +
                    (source.fileSize() < header + count ? ": the data is cut"
                                                        : ": there is trailing data"));
  }
  if (source.isGzip() && header + count > source.fileSize() * kLargestRatio) {
    throw FileError(name + " promises " + formatCount(count) + " bytes of data, more than " +
                    formatCount(source.fileSize()) + " compressed bytes can hold");
  }

  // A gzip header can promise a thousand times what follows: memory grows with the data.
  std::uint64_t room = source.isGzip() ? std::min(count, kFirstRoom) : count;
  std::uint64_t got = 0;
  for (;;) {
    array.data.resize(static_cast<std::size_t>(room));
    got += source.read(std::as_writable_bytes(std::span(array.data)).subspan(got));
    if (got < room || room == count) break;
    room = std::min(count, 2 * room);
  }
  if (got < count) {
    throw FileError(name + " is cut: " + formatCount(got) + " of " +
                    formatCount(count) + " bytes of data are there");
  }
  // One byte beyond the promised size: proves the end, and makes zlib check the sum of a gzip
  // stream.
  std::array<std::byte, 1> beyond{};
  if (source.read(beyond) != 0 || !source.isAtEnd()) {
    throw FileError(name + " has trailing data after the " +
                    formatCount(count) + " bytes its header promises");
  }
  return array;
}

}  // namespace vitrine

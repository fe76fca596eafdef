#include "core/files/image_header.h"

#include <zlib.h>

#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"

namespace vitrine {

namespace {

/// The bytes with bounds: what lies behind the end is an error that names the file.
class Bytes {
 public:
  Bytes(std::span<const std::byte> bytes, const std::string& name, const ImageLimits& limits)
      : bytes_(bytes), name_(name), limits_(limits) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] const ImageLimits& limits() const noexcept { return limits_; }
  [[noreturn]] void fail(const std::string& clause) const { throw FileError(name_ + " " + clause); }

  [[nodiscard]] bool has(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= size() && count <= size() - at;
  }
  [[nodiscard]] std::string_view text(std::uint64_t at, std::uint64_t count) const {
    if (!has(at, count)) fail("is cut after " + std::to_string(size()) + " bytes");
    return {reinterpret_cast<const char*>(bytes_.data()) + at, static_cast<std::size_t>(count)};
  }
  [[nodiscard]] std::uint32_t u8(std::uint64_t at) const {
    return static_cast<unsigned char>(text(at, 1)[0]);
  }
  [[nodiscard]] std::uint32_t be16(std::uint64_t at) const { return u8(at) << 8 | u8(at + 1); }
  [[nodiscard]] std::uint32_t be32(std::uint64_t at) const { return be16(at) << 16 | be16(at + 2); }
  [[nodiscard]] std::uint32_t le16(std::uint64_t at) const { return u8(at) | u8(at + 1) << 8; }
  [[nodiscard]] std::uint32_t le24(std::uint64_t at) const { return le16(at) | u8(at + 2) << 16; }
  [[nodiscard]] std::uint32_t le32(std::uint64_t at) const { return le16(at) | le16(at + 2) << 16; }
  [[nodiscard]] std::uint32_t crc(std::uint64_t at, std::uint64_t count) const {
    const std::string_view part = text(at, count);
    return static_cast<std::uint32_t>(
        crc32_z(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(part.data()), part.size()));
  }

  [[nodiscard]] ImageHeader header(ImageFormat format, std::int64_t width,
                                   std::int64_t height) const {
    const std::string sides = std::to_string(width) + " x " + std::to_string(height);
    if (width < 1 || height < 1) fail("has no pixels: it says " + sides);
    if (width > limits_.side || height > limits_.side) {
      fail("is refused: " + sides + " pixels, and no side may be above " +
           formatCount(limits_.side));
    }
    if (width * height > limits_.pixels) {
      fail("is refused: " + sides + " are " + formatCount(width * height) +
           " pixels, and the limit is " + formatCount(limits_.pixels));
    }
    return {format, width, height};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  const ImageLimits& limits_;
};

constexpr std::string_view kPngStart{"\x89PNG\r\n\x1a\n", 8};

/// ISO/IEC 15948: an IHDR first, IDAT, an IEND last; each chunk carries the CRC-32 of its type and
/// data.
ImageHeader inspectPng(const Bytes& file) {
  ImageHeader header;
  bool hasData = false, isFirst = true;
  for (std::uint64_t at = kPngStart.size();;) {
    if (!file.has(at, 12)) file.fail("is cut: a PNG ends with the chunk IEND");
    const std::uint64_t length = file.be32(at);
    const std::string_view type = file.text(at + 4, 4);
    if (!file.has(at + 12, length))
      file.fail("is cut inside the chunk " + files::inQuotes(std::string(type)));
    if (isFirst && (type != "IHDR" || length != 13))
      file.fail("is damaged: its first chunk is not IHDR");
    // The size first: a damaged header is a smaller matter than one that asks for gigabytes.
    if (isFirst) {
      header = file.header(ImageFormat::Png, file.be32(at + 8), file.be32(at + 12));
    } else if (type == "IHDR") {
      file.fail("is damaged: it has two chunks IHDR");
    }
    if (file.crc(at + 4, length + 4) != file.be32(at + 8 + length)) {
      file.fail("is damaged: the checksum of the chunk " + files::inQuotes(std::string(type)) +
                " is wrong");
    }
    if (type == "IDAT") hasData = true;
    if (type == "IEND") break;  // decoders stop here too
    isFirst = false;
    at += 12 + length;
  }
  if (!hasData) file.fail("has no pixels: there is no chunk IDAT");
  return header;
}

bool isFrameHeader(std::uint32_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// ITU-T T.81 (JPEG): markers up to EOI. In the data of a scan, FF is followed by 00 or a restart.
ImageHeader inspectJpeg(const Bytes& file) {
  ImageHeader header;
  bool hasFrame = false;
  int scans = 0;
  std::uint64_t at = 2;
  for (;;) {
    if (!file.has(at, 2)) file.fail("is cut: a JPEG ends with an end marker");
    if (file.u8(at) != 0xff) file.fail("is damaged: no marker at byte " + std::to_string(at));
    const std::uint32_t marker = file.u8(at + 1);
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    at += 2;
    if (marker == 0xd9) break;
    if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    if (marker == 0x00) file.fail("is damaged: no marker at byte " + std::to_string(at - 2));
    if (!file.has(at, 2)) file.fail("is cut inside a segment");
    const std::uint64_t length = file.be16(at);
    if (length < 2) file.fail("is damaged: a segment of " + std::to_string(length) + " bytes");
    if (!file.has(at, length)) file.fail("is cut inside a segment");
    if (isFrameHeader(marker)) {
      if (hasFrame) file.fail("is damaged: it has two frames");
      if (length < 8) file.fail("is damaged: its frame header is too short");
      if (file.be16(at + 3) == 0) file.fail("is refused: its height comes after the pixels (DNL)");
      header = file.header(ImageFormat::Jpeg, file.be16(at + 5), file.be16(at + 3));
      hasFrame = true;
    }
    at += length;
    if (marker != 0xda) continue;
    if (!hasFrame) file.fail("is damaged: pixels come before the frame header");
    if (++scans > file.limits().scans) {
      file.fail("is refused: more than " + std::to_string(file.limits().scans) +
                " scans, each as much work as an image");
    }
    // To the next marker that is neither a stuffed FF nor a restart.
    for (;;) {
      const std::string_view rest = file.text(at, file.size() - at);
      const std::size_t next = rest.find('\xff');
      if (next == std::string_view::npos || next + 1 == rest.size())
        file.fail("is cut inside its pixels: there is no end marker");
      const auto follows = static_cast<unsigned char>(rest[next + 1]);
      at += next;
      if (follows == 0x00 || (follows >= 0xd0 && follows <= 0xd7)) {
        at += 2;
      } else if (follows == 0xff) {
        ++at;
      } else {
        break;
      }
    }
  }
  if (!hasFrame || scans == 0) file.fail("has no pixels: there is no frame with a scan");
  return header;
}

/// RFC 9649 (WebP): RIFF with one of VP8, VP8L or VP8X first.
ImageHeader inspectWebp(const Bytes& file) {
  const std::uint64_t riff = std::uint64_t{file.le32(4)} + 8;
  if (riff > file.size()) {
    file.fail("is cut: " + formatCount(file.size()) + " of " +
              formatCount(riff) + " bytes are there");
  }
  ImageHeader header;
  bool hasCanvas = false, hasPixels = false;
  for (std::uint64_t at = 12; at < riff;) {
    if (riff - at < 8) file.fail("is damaged: half a chunk at its end");
    const std::string_view type = file.text(at, 4);
    const std::uint64_t length = file.le32(at + 4);
    const std::uint64_t data = at + 8;
    if (length > riff - data) {
      file.fail("is damaged: the chunk " + files::inQuotes(std::string(type)) +
                " reaches beyond the end");
    }
    const auto need = [&](std::uint64_t bytes) {
      if (length < bytes)
        file.fail("is damaged: the chunk " + files::inQuotes(std::string(type)) + " is too short");
    };
    if (at == 12 && type == "VP8X") {
      need(10);
      if ((file.u8(data) & 0x02) != 0) file.fail("is an animation; only still images can be read");
      header = file.header(ImageFormat::Webp, std::int64_t{file.le24(data + 4)} + 1,
                           std::int64_t{file.le24(data + 7)} + 1);
      hasCanvas = true;
    } else if (type == "VP8 " || type == "VP8L") {
      std::int64_t width = 0, height = 0;
      if (hasPixels) file.fail("is damaged: it has two images");
      if (type == "VP8 ") {  // RFC 6386, section 9.1
        need(10);
        if ((file.u8(data) & 1) != 0 || file.text(data + 3, 3) != "\x9d\x01\x2a")
          file.fail("is damaged: its image does not begin with a key frame");
        width = file.le16(data + 6) & 0x3fff;
        height = file.le16(data + 8) & 0x3fff;
      } else {
        need(5);
        const std::uint32_t bits = file.le32(data + 1);
        if (file.u8(data) != 0x2f || bits >> 29 != 0)
          file.fail("is damaged: its image does not begin as a lossless one does");
        width = (bits & 0x3fff) + 1;
        height = (bits >> 14 & 0x3fff) + 1;
      }
      const ImageHeader image = file.header(ImageFormat::Webp, width, height);
      if (hasCanvas && (image.width != header.width || image.height != header.height))
        file.fail("is damaged: its image and its canvas differ in size");
      header = image;
      hasPixels = true;
    }
    at = data + length + (length & 1);
  }
  if (!hasPixels) file.fail("has no pixels: there is no chunk VP8 or VP8L");
  return header;
}

}  // namespace

ImageHeader inspectImage(std::span<const std::byte> bytes, const std::string& name,
                         const ImageLimits& limits) {
  const Bytes file(bytes, name, limits);
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (all.starts_with(kPngStart)) return inspectPng(file);
  if (all.starts_with("\xff\xd8\xff")) return inspectJpeg(file);
  if (all.starts_with("RIFF") && all.size() >= 12 && all.substr(8, 4) == "WEBP")
    return inspectWebp(file);
  if (all.empty()) file.fail("is empty");
  file.fail("is not a PNG, JPEG or WebP file");
}

}  // namespace vitrine

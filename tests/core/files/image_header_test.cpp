#include "core/files/image_header.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <vector>

#include "core/base/error.h"
#include "core/files/png.h"
#include "tests/core/files/made_files.h"

namespace vitrine {
namespace {

using test::Names;

std::string seed(const std::string& name) {
  return getFile(std::string(VITRINE_SOURCE_DIR) + "/tests/fuzz/seeds/image/" + name);
}

ImageHeader inspect(const std::string& bytes, const ImageLimits& limits = {}) {
  return inspectImage(std::as_bytes(std::span(bytes.data(), bytes.size())), "x.img", limits);
}

std::string refusal(const std::string& bytes, const ImageLimits& limits = {}) {
  return test::refusal<FileError>([&] { (void)inspect(bytes, limits); });
}

std::string le32(std::uint32_t value) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xff);
  return out;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  return be32(static_cast<std::uint32_t>(data.size())) + body +
         be32(static_cast<std::uint32_t>(sum));
}
const std::string kPng("\x89PNG\r\n\x1a\n", 8);
std::string png(std::uint32_t width, std::uint32_t height) {
  return kPng + chunk("IHDR", be32(width) + be32(height) + std::string("\x08\x02\0\0\0", 5)) +
         chunk("IDAT", "x") + chunk("IEND", "");
}
std::string riff(const std::string& content) {
  return "RIFF" + le32(static_cast<std::uint32_t>(content.size() + 4)) + "WEBP" + content;
}
std::string part(const std::string& type, const std::string& data) {
  return type + le32(static_cast<std::uint32_t>(data.size())) + data +
         std::string(data.size() % 2, '\0');
}
std::string canvas(std::uint8_t flags, std::uint32_t width, std::uint32_t height) {
  return part("VP8X", std::string(1, static_cast<char>(flags)) + std::string(3, '\0') +
                          le32(width - 1).substr(0, 3) + le32(height - 1).substr(0, 3));
}

TEST(ImageHeader, TellsFormatAndSizeOfWholeFiles) {
  using enum ImageFormat;
  for (const auto& [name, format] :
       {std::pair{"colour.png", Png}, std::pair{"baseline.jpg", Jpeg},
        std::pair{"progressive.jpg", Jpeg}, std::pair{"lossy.webp", Webp},
        std::pair{"lossless.webp", Webp}}) {
    const ImageHeader header = inspect(seed(name));
    EXPECT_EQ(header.format, format) << name;
    EXPECT_EQ(header.width, 16) << name;
    EXPECT_EQ(header.height, 12) << name;
  }
  const std::vector<std::uint8_t> grey(20);
  const std::vector<std::byte> ours = encodePng(grey, 4, 5, 1);
  EXPECT_EQ(inspectImage(ours, "ours").width, 5);
  const std::string lossy = seed("lossy.webp").substr(12);
  EXPECT_EQ(inspect(riff(canvas(0, 16, 12) + lossy)).height, 12);
}

TEST(ImageHeader, AFileCutAnywhereIsRefused) {
  for (const char* name :
       {"colour.png", "baseline.jpg", "progressive.jpg", "lossy.webp", "lossless.webp"}) {
    const std::string whole = seed(name);
    ASSERT_EQ(refusal(whole), "") << name;
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_NE(refusal(whole.substr(0, length)), "") << name << " cut at " << length;
  }
}

TEST(ImageHeader, EveryFlippedBitOfAPngIsSeen) {
  const std::string whole = seed("colour.png");
  // The last four bytes of IEND are its checksum, the rest is covered by one or is structure.
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      EXPECT_NE(refusal(changed), "") << "byte " << at << " bit " << bit;
    }
  }
}

TEST(ImageHeader, WhatWouldTakeTooMuchMemoryIsRefusedByItsHeaderAlone) {
  EXPECT_EQ(refusal(png(7000, 7000)), "");
  EXPECT_THAT(refusal(png(30000, 30000)), Names("900,000,000", "50,000,000"));
  EXPECT_THAT(refusal(png(32769, 1)), Names("32769 x 1", "32,768"));
  EXPECT_THAT(refusal(png(0xffffffff, 0xffffffff)), Names("32,768"));
  // Refused before the checksum and before what follows are looked at.
  EXPECT_THAT(refusal(png(30000, 30000).substr(0, 40)), Names("50,000,000"));
  std::string jpeg = seed("baseline.jpg");
  const std::size_t frame = jpeg.find("\xff\xc0");
  jpeg.replace(frame + 5, 4, "\x75\x30\x75\x30");
  EXPECT_THAT(refusal(jpeg), Names("30000 x 30000"));
  EXPECT_THAT(refusal(riff(canvas(0, 16000, 16000))), Names("256,000,000"));
  EXPECT_THAT(refusal(riff(canvas(0, 1 << 24, 1))), Names("32,768"));
}

TEST(ImageHeader, AJpegWithManyScansIsRefused) {
  const std::string whole = seed("progressive.jpg");
  const std::size_t scan = whole.find("\xff\xda"), next = whole.find("\xff\xc4", scan);
  std::string changed = whole.substr(0, next);
  for (int i = 0; i < 100; ++i) changed += whole.substr(scan, next - scan);
  changed += whole.substr(next);
  EXPECT_THAT(refusal(changed), Names("x.img", 100));
}

TEST(ImageHeader, HostileFilesAreRefusedWithTheRuleTheyBreak) {
  const std::string lossless = seed("lossless.webp").substr(12);
  const std::string start = seed("baseline.jpg").substr(0, 2);
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "is empty"},
      {"GIF89a", "not a PNG, JPEG or WebP"},
      {std::string("II*\0", 4), "not a PNG, JPEG or WebP"},
      {"RIFF1234WAVE", "not a PNG, JPEG or WebP"},
      {kPng, "ends with the chunk IEND"},
      {kPng + chunk("IEND", ""), "first chunk is not IHDR"},
      {kPng + chunk("IHDR", "short"), "first chunk is not IHDR"},
      {png(0, 5), "has no pixels"},
      {png(5, 0), "has no pixels"},
      {kPng + chunk("IHDR", be32(1) + be32(1) + std::string("\x08\x02\0\0\0", 5)) +
           chunk("IEND", ""),
       "no chunk IDAT"},
      {png(1, 1).substr(0, 33) + png(1, 1).substr(8), "two chunks IHDR"},
      {kPng + be32(13) + "IHDR" + be32(1) + be32(1) + std::string("\x08\x02\0\0\0", 5) + be32(0),
       "checksum"},
      {kPng + be32(0xffffffff) + "IHDR" + std::string(30, 'x'), "cut inside the chunk 'IHDR'"},
      {start + "\xff\xd9", "no frame with a scan"},
      {start + std::string("\xff\xda\0\x02", 4), "pixels come before the frame"},
      {start + std::string("\xff\xe0\0\x01", 4), "a segment of 1 bytes"},
      {start + std::string("\xff\xe0\xff\xff", 4), "cut inside a segment"},
      {start + std::string("\xff\0", 2), "no marker at byte 2"},
      {start + std::string("\xff\xc0\0\x0b\x08\0\0\0\x10\x01\x01\x11\0", 13), "DNL"},
      {start + std::string("\xff\xc0\0\x0b\x08\0\x10\0\0\x01\x01\x11\0", 13), "has no pixels"},
      {start + std::string("\xff\xc0\0\x05\x08\0\x10", 7), "frame header is too short"},
      {"RIFF" + le32(1000) + "WEBP", "is cut: 12 of 1,008 bytes"},
      {riff(""), "no chunk VP8"},
      {riff("VP8 "), "half a chunk"},
      {riff("VP8 " + le32(100)), "reaches beyond the end"},
      {riff(part("VP8 ", "xxxx")), "too short"},
      {riff(part("VP8 ", std::string(10, '\0'))), "key frame"},
      {riff(part("VP8L", std::string(5, '\0'))), "as a lossless one does"},
      {riff(canvas(2, 16, 12) + lossless), "an animation"},
      {riff(canvas(0, 17, 12) + lossless), "differ in size"},
      {riff(lossless + lossless), "two images"},
      {riff(canvas(0, 16, 12)), "no chunk VP8"},
  };
  for (const auto& [bytes, fragment] : files) {
    const std::string sentence = refusal(bytes);
    EXPECT_THAT(sentence, ::testing::HasSubstr(fragment));
    EXPECT_THAT(sentence, ::testing::StartsWith("x.img "));
  }
}

TEST(ImageHeader, BytesBehindTheEndAreIgnored) {
  EXPECT_EQ(refusal(seed("baseline.jpg") + "a camera's notes"), "");
  EXPECT_EQ(refusal(seed("colour.png") + "more"), "");
}

}  // namespace
}  // namespace vitrine

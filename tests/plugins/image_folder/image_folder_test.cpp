#include "plugins/datasets/image_folder/image_folder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <zlib.h>

#include <cstdlib>
#include <thread>

#include "core/base/error.h"
#include "core/data/loader.h"
#include "tests/fuzz/mutate.h"
#include "tests/plugins/image_folder/made_images.h"
#include "tests/support/long_tier.h"

namespace vitrine::image_folder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Images : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef VITRINE_HAS_CODECS
    GTEST_SKIP() << "this build has no OpenCV (Debian: libopencv-imgcodecs-dev)";
#endif
  }
  static FolderOptions options(std::int64_t height, std::int64_t width) {
    FolderOptions out;
    out.listing = {Links::Inside, 0, 0};
    out.framing = {height, width, 3, 1.0};
    return out;
  }
  static std::vector<std::uint8_t> decoded(const std::string& bytes, const Framing& framing) {
    std::vector<std::uint8_t> out(
        static_cast<std::size_t>(framing.channels * framing.height * framing.width));
    decodeImage(std::as_bytes(std::span(bytes)), "x.img", framing, out);
    return out;
  }
  TemporaryFolder folder_;
};

TEST_F(Images, EveryFormatComesOutAsPlanesOfRedGreenAndBlue) {
  for (const char* name :
       {"colour.png", "baseline.jpg", "progressive.jpg", "lossy.webp", "lossless.webp"}) {
    const std::vector<std::uint8_t> image = decoded(seedImage(name), {12, 16, 3, 1.0});
    const auto at = [&](int channel, int y, int x) {
      return static_cast<int>(image[static_cast<std::size_t>((channel * 12 + y) * 16 + x)]);
    };
    // Left (200, 20, 10), right (10, 10 y, 200); JPEG and WebP are not exact.
    EXPECT_NEAR(at(0, 6, 2), 200, 12) << name;
    EXPECT_NEAR(at(1, 6, 2), 20, 12) << name;
    EXPECT_NEAR(at(2, 6, 2), 10, 12) << name;
    EXPECT_NEAR(at(0, 11, 13), 10, 16) << name;
    EXPECT_NEAR(at(2, 11, 13), 200, 16) << name;
  }
}

TEST_F(Images, TheCentredCutKeepsProportions) {
  // Three stripes of 4 columns; a square out of the middle sees the middle one, and half of the
  // others.
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 12; ++x)
      pixels.insert(pixels.end(), 3, static_cast<std::uint8_t>(x < 4 ? 0 : x < 8 ? 100 : 200));
  }
  const std::vector<std::byte> png = encodePng(pixels, 4, 12, 3);
  const std::string bytes(reinterpret_cast<const char*>(png.data()), png.size());
  EXPECT_EQ(decoded(bytes, {4, 4, 1, 1.0}), std::vector<std::uint8_t>(16, 100));
  EXPECT_THAT(decoded(bytes, {1, 3, 1, 1.0}), ElementsAre(0, 100, 200));
  EXPECT_THAT(decoded(bytes, {1, 1, 1, 0.5}), ElementsAre(100));
  EXPECT_EQ(decoded(bytes, {8, 24, 3, 1.0}).size(), 8u * 24 * 3);
}

TEST_F(Images, ReadsLabelsAndPixelsBySplitAndId) {
  putImage(folder_ / "train/cat/1.png", pngOf(10, 20, 30));
  putImage(folder_ / "train/dog/1.png", pngOf(40, 50, 60));
  putImage(folder_ / "test/dog/9.png", pngOf(70, 80, 90));
  const ImageFolder set(folder_.path(), options(4, 4), {});
  EXPECT_EQ(set.size(Split::Train), 2);
  EXPECT_EQ(set.size(Split::Validation), 0);
  EXPECT_EQ(set.info().height, 4);
  std::vector<std::uint8_t> image(48);
  EXPECT_EQ(set.read(Split::Train, 1, image), 1);
  EXPECT_EQ(image[0], 40);
  EXPECT_EQ(image[16], 50);
  EXPECT_EQ(image[47], 60);
  EXPECT_EQ(set.read(Split::Test, 0, image), 1);
  EXPECT_EQ(image[0], 70);
  EXPECT_THROW((void)set.read(Split::Test, 1, image), ShapeError);
}

TEST_F(Images, WhatIsKeptInMemoryIsWhatWasDecoded) {
  for (int i = 0; i < 40; ++i) {
    putImage(folder_ / ("a/" + std::to_string(100 + i) + ".png"),
             pngOf(static_cast<std::uint8_t>(i), 0, 0));
  }
  FolderOptions kept = options(4, 4);
  kept.cacheBytes = 1 << 20;
  const ImageFolder set(folder_.path(), kept, {});
  const auto sweep = [&] {
    std::vector<std::uint8_t> image(48);
    int wrong = 0;
    for (int i = 0; i < 40; ++i) {
      (void)set.read(Split::Train, i, image);
      wrong += image[0] != i || image[15] != i || image[16] != 0;
    }
    return wrong;
  };
  std::array<int, 3> wrong{};
  {
    std::vector<std::jthread> threads;
    for (int& each : wrong) threads.emplace_back([&] { each = sweep(); });
  }
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0));
  // From here on the files are not needed.
  std::filesystem::remove_all(folder_ / "a");
  EXPECT_EQ(sweep(), 0);
}

TEST_F(Images, OnlyTheSplitsThatAreKeptCountAsMemory) {
  for (int i = 0; i < 30; ++i)
    putImage(folder_ / ("train/a/" + std::to_string(100 + i) + ".png"), pngOf(1, 2, 3));
  putImage(folder_ / "test/a/1.png", pngOf(1, 2, 3));
  constexpr double kPerImage = 3 * 64 * 64 + 1;
  FolderOptions kept = options(64, 64);
  const double listed = ImageFolder(folder_.path(), kept, {}).memoryBytes();
  EXPECT_GT(listed, 0);
  EXPECT_LT(listed, kPerImage) << "nothing but names";
  kept.cacheBytes = 10 * 3 * 64 * 64;  // the one test image fits, the training images do not
  EXPECT_EQ(ImageFolder(folder_.path(), kept, {}).memoryBytes(), listed + kPerImage);
  kept.cacheBytes = 1 << 20;
  EXPECT_EQ(ImageFolder(folder_.path(), kept, {}).memoryBytes(), listed + 31 * kPerImage);
}

TEST_F(Images, AFileThatGoesDuringARunIsAnErrorThatNamesIt) {
  putImage(folder_ / "a/1.png", pngOf(1, 2, 3));
  putImage(folder_ / "a/2.png", pngOf(1, 2, 3));
  const auto set = std::make_shared<ImageFolder>(folder_.path(), options(4, 4), DatasetInfo{});
  putFile(folder_ / "a/2.png", pngOf(1, 2, 3).substr(0, 40));
  LoaderOptions loading;
  loading.batchSize = 2;
  const auto stream = makeLoader(set, Split::Train, loading);
  const std::string sentence = sentenceOf<FileError>([&] { (void)stream->next(); });
  EXPECT_THAT(sentence, HasSubstr("a/2.png is cut"));
  EXPECT_THAT(sentence, HasSubstr("leave the folder alone while a run reads it"));
}

TEST_F(Images, WhatOnlyADecoderSeesIsFoundByDecoding) {
  for (int i = 0; i < 20; ++i)
    putImage(folder_ / ("a/" + std::to_string(i) + ".png"), pngOf(1, 2, 3));
  // Sums and structure are right, but what IDAT unpacks to is no row of pixels.
  const std::string good = pngOf(1, 2, 3);
  const std::string body = "IDATno deflate stream";
  const auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
  std::string bad = good.substr(0, 33) + std::string("\0\0\0\x11", 4) + body;
  for (int shift = 24; shift >= 0; shift -= 8) bad += static_cast<char>(sum >> shift & 0xff);
  bad += good.substr(good.size() - 12);
  putImage(folder_ / "a/liar.png", bad);
  FolderOptions decode = options(4, 4);
  EXPECT_EQ(ImageFolder(folder_.path(), decode, {}).size(Split::Train), 20);
  decode.check.verify = Verify::Structure;
  EXPECT_EQ(ImageFolder(folder_.path(), decode, {}).size(Split::Train), 21);
}

TEST_F(Images, ABombIsRefusedBeforeMemoryIsTakenForIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer takes terabytes of addresses, which is what is limited here";
#endif
  (void)decoded(pngOf(1, 2, 3), {4, 4, 3, 1.0});  // the decoders are in
  // 30,000 x 30,000 pixels: a good header, and sums that fit.
  std::string bomb = pngOf(1, 2, 3);
  bomb.replace(16, 8, std::string("\0\0\x75\x30\0\0\x75\x30", 8));
  const auto sum =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bomb.data()) + 12, 17));
  for (int i = 0; i < 4; ++i)
    bomb[static_cast<std::size_t>(29 + i)] = static_cast<char>(sum >> (24 - 8 * i) & 0xff);
  struct rusage before {
  }, after{};
  ::getrusage(RUSAGE_SELF, &before);
  EXPECT_THAT(sentenceOf<FileError>([&] {
                (void)decoded(bomb, {4, 4, 3, 1.0});
              }),
              HasSubstr("900,000,000 pixels, and the limit is 50,000,000"));
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 10'000);  // kilobytes
}

TEST_F(Images, ChangedFilesAreDecodedOrRefused) {
  std::vector<std::string> seeds;
  for (const char* name :
       {"colour.png", "baseline.jpg", "progressive.jpg", "lossy.webp", "lossless.webp"})
    seeds.push_back(seedImage(name));
  fuzz::Dice dice(1);
  // The decoders' own messages would fill a screen.
  ::testing::internal::CaptureStderr();
  const int changes = isLong() ? 200'000 : 2000;
  int taken = 0, refused = 0;
  for (int i = 0; i < changes; ++i) {
    const std::string bytes = fuzz::mutate(seeds[dice.below(seeds.size())], dice, 4096);
    (sentenceOf<FileError>([&] {
       (void)decoded(bytes, {8, 8, 3, 1.0});
     }).empty()
         ? taken
         : refused)++;
  }
  (void)::testing::internal::GetCapturedStderr();
  RecordProperty("taken", taken);
  // Flipped bits among the pixels of a JPEG or WebP cannot be told from others.
  EXPECT_GT(taken, 50);
  EXPECT_GT(refused, 500);
}

TEST_F(Images, TheSourceOpensAFolderByItsSchema) {
  putImage(folder_ / "train/a/1.png", pngOf(255, 0, 0));
  putImage(folder_ / "test/a/1.png", pngOf(0, 255, 0));
  const TemporaryFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  Json values = ImageFolderSource().card().schema.defaults();
  values["folder"] = folder_.path().string();
  values["image_size"] = {8, 8};
  values["color"] = "grey";
  const auto set = ImageFolderSource().open(Config(values));
  EXPECT_EQ(set->info().channels, 1);
  EXPECT_EQ(set->info().mean.size(), 1u);
  std::vector<std::uint8_t> image(64);
  (void)set->read(Split::Train, 0, image);
  EXPECT_NEAR(image[0], 76, 1);  // 0.299 x 255
  EXPECT_TRUE(std::filesystem::exists(cache / "vitrine/image_folder"));
  values["test_fraction"] = 0.6;
  values["validation_fraction"] = 0.4;
  EXPECT_THROW((void)ImageFolderSource().open(Config(values)), ConfigError);
}

}  // namespace
}  // namespace vitrine::image_folder

#include "plugins/datasets/image_folder/image_folder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <zlib.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/error.h"
#include "core/data/image_codec.h"
#include "core/data/sample.h"
#include "tests/fuzz/mutate.h"
#include "tests/plugins/image_folder/made_images.h"
#include "tests/support/long_tier.h"
#include "tests/support/refusal.h"

namespace vitrine::image_folder {
namespace {

using test::Fails;
using ::testing::ElementsAre;

class Images : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef VITRINE_HAS_CODECS
    GTEST_SKIP() << "this build has no OpenCV (Debian: libopencv-imgcodecs-dev)";
#endif
  }
  static FolderOptions options() { return {.listing = {Links::Inside, 0, 0}}; }
  /// [channels, height, width]
  static SampleValue decoded(const std::string& bytes, std::int64_t channels = 3) {
    SampleValue out;
    decodeImage(std::as_bytes(std::span(bytes)), "x.img", channels, out);
    return out;
  }
  static Sample sampleOf(const Dataset& set, Split split, std::int64_t id) {
    Sample sample;
    sample.begin(id);
    set.read(split, id, sample);
    return sample;
  }
  TemporaryFolder folder_;
};

TEST_F(Images, EveryFormatComesOutAsPlanesOfRedGreenAndBlue) {
  for (const char* name : {"colour.png", "deep_alpha.png", "baseline.jpg", "progressive.jpg",
                           "lossy.webp", "lossless.webp"}) {
    const SampleValue value = decoded(seedImage(name));
    ASSERT_EQ(value.shape().size(), 3u);
    const std::int64_t height = value.shape()[1], width = value.shape()[2];
    const std::span<const std::uint8_t> image = value.get<std::uint8_t>();
    // In sixteenths of the width and twelfths of the height.
    const auto at = [&](int channel, int y, int x) {
      const std::int64_t row = (2 * y + 1) * height / 24, column = (2 * x + 1) * width / 32;
      return static_cast<int>(
          image[static_cast<std::size_t>((channel * height + row) * width + column)]);
    };
    // Left (200, 20, 10), right (10, 10 y, 200); JPEG and WebP are not exact.
    EXPECT_NEAR(at(0, 6, 2), 200, 12) << name;
    EXPECT_NEAR(at(1, 6, 2), 20, 12) << name;
    EXPECT_NEAR(at(2, 6, 2), 10, 12) << name;
    EXPECT_NEAR(at(0, 11, 13), 10, 16) << name;
    EXPECT_NEAR(at(2, 11, 13), 200, 16) << name;
  }
}

TEST_F(Images, AreReadAtTheSizeTheyHave) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 3 * 7 * 5; ++i) pixels.push_back(static_cast<std::uint8_t>(2 * i));
  const std::vector<std::byte> png = encodePng(pixels, 7, 5, 3);
  const std::string bytes(reinterpret_cast<const char*>(png.data()), png.size());
  const SampleValue image = decoded(bytes);
  EXPECT_THAT(image.shape(), ElementsAre(3, 7, 5));
  for (std::size_t i = 0; i < 35; ++i) {
    EXPECT_EQ(image.get<std::uint8_t>()[i], pixels[3 * i]);
    EXPECT_EQ(image.get<std::uint8_t>()[70 + i], pixels[3 * i + 2]);
  }
  EXPECT_THAT(decoded(bytes, 1).shape(), ElementsAre(1, 7, 5));
}

TEST_F(Images, ReadsLabelsAndPixelsBySplitAndId) {
  putImage(folder_ / "train/cat/1.png", pngOf(10, 20, 30));
  putImage(folder_ / "train/dog/1.png", pngOf(40, 50, 60));
  putImage(folder_ / "test/dog/9.png", pngOf(70, 80, 90));
  const ImageFolder set(folder_.path(), options(), {});
  EXPECT_EQ(set.size(Split::Train), 2);
  EXPECT_EQ(set.size(Split::Validation), 0);
  EXPECT_EQ(set.info().height, 0) << "of every image its own";
  EXPECT_TRUE(findField(set.info().fields, "image")->isRagged());
  const Sample dog = sampleOf(set, Split::Train, 1);
  EXPECT_EQ(dog.at("label").get<std::int64_t>()[0], 1);
  const SampleValue& image = dog.at("image");
  const auto plane = static_cast<std::size_t>(image.shape()[1] * image.shape()[2]);
  EXPECT_EQ(image.get<std::uint8_t>()[0], 40);
  EXPECT_EQ(image.get<std::uint8_t>()[plane], 50);
  EXPECT_EQ(image.get<std::uint8_t>()[3 * plane - 1], 60);
  EXPECT_EQ(sampleOf(set, Split::Test, 0).at("image").get<std::uint8_t>()[0], 70);
  EXPECT_THROW((void)sampleOf(set, Split::Test, 1), ShapeError);
}

TEST_F(Images, HaveAFingerprintThatChangesWithEveryFile) {
  putImage(folder_ / "train/cat/1.png", pngOf(10, 20, 30));
  putImage(folder_ / "train/dog/1.png", pngOf(40, 50, 60));
  putImage(folder_ / "test/dog/9.png", pngOf(70, 80, 90));
  const std::vector<std::int64_t> both{0, 1}, first{0};
  const auto now = [&](Split split, const std::vector<std::int64_t>& ids) {
    return ImageFolder(folder_.path(), options(), {}).fingerprint(split, ids);
  };
  const std::string before = now(Split::Train, both), cat = now(Split::Train, first);
  EXPECT_NE(before, "");
  EXPECT_NE(before, cat);
  EXPECT_EQ(now(Split::Train, both), before);
  // An image of another size, then one of the same size and another time.
  const std::filesystem::path dog = folder_ / "train/dog/1.png";
  putImage(dog, pngOf(40, 50, 60, 20, 12));
  const std::string larger = now(Split::Train, both);
  EXPECT_NE(larger, before);
  std::filesystem::last_write_time(dog,
                                   std::filesystem::last_write_time(dog) + std::chrono::seconds(1));
  EXPECT_NE(now(Split::Train, both), larger);
  EXPECT_EQ(now(Split::Train, first), cat) << "the other image";
}

TEST_F(Images, WhatIsKeptInMemoryIsWhatWasDecoded) {
  // Two sizes, in turn.
  for (int i = 0; i < 40; ++i) {
    putImage(folder_ / ("a/" + std::to_string(100 + i) + ".png"),
             pngOf(static_cast<std::uint8_t>(i), 0, 0, i % 2 == 0 ? 4 : 9, 6));
  }
  FolderOptions kept = options();
  kept.cacheBytes = 1 << 20;
  const ImageFolder set(folder_.path(), kept, {});
  const auto sweep = [&] {
    Sample sample;
    int wrong = 0;
    for (int i = 0; i < 40; ++i) {
      sample.begin(i);
      set.read(Split::Train, i, sample);
      const auto pixels = sample.at("image").get<std::uint8_t>();
      const std::size_t plane = pixels.size() / 3;
      wrong += pixels.size() != (i % 2 == 0 ? 72u : 162u) || pixels[0] != i ||
               pixels[plane - 1] != i || pixels[plane] != 0;
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
    putImage(folder_ / ("train/a/" + std::to_string(100 + i) + ".png"), pngOf(1, 2, 3, 64, 64));
  putImage(folder_ / "test/a/1.png", pngOf(1, 2, 3, 64, 64));
  constexpr double kPixels = 3 * 64 * 64;
  FolderOptions kept = options();
  const double listed = ImageFolder(folder_.path(), kept, {}).memoryBytes();
  EXPECT_GT(listed, 0);
  EXPECT_LT(listed, kPixels) << "nothing but names";
  kept.cacheBytes = 10 * 3 * 64 * 64;  // the one test image fits, the training images do not
  const double one = ImageFolder(folder_.path(), kept, {}).memoryBytes() - listed;
  EXPECT_GE(one, kPixels);
  EXPECT_LE(one, kPixels + 64);
  kept.cacheBytes = 1 << 20;
  EXPECT_EQ(ImageFolder(folder_.path(), kept, {}).memoryBytes(), listed + 31 * one);
}

TEST_F(Images, AFileThatGoesDuringARunIsAnErrorThatNamesIt) {
  putImage(folder_ / "a/1.png", pngOf(1, 2, 3));
  putImage(folder_ / "a/2.png", pngOf(1, 2, 3));
  const ImageFolder set(folder_.path(), options(), {});
  putFile(folder_ / "a/2.png", pngOf(1, 2, 3).substr(0, 40));
  EXPECT_THAT([&] { (void)sampleOf(set, Split::Train, 1); }, Fails<FileError>("a/2.png is cut"));
}

TEST_F(Images, WhatOnlyADecoderSeesIsFoundByDecoding) {
  for (int i = 0; i < 20; ++i)
    putImage(folder_ / ("a/" + std::to_string(i) + ".png"), pngOf(1, 2, 3));
  // Sums and structure are right, but what IDAT unpacks to is not a row of pixels.
  const std::string good = pngOf(1, 2, 3);
  const std::string body = "IDATno deflate stream";
  const auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
  std::string bad = good.substr(0, 33) + std::string("\0\0\0\x11", 4) + body;
  for (int shift = 24; shift >= 0; shift -= 8) bad += static_cast<char>(sum >> shift & 0xff);
  bad += good.substr(good.size() - 12);
  putImage(folder_ / "a/liar.png", bad);
  FolderOptions decode = options();
  EXPECT_EQ(ImageFolder(folder_.path(), decode, {}).size(Split::Train), 20);
  decode.check.verify = Verify::Structure;
  EXPECT_EQ(ImageFolder(folder_.path(), decode, {}).size(Split::Train), 21);
}

TEST_F(Images, ABombIsRefusedBeforeMemoryIsTakenForIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer takes terabytes of addresses, which is what is limited here";
#endif
  (void)decoded(pngOf(1, 2, 3));  // the decoders are in
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
  EXPECT_THAT([&] { (void)decoded(bomb); }, Fails<FileError>("900,000,000", "50,000,000"));
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
    (test::refusal<FileError>([&] { (void)decoded(bytes); }).empty() ? taken : refused)++;
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
  const CacheFolder cache;
  Json values = ImageFolderSource().card().schema.defaults();
  values["folder"] = folder_.path().string();
  values["image_size"] = {8, 8};
  values["color"] = "grey";
  const auto set = ImageFolderSource().open(Config(values));
  EXPECT_EQ(set->info().channels, 1);
  EXPECT_EQ(set->info().mean.size(), 1u);
  EXPECT_NEAR(sampleOf(*set, Split::Train, 0).at("image").get<std::uint8_t>()[0], 76,
              1);  // 0.299 x 255
  EXPECT_TRUE(std::filesystem::exists(cache / "vitrine/image_folder"));
  values["test_fraction"] = 0.6;
  values["validation_fraction"] = 0.4;
  EXPECT_THROW((void)ImageFolderSource().open(Config(values)), ConfigError);
}

}  // namespace
}  // namespace vitrine::image_folder

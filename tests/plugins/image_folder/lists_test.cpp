// Splits and captions from lists.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "plugins/datasets/image_folder/image_folder.h"
#include "tests/plugins/image_folder/made_images.h"
#include "tests/support/refusal.h"

namespace vitrine::image_folder {
namespace {

using test::Names;
using ::testing::ElementsAre;

class Lists : public ::testing::Test {
 protected:
  void SetUp() override {
    putImage(folder_ / "cat/1.png", pngOf(1, 0, 0));
    putImage(folder_ / "cat/2.png", pngOf(2, 0, 0));
    putImage(folder_ / "dog/1.png", pngOf(3, 0, 0));
  }
  [[nodiscard]] Listing listed() const {
    ListingOptions options{Links::Inside, 0.5, 0, lists_.path()};
    return listImages(folder_.path(), options);
  }
  [[nodiscard]] std::string refusal() const {
    return test::refusal<FileError>([&] { (void)listed(); });
  }
  TemporaryFolder folder_, lists_;
};

TEST_F(Lists, SayTheImagesOfEachSplitAndTheirClasses) {
  putFile(lists_ / "train.txt", "dog/1.png\ncat/2.png\n");
  putFile(lists_ / "test.txt", "cat/1.png\tdog\n");
  const Listing listing = listed();
  EXPECT_THAT(listing.classes, ElementsAre("cat", "dog"));
  ASSERT_EQ(listing.images[0].size(), 2u);
  EXPECT_EQ(listing.images[0][0].path, "cat/2.png");
  EXPECT_EQ(listing.images[0][1].label, 1);
  EXPECT_TRUE(listing.images[1].empty());
  ASSERT_EQ(listing.images[2].size(), 1u);
  EXPECT_EQ(listing.images[2][0].label, 1) << "the class behind the tab";
}

TEST_F(Lists, ThatAreBrokenAreRefused) {
  EXPECT_THAT(refusal(), Names("train.txt", "data.lists"));
  putFile(lists_ / "train.txt", "cat/1.png\ncat/1.png\n");
  EXPECT_THAT(refusal(), Names("cat/1.png"));
  putFile(lists_ / "train.txt", "cat/1.png\n");
  putFile(lists_ / "test.txt", "dog/1.png\n");
  EXPECT_THAT(refusal(), Names("test.txt", "dog"));
  putFile(lists_ / "test.txt", "cat/2.png\n");
  putFile(lists_ / "train.txt", "cat/1.gif\n");
  EXPECT_THAT(refusal(), Names("cat/1.gif"));
}

TEST_F(Lists, ALinkThatLeadsOutIsUnusable) {
  const TemporaryFolder other;
  putImage(other / "secret.png", pngOf(9, 9, 9));
  std::filesystem::create_symlink(other / "secret.png", folder_ / "cat/3.png");
  putFile(lists_ / "train.txt", "cat/1.png\ncat/3.png\n");
  const Listing listing = listed();
  EXPECT_EQ(listing.images[0].size(), 1u);
  ASSERT_EQ(listing.unusable.size(), 1u);
  EXPECT_EQ(listing.unusable[0].second,
            "is a link that leads out of the folder; set data.links = \"anywhere\" if that is "
            "meant");
}

TEST_F(Lists, CaptionsComeWithTheirImages) {
#ifndef VITRINE_HAS_CODECS
  GTEST_SKIP() << "this build has no OpenCV (Debian: libopencv-imgcodecs-dev)";
#endif
  putFile(folder_ / "train.jsonl",
          "{\"image\": \"dog/1.png\", \"captions\": [\"a dog\", \"one dog\"]}\n"
          "{\"image\": \"cat/2.png\", \"caption\": \"a cat\"}\n");
  Json values = ImageCaptionsSource().card().schema.defaults();
  values["folder"] = folder_.path().string();
  const CacheFolder cache;
  const auto set = ImageCaptionsSource().open(Config(values));
  EXPECT_EQ(set->size(Split::Train), 2);
  EXPECT_EQ(set->size(Split::Test), 0);
  Sample sample;
  sample.begin(1);
  set->read(Split::Train, 1, sample);
  EXPECT_EQ(sample.at("image").get<std::uint8_t>()[0], 3) << "images are sorted by path";
  EXPECT_THAT(sample.at("captions").texts(), ElementsAre("a dog", "one dog"));
  sample.begin(0);
  set->read(Split::Train, 0, sample);
  EXPECT_THAT(sample.at("captions").texts(), ElementsAre("a cat"));
}

}  // namespace
}  // namespace vitrine::image_folder

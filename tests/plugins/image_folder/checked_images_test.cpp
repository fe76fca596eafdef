#include "plugins/datasets/image_folder/checked_images.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/data/image_codec.h"
#include "tests/plugins/image_folder/made_images.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::image_folder {
namespace {

using test::Fails, test::Names;
using ::testing::_, ::testing::ElementsAre, ::testing::HasSubstr, ::testing::Pair;
using ::testing::StartsWith;

/// `good` images and some that are cut, in one class.
void putMixed(const TemporaryFolder& folder, int good, int bad) {
  for (int i = 0; i < good; ++i)
    putImage(folder / ("a/good" + std::to_string(i) + ".png"), pngOf(1, 2, 3));
  const std::string whole = seedImage("baseline.jpg");
  for (int i = 0; i < bad; ++i)
    putImage(folder / ("a/bad" + std::to_string(i) + ".jpg"), whole.substr(0, whole.size() - 9));
}

Listing checked(const TemporaryFolder& folder, const CheckOptions& options) {
  Listing listing = listImages(folder.path(), {Links::Inside, 0, 0});
  keepUsable(folder.path(), options, listing);
  return listing;
}

const CheckOptions kStructure{Verify::Structure, 0.05, ""};

TEST(CheckedImages, BadOnesAreLeftOutCountedAndNamed) {
  const TemporaryFolder folder;
  putMixed(folder, 19, 1);
  ::testing::internal::CaptureStderr();
  const Listing listing = checked(folder, kStructure);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(listing.images[0].size(), 19u);
  EXPECT_THAT(listing.unusable, ElementsAre(Pair("a/bad0.jpg", StartsWith("is cut inside its"))));
  EXPECT_THAT(said, Names("1 of 20", "a/bad0.jpg"));
}

TEST(CheckedImages, MoreThanTheLimitFailsAndNamesTheFirst) {
  const TemporaryFolder folder;
  putMixed(folder, 18, 2);
  const std::string sentence = test::refusal<FileError>([&] { (void)checked(folder, kStructure); });
  EXPECT_THAT(sentence, Names("2 of 20", "data.bad_limit = 0.05", "a/bad0.jpg"));
  EXPECT_EQ(checked(folder, {Verify::Structure, 0.1, ""}).images[0].size(), 18u);
}

TEST(CheckedImages, ASplitWithoutUsableImagesFails) {
  const TemporaryFolder folder;
  for (int i = 0; i < 40; ++i)
    putImage(folder / ("train/a/" + std::to_string(i) + ".png"), pngOf(1, 2, 3));
  putImage(folder / "test/a/1.png", "x");
  EXPECT_THAT([&] { (void)checked(folder, kStructure); }, Fails<FileError>("test"));
}

TEST(CheckedImages, WhatWasFoundIsKeptUntilTheFileChanges) {
  const TemporaryFolder folder, cache;
  putMixed(folder, 20, 1);
  const CheckOptions options{Verify::Structure, 0.05, cache.path()};
  EXPECT_EQ(checked(folder, options).images[0].size(), 20u);
  const auto kept = [&] { return std::filesystem::directory_iterator(cache.path())->path(); };
  // A finding is believed: one that says otherwise is what comes out.
  std::string text = getFile(kept());
  const std::size_t at = text.find("a/good3.png\t");
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at + std::string("a/good3.png\t").size(), "was found to be bad");
  putFile(kept(), text);
  const CheckOptions lenient{Verify::Structure, 0.5, cache.path()};
  EXPECT_EQ(checked(folder, lenient).images[0].size(), 19u);
  // The file is written again: looked at again.
  putImage(folder / "a/good3.png", pngOf(9, 9, 9, 17, 12));
  EXPECT_EQ(checked(folder, lenient).images[0].size(), 20u);
  // Rubbish in the cache only costs time.
  putFile(kept(), "rubbish\n\t\t\t\n");
  EXPECT_EQ(checked(folder, lenient).images[0].size(), 20u);
}

TEST(CheckedImages, WhatTheFileSystemRefusesIsNotKept) {
  // A permission, for instance, is given without a change of size or time.
  const TemporaryFolder folder, cache;
  putMixed(folder, 20, 1);
  putImage(folder / "a/huge.png", "");
  std::filesystem::resize_file(folder / "a/huge.png", kLargestImageFile + 1);
  const CheckOptions options{Verify::Structure, 0.5, cache.path()};
  EXPECT_THAT(checked(folder, options).unusable,
              ElementsAre(Pair("a/bad0.jpg", _), Pair("a/huge.png", StartsWith("is larger than"))));
  const std::string kept = getFile(std::filesystem::directory_iterator(cache.path())->path());
  EXPECT_NE(kept.find("a/bad0.jpg"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("a/huge.png"), std::string::npos) << kept;
}

TEST(CheckedImages, WhatWasFoundOfAnotherListStays) {
  const TemporaryFolder folder, cache;
  putMixed(folder, 20, 0);
  const CheckOptions options{Verify::Structure, 0.05, cache.path()};
  Listing first = listImages(folder.path(), {Links::Inside, 0, 0}), second = first;
  first.images[0].resize(10);
  second.images[0].erase(second.images[0].begin(), second.images[0].begin() + 10);
  const std::string ofFirst = first.images[0].front().path, gone = first.images[0].back().path,
                    ofSecond = second.images[0].front().path;
  keepUsable(folder.path(), options, first);
  std::filesystem::remove(folder / gone);
  keepUsable(folder.path(), options, second);
  const std::string kept = getFile(std::filesystem::directory_iterator(cache.path())->path());
  EXPECT_THAT(kept, test::HasTexts(ofFirst + "\t", ofSecond + "\t"));
  EXPECT_EQ(kept.find(gone + "\t"), std::string::npos) << kept;
}

TEST(CheckedImages, FilesThatAreNoFilesAreUnusable) {
  const TemporaryFolder folder;
  putMixed(folder, 60, 0);
  std::filesystem::create_symlink("nowhere.png", folder / "a/broken.png");
  putImage(folder / "a/empty.png", "");
  putImage(folder / "a/gif.png", "GIF89a");
  const Listing listing = checked(folder, kStructure);
  EXPECT_THAT(listing.unusable, ElementsAre(Pair("a/broken.png", HasSubstr("No such file")),
                                            Pair("a/empty.png", "is empty"),
                                            Pair("a/gif.png", "is not a PNG, JPEG or WebP file")));
}

}  // namespace
}  // namespace vitrine::image_folder

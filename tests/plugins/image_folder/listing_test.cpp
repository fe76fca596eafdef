#include "plugins/datasets/image_folder/listing.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/plugins/image_folder/made_images.h"
#include "tests/support/refusal.h"

namespace vitrine::image_folder {
namespace {

using test::Names;
using ::testing::ElementsAre;

const ListingOptions kAllTrain{Links::Inside, 0, 0};

std::vector<std::string> paths(const Listing& listing, Split split) {
  std::vector<std::string> out;
  for (const ListedImage& image : listing.images[static_cast<std::size_t>(split)])
    out.push_back(image.path + "=" + std::to_string(image.label));
  return out;
}

std::string refusal(const std::filesystem::path& folder,
                    const ListingOptions& options = kAllTrain) {
  return test::refusal<FileError>([&] { (void)listImages(folder, options); });
}

TEST(Listing, SortsByPathWhateverTheOrderOfTheFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"dog/z.png", "cat/B.JPG", "dog/a/2.webp", "cat/a.jpeg", "dog/a.png"})
    putImage(folder / name, "x");
  putImage(folder / "cat/.hidden.png", "x");
  putImage(folder / "cat/notes.txt", "x");
  putImage(folder / "readme.md", "x");
  const Listing listing = listImages(folder.path(), kAllTrain);
  EXPECT_THAT(listing.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(
      paths(listing, Split::Train),
      ElementsAre("cat/B.JPG=0", "cat/a.jpeg=0", "dog/a.png=1", "dog/a/2.webp=1", "dog/z.png=1"));
  EXPECT_EQ(listing.otherFiles.at(".txt"), 1);
}

TEST(Listing, SplitFoldersShareTheClassesOfTrain) {
  const TemporaryFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/1.png", "val/b/2.png", "test/a/3.png"})
    putImage(folder / name, "x");
  const Listing listing = listImages(folder.path(), {Links::Inside, 0.5, 0.4});
  EXPECT_THAT(paths(listing, Split::Train), ElementsAre("train/a/1.png=0", "train/b/1.png=1"));
  EXPECT_THAT(paths(listing, Split::Validation), ElementsAre("val/b/2.png=1"));
  EXPECT_THAT(paths(listing, Split::Test), ElementsAre("test/a/3.png=0"));
  putImage(folder / "test/c/3.png", "x");
  EXPECT_THAT(refusal(folder.path()), Names("test/c"));
}

TEST(Listing, TrainBesideOtherClassesIsAClass) {
  const TemporaryFolder folder;
  for (const char* name : {"bus/1.png", "train/1.png"}) putImage(folder / name, "x");
  EXPECT_THAT(listImages(folder.path(), kAllTrain).classes, ElementsAre("bus", "train"));
}

TEST(Listing, TheHashOfAPathDecidesItsSplitAndNothingElse) {
  const TemporaryFolder folder;
  for (int i = 0; i < 400; ++i) putImage(folder / ("a/" + std::to_string(i) + ".png"), "x");
  const ListingOptions options{Links::Inside, 0.2, 0.1};
  const Listing all = listImages(folder.path(), options);
  const auto size = [&](Split split) { return all.images[static_cast<std::size_t>(split)].size(); };
  EXPECT_EQ(size(Split::Train) + size(Split::Validation) + size(Split::Test), 400u);
  EXPECT_NEAR(static_cast<double>(size(Split::Test)), 80, 30);
  EXPECT_NEAR(static_cast<double>(size(Split::Validation)), 40, 24);
  // Golden: the split of a path never moves between versions.
  EXPECT_EQ(splitOf("a/0.png", {Links::Inside, 0.5, 0.25}), Split::Test);
  // Another image more leaves all others where they are.
  putImage(folder / "a/new.png", "x");
  const Listing more = listImages(folder.path(), options);
  for (const ListedImage& image : all.images[static_cast<std::size_t>(Split::Test)])
    EXPECT_EQ(splitOf(image.path, options), Split::Test);
  std::size_t total = 0;
  for (const auto& images : more.images) total += images.size();
  EXPECT_EQ(total, 401u);
}

TEST(Listing, LinksOutOfTheFolderAreNamedAndNotFollowed) {
  const TemporaryFolder folder, outside;
  putImage(folder / "a/1.png", "x");
  putImage(outside / "secret.png", "x");
  std::filesystem::create_symlink(outside / "secret.png", folder / "a/out.png");
  std::filesystem::create_symlink("../../" + outside.path().filename().string() + "/secret.png",
                                  folder / "a/relative.png");
  std::filesystem::create_symlink("1.png", folder / "a/in.png");
  std::filesystem::create_directory_symlink(outside.path(), folder / "a/sub");
  std::filesystem::create_directory_symlink("..", folder / "a/loop");
  const Listing listing = listImages(folder.path(), kAllTrain);
  EXPECT_THAT(paths(listing, Split::Train), ElementsAre("a/1.png=0", "a/in.png=0"));
  std::vector<std::string> unusable;
  for (const auto& [path, why] : listing.unusable) unusable.push_back(path + ": " + why);
  EXPECT_THAT(unusable, ElementsAre(Names("a/loop"), Names("a/out.png"), Names("a/relative.png"),
                                    Names("a/sub")));
  const Listing anywhere = listImages(folder.path(), {Links::Anywhere, 0, 0});
  EXPECT_EQ(anywhere.images[0].size(), 4u);
  std::filesystem::create_directory_symlink(outside.path(), folder / "b");
  EXPECT_THAT(refusal(folder.path()), Names(folder.path().filename().string() + "/b"));
}

TEST(Listing, FoldersThatHoldNoDataSetSaySo) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder / "absent"), Names("absent", "data.folder"));
  EXPECT_THAT(refusal(folder.path()), Names(folder.path().filename().string()));
  std::filesystem::create_directory(folder / "a");
  EXPECT_THAT(refusal(folder.path()), Names("a", "PNG", "JPEG", "WebP"));
  putImage(folder / "train/x/1.png", "x");
  std::filesystem::remove(folder / "a");
  EXPECT_THAT(refusal(folder.path()), Names("train"));
  putImage(folder / "deep/1/2/3/4/5/6/7/8/9.png", "x");
  EXPECT_THAT(refusal(folder.path()), Names(8));
}

TEST(Listing, NamesThatAreNoTextAreUnusable) {
  const TemporaryFolder folder;
  putImage(folder / "a/1.png", "x");
  putImage(folder / "a/new\nline.png", "x");
  putImage(folder / "a/\xff.png", "x");
  const Listing listing = listImages(folder.path(), kAllTrain);
  EXPECT_EQ(listing.images[0].size(), 1u);
  EXPECT_EQ(listing.unusable.size(), 2u);
}

}  // namespace
}  // namespace vitrine::image_folder

#include "ui/gallery/gallery_model.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/artifact/generated.h"
#include "core/files/png.h"
#include "tests/ui/support/fake_workbench.h"
#include "ui/gallery/gallery_figures.h"
#include "ui/gallery/image_pair.h"
#include "ui/gallery/thumbnails.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;

std::vector<std::int64_t> idsOf(const GalleryModel& model) {
  std::vector<std::int64_t> ids;
  for (const store::ImageEntry& image : model.images()) ids.push_back(image.id);
  return ids;
}

GalleryModel fourImages() {
  GalleryModel model;
  model.setImages({{1, 7, 100, 5, 2, 2}, {2, 7, 400, 5, 2, 2}, {3, 8, 100, 4, 2, 2}});
  model.addImages({{4, 7, 100, 4, 2, 2}});
  return model;
}

TEST(GalleryModel, OrdersImagesAndFindsThemById) {
  GalleryModel model = fourImages();
  EXPECT_THAT(idsOf(model), ElementsAre(4, 3, 2, 1));
  model.setOrder(ImageOrder::Oldest);
  EXPECT_THAT(idsOf(model), ElementsAre(1, 2, 3, 4));
  model.setOrder(ImageOrder::Run);
  EXPECT_THAT(idsOf(model), ElementsAre(4, 1, 2, 3));
  EXPECT_EQ(model.indexOf(2), 2);
  EXPECT_EQ(model.indexOf(9), -1);
  EXPECT_THAT(model.groups(), SizeIs(1));
}

TEST(GalleryModel, GroupsImagesByStep) {
  GalleryModel model = fourImages();
  model.setOrder(ImageOrder::Step);
  EXPECT_THAT(idsOf(model), ElementsAre(4, 1, 3, 2));
  ASSERT_THAT(model.groups(), SizeIs(2));
  EXPECT_EQ(model.groups()[0].step, 100);
  EXPECT_EQ(model.groups()[0].count, 3);
}

TEST(GalleryModel, TellsStarsFromTags) {
  GalleryModel model = fourImages();
  model.setTags({{1, "*"}, {1, "paper"}, {3, "twin"}});
  EXPECT_TRUE(model.isStarred(1));
  EXPECT_FALSE(model.isStarred(3));
  EXPECT_EQ(model.tags(1), QStringList{"paper"});
  EXPECT_EQ(model.allTags(), (QStringList{"paper", "twin"}));
}

store::GeneratedImageRow image(std::int64_t id, std::int64_t run, std::int64_t step,
                               const Json& recipe, std::uint64_t seed = 5) {
  return {.id = id, .runId = run, .step = step, .recipe = recipe, .seed = seed};
}
Json recipe(int label, double guidance, const char* sampler = "heun") {
  return {{"run", "some uuid"},
          {"step", label},
          {"sampler", sampler},
          {"settings", {{"guidance", guidance}}},
          {"class", label}};
}

TEST(SamePictures, HaveTheSeedAndTheConditionOfTheImage) {
  const auto a = image(1, 1, 100, recipe(3, 2));
  const auto same =
      samePictures(a, {a, image(2, 2, 400, recipe(3, 2)), image(3, 2, 100, recipe(4, 2)),
                       image(4, 2, 200, recipe(3, 2), 6)});
  ASSERT_THAT(same, SizeIs(2));
  EXPECT_EQ(same[0].id, 1);
  EXPECT_EQ(same[1].id, 2);
  EXPECT_EQ(same[1].step, 400);
  EXPECT_THAT(same[1].differences, IsEmpty());
}

TEST(SamePictures, TakeTheNearestSettingsAndNameWhatDiffers) {
  const auto a = image(1, 1, 100, recipe(3, 2));
  const auto same =
      samePictures(a, {a, image(2, 2, 100, recipe(3, 4, "ddim")), image(3, 2, 100, recipe(3, 4)),
                       image(4, 1, 100, recipe(3, 2))});
  ASSERT_THAT(same, SizeIs(2));
  EXPECT_EQ(same[0].id, 1) << "the image itself stays in its cell";
  EXPECT_EQ(same[1].id, 3);
  EXPECT_EQ(same[1].differences, QStringList{"guidance 4 instead of 2"});
}

QImage flat(QSize size, QColor color) {
  QImage picture(size, QImage::Format_RGB32);
  picture.fill(color);
  return picture;
}

TEST(ThumbnailCache, KeepsWhatWasUsedLastInItsBytes) {
  const QImage one = flat({16, 16}, Qt::red);  // 1 KiB and what is kept about it
  ThumbnailCache cache(4 * (one.sizeInBytes() + 256));
  for (int id = 1; id <= 4; ++id) cache.insert(id, one);
  EXPECT_NE(cache.find(1), nullptr);
  cache.insert(5, one);
  EXPECT_EQ(cache.find(2), nullptr) << "not used for longest";
  EXPECT_NE(cache.find(1), nullptr);
  EXPECT_LE(cache.bytes(), cache.mostBytes());
  cache.insert(6, flat({64, 64}, Qt::blue));
  EXPECT_EQ(cache.count(), 1u);
  EXPECT_NE(cache.find(6), nullptr) << "larger than all of it, and yet there";
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0);
}

TEST(Thumbnail, IsAsLargeAsAskedForAndNullForWhatIsNoPicture) {
  const std::vector<std::uint8_t> pixels(4 * 2 * 3, 200);
  const auto png = encodePng(pixels, 2, 4, 3);
  EXPECT_EQ(thumbnailOf(png, 0).size(), QSize(4, 2));
  EXPECT_EQ(thumbnailOf(png, 40).size(), QSize(40, 20));
  EXPECT_EQ(thumbnailOf(png, 40).pixelColor(20, 10), QColor(200, 200, 200));
  EXPECT_TRUE(thumbnailOf(std::span(png).first(20), 40).isNull());
}

TEST(Thumbnails, LargerThanTheirPlaceAreKeptReducedSoThatAllInSightFit) {
  FakeWorkbench workbench;
  const std::int64_t run = workbench.addRun("large", Json::object());
  std::vector<std::int64_t> ids;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const std::vector<std::uint8_t> pixels(64 * 64, static_cast<std::uint8_t>(seed));
    GeneratedImage image = generatedImage(pixels, 64, 64, 1);
    image.step = 100;
    image.seed = seed;
    image.recipe = Json::object();
    ids.push_back(workbench.store().addImage(run, image));
  }
  Thumbnails pictures(workbench.store().file(), 3 * 64 * 64);  // of eight bits each
  pictures.setMost(20);
  pictures.want(ids);
  pictures.waitUntilIdle();
  for (const std::int64_t id : ids) {
    const QImage* picture = pictures.find(id);
    ASSERT_NE(picture, nullptr);
    EXPECT_EQ(picture->size(), QSize(16, 16)) << "a quarter";
  }
}

TEST(ImageDifference, IsMeasuredOverAllChannels) {
  const QImage a = flat({2, 2}, QColor(255, 0, 0));
  QImage b = a;
  EXPECT_EQ(differenceOf(a, b).meanAbsolute, 0);
  EXPECT_EQ(differenceOf(a, b).psnr, std::numeric_limits<double>::infinity());
  b.setPixelColor(0, 0, QColor(255, 51, 0));
  const ImageDifference difference = differenceOf(a, b);
  EXPECT_TRUE(difference.isThere);
  EXPECT_NEAR(difference.largest, 0.2, 1e-9);
  EXPECT_NEAR(difference.meanAbsolute, 0.2 / 12, 1e-9);
  EXPECT_NEAR(difference.range, 0.2 / 3, 1e-9);
  EXPECT_NEAR(difference.psnr, -10 * std::log10(0.04 / 12), 1e-6);
  EXPECT_GT(difference.picture.pixelColor(0, 0).blue(), difference.picture.pixelColor(0, 0).red())
      << "blue where B is brighter";
  EXPECT_FALSE(differenceOf(a, flat({3, 2}, Qt::red)).isThere);
}

TEST(WholeScale, IsWholeTimesOrOneOfWholeParts) {
  EXPECT_EQ(wholeScale({28, 28}, {100, 90}), 3);
  EXPECT_EQ(wholeScale({100, 100}, {100, 100}), 1);
  EXPECT_EQ(wholeScale({100, 100}, {99, 200}), -2);
  EXPECT_EQ(scaledBy({28, 14}, 3), QSize(84, 42));
  EXPECT_EQ(scaledBy({100, 3}, -4), QSize(25, 1));
}

TEST(GridImage, HasEveryPixelOfEveryImageWholeTimes) {
  LabelledImage red, blue;
  red.picture = flat({10, 10}, Qt::red);
  blue.picture = flat({10, 10}, Qt::blue);
  const QImage grid = gridImage({red, blue, red}, 2, 25);
  EXPECT_EQ(grid.size(), QSize(62, 62)) << "three times, two pixels between";
  EXPECT_EQ(grid.pixelColor(29, 29), QColor(Qt::red));
  EXPECT_EQ(grid.pixelColor(30, 10), QColor(Qt::white));
  EXPECT_EQ(grid.pixelColor(32, 0), QColor(Qt::blue));
  EXPECT_EQ(grid.pixelColor(0, 61), QColor(Qt::red));
  EXPECT_TRUE(gridImage({}, 2, 25).isNull());
}

}  // namespace
}  // namespace vitrine::ui

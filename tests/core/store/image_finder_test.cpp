// Finding generated images by what their recipes say.
#include "core/store/image_finder.h"

#include <gmock/gmock.h>

#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::ElementsAre, ::testing::IsEmpty;
using Asked = ImageCondition::Test;

class ImageFinder : public testing::StoreTest {
 protected:
  ImageFinder() : store_(file()) {
    boots_ = addRun(store_);
    store_.setName(boots_, "Boots, wide");
    bags_ = addRun(store_);
    store_.setName(bags_, "bags");
    add(boots_, 100, 7, {{"sampler", "ddim"}, {"class", 9}, {"settings", {{"guidance", 1.5}}}});
    add(boots_, 400, 7, {{"sampler", "ddim"}, {"class", 9}, {"settings", {{"guidance", 3.0}}}});
    add(bags_, 400, 8,
        {{"sampler", "heun"}, {"class", 8}, {"settings", {{"guidance", 3.0}, {"steps", 20}}}});
    add(bags_, 400, 18446744073709551615u,
        {{"sampler", "heun"}, {"prompt", "a Photo of a bag"}, {"weights", "ema"}});
  }
  std::int64_t add(std::int64_t run, std::int64_t step, std::uint64_t seed, const Json& recipe) {
    GeneratedImage image;
    image.step = step;
    image.seed = seed;
    image.recipe = recipe;
    image.width = 28;
    image.height = 32;
    image.sha256 = "hash " + std::to_string(seed);
    image.png = {std::byte{1}};
    return store_.addImage(run, image);
  }
  std::vector<std::int64_t> ids(const ImageSearch& search, std::int64_t after = 0) {
    std::vector<std::int64_t> found;
    for (const ImageEntry& entry : findImages(store_, search, after, goesOn_))
      found.push_back(entry.id);
    return found;
  }

  RunStore store_;
  std::int64_t boots_ = 0, bags_ = 0;
  std::atomic<bool> goesOn_{false};
};

TEST_F(ImageFinder, FindsAllImagesOfAllRunsByTheirNumber) {
  const auto all = findImages(store_, {}, 0, goesOn_);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[3], (ImageEntry{4, bags_, 400, 18446744073709551615u, 28, 32}));
  EXPECT_THAT(ids({}, 2), ElementsAre(3, 4));
}

TEST_F(ImageFinder, ComparesKeysOfTheRecipeAndOfItsSettings) {
  EXPECT_THAT(ids({{"sampler", Asked::Is, "DDIM"}}), ElementsAre(1, 2));
  EXPECT_THAT(ids({{"class", Asked::Is, "9"}}), ElementsAre(1, 2));
  EXPECT_THAT(ids({{"guidance", Asked::More, "2"}}), ElementsAre(2, 3));
  EXPECT_THAT(ids({{"guidance", Asked::AtMost, "1.5"}}), ElementsAre(1));
  EXPECT_THAT(ids({{"settings.steps", Asked::Is, "20"}}), ElementsAre(3));
  EXPECT_THAT(ids({{"class", Asked::IsNot, "9"}}), ElementsAre(3, 4)) << "or without one";
  EXPECT_THAT(ids({{"sampler", Asked::Is, "heun"}, {"weights", Asked::Is, "ema"}}), ElementsAre(4));
  EXPECT_THAT(ids({{"prompt", Asked::More, "2"}}), IsEmpty()) << "a text has no order";
}

TEST_F(ImageFinder, ComparesRunStepAndSeed) {
  EXPECT_THAT(ids({{"run", Asked::Is, std::to_string(bags_)}}), ElementsAre(3, 4));
  EXPECT_THAT(ids({{"run", Asked::Is, "boots"}}), ElementsAre(1, 2));
  EXPECT_THAT(ids({{"step", Asked::AtLeast, "200"}}), ElementsAre(2, 3, 4));
  EXPECT_THAT(ids({{"seed", Asked::Is, "7"}}), ElementsAre(1, 2));
  EXPECT_THAT(ids({{"seed", Asked::Is, "18446744073709551615"}}), ElementsAre(4));
  EXPECT_THAT(ids({{"height", Asked::Is, "32"}}), ElementsAre(1, 2, 3, 4));
}

TEST_F(ImageFinder, FindsWordsInRecipesAndNamesOfRuns) {
  EXPECT_THAT(ids({{"words", Asked::Is, "photo of"}}), ElementsAre(4));
  EXPECT_THAT(ids({{"words", Asked::Is, "WIDE"}}), ElementsAre(1, 2));
}

TEST_F(ImageFinder, FindsStarsAndTags) {
  store_.setImageTags(boots_, {{400, "hash 7", ImageTagRow::kStar}, {400, "hash 7", "Paper"}});
  EXPECT_THAT(ids({{"starred", Asked::Is, ""}}), ElementsAre(2));
  EXPECT_THAT(ids({{"starred", Asked::IsNot, ""}}), ElementsAre(1, 3, 4));
  EXPECT_THAT(ids({{"tag", Asked::Is, "paper"}}), ElementsAre(2));
  EXPECT_THAT(taggedImages(store_),
              ElementsAre(std::pair{2, std::string("*")}, std::pair{2, std::string("Paper")}));
}

TEST_F(ImageFinder, RefusesWhatCannotBeAskedAndNamesIt) {
  EXPECT_THAT(
      [&] {
        ids({{"a\"]b", Asked::Is, "1"}});
      },
      Fails<ConfigError>("'a\"]b'", "settings.steps"));
  EXPECT_THAT(
      [&] {
        ids({{"guidance", Asked::More, "much"}});
      },
      Fails<ConfigError>("much", "guidance"));
}

TEST_F(ImageFinder, StopsWhenNoMoreIsWanted) {
  std::atomic<bool> stopped{true};
  EXPECT_THAT(findImages(store_, {}, 0, stopped), IsEmpty());
}

TEST_F(ImageFinder, TellsNewImagesFromAnotherHistory) {
  const ImageStanding before = imageStanding(store_);
  add(bags_, 500, 9, Json::object());
  const ImageStanding more = imageStanding(store_);
  EXPECT_EQ(more.history, before.history);
  EXPECT_EQ(more.newest, before.newest + 1);
  EXPECT_EQ(more.count, before.count + 1);
  store_.deleteRun(boots_);
  EXPECT_NE(imageStanding(store_).history, before.history);
}

}  // namespace
}  // namespace vitrine::store

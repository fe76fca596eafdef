// Stars and tags of generated images: rows that several people write, and that stay with the image.
#include "core/store/tables/image_tags.h"

#include <gmock/gmock.h>

#include <ostream>

#include "core/store/exchange/exchange.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {

void PrintTo(const ImageTagRow& row, std::ostream* out) {
  *out << row.step << " " << row.sha256 << " " << row.tag;
}

namespace {

using test::Names;
using ::testing::ElementsAre, ::testing::IsEmpty;
using Tags = std::vector<ImageTagRow>;

const ImageTagRow kStar{400, "ab", ImageTagRow::kStar};
const ImageTagRow kPaper{400, "ab", "paper: ä \"b\""};
const ImageTagRow kLater{900, "cd", "paper"};

class ImageTags : public testing::StoreTest {
 protected:
  ImageTags() : one_(file()), two_(file()), run_(addRun(one_)) {}
  RunStore one_, two_;
  std::int64_t run_;
};

TEST_F(ImageTags, AreRowsOfTheDatabaseThatReadersHearOf) {
  const std::int64_t change = one_.lastChange();
  EXPECT_EQ(one_.setImageTags(run_, {kLater, kPaper, kStar, kLater}, 0), 1);
  EXPECT_THAT(two_.imageTags(run_), ElementsAre(kStar, kPaper, kLater));
  EXPECT_GT(two_.lastChange(), change);
  EXPECT_EQ(two_.version(run_, RunField::ImageTags), 1);
  EXPECT_EQ(
      Json(two_.query("SELECT run_id, step, sha256 FROM image_tags WHERE tag = '*'").rows).dump(),
      R"([[1,400,"ab"]])");
  EXPECT_EQ(one_.setImageTags(run_, {}, 1), 2);
  EXPECT_THAT(two_.imageTags(run_), IsEmpty());
}

TEST_F(ImageTags, GoWithTheirRun) {
  one_.setImageTags(run_, {kStar});
  one_.deleteRun(run_);
  EXPECT_EQ(testing::RawDatabase(file()).integer("SELECT count(*) FROM image_tag"), 0);
}

TEST_F(ImageTags, OfTwoWhoSawTheSameImagesAreAllThere) {
  EXPECT_EQ(one_.setImageTags(run_, {kStar}, 0), 1);
  EXPECT_EQ(one_.setImageTags(run_, {kStar, kPaper}, 1), 2);
  EXPECT_EQ(two_.setImageTags(run_, {kLater}, 1), 3) << "one removed, another added";
  EXPECT_THAT(one_.imageTags(run_), ElementsAre(kPaper, kLater));
}

TEST_F(ImageTags, ThatHaveNoRoomAreRefusedAndNothingIsLost) {
  one_.setImageTags(run_, {kStar});
  const auto refused = [&](const Tags& tags) {
    return test::refusal<ConfigError>([&] { one_.setImageTags(run_, tags); });
  };
  EXPECT_THAT(refused({{1, "ab", std::string(61, 'x')}}), Names("step 1", 61, 60));
  EXPECT_EQ(refused({{1, "ab", ""}}), "a tag of an image needs at least one character");
  EXPECT_THAT(refused({{1, "ab", "two\nlines"}}), Names("step 1"));
  EXPECT_THAT(refused({{1, "", "x"}}), Names("x", "step 1"));
  Tags many;
  for (int i = 0; i <= 5000; ++i) many.push_back({i, "ab", "x"});
  EXPECT_THAT(refused(many), Names("5,000"));
  EXPECT_THAT(one_.imageTags(run_), ElementsAre(kStar));
}

TEST_F(ImageTags, AsTextReadBackAsTheyAreAndOtherTextsAreRefused) {
  EXPECT_EQ(imageTagsFromText(imageTagsText({kLater, kStar, kPaper, kStar})),
            (Tags{kStar, kPaper, kLater}));
  for (const char* text : {"", "{}", "[1]", R"([{"step": 1, "sha256": "a"}])",
                           R"([{"step": 1.5, "sha256": "a", "tag": "b"}])",
                           R"([{"step": 18446744073709551615, "sha256": "a", "tag": "b"}])",
                           R"([{"step": 1, "sha256": 2, "tag": "b"}])"}) {
    EXPECT_THROW(static_cast<void>(imageTagsFromText(text)), Error) << text;
  }
}

TEST_F(ImageTags, StayWithTheirImagesInACopyWhereTheseHaveOtherNumbers) {
  GeneratedImage image{.step = 400, .sha256 = "ab"};
  image.width = image.height = 1;
  image.png = {std::byte{1}};
  one_.addImage(run_, image);
  one_.setImageTags(run_, {kStar});
  const auto exported = folder_ / "one.vitrine";
  exportRuns(file(), std::vector{run_}, exported, ExportFormat::Sqlite, ExportedCheckpoints::All);
  RunStore other(folder_ / "other.sqlite");
  const std::int64_t first = addRun(other);
  other.addImage(first, image);
  importRuns(folder_ / "other.sqlite", exported, Duplicates::Skip, "");
  const auto starred = other.query(
      "SELECT id, run_id FROM generated_images JOIN image_tags USING (run_id, step, sha256)");
  EXPECT_EQ(Json(starred.rows).dump(), "[[2,2]]");
}

}  // namespace
}  // namespace vitrine::store

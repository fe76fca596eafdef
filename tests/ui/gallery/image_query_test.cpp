#include "ui/gallery/image_query.h"

#include <gmock/gmock.h>

#include <ostream>

#include "tests/ui/support/qt_environment.h"

namespace vitrine::store {

void PrintTo(const ImageCondition& one, std::ostream* out) {
  *out << one.key << " " << static_cast<int>(one.test) << " " << one.value;
}

}  // namespace vitrine::store

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using Condition = store::ImageCondition;
using Asked = Condition::Test;

store::ImageSearch searchOf(const char* text) {
  const ImageQuery query = parseImageQuery(QString::fromUtf8(text));
  EXPECT_EQ(query.error.toStdString(), "") << text;
  return query.search;
}
std::string problemOf(const char* text) {
  return parseImageQuery(QString::fromUtf8(text)).error.toStdString();
}

TEST(ImageQuery, OfNoWordsAsksForAllImages) {
  EXPECT_THAT(searchOf(""), IsEmpty());
  EXPECT_THAT(searchOf("   "), IsEmpty());
}

TEST(ImageQuery, ReadsEveryComparison) {
  EXPECT_THAT(
      searchOf("sampler:ddim class=3 a!=b c<1 d<=2 e>3 settings.steps>=4.5"),
      ElementsAre(Condition{"sampler", Asked::Is, "ddim"}, Condition{"class", Asked::Is, "3"},
                  Condition{"a", Asked::IsNot, "b"}, Condition{"c", Asked::Less, "1"},
                  Condition{"d", Asked::AtMost, "2"}, Condition{"e", Asked::More, "3"},
                  Condition{"settings.steps", Asked::AtLeast, "4.5"}));
}

TEST(ImageQuery, TakesStarsTagsAndPlainWords) {
  EXPECT_THAT(searchOf("starred tag:x boots"),
              ElementsAre(Condition{"starred", Asked::Is, ""}, Condition{"tag", Asked::Is, "x"},
                          Condition{"words", Asked::Is, "boots"}));
}

TEST(ImageQuery, KeepsWhatStandsInQuotationMarksTogether) {
  EXPECT_THAT(searchOf("prompt:\"a photo of\" \"two words\""),
              ElementsAre(Condition{"prompt", Asked::Is, "a photo of"},
                          Condition{"words", Asked::Is, "two words"}));
}

TEST(ImageQuery, TurnsAWordRoundBehindAMinus) {
  EXPECT_THAT(
      searchOf("-starred -tag:x -boots -"),
      ElementsAre(Condition{"starred", Asked::IsNot, ""}, Condition{"tag", Asked::IsNot, "x"},
                  Condition{"words", Asked::IsNot, "boots"}, Condition{"words", Asked::Is, "-"}));
}

TEST(ImageQuery, SaysWhatCannotBeAsked) {
  EXPECT_EQ(problemOf("guidance>"), "guidance> needs a value, as in guidance>3");
  EXPECT_EQ(problemOf("guidance>much"), "\"much\" is not a number; guidance> needs one");
  EXPECT_EQ(problemOf("tag>3"), "tags have no order; write tag:3");
  EXPECT_EQ(problemOf("-class>3"), "-class>3 has two signs; leave the minus out");
}

}  // namespace
}  // namespace vitrine::ui

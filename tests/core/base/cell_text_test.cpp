// Values as text, and text as cells.
#include "core/base/cell_text.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

TEST(PlainText, IsTheTextItselfAndNumbersInTheirShortestForm) {
  EXPECT_EQ(plainText("a, \"b\""), "a, \"b\"");
  EXPECT_EQ(plainText(3), "3");
  EXPECT_EQ(plainText(0.1), "0.1");
  EXPECT_EQ(plainText(2.0), "2");
  EXPECT_EQ(plainText(true), "true");
  EXPECT_EQ(plainText(nullptr), "null");
  EXPECT_EQ(plainText(Json::array({1, "two"})), "[1,\"two\"]");
}

TEST(PlainText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(plainText("a\xff"), "a\xEF\xBF\xBD");
  EXPECT_EQ(plainText(Json::array({"a\xff"})), "[\"a\xEF\xBF\xBD\"]");
}

TEST(CsvCell, QuotesWhatWouldEndACell) {
  EXPECT_EQ(csvCell("plain text"), "plain text");
  EXPECT_EQ(csvCell("a,b"), "\"a,b\"");
  EXPECT_EQ(csvCell("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csvCell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csvCell("\r"), "\"\r\"");
  EXPECT_EQ(csvCell(""), "");
}

}  // namespace
}  // namespace vitrine

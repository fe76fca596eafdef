// Values as text, and text as cells.
#include "core/base/cell_text.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(ShellWord, IsQuotedWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(shellWord("train.epochs=5"), "train.epochs=5");
  EXPECT_EQ(shellWord("a b"), "'a b'");
  EXPECT_EQ(shellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(shellWord("$(x)"), "'$(x)'");
  EXPECT_EQ(shellWord(""), "''");
}

TEST(FileSlug, IsWordsWithSingleDashes) {
  EXPECT_EQ(fileSlug("Tour: four Classifiers"), "tour-four-classifiers");
  EXPECT_EQ(fileSlug("--../\u00fc!"), "experiment");
  EXPECT_EQ(fileSlug(std::string(59, 'a') + "/b"), std::string(59, 'a'));
  EXPECT_EQ(fileSlug(std::string(100, 'a')).size(), 60u);
}

}  // namespace
}  // namespace vitrine

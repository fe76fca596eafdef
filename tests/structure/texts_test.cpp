// Texts of the window: all go through tr(), quote alike and have short sentences, and the readers
// see those that do not.
#include "tests/structure/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::structure {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

std::vector<std::string> textsIn(std::string_view source) {
  std::vector<std::string> texts;
  for (const WindowText& one : untranslatedTexts("ui/a.cpp", source)) texts.push_back(one.text);
  return texts;
}

TEST(Texts, WithoutTrAreFound) {
  EXPECT_THAT(textsIn("label->setText(\"No runs\");"), ElementsAre("No runs"));
  EXPECT_THAT(textsIn("f(QStringLiteral(\"the \"\n  \"last one\").arg(1), QString::fromUtf8(\n"
                      "\"two words\"));"),
              ElementsAre("the last one", "two words"));
  EXPECT_EQ(untranslatedTexts("a.cpp", "x();\n\nQString(\"in line three\")").front().line, 3);
}

TEST(Texts, WithTrAndOfPartsAreNot) {
  EXPECT_THAT(textsIn("label->setText(tr(\"No runs\")); QStringLiteral(\"runs\");"), IsEmpty());
  EXPECT_THAT(textsIn("// QStringLiteral(\"in a comment\")\n/* QString(\"or another\") */"),
              IsEmpty());
  EXPECT_THAT(textsIn("setText(tr(\"a \\\"quoted text\\\"\")); c = '\"'; n = 1'000;"), IsEmpty());
  EXPECT_THAT(textsIn("throw Error(\"not shown by itself\");"), IsEmpty());
}

TEST(Texts, OfMarkupQueriesAndComparisonsAreNot) {
  EXPECT_THAT(textsIn("QStringLiteral(\"<b>bold text</b>\")"), IsEmpty());
  EXPECT_THAT(textsIn("QStringLiteral(\"SELECT id FROM runs\")"), IsEmpty());
  EXPECT_THAT(textsIn("w->setStyleSheet(QStringLiteral(\"border: 1px solid\"));"), IsEmpty());
  EXPECT_THAT(textsIn("a == QLatin1String(\"built in\") || b != QString::fromLatin1(\"not so\")"),
              IsEmpty());
}

TEST(Texts, WithAValueBetweenStraightQuotesAreFound) {
  const auto found = [](std::string_view source) {
    return straightlyQuoted("ui/a.cpp", source).size();
  };
  EXPECT_EQ(found("tr(\"Saved the query '%1'.\")"), 1U);
  EXPECT_EQ(found("QObject::tr(\"the tag \"\n\"\\\"%1\\\"\")"), 1U);
  EXPECT_EQ(found("tr(\"the tag \\u201c%1\\u201d\") + tr(\"<a href='%1'>show</a>\")"), 0U);
  EXPECT_EQ(found("QStringLiteral(\"SELECT '%1'\")"), 0U);
}

TEST(Texts, OfTheWindowHaveOneKindOfQuotes) {
  std::string sentences;
  for (const WindowText& one : textsOfWindow(VITRINE_SOURCE_DIR, straightlyQuoted)) {
    sentences += one.file + ":" + std::to_string(one.line) + ": \"" + one.text +
                 "\": quote with \\u201c and \\u201d.\n";
  }
  EXPECT_EQ(sentences, "");
}

TEST(Texts, WithASentenceOfTooManyWordsAreFound) {
  std::string words;
  for (int i = 0; i < kMostWords; ++i) words += "word ";
  const auto found = [](const std::string& text) {
    return longSentences("ui/a.cpp", "tr(\"" + text + "\")").size();
  };
  EXPECT_EQ(found(words), 0U);
  EXPECT_EQ(found(words + "more"), 1U);
  EXPECT_EQ(found(words + "\"\n\"more"), 1U) << "the pieces of a literal are one text";
  EXPECT_EQ(found(words + "\\u2013 %"), 0U) << "signs are no words";
  EXPECT_EQ(found("Before. " + words + "end. Behind"), 1U);
  EXPECT_EQ(found(words + "\\nmore"), 0U);
}

TEST(Texts, OfTheWindowHaveShortSentences) {
  std::string sentences;
  for (const WindowText& one : textsOfWindow(VITRINE_SOURCE_DIR, longSentences)) {
    sentences += one.file + ":" + std::to_string(one.line) + ": \"" + one.text +
                 "\": split it, or say less.\n";
  }
  EXPECT_EQ(sentences, "");
}

TEST(Texts, OfTheWindowAllGoThroughTr) {
  std::string sentences;
  for (const WindowText& one : textsOfWindow(VITRINE_SOURCE_DIR, untranslatedTexts)) {
    sentences += one.file + ":" + std::to_string(one.line) + ": \"" + one.text +
                 "\": show it through tr().\n";
  }
  EXPECT_EQ(sentences, "");
}

}  // namespace
}  // namespace vitrine::structure

#include "core/files/sample_lists.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"

namespace vitrine {
namespace {

using test::Names;
using ::testing::ElementsAre;

class SampleLists : public ::testing::Test {
 protected:
  template <class Read>
  std::string refusal(const Read& read, const std::string& text) {
    putFile(file(), text);
    return test::refusal<FileError>([&] { (void)read(file(), SampleListLimits{}); });
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "list"; }
  TemporaryFolder folder_;
};

TEST_F(SampleLists, ASplitListNamesPathsAndClasses) {
  putFile(file(), "cat/1.png\r\n\ndog/deep/2.png\nx.png\tZebra crossing\n");
  const auto entries = readSplitList(file());
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].path, "cat/1.png");
  EXPECT_EQ(entries[0].className, "");
  EXPECT_EQ(entries[2].path, "x.png");
  EXPECT_EQ(entries[2].className, "Zebra crossing");
}

TEST_F(SampleLists, AByteOrderMarkIsNotPartOfTheFirstEntry) {
  putFile(file(),
          "\xef\xbb\xbf"
          "cat/1.png\n");
  EXPECT_EQ(readSplitList(file()).at(0).path, "cat/1.png");
  EXPECT_EQ(readCorpus(file()), "cat/1.png\n");
}

TEST_F(SampleLists, APathThatLeadsOutOfTheFolderIsRefusedWithItsLine) {
  const auto read = [&](const std::string& line) {
    return refusal([](const auto&... all) { return readSplitList(all...); }, "a/b.png\n" + line);
  };
  EXPECT_THAT(read("/etc/passwd"), Names("line 2", "/etc/passwd"));
  for (const char* path :
       {"a/../../b.png", "a//b.png", "a\\b.png", "a/\x01.png", "alone.png", "a/b.png\t"})
    EXPECT_THAT(read(path), Names("list", "line 2")) << path;
  EXPECT_THAT(read("a/\xff.png"), Names("list"));
}

TEST_F(SampleLists, CaptionsAreOneOrSeveral) {
  putFile(file(),
          "{\"image\": \"a/1.png\", \"caption\": \"a \\u00e9clair\"}\n"
          "{\"captions\": [\"one\", \"two\"], \"image\": \"2.png\"}\n");
  const auto entries = readCaptions(file());
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_THAT(entries[0].captions, ElementsAre("a \xc3\xa9"
                                               "clair"));
  EXPECT_EQ(entries[1].path, "2.png");
  EXPECT_THAT(entries[1].captions, ElementsAre("one", "two"));
}

TEST_F(SampleLists, ALineOfCaptionsThatIsNoneSaysWhy) {
  const auto read = [&](const std::string& line) {
    return refusal([](const auto&... all) { return readCaptions(all...); }, line);
  };
  EXPECT_EQ(read("[]"), file().string() + ", line 1: is not a JSON object");
  EXPECT_THAT(read(R"({"image": "a", "caption": "b")"), Names("line 1"));
  EXPECT_THAT(read(R"({"image": "../a", "caption": "b"})"), Names("line 1", "../a"));
  EXPECT_THAT(read(R"({"caption": "b"})"), Names("line 1", "image"));
  EXPECT_THAT(read(R"({"image": "a"})"), Names("line 1", "caption", "captions"));
  EXPECT_THAT(read(R"({"image": "a", "captions": []})"), Names("line 1", "captions", 64));
  EXPECT_THAT(read(R"({"image": "a", "captions": [1]})"), Names("line 1", "captions"));
  EXPECT_THAT(read(R"({"image": "a", "caption": "b", "id": 1})"), Names("line 1", "id"));
  EXPECT_THAT(read("\n\n"), Names("list"));
}

TEST_F(SampleLists, QuestionsHaveChoicesAndARightOne) {
  putFile(file(), "{\"context\": \"It was\", \"choices\": [\"he\", \"she\"], \"answer\": 1}");
  const auto entries = readChoices(file());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].answer, 1);
  EXPECT_THAT(entries[0].choices, ElementsAre("he", "she"));
  const auto read = [&](const std::string& line) {
    return refusal([](const auto&... all) { return readChoices(all...); }, line);
  };
  EXPECT_THAT(read(R"({"context": "a", "choices": ["b"], "answer": 0})"), Names("choices", 2, 64));
  for (const char* answer : {"2", "-1", "0.5", "\"0\"", "18446744073709551616"}) {
    const std::string question = R"({"context": "a", "choices": ["b", "c"], "answer": )";
    EXPECT_THAT(read(question + answer + "}"), Names("answer", 0, 1)) << answer;
  }
}

TEST_F(SampleLists, LimitsAreKept) {
  putFile(file(), "a/1.png\na/2.png\na/3.png\n");
  const auto sentence = [&](const SampleListLimits& limits) {
    return test::refusal<FileError>([&] { (void)readSplitList(file(), limits); });
  };
  EXPECT_EQ(sentence({}), "");
  EXPECT_THAT(sentence({.entries = 2}), Names("line 3", 2));
  EXPECT_THAT(sentence({.line = 6}), Names("line 1"));
  EXPECT_NE(sentence({.bytes = 10}), "");
}

TEST(Documents, AreFilesParagraphsOrLines) {
  const std::string text = "  one\ntwo \n\n \t\nthree\r\n\r\nfour";
  const auto parts = [&](Documents by) {
    std::vector<std::string> out;
    for (const TextRange& range : divideText(text, by))
      out.push_back(text.substr(range.begin, range.end - range.begin));
    return out;
  };
  EXPECT_THAT(parts(Documents::Line), ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(parts(Documents::Paragraph), ElementsAre("one\ntwo", "three", "four"));
  EXPECT_THAT(parts(Documents::File), ElementsAre("one\ntwo \n\n \t\nthree\r\n\r\nfour"));
  EXPECT_TRUE(divideText(" \n\n", Documents::File).empty());
}

}  // namespace
}  // namespace vitrine

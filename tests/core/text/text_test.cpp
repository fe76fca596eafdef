#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/eval/captions.h"
#include "core/text/token_rows.h"
#include "core/text/unicode.h"
#include "tests/support/golden_case.h"
#include "tests/support/golden_rules.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Exception, class Function>
std::string refusal(const Function& function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ByteTokenizer, TokensAreTheBytesAndEightSpecialOnes) {
  const ByteTokenizer tokenizer;
  EXPECT_EQ(tokenizer.vocabularySize(), 264);
  const TokenIds tokens = tokenizer.encode("a\xC3\xA9");
  EXPECT_THAT(tokens, ElementsAre(0x61, 0xC3, 0xA9));
  EXPECT_EQ(tokenizer.decode(tokens), "a\xC3\xA9");
  EXPECT_THAT(tokenizer.encode("<eos>"), ::testing::SizeIs(5))
      << "text from outside makes no special tokens";
  EXPECT_THAT(tokenizer.encode("x<eos>", "t", SpecialNames::Recognised),
              ElementsAre('x', ByteTokenizer::kEnd));
  EXPECT_EQ(tokenizer.decode(TokenIds{ByteTokenizer::kBegin, 'h', ByteTokenizer::kEnd}), "h");
  EXPECT_EQ(tokenizer.decode(TokenIds{'h', ByteTokenizer::kEnd}, ShowSpecials::Yes), "h<eos>");
  EXPECT_EQ(tokenizer.decode(TokenIds{0xC3, 'x'}), "\xEF\xBF\xBDx");
}

TEST(Tokenizer, NamesTheByteThatIsNotUtf8) {
  for (const char* text : {"ab\xFF", "ab\xC3", "ab\xED\xA0\x80", "ab\xC0\x80"}) {
    EXPECT_THAT(refusal<ConfigError>([&] { (void)ByteTokenizer().encode(text, "sample 3"); }),
                HasSubstr("sample 3 is not UTF-8: byte 2 is 0x"));
  }
}

TEST(Tokenizer, RefusesATokenOfAnotherVocabulary) {
  EXPECT_THAT(refusal<ConfigError>([] { (void)ByteTokenizer().decode(TokenIds{264}); }),
              HasSubstr("token 264 is outside the vocabulary of 264"));
  EXPECT_THAT(refusal<ConfigError>([] { requireVocabulary(ByteTokenizer(), 300); }),
              HasSubstr("the tokenizer has 264 tokens, the model a vocabulary of 300"));
}

/// Every text of a case, from each of its files.
void expectReproduced(const std::string& name, std::size_t least) {
  const testing::GoldenCase golden = testing::openGoldenCase(name);
  std::size_t compared = 0;
  for (const testing::Compared& line : testing::compareCase(golden, testing::runRuleCase(golden))) {
    EXPECT_TRUE(line.isMapped) << line.tensor;
    EXPECT_FALSE(line.isMiss()) << line.tensor << " " << line.error << " " << line.problem;
    ++compared;
  }
  EXPECT_GE(compared, least) << name;
}

TEST(TokenizerFiles, TwoHundredTextsOfEachKindAreReproduced) {
  expectReproduced("llama/tokenizer_byte_level", 1600U);  // from two files
  expectReproduced("llama/tokenizer_sentencepiece", 800U);
}

TEST(TokenizerFiles, RefuseWhatTheyCannotRead) {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder.path() / name, std::ios::binary) << content;
    return (folder.path() / name).string();
  };
  EXPECT_THAT(refusal<NotFoundError>([&] { (void)openTokenizer("/nowhere/tokenizer.json"); }),
              HasSubstr("there is no tokenizer file /nowhere/tokenizer.json"));
  EXPECT_THAT(refusal<FileError>([&] { (void)openTokenizer(file("a.json", "{")); }),
              HasSubstr("it is not JSON"));
  EXPECT_THAT(refusal<FileError>([&] {
                (void)openTokenizer(file("b.json", R"({"model": {"type": "Unigram"}})"));
              }),
              HasSubstr("'Unigram' is not offered"));
  EXPECT_THAT(refusal<FileError>([&] {
                (void)openTokenizer(file("c.json", R"({"model": {"type": "BPE"}, "pre_tokenizer":
                    {"type": "Split", "pattern": {"Regex": "x+"}}})"));
              }),
              HasSubstr("a pattern that is not offered: \"x+\""));
  EXPECT_THAT(refusal<FileError>([&] { (void)openTokenizer(file("d.model", "\x0A\x09proto")); }),
              HasSubstr("line 2 is not base64 and the rank 0"));
  EXPECT_THAT(refusal<FileError>([&] { (void)openTokenizer(file("e.model", "IQ== 0\n")); }),
              HasSubstr("has no token for the byte 0"));
}

TEST(TokenRows, TargetsStayWithinADocument) {
  const at::Tensor tokens = at::tensor({5, 6, 7, 8, 9, 0}, at::kLong).view({1, 6});
  const at::Tensor documents = at::tensor({0, 0, 1, 1, 1, -1}, at::kLong).view({1, 6});
  EXPECT_TRUE(at::equal(nextTokens(tokens, documents),
                        at::tensor({6, -100, 8, 9, -100, -100}, at::kLong).view({1, 6})));
  EXPECT_TRUE(
      at::equal(nextTokens(tokens), at::tensor({6, 7, 8, 9, 0, -100}, at::kLong).view({1, 6})));
  EXPECT_TRUE(
      at::equal(documentBegins(documents), at::tensor({0, 0, 2, 2, 2, 5}, at::kLong).view({1, 6})));
}

TEST(TokenRows, AChoiceFollowsTheProbabilities) {
  const at::Tensor logits = at::tensor({0.1, 0.6, 0.3}, at::kFloat).log();
  EXPECT_EQ(chooseToken(logits, {}, 0.99), 1);
  const TokenChoice drawn{1.0, {}};
  EXPECT_EQ(chooseToken(logits, drawn, 0.05), 0);
  EXPECT_EQ(chooseToken(logits, drawn, 0.5), 1);
  EXPECT_EQ(chooseToken(logits, drawn, 0.75), 2);
  EXPECT_EQ(chooseToken(logits, {1.0, 2}, 0.0), 1) << "the least likely is left out";
  EXPECT_EQ(chooseToken(logits, {1.0, 2}, 0.7), 2);
}

TEST(TokenRows, TheTokenizerOfARunIsThatOfItsPipeline) {
  const Json stage = {
      {"name", "tokenize"}, {"tokenizer", "bytes"}, {"begin", true}, {"end", false}};
  const TokenizeStage found = tokenizeStageOf({{"train", {stage}}, {"evaluate", {stage}}});
  ASSERT_NE(found.tokenizer, nullptr);
  EXPECT_TRUE(found.begins);
  EXPECT_FALSE(found.ends);
  EXPECT_EQ(tokenizeStageOf({{"train", Json::array()}}).tokenizer, nullptr);
  Json other = stage;
  other["tokenizer"] = "other.json";
  EXPECT_THAT(refusal<ConfigError>([&] {
                (void)tokenizeStageOf({{"train", {stage}}, {"evaluate", {other}}});
              }),
              HasSubstr("training has the tokenizer 'bytes' and evaluation 'other.json'"));
}

TEST(Captions, ScoresOfTheReferenceAreReproduced) {
  expectReproduced("llamafusion/metric_cider", 10U);
}

TEST(Captions, ClipScoresOfTheReferenceAreReproduced) {
  expectReproduced("llamafusion/metric_clip_score", 3U);
  EXPECT_THROW((void)eval::clipScores(at::ones({2, 3}), at::ones({2, 4})), ShapeError);
}

TEST(Captions, TheOrderOfReferencesDoesNotMatter) {
  const std::vector<std::string> captions{"a red shirt", "a black bag"};
  const auto scores = eval::captionScores(captions, {{"a red shirt", "one shirt"}, {"a bag"}});
  const auto turned = eval::captionScores(captions, {{"one shirt", "a red shirt"}, {"a bag"}});
  EXPECT_GT(scores.mean, 0);
  EXPECT_NEAR(scores.mean, turned.mean, 1e-12);
}

}  // namespace
}  // namespace vitrine::text

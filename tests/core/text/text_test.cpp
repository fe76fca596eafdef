#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/eval/captions.h"
#include "core/text/token_rows.h"
#include "core/text/unicode.h"
#include "tests/support/golden/case.h"
#include "tests/support/golden/rules.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::text {
namespace {

using test::Fails, test::Names, test::refusal;
using ::testing::ElementsAre;

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

TEST(ByteTokenizer, WordsAreTokensOfTheirOwnTheLongestFirst) {
  const ByteTokenizer tokenizer({" shoe", " shoes", "a"});
  EXPECT_EQ(tokenizer.vocabularySize(), 267);
  const TokenIds tokens = tokenizer.encode("a shoes shoe!");
  EXPECT_THAT(tokens, ElementsAre(266, 265, 264, '!'));
  EXPECT_EQ(tokenizer.decode(tokens), "a shoes shoe!");
  EXPECT_EQ(tokenizer.byteCount(265), 6);
  EXPECT_THAT(refusal<ConfigError>([] { (void)ByteTokenizer({"x", "x"}); }), Names("word 1", "x"));
  EXPECT_THAT([&] { (void)ByteTokenizer({""}); }, Fails<ConfigError>("word 0"));
  EXPECT_THAT([&] { (void)openTokenizer("a.json", {"x"}); }, Fails<ConfigError>("a.json", "bytes"));
}

TEST(Tokenizer, NamesTheByteThatIsNotUtf8) {
  for (const char* text : {"ab\xFF", "ab\xC3", "ab\xED\xA0\x80", "ab\xC0\x80"}) {
    EXPECT_THAT([&] { (void)ByteTokenizer().encode(text, "sample 3"); },
                Fails<ConfigError>("sample 3", "byte 2"));
  }
}

TEST(Tokenizer, RefusesATokenOfAnotherVocabulary) {
  EXPECT_THAT([&] { (void)ByteTokenizer().decode(TokenIds{264}); }, Fails<ConfigError>(264));
  EXPECT_THAT([&] { requireVocabulary(ByteTokenizer(), 300); }, Fails<ConfigError>(264, 300));
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

/// A field of a protobuf: a string or message.
std::string bytesField(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  std::size_t size = bytes.size();
  for (; size > 127; size >>= 7U) out += static_cast<char>((size & 0x7FU) | 0x80U);
  return out + static_cast<char>(size) + bytes;
}
std::string numberField(int number, char value) {
  return std::string(1, static_cast<char>(number << 3)) + value;
}
std::string pieceField(const std::string& text, float score, char kind) {
  std::string bits(4, '\0');
  std::memcpy(bits.data(), &score, sizeof score);
  return bytesField(1, bytesField(1, text) + std::string(1, '\x15') + bits + numberField(3, kind));
}
const std::string kPairs = bytesField(2, numberField(3, 2));
const std::string kUnchanged = bytesField(3, bytesField(1, "identity") + numberField(4, 0));

/// The vocabulary of the reference case's tokenizer.json as a SentencePiece model.
std::string sentencePieceModel(const Json& root) {
  std::map<std::string, float> scores;
  for (const Json& merge : root.at("model").at("merges")) {
    const float score = -static_cast<float>(scores.size());
    scores.emplace(merge.at(0).get<std::string>() + merge.at(1).get<std::string>(), score);
  }
  std::map<std::int64_t, std::string> texts;
  for (const auto& [text, token] : root.at("model").at("vocab").items()) texts[token] = text;
  std::string model;
  for (const auto& [token, text] : texts) {
    const bool isByte = text.size() == 6 && text.starts_with("<0x");
    const char kind = token == 0 ? 2 : token < 3 ? 3 : isByte ? 6 : 1;
    const auto score = scores.find(text);
    model += pieceField(text, score == scores.end() ? -1e6F : score->second, kind);
  }
  return model + kPairs + kUnchanged;
}

TEST(TokenizerFiles, ASentencePieceModelGivesTheTokensOfItsJson) {
  const std::filesystem::path folder =
      testing::openGoldenCase("llama/tokenizer_sentencepiece").folder;
  const auto read = [](const std::filesystem::path& file) {
    std::ifstream in(file);
    return Json::parse(in);
  };
  const TemporaryFolder own;
  const std::string file = (own.path() / "tokenizer.model").string();
  std::ofstream(file, std::ios::binary) << sentencePieceModel(read(folder / "tokenizer.json"));
  const auto tokenizer = openTokenizer(file);
  const auto json = openTokenizer((folder / "tokenizer.json").string());
  EXPECT_EQ(tokenizer->vocabularySize(), json->vocabularySize());
  EXPECT_EQ(tokenizer->beginToken(), json->beginToken());
  EXPECT_EQ(tokenizer->endToken(), json->endToken());
  int texts = 0;
  for (const Json& pair : read(folder / "pairs.json")) {
    const std::string text = pair.at("text");
    const TokenIds tokens = json->encode(text);
    EXPECT_EQ(tokenizer->encode(text), tokens) << text;
    EXPECT_EQ(tokenizer->decode(tokens), json->decode(tokens)) << text;
    ++texts;
  }
  EXPECT_EQ(texts, 200);
}

TEST(TokenizerFiles, TheSpaceBeforeATextIsKeptInsideOne) {
  const std::filesystem::path folder =
      testing::openGoldenCase("llama/tokenizer_sentencepiece").folder;
  const auto tokenizer = openTokenizer((folder / "tokenizer.json").string());
  const TokenIds tokens = tokenizer->encode("the end");
  EXPECT_EQ(tokenizer->decode(tokens), "the end");
  EXPECT_EQ(tokenizer->decode(tokens, ShowSpecials::No, TextPlace::Inside), " the end");
  const TokenIds plain = ByteTokenizer().encode(" the end");
  EXPECT_EQ(ByteTokenizer().decode(plain), " the end") << "of a vocabulary that puts none there";
}

TEST(TokenizerFiles, SpecialTokensMayLeaveNumbersFreeButNotByTheMillion) {
  std::ifstream in(testing::openGoldenCase("llama/tokenizer_byte_level").folder / "tokenizer.json");
  Json root = Json::parse(in);
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "tokenizer.json").string();
  const auto opened = [&](std::int64_t number) {
    root["added_tokens"].back()["id"] = number;
    std::ofstream(file) << root.dump();
    return openTokenizer(file);
  };
  const auto tokenizer = opened(900);
  EXPECT_EQ(tokenizer->vocabularySize(), 901);
  EXPECT_EQ(tokenizer->decode(TokenIds{890}), "") << "a number that no token has";
  EXPECT_EQ(tokenizer->byteCount(890), 0);
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    EXPECT_THAT([&] { (void)opened(number); },
                Fails<FileError>("tokenizer.json", "<|eot_id|>", std::to_string(number)));
  }
}

TEST(TokenizerFiles, RefuseWhatTheyCannotRead) {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder.path() / name, std::ios::binary) << content;
    return (folder.path() / name).string();
  };
  const auto modelRefusal = [&](const std::string& content) {
    return refusal<FileError>([&] { (void)openTokenizer(file("s.model", content)); });
  };
  const std::string piece = pieceField("a", 0, 1);
  EXPECT_THAT(modelRefusal(piece),
              ::testing::EndsWith("a SentencePiece model: it has no rule for how texts are cut"));
  EXPECT_THAT(modelRefusal(piece + bytesField(2, numberField(3, 1)) + kUnchanged),
              Names("s.model", "kind 1", "kind 2"));
  EXPECT_THAT(modelRefusal(piece + kPairs + bytesField(3, bytesField(1, "nmt_nfkc"))),
              Names("s.model", "nmt_nfkc"));
  EXPECT_THAT(modelRefusal(piece + piece + kPairs + kUnchanged), Names("s.model", "'a'"));
  EXPECT_THAT(modelRefusal(pieceField("a", 0, 4) + kPairs + kUnchanged),
              Names("s.model", "piece 0", "'a'"));
  EXPECT_THAT(modelRefusal(piece + kPairs + kUnchanged), Names("s.model", "<0x00>"));
  EXPECT_THAT(modelRefusal(piece + pieceField(std::string(5000, 'b'), 0, 1) + kPairs + kUnchanged),
              Names("s.model", "piece 1", "4096"));
  EXPECT_THAT([&] { (void)openTokenizer("/nowhere/tokenizer.json"); },
              Fails<NotFoundError>("/nowhere/tokenizer.json"));
  EXPECT_THAT([&] { (void)openTokenizer(file("a.json", "{")); }, Fails<FileError>("a.json"));
  EXPECT_THAT([&] { (void)openTokenizer(file("b.json", R"({"model": {"type": "Unigram"}})")); },
              Fails<FileError>("b.json", "Unigram"));
  EXPECT_THAT(
      [&] {
        (void)openTokenizer(file("c.json", R"({"model": {"type": "BPE"}, "pre_tokenizer":
                    {"type": "Split", "pattern": {"Regex": "x+"}}})"));
      },
      Fails<FileError>("c.json", "x+"));
  EXPECT_THAT(
      [&] {
        (void)openTokenizer(file("g.json", R"({"model": {"type": "BPE"}, "pre_tokenizer":
                    {"type": "ByteLevel", "use_regex": false, "add_prefix_space": false}})"));
      },
      Fails<FileError>("g.json", "Split"));
  EXPECT_THAT([&] { (void)openTokenizer(file("d.model", "\x0A\x09proto")); },
              Fails<FileError>("d.model"));
  EXPECT_THAT([&] { (void)openTokenizer(file("f.model", "IQ==\n")); },
              Fails<FileError>("f.model", "line 1"));
  EXPECT_THAT([&] { (void)openTokenizer(file("e.model", "IQ== 0\n")); },
              Fails<FileError>("e.model", 0));
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
  EXPECT_THAT(
      [&] {
        (void)tokenizeStageOf({{"train", {stage}}, {"evaluate", {other}}});
      },
      Fails<ConfigError>("bytes", "other.json"));
}

TEST(TokenRows, OtherWordsOrAnotherFileChangeWhatTheTokensOfWeightsMean) {
  const auto planOf = [](const Json& settings) {
    Json stage = {{"name", "tokenize"}};
    stage.update(settings);
    const Json list = Json::array({{{"name", "label_text"}}, stage});
    return Json{{"train", list}, {"evaluate", list}};
  };
  const Json words = planOf({{"words", {" a", " b"}}});
  EXPECT_EQ(tokenizerChange(words, words), "");
  EXPECT_EQ(tokenizerChange(words, planOf({{"words", {" a", " b"}}, {"begin", false}})), "");
  EXPECT_EQ(tokenizerChange(words, planOf({{"words", {" b", " a"}}})),
            "word 0 of the tokenizer is ' a' in data.pipeline and ' b' in the run that the weights "
            "are of; give the same words in the same order, or leave out the tables of tokens with "
            "init.skip");
  EXPECT_THAT(tokenizerChange(words, planOf({{"words", Json::array({" a"})}})),
              Names("word 1", "' b'"));
  EXPECT_EQ(tokenizerChange(words, {{"train", Json::array()}}), "");
  EXPECT_EQ(tokenizerChange(words, Json()), "") << "no pipeline is known";

  const TemporaryFolder folder;
  const auto fileOf = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder / name) << content;
    return planOf({{"tokenizer", (folder / name).string()}});
  };
  const Json one = fileOf("one.json", "{}"), copy = fileOf("copy.json", "{}"),
             other = fileOf("other.json", "[]");
  EXPECT_EQ(tokenizerChange(one, copy), "");
  EXPECT_THAT(tokenizerChange(one, other), Names("one.json", "other.json", "init.skip"));
  EXPECT_THAT(tokenizerChange(one, words), Names("one.json", "bytes"));
  EXPECT_EQ(tokenizerChange(one, planOf({{"tokenizer", (folder / "moved.json").string()}})), "");
}

TEST(Captions, ScoresOfTheReferenceAreReproduced) {
  expectReproduced("llamafusion/metric_cider", 10U);
}

TEST(Captions, ClipScoresOfTheReferenceAreReproduced) {
  expectReproduced("llamafusion/metric_clip_score", 3U);
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

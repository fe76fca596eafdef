#include "plugins/datasets/text/continuations.h"

#include <gmock/gmock.h>

#include <set>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "tests/core/files/made_files.h"

namespace vitrine::text {
namespace {

using test::Fails;
using ::testing::ElementsAre, ::testing::HasSubstr;

std::shared_ptr<const Dataset> open(const Json& changes = Json::object()) {
  Json values = ContinuationsSource().card().schema.defaults();
  values.update(changes);
  return ContinuationsSource().open(Config(values));
}

ChoiceQuestion questionOf(const Dataset& set, Split split, std::int64_t id) {
  Sample sample;
  sample.begin(id);
  set.read(split, id, sample);
  const auto choices = sample.at("choices").texts();
  return {sample.at("context").texts()[0],
          {choices.begin(), choices.end()},
          sample.at("label").get<std::int64_t>()[0]};
}

std::multiset<std::string> wordsOf(const std::string& text) {
  std::multiset<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

TEST(Continuations, OfTheGrammarAreTheOnesTheyWere) {
  const auto set = open();
  std::string text;
  for (std::int64_t id = 0; id < 64; ++id) {
    const ChoiceQuestion question = questionOf(*set, Split::Train, id);
    text += question.context + "\n";
    for (const std::string& choice : question.choices) text += choice + "\n";
    text += std::to_string(question.answer) + "\n";
  }
  EXPECT_EQ(sha256OfText(text), "a9f89a50ff92586a05034bd92c27901bd410053a496873ff3ede1d1299e1b62c");
}

TEST(Continuations, HaveFourDifferentOrdersOfTheSameWords) {
  const auto set = open();
  std::array<int, kContinuations> answers{};
  for (std::int64_t id = 0; id < 400; ++id) {
    const ChoiceQuestion question = questionOf(*set, Split::Test, id);
    ASSERT_EQ(question.choices.size(), kContinuations);
    EXPECT_EQ(std::set<std::string>(question.choices.begin(), question.choices.end()).size(),
              kContinuations);
    for (const std::string& choice : question.choices)
      EXPECT_EQ(wordsOf(choice), wordsOf(question.choices[0]));
    // The end of every sentence of the grammar.
    EXPECT_THAT(question.choices[static_cast<std::size_t>(question.answer)], HasSubstr(" was "));
    ++answers[static_cast<std::size_t>(question.answer)];
  }
  for (const int count : answers) EXPECT_NEAR(count, 100, 43) << "five standard deviations";
  EXPECT_NE(questionOf(*set, Split::Train, 3).context, questionOf(*set, Split::Test, 3).context);
  EXPECT_NE(questionOf(*set, Split::Train, 3).context,
            questionOf(*open({{"seed", 1}}), Split::Train, 3).context);
}

TEST(Continuations, OfATextAreItsSentences) {
  const TemporaryFolder folder;
  putFile(
      folder / "test.txt",
      "In the beginning there was\na long quiet road by the sea. Too short. And then the two of "
      "them walked away from it! was was was was was was was was was was.\n");
  EXPECT_THAT(sentencesOf("One two three four five six seven eight? No."),
              ElementsAre("One two three four five six seven eight"));
  const auto set = open({{"folder", folder.path().string()}});
  EXPECT_EQ(set->size(Split::Train), 0);
  ASSERT_EQ(set->size(Split::Test), 2) << "words that cannot be shuffled make no question";
  const ChoiceQuestion question = questionOf(*set, Split::Test, 0);
  EXPECT_EQ(question.context, "In the beginning there was a");
  EXPECT_EQ(question.choices[static_cast<std::size_t>(question.answer)],
            "long quiet road by the sea");
  EXPECT_GT(set->memoryBytes(), 40);
  putFile(folder / "test.txt", "Short.");
  EXPECT_THAT([&] { (void)open({{"folder", folder.path().string()}}); }, Fails<FileError>(8, 40));
}

}  // namespace
}  // namespace vitrine::text

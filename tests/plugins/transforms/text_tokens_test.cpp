// tokenize: parts of long texts.
#include <gmock/gmock.h>

#include <ctime>
#include <set>

#include "core/base/error.h"
#include "plugins/transforms/transforms.h"
#include "tests/support/refusal.h"

namespace vitrine::transforms {
namespace {

/// Letters of the alphabet in turn.
std::string alphabet(std::size_t size) {
  std::string text(size, 'a');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}

class Tokenized {
 public:
  explicit Tokenized(Json changes) {
    Json values = Json::object();
    for (const Field& field : item_->card().schema.fields) values[field.name] = field.defaultValue;
    values.update(changes);
    config_ = Config(std::move(values));
    context_.fields = {{"text", FieldKind::Text, at::kByte, {}, ""}};
  }
  /// As a thread of its own would have it.
  std::unique_ptr<SampleTransform> made() const { return item_->forSamples(config_, context_); }

 private:
  std::unique_ptr<Transform> item_ = makeTokenize();
  Config config_{Json::object()};
  TransformContext context_;
};

std::vector<std::int64_t> tokensOf(SampleTransform& transform, const std::string& text,
                                   std::int64_t epoch) {
  static const RandomStream stream(1, "tokenize");
  Sample sample;
  sample.begin(3);
  sample["text"].resizeTexts(1)[0] = text;
  transform.apply(sample, Draws(stream, epoch, 3));
  const auto tokens = sample.at("tokens").get<std::int64_t>();
  return {tokens.begin(), tokens.end()};
}

TEST(Tokenize, ADocumentIsEncodedOnceForAllThreads) {
  // A long word makes the encoding slow: it is looked for at every place.
  const Tokenized tokenized({{"words", {std::string(64, '-')}}, {"length", 16}});
  const auto first = tokenized.made(), second = tokenized.made();
  const std::string text = alphabet(200'000);
  const auto secondsOf = [&](SampleTransform& transform, std::int64_t epoch) {
    const std::clock_t begin = std::clock();
    EXPECT_EQ(tokensOf(transform, text, epoch).size(), 16U);
    return static_cast<double>(std::clock() - begin);
  };
  const double encoding = secondsOf(*first, 0);
  EXPECT_LT(secondsOf(*first, 1) * 4, encoding);
  EXPECT_LT(secondsOf(*second, 2) * 4, encoding);
}

TEST(Tokenize, APartOfALongTextIsOneOfItsWindows) {
  const auto transform = Tokenized({{"length", 30}, {"begin", false}, {"end", false}}).made();
  for (const std::size_t size : {std::size_t{1000}, std::size_t{100'000}}) {
    std::set<std::int64_t> begins;
    for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
      const std::vector<std::int64_t> tokens = tokensOf(*transform, alphabet(size), epoch);
      ASSERT_EQ(tokens.size(), 30U);
      begins.insert(tokens.front());
      for (std::size_t i = 1; i < tokens.size(); ++i)
        EXPECT_EQ((tokens[i] - tokens[i - 1] + 26) % 26, 1) << size << " at " << i;
    }
    EXPECT_GT(begins.size(), 2U);
  }
}

TEST(Tokenize, BeginAndEndStandAroundATextOfEveryLength) {
  const auto transform = Tokenized(Json{{"window", "first"}}).made();
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{100'000}}) {
    const std::vector<std::int64_t> tokens = tokensOf(*transform, alphabet(size), 0);
    ASSERT_EQ(tokens.size(), size + 2);
    EXPECT_EQ(tokens.front(), 256);
    EXPECT_EQ(tokens.back(), 257);
  }
}

TEST(Tokenize, ALongTextThatIsNotUtf8IsRefusedEachTime) {
  const auto transform = Tokenized(Json{{"length", 30}}).made();
  const std::string text = alphabet(100'000) + '\xff';
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT([&] { (void)tokensOf(*transform, text, i); },
                test::Fails<ConfigError>("'text' of sample 3"));
  }
}

}  // namespace
}  // namespace vitrine::transforms

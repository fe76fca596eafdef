// tokenize: parts of long texts.
#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "plugins/transforms/text_encoder.h"
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

/// The tokenizer of bytes; counts the texts that it encodes.
class CountingTokenizer final : public text::Tokenizer {
 public:
  [[nodiscard]] std::int64_t vocabularySize() const override { return 256; }
  [[nodiscard]] std::int64_t byteCount(std::int64_t) const override { return 1; }
  [[nodiscard]] int encodings() const { return encodings_.load(); }

 private:
  void encodePiece(std::string_view piece, text::TokenIds& tokens) const override {
    ++encodings_;
    for (const char c : piece) tokens.push_back(static_cast<unsigned char>(c));
  }
  [[nodiscard]] std::string decodeAll(std::span<const std::int64_t>) const override { return ""; }

  mutable std::atomic<int> encodings_ = 0;
};

TEST(TextEncoder, EncodesALongTextOnceForAllThreads) {
  const auto tokenizer = std::make_shared<CountingTokenizer>();
  TextEncoder encoder(tokenizer);
  const std::string text = alphabet(200'000);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { EXPECT_EQ(encoder.encode(text, "a text")->size(), text.size()); });
  }
  EXPECT_EQ(tokenizer->encodings(), 1);
  EXPECT_EQ(encoder.encode("short", "a text")->size(), 5U);
  EXPECT_EQ(encoder.encode("short", "a text")->size(), 5U);
  EXPECT_EQ(tokenizer->encodings(), 3) << "short texts are not kept";
}

TEST(TextEncoder, IsTheSameForAllThatHaveItsTokenizer) {
  TextEncoders encoders;
  const auto one = encoders.of("bytes", {});
  EXPECT_EQ(encoders.of("bytes", {}), one);
  EXPECT_NE(encoders.of("bytes", {"word"}), one);
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

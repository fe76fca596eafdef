// Tokens that a model and a tokenizer share.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/text/tokenizer.h"
#include "plugins/tasks/text_image/sequences.h"
#include "tests/plugins/text_image/small_setup.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::text_image {
namespace {

using test::Names;

TEST(ModelTokens, AreThoseOfTheTokenizerOrTheTaskIsRefused) {
  const auto refused = [](const Json& keys) -> std::string {
    return test::refusal<ConfigError>([&] { (void)opened({.modelKeys = keys}); });
  };
  EXPECT_EQ(refused(Json::object()), "");
  EXPECT_EQ(refused({{"eoi_id", 256}}), "") << "the token that begins texts may end images";
  EXPECT_THAT(refused({{"bos_id", 260}}), Names("model.bos_id = 260", "model.bos_id = 256"));
  EXPECT_EQ(refused({{"eos_id", 256}}),
            "model.eos_id = 256 is not the token that ends a text in the tokenizer of "
            "data.pipeline, <eos> = 257; set model.eos_id = 257");
  EXPECT_EQ(refused({{"boi_id", 97}}),
            "model.boi_id = 97 is a piece of text in the tokenizer of data.pipeline, 'a'; name a "
            "special token, as in <bos> = 256, <eos> = 257, <boi> = 258, <eoi> = 259");
  EXPECT_THAT(refused({{"eoi_id", 98}}), Names("model.eoi_id = 98", "b"));
}

/// A tokenizer file of the 256 bytes and "th". Its special tokens begin at 257.
std::string writtenTokenizer(const TemporaryFolder& folder) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string file = (folder / "tokenizer.model").string();
  std::ofstream lines(file);
  for (unsigned byte = 0; byte < 256; ++byte)
    lines << kDigits[byte >> 2U] << kDigits[(byte & 3U) << 4U] << "== " << byte << "\n";
  lines << "dGg= 256\n";
  return file;
}

TEST(ModelTokens, TheDefaultsAreRefusedForAFileThatHasWordsInTheirPlace) {
  const TemporaryFolder folder;
  const auto tokenizer = text::openTokenizer(writtenTokenizer(folder));
  ASSERT_EQ(tokenizer->beginToken(), 257);
  const auto refused = [&](const TextImageModel::Sizes& sizes) -> std::string {
    return test::refusal<ConfigError>([&] { requireTokensOf(*tokenizer, sizes); });
  };
  EXPECT_THAT(refused({.beginText = 256, .endText = 257, .beginImage = 258, .endImage = 259}),
              Names("model.bos_id = 256", "<|begin_of_text|> = 257", "model.bos_id = 257"));
  EXPECT_THAT(refused({.beginText = 257, .endText = 258, .beginImage = 256, .endImage = 259}),
              Names("model.boi_id = 256", "th", "<|begin_of_text|> = 257"));
  EXPECT_EQ(refused({.beginText = 257, .endText = 258, .beginImage = 259, .endImage = 260}), "");
}

}  // namespace
}  // namespace vitrine::text_image

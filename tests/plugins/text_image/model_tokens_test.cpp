// Tokens that a model and a tokenizer share, and the room that a context leaves a description.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/read_json.h"
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

TEST(ModelTokens, ADescriptionHasTheRoomThatImageAndContextLeave) {
  const TextImageModel::Sizes sizes{.imageTokens = 9};
  EXPECT_EQ(captionRoom(sizes, 0, 64), 64) << "any number of tokens";
  EXPECT_EQ(captionRoom(sizes, 76, 64), 64);
  EXPECT_EQ(captionRoom(sizes, 75, 64), 63);
  EXPECT_EQ(captionRoom(sizes, 10, 64), 0);
}

TEST(ModelTokens, AnEvaluationDescribesWithinTheContext) {
  // Image of 4 tokens and three around it, and at most "a bright one" with its end: 20 tokens.
  const auto session = opened({.context = 20});
  const c10::NoGradGuard noGradient;
  // Layers that change nothing, and a head that says "a" to everything.
  auto parameters = session->model().module().named_parameters();
  for (const auto& item : parameters) item.value().detach().zero_();
  parameters["model.embed_tokens.weight"].detach().fill_(1);
  parameters["model.norm.weight"].detach().fill_(1);
  parameters["lm_head.weight"].detach().select(0, 'a').fill_(1);
  StepContext context = contextOf(0);
  CollectedResults results;
  const Evaluation evaluation{"test", Split::Test};
  session->evaluate({evaluation, context, {}}, results);
  const auto table = std::find_if(results.artifacts.begin(), results.artifacts.end(),
                                  [](const Artifact& each) { return each.name == "captions"; });
  ASSERT_NE(table, results.artifacts.end());
  const Json rows =
      readJson({reinterpret_cast<const char*>(table->data.data()), table->data.size()}).at("rows");
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) EXPECT_EQ(row.at(0), std::string(13, 'a'));
}

}  // namespace
}  // namespace vitrine::text_image

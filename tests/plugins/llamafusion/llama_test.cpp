#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/model/build_device.h"
#include "core/model/packed_language_model.h"
#include "core/model/tensor_program.h"
#include "core/model/weights.h"
#include "core/text/token_rows.h"
#include "plugins/llamafusion/architectures.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"
#include "tests/support/refusal.h"

namespace vitrine::llamafusion {
namespace {

using test::Names;

Config resolved(Json values) {
  const LlamaArchitecture architecture;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return Config(std::move(values));
}

std::shared_ptr<Model> build(const Json& values, std::uint64_t seed = 0) {
  return LlamaArchitecture().build(resolved(values), seed);
}

Json tiny() {
  return {{"dim", 32},        {"depth", 2},  {"heads", 4},    {"kv_heads", 2},
          {"ffn_hidden", 48}, {"vocab", 40}, {"tied", false}, {"max_positions", 24}};
}

at::Tensor someTokens(std::int64_t batch, std::int64_t count, std::int64_t vocab) {
  return (at::arange(batch * count, at::kLong) * 7919 % vocab).view({batch, count});
}

TEST(LlamaGolden, LogitsGradientsCacheAndGreedyTokensAreReproduced) {
  const LlamaArchitecture architecture;
  testing::expectReproduced("llama/gqa_untied_llama3_scaling", architecture);
  testing::expectReproduced("llama/mha_untied_theta1e4", architecture);
}

/// The case's logits with weights from another file of the same model.
void expectSameLogits(const std::string& name, const std::string& file) {
  const LlamaArchitecture architecture;
  const testing::GoldenCase golden = testing::openGoldenCase(name);
  const auto model = architecture.build(testing::modelConfig(golden, architecture), 0);
  const LoadReport report = loadWeights(*model, golden.folder / file);
  EXPECT_TRUE(report.unused.empty());
  const c10::NoGradGuard noGradient;
  const at::Tensor logits = capabilityOf<LanguageModel>(*model)->next(
      golden.io.at("input/ids"), nullptr, LanguageModel::Rows::All);
  EXPECT_TRUE(testing::isClose(logits, golden.io.at("output/logits"), 2e-5));
}

TEST(LlamaWeights, ShardsWithAnIndexAreOneModel) {
  expectSameLogits("llama/gqa_untied_llama3_scaling", "model.safetensors.index.json");
}

TEST(LlamaWeights, TheFirstAuthorsNamesAndInterleavedPairsLoad) {
  expectSameLogits("llama/mha_untied_theta1e4", "consolidated.safetensors");
}

TEST(LlamaWeights, FlatFilesOfBothVersionsLoad) {
  expectSameLogits("llama/mha_untied_theta1e4", "model_v0.bin");
  expectSameLogits("llama/mha_untied_theta1e4", "model_v1.bin");
}

TEST(LlamaWeights, OfAnotherSizeAreRefusedWithBothSizes) {
  const testing::GoldenCase golden = testing::openGoldenCase("llama/mha_untied_theta1e4");
  const auto refusalOf = [&](const char* file) -> std::string {
    return test::refusal<ConfigError>(
        [&] { (void)loadWeights(*build(tiny()), golden.folder / file); });
  };
  for (const char* file : {"weights.safetensors", "consolidated.safetensors", "model_v1.bin"})
    EXPECT_THAT(refusalOf(file), Names("skip")) << file;
}

TEST(LlamaSizes, EqualThePublishedOnes) {
  const LlamaArchitecture architecture;
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"llama/3_8b", 8'030'261'248},     {"llama/stories_260k", 260'032},
      {"llama/stories_15m", 15'191'712}, {"llama/bytes_128", 806'016},
      {"llama/bytes_192", 2'536'896},    {"llama/bytes_64", 218'688}};
  const ScopedBuildDevice meta(at::kMeta);
  for (const auto& [preset, count] : sizes) {
    SCOPED_TRACE(preset);
    const auto model = build(architecture.card().schema.preset(preset)->values);
    EXPECT_EQ(parameterCount(*model), count);
    std::int64_t counted = 0;
    for (const BlockCost& block : model->cost()) counted += block.parameters;
    EXPECT_EQ(counted, count);
  }
}

TEST(LlamaCache, DecodingTokenByTokenEqualsOneForward) {
  const auto model = build(tiny());
  auto& language = *capabilityOf<LanguageModel>(*model);
  const c10::NoGradGuard noGradient;
  const at::Tensor tokens = someTokens(2, 17, 40);
  const at::Tensor whole = language.next(tokens, nullptr, LanguageModel::Rows::All);
  const auto cache = language.makeCache(2);
  std::vector<at::Tensor> parts{
      language.next(tokens.narrow(1, 0, 6), cache.get(), LanguageModel::Rows::All)};
  for (std::int64_t i = 6; i < 17; ++i)
    parts.push_back(language.next(tokens.narrow(1, i, 1), cache.get(), LanguageModel::Rows::Last));
  EXPECT_EQ(cache->length(), 17);
  EXPECT_TRUE(testing::isClose(at::cat(parts, 1), whole, 1e-5));
  // Another continuation of the same beginning.
  cache->truncate(6);
  const at::Tensor again =
      language.next(tokens.narrow(1, 6, 3), cache.get(), LanguageModel::Rows::Last);
  EXPECT_TRUE(testing::isClose(again, whole.narrow(1, 8, 1), 1e-5));
}

TEST(LlamaCache, ContinuesWithAndWithoutAGradient) {
  const auto model = build(tiny());
  auto& language = *capabilityOf<LanguageModel>(*model);
  const at::Tensor tokens = someTokens(2, 9, 40);
  const auto cache = language.makeCache(2);
  const auto next = [&](std::int64_t from, std::int64_t count) {
    return language.next(tokens.narrow(1, from, count), cache.get(), LanguageModel::Rows::All);
  };
  std::vector<at::Tensor> parts;
  {
    const c10::NoGradGuard noGradient;
    parts.push_back(next(0, 4));
  }
  parts[0].add_(1).sub_(1);  // logits may be changed in place
  parts.push_back(next(4, 2));
  parts[1].sum().backward();
  const auto parameters = model->module().named_parameters();
  EXPECT_GT(parameters["model.layers.0.self_attn.q_proj.weight"].grad().abs().max().item<double>(),
            0);
  const c10::NoGradGuard noGradient;
  parts.push_back(next(6, 3));
  EXPECT_TRUE(testing::isClose(at::cat(parts, 1),
                               language.next(tokens, nullptr, LanguageModel::Rows::All), 1e-5));
}

TEST(LlamaCache, RoomGrowsAndIsWrittenAgainFromTheBeginning) {
  for (const std::int64_t keyHeads : {1, 4}) {
    Json values = tiny();
    values["kv_heads"] = keyHeads;
    values["max_positions"] = 256;
    const auto model = build(values);
    auto& language = *capabilityOf<LanguageModel>(*model);
    const c10::NoGradGuard noGradient;
    const auto cache = language.makeCache(1);
    for (const std::int64_t seed : {1, 2}) {
      const at::Tensor tokens = (someTokens(1, 150, 40) + seed).remainder(40);
      std::vector<at::Tensor> parts;
      for (std::int64_t i = 0; i < 150; ++i) {
        parts.push_back(
            language.next(tokens.narrow(1, i, 1), cache.get(), LanguageModel::Rows::Last));
      }
      EXPECT_TRUE(testing::isClose(at::cat(parts, 1),
                                   language.next(tokens, nullptr, LanguageModel::Rows::All), 2e-5))
          << keyHeads << " key heads, text " << seed;
      cache->truncate(0);
    }
  }
}

/// Logits and gradients of texts of which several share a row, at any positions.
std::vector<std::pair<std::string, at::Tensor>> packedResults(const Json& values,
                                                              at::ScalarType type, bool isPacked) {
  const auto model = build(values, 3);
  model->module().to(type);
  const at::Tensor tokens = someTokens(8, 44, 40);
  TokenRows rows{tokens, {}, {}};
  if (isPacked) {
    const at::Tensor place = at::arange(44, at::kLong).expand({8, 44});
    const at::Tensor length = at::arange(5, 13, at::kLong).unsqueeze(1);
    rows.positions = place.remainder(length) + 7;
    rows.firstKey = place - place.remainder(length);
  }
  const at::Tensor logits = capabilityOf<PackedLanguageModel>(*model)->logits(rows);
  (logits * at::sin(at::arange(logits.numel(), type)).view(logits.sizes())).sum().backward();
  std::vector<std::pair<std::string, at::Tensor>> all{{"logits", logits.detach()}};
  for (const auto& item : model->module().named_parameters())
    all.emplace_back(item.key(), item.value().grad());
  return all;
}

TEST(LlamaText, LayersAsOneOperationAgreeWithTheirDefinitionInDoubleOnEveryCpuPath) {
  for (const std::int64_t keyHeads : {1, 2, 4}) {
    for (const bool isPacked : {false, true}) {
      SCOPED_TRACE(std::to_string(keyHeads) + (isPacked ? " key heads, packed" : " key heads"));
      Json values = tiny();
      values["kv_heads"] = keyHeads;
      const auto wanted = packedResults(values, at::kDouble, isPacked);
      testing::onEveryCpuPath([&] {
        cpu::clearTakenPaths();
        const auto ours = packedResults(values, at::kFloat, isPacked);
        const auto paths = cpu::takenPaths();
        const bool isWhole =
            std::find(paths.begin(), paths.end(),
                      std::pair<std::string, std::string>("block", "fused")) != paths.end();
        EXPECT_EQ(isWhole, cpuPath() != CpuPath::Reference);
        for (std::size_t i = 0; i < wanted.size(); ++i)
          EXPECT_TRUE(testing::isClose(ours[i].second, wanted[i].second, 2e-5)) << wanted[i].first;
      });
    }
  }
}

TEST(LlamaPacking, TextsThatShareARowDoNotSeeEachOther) {
  const auto model = build(tiny());
  auto& packed = *capabilityOf<PackedLanguageModel>(*model);
  const c10::NoGradGuard noGradient;
  const at::Tensor tokens = someTokens(1, 12, 40);
  const at::Tensor documents = at::tensor({0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1, -1}, at::kLong);
  const at::Tensor positions = at::tensor({0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 0}, at::kLong);
  const at::Tensor logits =
      packed.logits({tokens, positions.unsqueeze(0), text::documentBegins(documents.unsqueeze(0))});
  for (const std::int64_t first : {0, 5}) {
    const at::Tensor alone = packed.logits({tokens.narrow(1, first, 5), {}, {}});
    EXPECT_TRUE(testing::isClose(logits.narrow(1, first, 5), alone, 1e-6)) << first;
  }
}

TEST(LlamaPacking, TheProgramReadsDocumentsAndPositionsAlsoThroughTheCache) {
  const auto model = build(tiny());
  auto& program = *capabilityOf<TensorProgram>(*model);
  const c10::NoGradGuard noGradient;
  const at::Tensor tokens = someTokens(1, 12, 40);
  const at::Tensor documents = at::tensor({0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1, -1}, at::kLong);
  const at::Tensor positions = at::tensor({0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}, at::kLong);
  const auto logitsOf = [&](const TensorMap& inputs, const char* output) {
    return program.runTensors(checkedInputs(program, inputs, "in"), {output}).at(output);
  };
  for (const bool isOfEach : {false, true}) {
    const auto shaped = [&](const at::Tensor& row) { return isOfEach ? row.unsqueeze(0) : row; };
    const TensorMap packed{
        {"ids", tokens}, {"document", shaped(documents)}, {"positions", shaped(positions)}};
    for (const char* output : {"logits", "stepwise_logits"}) {
      SCOPED_TRACE(output);
      const at::Tensor logits = logitsOf(packed, output);
      for (const std::int64_t first : {0, 5}) {
        const at::Tensor alone = logitsOf({{"ids", tokens.narrow(1, first, 5)}}, "logits");
        EXPECT_TRUE(testing::isClose(logits.narrow(1, first, 5), alone, 1e-5)) << first;
      }
    }
  }
}

TEST(LlamaPacking, AnOffsetOfAllPositionsChangesNoAttention) {
  // Rotary scores depend on differences of positions alone.
  const auto model = build(tiny());
  auto& packed = *capabilityOf<PackedLanguageModel>(*model);
  const c10::NoGradGuard noGradient;
  const at::Tensor tokens = someTokens(2, 9, 40);
  const at::Tensor places = at::arange(9, at::kLong).expand({2, 9});
  EXPECT_TRUE(testing::isClose(packed.logits({tokens, places + 13, {}}),
                               packed.logits({tokens, {}, {}}), 1e-5));
}

TEST(Llama, RefusesWhatCannotBe) {
  const auto refusalOf = [](const char* key, const Json& value) -> std::string {
    Json values = tiny();
    values[key] = value;
    return test::refusal<ConfigError>([&] { (void)build(values); });
  };
  EXPECT_THAT(refusalOf("dim", 30), Names("model.dim = 30", "model.heads"));
  EXPECT_EQ(refusalOf("head_dim", 7),
            "a head of 7 channels has no whole number of pairs to turn; set model.head_dim to an "
            "even number");
  EXPECT_THAT(refusalOf("rope_scaling", {{"high_freq_factor", 1.0}}), Names("low_freq_factor"));
  const auto model = build(tiny());
  EXPECT_THROW((void)capabilityOf<LanguageModel>(*model)->next(at::full({1, 2}, 40, at::kLong),
                                                               nullptr, LanguageModel::Rows::All),
               ConfigError);
}

}  // namespace
}  // namespace vitrine::llamafusion

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/tensor_program.h"
#include "core/model/text_image_model.h"
#include "core/model/weights.h"
#include "plugins/llamafusion/architectures.h"
#include "plugins/llamafusion/image_io.h"
#include "plugins/llamafusion/layout.h"
#include "tests/plugins/llamafusion/small_fusion.h"
#include "tests/support/golden/case.h"
#include "tests/support/golden/llamafusion.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::llamafusion {
namespace {

using test::Names;

std::shared_ptr<Model> build(const Architecture& architecture, Json values,
                             std::uint64_t seed = 0) {
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return architecture.build(Config(values), seed);
}

Json tiny(const char* separation) {
  Json values = smallFusion(6);
  values["separation"] = separation;
  return values;
}

/// BOS t t BOI image EOI t, for two samples.
MixedSequences someSequences() {
  MixedSequences sequences;
  sequences.imageIndex = at::tensor({0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, at::kLong);
  sequences.tokens = at::tensor({1, 5, 6, 38, 0, 0, 0, 0, 0, 0, 0, 0, 0, 39, 7,  //
                                 1, 9, 8, 38, 0, 0, 0, 0, 0, 0, 0, 0, 0, 39, 4},
                                at::kLong)
                         .view({2, 15});
  sequences.images = at::arange(72, at::kFloat).mul(0.7).sin().view({2, 1, 6, 6});
  sequences.time = at::tensor({100, 700}, at::kLong);
  return sequences;
}

void expectReproduced(const std::string& name) {
  SCOPED_TRACE(name);
  const testing::GoldenCase golden = testing::openGoldenCase("llamafusion/" + name);
  int compared = 0;
  for (const testing::Compared& line :
       testing::compareCase(golden, testing::runFusionCase(golden))) {
    // The schedule's case stores what goes into its rules beside what comes out.
    if (!line.isMapped && name == "schedule") continue;
    EXPECT_TRUE(line.isMapped) << line.tensor << " was not compared";
    EXPECT_FALSE(line.isMiss()) << line.tensor << ": error " << line.error << ", allowed "
                                << line.allowed << " " << line.problem;
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

TEST(FusionGolden, EverySeparationIsReproducedWithItsGradients) {
  for (const char* name : {"core_deep", "core_shallow"}) expectReproduced(name);
}

TEST(FusionGolden, ImageModulesLossesAndCaptionsAreReproduced) {
  expectReproduced("full_deep_unet_caption_first");
  expectReproduced("full_deep_linear_image_first");
}

TEST(FusionGolden, GuidedSamplingIsReproducedWithAndWithoutACache) {
  expectReproduced("sampling_linear_cfg");
}

TEST(FusionGolden, MasksPositionsTargetsAndTheScheduleAreReproduced) {
  expectReproduced("masks");
  expectReproduced("schedule");
}

TEST(FusionSizes, EqualThePublishedOnes) {
  const LlamaFusionArchitecture architecture;
  const ScopedBuildDevice meta(at::kMeta);
  const auto count = [&](const std::string& preset, bool hasImages) {
    Json values = architecture.card().schema.preset(preset)->values;
    if (!hasImages) values["image_io"] = nullptr;
    const auto model = build(architecture, values);
    std::int64_t counted = 0;
    for (const BlockCost& block : model->cost()) counted += block.parameters;
    EXPECT_EQ(counted, parameterCount(*model));
    return counted;
  };
  constexpr std::int64_t kText = 8'030'261'248;
  EXPECT_EQ(count("llamafusion/8b", false), kText + 6'979'588'096);
  EXPECT_EQ(count("llamafusion/8b_shallow", false), kText + 5'637'275'648);
  EXPECT_EQ(count("llamafusion/8b_dense", false), kText);
}

TEST(FusionSizes, UNetsHaveTheParametersOfTheProposal) {
  const ScopedBuildDevice meta(at::kMeta);
  struct Size {
    std::int64_t full, half;
    bool hasAttention;
    double millions;
  };
  for (const Size& size : {Size{320, 1280, false, 92.5}, Size{320, 1280, true, 105.6},
                           Size{512, 2048, false, 226.6}, Size{512, 2048, true, 260.2},
                           Size{1024, 1792, false, 274.5}, Size{1024, 1792, true, 300.3}}) {
    ImageIoConfig config;
    config.isUNet = true;
    config.dim = 4096;
    config.channels = 8;
    config.size = {32, 32};
    config.unetChannels = {size.full, size.half};
    config.hasAttention = size.hasAttention;
    std::int64_t count = 0;
    for (const auto& parameter : makeImageIo(config)->parameters()) count += parameter.numel();
    EXPECT_NEAR(static_cast<double>(count) / 1e6, size.millions, 0.05) << size.full;
  }
}

TEST(Fusion, CopiesAtTheStartGiveTheDenseModelsOutputs) {
  const LlamaFusionArchitecture architecture;
  const c10::NoGradGuard noGradient;
  const MixedSequences sequences = someSequences();
  const auto outputOf = [&](const char* separation) {
    return capabilityOf<TextImageModel>(*build(architecture, tiny(separation), 5))
        ->mixed(sequences);
  };
  const MixedPrediction dense = outputOf("dense");
  for (const char* separation : {"shallow", "deep"}) {
    const MixedPrediction other = outputOf(separation);
    EXPECT_TRUE(testing::isClose(other.logits, dense.logits, 1e-6)) << separation;
    EXPECT_TRUE(testing::isClose(other.noise, dense.noise, 1e-6)) << separation;
  }
}

TEST(Fusion, BeginsFromALlamasWeightsAndKeepsItsTextLogitsToTheLastBit) {
  const LlamaArchitecture llama;
  Json plain = tiny("deep");
  for (const char* key : {"bos_id", "eos_id", "boi_id", "eoi_id", "separation", "image_io",
                          "image_patch", "latent_channels", "latent_size"})
    plain.erase(key);
  const auto text = build(llama, plain, 9);
  const TemporaryFolder folder;
  const auto file = folder.path() / "llama.safetensors";
  writeTensors(file, namedTensors(*text));
  const auto fused = build(LlamaFusionArchitecture(), tiny("deep"), 1);
  LoadOptions options{.skip = {"img_io.*"}};
  EXPECT_TRUE(loadWeights(*fused, file, options).unused.empty());
  const auto parameters = fused->module().named_parameters();
  EXPECT_TRUE(at::equal(parameters["model.layers.1.img.mlp.up_proj.weight"],
                        parameters["model.layers.1.mlp.up_proj.weight"]));
  const c10::NoGradGuard noGradient;
  const at::Tensor tokens = someSequences().tokens;
  const auto logits = [&](Model& model) {
    return capabilityOf<LanguageModel>(model)->next(tokens, nullptr, LanguageModel::Rows::All);
  };
  EXPECT_TRUE(at::equal(logits(*fused), logits(*text)));
}

TEST(Fusion, FrozenTextBeforeAnImageTakesPartInNoGraph) {
  const auto model = build(LlamaFusionArchitecture(), tiny("deep"), 5);
  auto& images = *capabilityOf<TextImageModel>(*model);
  for (const auto& item : model->module().named_parameters()) {
    if (images.isOfText(item.key())) item.value().set_requires_grad(false);
  }
  const MixedSequences sequences = someSequences();
  const MixedPrediction out = images.mixed(sequences);
  // Logits behind the image carry a gradient to it through the frozen text; those before do not.
  const at::Tensor behind = out.logits.select(1, 14).sum();
  behind.backward();
  const auto parameters = model->module().named_parameters();
  for (const auto& item : parameters) {
    if (!images.isOfText(item.key())) continue;
    EXPECT_FALSE(item.value().grad().defined()) << item.key();
  }
  EXPECT_GT(
      parameters["model.layers.0.img.self_attn.k_proj.weight"].grad().abs().max().item<double>(),
      0);

  MixedSequences before = sequences;  // the caption first, nothing behind the image
  before.tokens = sequences.tokens.narrow(1, 0, 13);
  before.imageIndex = sequences.imageIndex.narrow(0, 0, 13);
  for (const auto& item : parameters) item.value().mutable_grad() = at::Tensor();
  const at::Tensor text = images.mixed(before).logits.narrow(1, 0, 4).sum();
  text.backward();
  for (const auto& item : parameters) {
    const at::Tensor& gradient = item.value().grad();
    EXPECT_TRUE(!gradient.defined() || gradient.abs().max().item<double>() == 0) << item.key();
  }
}

TEST(Fusion, DocumentsThatShareARowAndFillerChangeNothing) {
  const auto model = build(LlamaFusionArchitecture(), tiny("deep"), 5);
  auto& images = *capabilityOf<TextImageModel>(*model);
  const c10::NoGradGuard noGradient;
  const MixedSequences alone = someSequences();
  MixedSequences filled = alone;
  filled.tokens = at::cat({at::zeros({2, 3}, at::kLong), alone.tokens}, 1);
  filled.imageIndex = at::cat({at::zeros({3}, at::kLong), alone.imageIndex});
  filled.positions = at::cat({at::zeros({3}, at::kLong), at::arange(15, at::kLong)});
  filled.documents = at::cat({at::full({3}, -1, at::kLong), at::zeros({15}, at::kLong)});
  const MixedPrediction a = images.mixed(alone), b = images.mixed(filled);
  EXPECT_TRUE(testing::isClose(b.noise, a.noise, 1e-6));
  EXPECT_TRUE(testing::isClose(b.logits.narrow(1, 3, 15), a.logits, 1e-6));
}

/// Tokens of the images of someSequences(), in the place of pixels.
at::Tensor someImageTokens() { return at::arange(2 * 9 * 32, at::kFloat).sin().view({2, 9, 32}); }

TEST(FusionProgram, ReadsDocumentsThatShareARow) {
  const auto model = build(LlamaFusionArchitecture(), tiny("deep"), 5);
  auto& program = *capabilityOf<TensorProgram>(*model);
  const c10::NoGradGuard noGradient;
  const auto outputOf = [&](const TensorMap& inputs) {
    return program.runTensors(checkedInputs(program, inputs, "in"), {"logits", "image_hidden"});
  };
  const MixedSequences two = someSequences();
  const TensorMap alone = outputOf(
      {{"ids", two.tokens}, {"image_index", two.imageIndex}, {"image_tokens", someImageTokens()}});
  const at::Tensor place = at::arange(15, at::kLong);
  TensorMap packed{{"ids", two.tokens.view({1, 30})},
                   {"image_index", at::cat({two.imageIndex, 2 * two.imageIndex})},
                   {"positions", at::cat({place, place})},
                   {"image_tokens", someImageTokens()}};
  EXPECT_FALSE(
      testing::isClose(outputOf(packed).at("image_hidden"), alone.at("image_hidden"), 1e-4))
      << "one document";
  const at::Tensor document = at::cat({at::zeros({15}, at::kLong), at::ones({15}, at::kLong)});
  const at::Tensor key = at::arange(30, at::kLong);
  const at::Tensor causal =
      key.le(lastAllowedKey(packed.at("image_index"), ImageMask::Hybrid).unsqueeze(1));
  const at::Tensor own = causal.logical_and(key.ge(firstAllowedKey(document).unsqueeze(1)));
  for (const bool isOfEach : {false, true}) {
    const auto shaped = [&](const at::Tensor& all) { return isOfEach ? all.unsqueeze(0) : all; };
    packed["document"] = shaped(document);
    packed["mask"] = shaped(own);
    const TensorMap out = outputOf(packed);
    EXPECT_TRUE(testing::isClose(out.at("logits").view({2, 15, -1}), alone.at("logits"), 1e-5));
    EXPECT_TRUE(testing::isClose(out.at("image_hidden"), alone.at("image_hidden"), 1e-5));
    packed["mask"] = shaped(causal);
    EXPECT_THAT(test::refusal<ConfigError>([&] { (void)outputOf(packed); }),
                Names("image_index", "document", "mask"));
  }
}

TEST(FusionProgram, ReadsRowsWhoseImagesStandInOtherColumns) {
  const auto model = build(LlamaFusionArchitecture(), tiny("deep"), 5);
  auto& program = *capabilityOf<TensorProgram>(*model);
  const c10::NoGradGuard noGradient;
  const auto outputOf = [&](const TensorMap& inputs) {
    return program.runTensors(checkedInputs(program, inputs, "in"), {"logits", "image_hidden"});
  };
  const at::Tensor tokens = someSequences().tokens, images = someImageTokens();
  const at::Tensor index =
      at::stack({someSequences().imageIndex,
                 at::tensor({0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}, at::kLong)});
  const TensorMap both =
      outputOf({{"ids", tokens}, {"image_index", index}, {"image_tokens", images}});
  for (const std::int64_t row : {0, 1}) {
    const TensorMap alone = outputOf({{"ids", tokens.narrow(0, row, 1)},
                                      {"image_index", index[row]},
                                      {"image_tokens", images.narrow(0, row, 1)}});
    for (const auto& [name, wanted] : alone)
      EXPECT_TRUE(testing::isClose(both.at(name).narrow(0, row, 1), wanted, 1e-5)) << name << row;
  }
}

TEST(Fusion, CachedTextImageAndTextEqualOnePass) {
  for (const char* positions : {"sequential", "shared"}) {
    for (const char* mask : {"hybrid", "causal"}) {
      SCOPED_TRACE(std::string(positions) + " " + mask);
      Json values = tiny("deep");
      values["image_positions"] = positions;
      values["mask"] = mask;
      const auto model = build(LlamaFusionArchitecture(), values, 5);
      auto& images = *capabilityOf<TextImageModel>(*model);
      auto& language = *capabilityOf<LanguageModel>(*model);
      const c10::NoGradGuard noGradient;
      const MixedSequences sequences = someSequences();
      const MixedPrediction whole = images.mixed(sequences);
      const auto cache = language.makeCache(2);
      (void)language.next(sequences.tokens.narrow(1, 0, 4), cache.get(), LanguageModel::Rows::Last);
      for (const auto keep : {TextImageModel::Keep::No, TextImageModel::Keep::Yes}) {
        EXPECT_TRUE(testing::isClose(
            images.noiseAfter(*cache, sequences.images, sequences.time, keep), whole.noise, 1e-5));
      }
      EXPECT_EQ(cache->length(), 13);
      const at::Tensor after =
          language.next(sequences.tokens.narrow(1, 13, 2), cache.get(), LanguageModel::Rows::All);
      EXPECT_TRUE(testing::isClose(after, whole.logits.narrow(1, 13, 2), 1e-5));
    }
  }
}

TEST(Fusion, HandsOutTheAttentionOfWordsAndPatches) {
  const auto model = build(LlamaFusionArchitecture(), tiny("deep"), 5);
  auto& images = *capabilityOf<TextImageModel>(*model);
  auto* source = capabilityOf<AttentionSource>(*model);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->attentionLayers(), 2);
  EXPECT_EQ(source->attentionHeads(0), 4);
  const c10::NoGradGuard noGradient;
  const MixedSequences sequences = someSequences();
  const MixedPrediction plain = images.mixed(sequences);
  std::vector<AttentionRecord> records;
  const auto tap = std::make_shared<AttentionTap>();
  tap->receive = [&records](const AttentionRecord& record) { records.push_back(record); };
  source->setAttentionTap(tap);
  const MixedPrediction tapped = images.mixed(sequences);
  EXPECT_TRUE(testing::isClose(tapped.logits, plain.logits, 1e-5));
  EXPECT_TRUE(testing::isClose(tapped.noise, plain.noise, 1e-5));
  ASSERT_EQ(records.size(), 2U);
  const at::Tensor weights = records[1].weights;
  EXPECT_EQ(records[1].layer, 1);
  ASSERT_EQ(weights.sizes(), at::IntArrayRef({2, 4, 15, 15}));
  EXPECT_TRUE(testing::isClose(weights.sum(-1), at::ones({2, 4, 15}), 1e-5));
  const auto largest = [&](std::int64_t query, std::int64_t first, std::int64_t count) {
    return weights.select(2, query).narrow(-1, first, count).max().item<double>();
  };
  EXPECT_EQ(largest(1, 2, 13), 0) << "a word sees those before it";
  EXPECT_GT(largest(4, 12, 1), 0) << "the first patch sees the last";
  EXPECT_EQ(largest(4, 13, 2), 0);
  EXPECT_GT(largest(14, 4, 9), 0) << "a word behind the image sees it";
  // Four tokens of text, 3 x 3 patches, two tokens of text.
  const at::Tensor places = records[1].queryPositions;
  ASSERT_EQ(places.sizes(), at::IntArrayRef({15, 2}));
  EXPECT_TRUE(at::equal(places[3], at::full({2}, -1.0, at::kDouble)));
  EXPECT_TRUE(at::equal(places[4], at::zeros({2}, at::kDouble)));
  EXPECT_TRUE(at::equal(places[9], at::tensor({1.0, 2.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(places[13], at::full({2}, -1.0, at::kDouble)));
  const auto last = std::make_shared<AttentionTap>(*tap);
  last->layers = {1};
  source->setAttentionTap(last);
  (void)images.mixed(sequences);
  source->setAttentionTap(nullptr);
  (void)images.mixed(sequences);
  EXPECT_EQ(records.size(), 3U);
}

TEST(Fusion, HandsOutTheAttentionOfAnImageBehindACache) {
  for (const char* mask : {"hybrid", "causal"}) {
    SCOPED_TRACE(mask);
    Json values = tiny("deep");
    values["mask"] = mask;
    const auto model = build(LlamaFusionArchitecture(), values, 5);
    auto& images = *capabilityOf<TextImageModel>(*model);
    auto& language = *capabilityOf<LanguageModel>(*model);
    auto& source = *capabilityOf<AttentionSource>(*model);
    const c10::NoGradGuard noGradient;
    const MixedSequences sequences = someSequences();
    const auto cache = language.makeCache(2);
    (void)language.next(sequences.tokens.narrow(1, 0, 4), cache.get(), LanguageModel::Rows::Last);
    const auto noise = [&](TextImageModel::Keep keep) {
      return images.noiseAfter(*cache, sequences.images, sequences.time, keep);
    };
    const at::Tensor plain = noise(TextImageModel::Keep::No);
    std::vector<AttentionRecord> records;
    const auto tap = std::make_shared<AttentionTap>();
    tap->receive = [&records](const AttentionRecord& record) { records.push_back(record); };
    source.setAttentionTap(tap);
    EXPECT_TRUE(at::equal(noise(TextImageModel::Keep::Yes), plain)) << "looking changes nothing";
    (void)images.mixed(sequences);
    ASSERT_EQ(records.size(), 4U) << "two layers of each pass";
    for (const std::size_t layer : {0U, 1U}) {
      const AttentionRecord &drawn = records[layer], &whole = records[2 + layer];
      EXPECT_EQ(drawn.layer, whole.layer);
      EXPECT_EQ(drawn.time, 100);
      ASSERT_EQ(drawn.weights.sizes(), at::IntArrayRef({2, 4, 9, 13}));
      EXPECT_TRUE(
          testing::isClose(drawn.weights, whole.weights.narrow(2, 4, 9).narrow(3, 0, 13), 1e-5));
      EXPECT_TRUE(at::equal(drawn.queryPositions, whole.queryPositions.narrow(0, 4, 9)));
      EXPECT_TRUE(at::equal(drawn.keyPositions, whole.keyPositions.narrow(0, 0, 13)));
      const double later = drawn.weights.select(2, 0).narrow(-1, 5, 8).max().item<double>();
      EXPECT_EQ(later > 0, mask == std::string("hybrid")) << "the first patch sees the others";
    }
    // A second image stands below the first one, which it reads.
    records.clear();
    (void)noise(TextImageModel::Keep::No);
    source.setAttentionTap(nullptr);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_TRUE(at::equal(records[0].queryPositions[0], at::tensor({3.0, 0.0}, at::kDouble)));
    EXPECT_TRUE(at::equal(records[0].keyPositions[4], at::zeros({2}, at::kDouble)));
  }
}

TEST(Fusion, RefusesWhatCannotBe) {
  const auto refusalOf = [](const char* key, const Json& value) -> std::string {
    Json values = tiny("deep");
    values[key] = value;
    return test::refusal<ConfigError>([&] { (void)build(LlamaFusionArchitecture(), values); });
  };
  EXPECT_THAT(refusalOf("boi_id", 40), Names("model.boi_id = 40"));
  EXPECT_THAT(refusalOf("latent_size", {5, 6}), Names("model.latent_size = [5, 6]", 2));
  Json unet = tiny("deep");
  unet["image_io"] = "unet";
  EXPECT_THROW((void)build(LlamaFusionArchitecture(),
                           [&] {
                             Json values = unet;
                             values["unet_channels"] = {30, 64};
                             return values;
                           }()),
               ConfigError);
  const auto model = build(LlamaFusionArchitecture(), tiny("deep"));
  MixedSequences sequences = someSequences();
  sequences.images = sequences.images.narrow(0, 0, 1);
  sequences.time = sequences.time.narrow(0, 0, 1);
  EXPECT_THROW((void)capabilityOf<TextImageModel>(*model)->mixed(sequences), ShapeError);
}

TEST(FusionWeights, OfAnotherSizeOrSeparationAreRefusedByName) {
  const TemporaryFolder folder;
  const LlamaFusionArchitecture architecture;
  for (const char* separation : {"dense", "shallow", "deep"}) {
    writeTensors(folder.path() / separation,
                 namedTensors(*build(architecture, tiny(separation), 4)));
  }
  const auto refusalOf = [&](const Json& values, const char* file = "deep") -> std::string {
    return test::refusal<ConfigError>(
        [&] { (void)loadWeights(*build(architecture, values), folder.path() / file); });
  };
  EXPECT_EQ(refusalOf(tiny("deep")), "");
  EXPECT_EQ(refusalOf(tiny("shallow"), "shallow"), "");
  EXPECT_EQ(refusalOf(tiny("deep"), "dense"), "") << "copies of the text";
  EXPECT_THAT(refusalOf(tiny("shallow")), Names("shallow", "model.separation = \"deep\""));
  EXPECT_THAT(refusalOf(tiny("dense")), Names("dense"));
  EXPECT_THAT(refusalOf(tiny("deep"), "shallow"), Names("shallow"));
  writeTensors(folder.path() / "authors", {{"tok_embeddings.weight", at::zeros({40, 36})},
                                           {"layers.0.attention.wq.weight", at::zeros({36, 36})}});
  EXPECT_THAT(refusalOf(tiny("deep"), "authors"), Names(36, 32)) << "no rows of heads of 8";
  Json other = tiny("deep");
  other["ffn_hidden"] = 64;
  EXPECT_THAT(refusalOf(other), Names("skip"));
  other = tiny("deep");
  other["depth"] = 3;
  EXPECT_THAT(refusalOf(other), Names("no tensor for", "strict = false"));
}

}  // namespace
}  // namespace vitrine::llamafusion

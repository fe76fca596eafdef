// iLLaMA against tensors of the authors' code, and its structure against the paper.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "plugins/illama/illama.h"
#include "tests/support/golden/case.h"

namespace vitrine::illama {
namespace {

using testing::expectParameters, testing::expectReproduced, testing::isClose;
using testing::openGoldenCase;

const IllamaArchitecture kIllama;

class IllamaGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(IllamaGolden, OutputsAndGradientsAreReproduced) {
  expectReproduced(std::string("illama/") + GetParam(), kIllama);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, IllamaGolden,
    ::testing::Values("illama_alpha_0", "illama_alpha_0.3", "illama_alpha_1",
                      "illama_gray_drop_path_eval", "roadmap_0_vit", "roadmap_1_swiglu",
                      "roadmap_2_rmsnorm", "roadmap_3_causal_additive",
                      "roadmap_3_causal_multiplicative", "roadmap_4_modified_additive",
                      "roadmap_4_modified_multiplicative", "roadmap_4_ps_cls_additive",
                      "roadmap_4_ps_cls_multiplicative", "roadmap_5_rope_only",
                      "roadmap_6_rope_lpe_additive", "roadmap_6_rope_lpe_multiplicative",
                      "roadmap_8_soft_mask"));

TEST(IllamaGoldenExtra, DropPathDoesNothingInEvaluation) {
  expectReproduced("illama/illama_gray_drop_path_eval", kIllama, Json{{"drop_path", 0.3}});
}

TEST(IllamaGoldenExtra, ANewModelHasFactorZeroEvenWithASchedule) {
  expectReproduced("illama/illama_alpha_0", kIllama,
                   Json{{"mask", {{"kind", "soft"}, {"schedule", "linear"}, {"epochs", 2}}}});
}

TEST(IllamaGoldenExtra, AdditiveCausalWithALeadingClassTokenGivesEveryImageTheSameLogits) {
  const auto golden = openGoldenCase("illama/roadmap_3_causal_additive");
  const auto model = kIllama.build(modelConfig(golden, kIllama), 0);
  (void)loadWeights(*model, golden.weights());
  at::Tensor image = golden.io.at("input/image").clone().requires_grad_(true);
  const at::Tensor logits = capabilityOf<ImageClassifier>(*model)->classify(image);
  EXPECT_TRUE(isClose(logits[0], logits[1], 1e-6)) << "products may round rows differently";
  logits.square().sum().backward();
  EXPECT_EQ(image.grad().abs().max().item<float>(), 0);
}

TEST(IllamaResize, PositionsAndLogitsFollowAnotherGrid) {
  const auto golden = openGoldenCase("illama/illama_resize");
  for (const Json& grid : golden.json.at("grids")) {
    const auto rows = grid.at(0).get<std::int64_t>(), columns = grid.at(1).get<std::int64_t>();
    const std::string suffix = std::to_string(rows) + "x" + std::to_string(columns);
    const auto model = kIllama.build(
        modelConfig(golden, kIllama, Json{{"image_size", Json{rows * 8, columns * 8}}}), 0);
    const LoadReport report = loadWeights(*model, golden.weights());
    EXPECT_EQ(report.resized, std::vector<std::string>{"pos_embed"});
    const auto tensors = namedTensors(*model);
    EXPECT_TRUE(isClose(testing::Tensors(tensors.begin(), tensors.end()).at("pos_embed"),
                        golden.io.at("output/pos_embed_" + suffix), 1e-5));
    const at::Tensor logits =
        capabilityOf<ImageClassifier>(*model)->classify(golden.io.at("input/image_" + suffix));
    EXPECT_TRUE(
        isClose(logits, golden.io.at("output/logits_" + suffix), golden.tolerance("output")))
        << suffix;
  }
}

Json tinyTable() {
  return Json{{"image_size", 8}, {"patch_size", 4}, {"width", 8},      {"depth", 1},
              {"heads", 2},      {"mlp_width", 8},  {"num_classes", 3}};
}

std::shared_ptr<Model> buildWith(Json values, const Json& changes) {
  values.update(changes);
  for (const Problem& problem : resolveItem(kIllama.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return kIllama.build(Config(values), 0);
}

TEST(MaskSchedule, FollowsTheAuthorsStepByStep) {
  const auto golden = openGoldenCase("illama/mask_schedule");
  for (const Json& item : golden.json.at("parameters").at("cases")) {
    const std::string name = item.at("name");
    SCOPED_TRACE(name);
    const std::int64_t perEpoch = item.at("niter_per_ep"), epochs = item.at("epochs");
    const bool moves = item.at("mode") == "soft";
    const auto model =
        buildWith(tinyTable(), Json{{"mask",
                                     {{"kind", "soft"},
                                      {"alpha", item.at("soft_mask_rate")},
                                      {"schedule", moves ? item.at("schedule") : Json("none")},
                                      {"epochs", item.at("cutoff_epoch")}}}});
    auto* scheduled = capabilityOf<Scheduled>(*model);
    std::vector<float> alphas;
    for (std::int64_t step = 0; step < epochs * perEpoch; ++step) {
      scheduled->beforeStep({step, epochs * perEpoch, perEpoch});
      ASSERT_EQ(scheduled->scheduledValues().size(), 1U);
      EXPECT_EQ(scheduled->scheduledValues()[0].first, "model/mask_alpha");
      alphas.push_back(static_cast<float>(scheduled->scheduledValues()[0].second));
      const at::Tensor mask = dynamic_cast<Illama&>(*model).config().mask->factor(3, at::kCPU);
      EXPECT_FLOAT_EQ(mask[0][2].item<float>(), alphas.back()) << "what the layers see";
    }
    const at::Tensor curve = at::tensor(alphas);
    EXPECT_TRUE(isClose(curve, golden.io.at("output/alpha_" + name), 1e-6));
    EXPECT_TRUE(isClose(curve.view({epochs, perEpoch}).mean(1),
                        golden.io.at("output/epoch_mean_" + name), 1e-6));
    scheduled->finish();
    EXPECT_EQ(scheduled->scheduledValues()[0].second, moves ? 0.0 : 1.0);
  }
}

TEST(MaskSchedule, EpochMeansAreThoseOfThePublishedLogs) {
  const auto golden = openGoldenCase("illama/mask_schedule");
  for (const std::int64_t cutoff : {25, 50}) {
    std::vector<double> means;
    for (std::int64_t epoch = 0; epoch < 300; ++epoch) {
      double sum = 0;
      for (std::int64_t i = 0; i < 312; ++i)
        sum += maskAlphaAt(MaskSchedule::Linear, 1, cutoff * 312, epoch * 312 + i);
      means.push_back(sum / 312);
    }
    EXPECT_TRUE(isClose(at::tensor(means),
                        golden.io.at("output/log_epoch_mean_linear_" + std::to_string(cutoff)),
                        1e-6));
  }
}

TEST(MaskSchedule, HardMasksHaveNothingToSchedule) {
  const auto model = buildWith(tinyTable(), Json{{"mask", {{"kind", "causal"}}}});
  EXPECT_TRUE(capabilityOf<Scheduled>(*model)->scheduledValues().empty());
}

TEST(IllamaPresets, HaveThePublishedParameters) {
  const std::pair<const char*, const char*> sizes[] = {
      {"tiny", "T"}, {"small", "S"}, {"base", "B"}, {"large", "L"}};
  const Schema schema = kIllama.card().schema;
  for (const auto& [preset, letter] : sizes) {
    Json values = schema.preset(std::string("illama/") + preset)->values;
    const std::string model = std::string("iLLaMA-") + letter;
    expectParameters("illama/parameters.json", model + "@224 1000 classes", kIllama, values);
    values["image_size"] = Json{384, 384};
    expectParameters("illama/parameters.json", model + "@384 1000 classes", kIllama, values);
    values["image_size"] = Json{224, 224};
    values["num_classes"] = 10450;
    expectParameters("illama/parameters.json", model + "@224 10450 classes", kIllama, values);
  }
}

TEST(IllamaPresets, CostThePublishedMultiplyAdds) {
  // Fact sheet B.1: G multiply-adds at 224 px, attention in full.
  const std::pair<const char*, double> sizes[] = {
      {"tiny", 1.2537}, {"small", 4.5989}, {"base", 17.5638}, {"large", 62.7941}};
  for (const auto& [preset, wanted] : sizes) {
    Json values = kIllama.card().schema.preset(std::string("illama/") + preset)->values;
    for (const Problem& problem : resolveItem(kIllama.card().schema, "model", values))
      ADD_FAILURE() << problem.sentence();
    const ScopedBuildDevice meta(at::kMeta);
    double macs = 0;
    for (const BlockCost& block : kIllama.build(Config(values), 0)->cost()) macs += block.macs;
    EXPECT_NEAR(macs / 1e9, wanted, 1e-4) << preset;
  }
}

TEST(IllamaPresets, ToyOfTheFactSheetHasItsParameters) {
  const auto model = buildWith(Json{{"image_size", 28},
                                    {"patch_size", 7},
                                    {"in_channels", 1},
                                    {"width", 48},
                                    {"depth", 4},
                                    {"heads", 3},
                                    {"mlp_width", 128},
                                    {"num_classes", 10}},
                               Json::object());
  EXPECT_EQ(parameterCount(*model), 115546);
}

TEST(IllamaSchema, RefusesAnAdditiveSoftMaskAndAnOddHead) {
  Json values = tinyTable();
  values["mask"] = Json{{"kind", "soft"}, {"mode", "additive"}};
  EXPECT_FALSE(resolveItem(kIllama.card().schema, "model", values).empty());
  values = tinyTable();
  values["width"] = 6;
  ASSERT_TRUE(resolveItem(kIllama.card().schema, "model", values).empty());
  EXPECT_THROW((void)kIllama.build(Config(values), 0), ConfigError);
}

TEST(IllamaTraining, LearnsAHandfulOfImagesByHeart) {
  const auto model = buildWith(Json{{"image_size", 14},
                                    {"patch_size", 7},
                                    {"in_channels", 1},
                                    {"width", 16},
                                    {"depth", 2},
                                    {"heads", 2},
                                    {"mlp_width", 32},
                                    {"num_classes", 4},
                                    {"mask", {{"kind", "soft"}}}},
                               Json::object());
  at::Generator generator = at::detail::createCPUGenerator(1);
  const at::Tensor images = at::randn({8, 1, 14, 14}, generator);
  const at::Tensor labels = at::arange(8).remainder(4);
  double first = 0, last = 0;
  for (int step = 0; step < 150; ++step) {
    const at::Tensor loss =
        at::cross_entropy_loss(capabilityOf<ImageClassifier>(*model)->classify(images), labels);
    loss.backward();
    last = loss.item<double>();
    if (step == 0) first = last;
    const c10::NoGradGuard noGrad;
    for (const auto& [name, tensor] : namedTensors(*model)) {
      tensor.sub_(tensor.grad(), 0.3);
      tensor.mutable_grad() = at::Tensor();
    }
  }
  EXPECT_NEAR(first, std::log(4.0), 0.2);
  EXPECT_LT(last, 0.1);
}

}  // namespace
}  // namespace vitrine::illama

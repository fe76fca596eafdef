// VisionLLaMA against tensors of the authors' code, and the published sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "plugins/visionllama/architectures.h"
#include "tests/plugins/visionllama/small_models.h"
#include "tests/support/golden/case.h"

namespace vitrine::visionllama {
namespace {

using testing::expectReproduced;

const PlainArchitecture kGoldenPlain;
const PyramidArchitecture kGoldenPyramid;
const DensePyramidArchitecture kGoldenDense;
const VitDetArchitecture kGoldenVitDet;

TEST(PlainGolden, AClassTokenWithSwiGluIsReproduced) {
  expectReproduced("visionllama/plain_cls", kGoldenPlain);
}

TEST(PlainGolden, RmsNormGeluAndTheMeanOverPatchesAreReproduced) {
  expectReproduced("visionllama/plain_gap_rms_gelu", kGoldenPlain);
}

TEST(PlainGolden, FourteenKindsOfPositionsAreReproduced) {
  expectReproduced("visionllama/plain_cls_rope_variants", kGoldenPlain);
}

TEST(PyramidGolden, SizesScalesKeyPositionsAndNormsAreReproduced) {
  expectReproduced("visionllama/pyramid_variants", kGoldenPyramid);
}

TEST(PyramidGolden, FourStagesOfAnImageThatIsNotSquareAreReproduced) {
  expectReproduced("visionllama/pyramid_calibrated", kGoldenPyramid);
}

TEST(PyramidGolden, ConvolutionsForPositionsWithoutLayerScaleAreReproduced) {
  expectReproduced("visionllama/pyramid_peg_nols", kGoldenPyramid);
}

TEST(PyramidGolden, ABackboneWithStageNormsIsReproduced) {
  expectReproduced("visionllama/pyramid_dense", kGoldenDense);
}

TEST(VitDetGolden, WindowedAndGlobalBlocksAreReproduced) {
  expectReproduced("visionllama/vitdet_backbone", kGoldenVitDet);
}

Json publishedSizes() {
  std::ifstream stream(VITRINE_SOURCE_DIR "/tests/golden/visionllama/parameters.json");
  return Json::parse(stream).at("models");
}

/// Total, number of tensors, cost table, and where the file lists them names and shapes.
void expectSize(const Architecture& architecture, const std::string& preset, const Json& changes,
                const std::string& entry) {
  SCOPED_TRACE(entry);
  const Json wanted = publishedSizes().at(entry);
  const ScopedBuildDevice meta(at::kMeta);
  const auto model =
      buildWith(architecture, architecture.card().schema.preset(preset)->values, changes);
  EXPECT_EQ(parameterCount(*model), wanted.at("total").get<std::int64_t>());
  const auto tensors = namedTensors(*model);
  EXPECT_EQ(tensors.size(), wanted.at("tensors").get<std::size_t>());
  std::int64_t counted = 0;
  for (const BlockCost& block : model->cost()) counted += block.parameters;
  EXPECT_EQ(counted, wanted.at("total").get<std::int64_t>())
      << "the cost table disagrees with the parameters";
  if (!wanted.contains("parameters")) return;
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(wanted.at("parameters").contains(name)) << name;
    EXPECT_EQ(Json(tensor.sizes().vec()), wanted.at("parameters").at(name)) << name;
  }
}

TEST(VisionLlamaPresets, HaveThePublishedParameters) {
  for (const char* letter : {"S", "B", "L"}) {
    const std::string lower = letter[0] == 'S' ? "s" : letter[0] == 'B' ? "b" : "l";
    const std::string plain = "visionllama/plain_" + lower,
                      pyramid = "visionllama/pyramid_" + lower;
    expectSize(kGoldenPlain, plain, Json::object(), std::string("visionllama_") + letter);
    expectSize(kGoldenPlain, plain, Json{{"pool", "gap"}},
               std::string("visionllama_") + letter + "_gap");
    expectSize(kGoldenPyramid, pyramid, Json::object(), std::string("pyramid_") + letter);
    expectSize(kGoldenPyramid, pyramid, Json{{"layer_scale", false}},
               std::string("pyramid_") + letter + "_no_layer_scale");
  }
}

TEST(VisionLlamaPresets, CostThePublishedMultiplyAdds) {
  // Fact sheet 1.3 and 1.4: G multiply-adds at 224 px, products of attention included.
  const std::tuple<const Architecture*, const char*, double> models[] = {
      {&kGoldenPlain, "plain_s", 4.599},     {&kGoldenPlain, "plain_b", 17.564},
      {&kGoldenPlain, "plain_l", 62.794},    {&kGoldenPyramid, "pyramid_s", 3.309},
      {&kGoldenPyramid, "pyramid_b", 8.558}, {&kGoldenPyramid, "pyramid_l", 16.569}};
  for (const auto& [architecture, preset, wanted] : models) {
    const ScopedBuildDevice meta(at::kMeta);
    const auto model =
        buildWith(*architecture,
                  architecture->card().schema.preset(std::string("visionllama/") + preset)->values);
    double macs = 0;
    for (const BlockCost& block : model->cost()) macs += block.macs;
    EXPECT_NEAR(macs / 1e9, wanted, 1e-3) << preset;
  }
}

TEST(VisionLlamaPresets, HiddenWidthsAreThoseOfTheTable) {
  // Fact sheet 1.2.
  const std::pair<std::int64_t, std::int64_t> widths[] = {{64, 256},    {128, 512},  {256, 768},
                                                          {384, 1024},  {512, 1536}, {768, 2048},
                                                          {1024, 2816}, {1280, 3584}};
  const ScopedBuildDevice meta(at::kMeta);
  for (const auto& [width, hidden] : widths) {
    const auto model = buildWith(kGoldenPlain, plainTable(),
                                 Json{{"width", width}, {"depth", 1}, {"mlp_width", nullptr}});
    const auto tensors = namedTensors(*model);
    const testing::Tensors named(tensors.begin(), tensors.end());
    EXPECT_EQ(named.at("blocks.0.mlp.c_fc1.weight").size(0), hidden) << width;
  }
}

}  // namespace
}  // namespace vitrine::visionllama

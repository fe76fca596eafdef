// Vision-LSTM against tensors of the authors' code, and against tables of its definition.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "plugins/vision_lstm/vision_lstm.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"
#include "tests/support/golden/vision_lstm.h"

namespace vitrine::vision_lstm {
namespace {

namespace t = vitrine::testing;

const VisionLstmArchitecture kGolden;

class VisionLstmGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(VisionLstmGolden, OutputsAndGradientsAreReproduced) {
  t::expectReproduced(std::string("vision_lstm/") + GetParam(), kGolden);
}

INSTANTIATE_TEST_SUITE_P(Cases, VisionLstmGolden,
                         ::testing::Values("v1_stride", "v2_default", "v2_pos_resize_down",
                                           "v2_features_image", "directions_quad_nonsquare",
                                           "concurrency_parallel", "pool_cls_mid_bilateral",
                                           "forget_gate_exp"));

class VisionLstmPartGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(VisionLstmPartGolden, IsReproducedByEveryForm) {
  const auto golden = t::openGoldenCase(std::string("vision_lstm/") + GetParam());
  t::onEveryCpuPath([&] {
    int compared = 0;
    for (const t::Compared& line : t::compareCase(golden, t::runVisionLstmRule(golden))) {
      EXPECT_TRUE(line.isMapped) << line.tensor << " was not compared";
      EXPECT_FALSE(line.isMiss()) << line.tensor << ": error " << line.error << ", allowed "
                                  << line.allowed << " " << line.problem;
      ++compared;
    }
    EXPECT_GT(compared, 3);
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, VisionLstmPartGolden,
                         ::testing::Values("cell_sheet_T3_d2_h1", "cell_extreme30_T17_d2_h4",
                                           "cell_initial_state_T23_d16_h2",
                                           "cell_siging_T64_d16_h2", "op_conv1d_causal",
                                           "op_conv2d_depthwise", "op_headwise_linear",
                                           "op_multihead_layernorm", "op_offset_layernorm"));

class VisionLstmCell : public ::testing::TestWithParam<const char*> {};

TEST_P(VisionLstmCell, HasFormsThatAgreeInDouble) {
  const std::vector<t::Compared> lines =
      t::compareCellForms(t::openGoldenCase(std::string("vision_lstm/") + GetParam()));
  EXPECT_GE(lines.size(), 30U) << "five forms, of each the readings and five gradients";
  for (const t::Compared& line : lines)
    EXPECT_FALSE(line.isMiss()) << line.tensor << ": off by " << line.error << ", allowed "
                                << line.allowed << " " << line.problem;
}

INSTANTIATE_TEST_SUITE_P(Cases, VisionLstmCell,
                         ::testing::Values("cell_sheet_T3_d2_h1", "cell_extreme30_T17_d2_h4",
                                           "cell_initial_state_T23_d16_h2",
                                           "cell_siging_T64_d16_h2"));

class VisionLstmTable : public ::testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(VisionLstmTable, IsReproducedToTheUnit) {
  const auto [name, least] = GetParam();
  const auto lines = t::compareVisionLstmTable(std::filesystem::path(VITRINE_SOURCE_DIR) /
                                               "tests/golden/vision_lstm" / name);
  ASSERT_TRUE(lines.has_value());
  EXPECT_GE(lines->size(), static_cast<std::size_t>(least));
  for (const t::Compared& line : *lines)
    EXPECT_FALSE(line.isMiss()) << line.tensor << ": off by " << line.error << " " << line.problem;
}

// 40 orders with inverse and grid; 23 models with 7 parts, base and 8 ways of counting; 15 models.
INSTANTIATE_TEST_SUITE_P(Tables, VisionLstmTable,
                         ::testing::Values(std::pair{"traversals", 120}, std::pair{"flops", 552},
                                           std::pair{"parameters", 45}));

}  // namespace
}  // namespace vitrine::vision_lstm

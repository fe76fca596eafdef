// Vision-LSTM against tensors of the authors' code, and against tables of its definition.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
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
                                           "v2_features_image", "v2_grey_single_pair",
                                           "directions_quad_nonsquare", "concurrency_parallel",
                                           "pool_cls_mid_bilateral", "forget_gate_exp"));

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

/// A cell with a sigmoid input gate that begins with a memory and has no stabiliser, token by token
/// in float64.
t::GoldenCase sigmoidCellWithStart() {
  t::GoldenCase golden;
  golden.json = Json::parse(R"({
    "architecture": "mlstm_cell",
    "model": {"batch": 1, "heads": 2, "tokens": 9, "head_dim": 4,
              "forget_gate": "sigmoid", "input_gate": "sigmoid", "eps": 0.0},
    "tolerance": {"float32": {"forward": 1e-5, "gradient": 1e-4}}})");
  at::Generator generator = at::detail::createCPUGenerator(5);
  const auto given = [&](const char* name, at::IntArrayRef shape) {
    const at::Tensor values = at::randn(shape, generator);
    golden.io[std::string("input/") + name] = values;
    return values.to(at::kDouble);
  };
  const at::Tensor q = given("q", {1, 2, 9, 4}), k = given("k", {1, 2, 9, 4}),
                   v = given("v", {1, 2, 9, 4}), i = given("i", {1, 2, 9}).sigmoid(),
                   f = given("f", {1, 2, 9}).sigmoid();
  at::Tensor memory = given("C0", {1, 2, 4, 4}), sum = given("n0", {1, 2, 4});
  given("upstream", {1, 2, 9, 4});
  std::vector<at::Tensor> plain, normalised, sums;
  for (std::int64_t token = 0; token < 9; ++token) {
    const at::Tensor kept = f.select(2, token).unsqueeze(2), key = k.select(2, token),
                     query = q.select(2, token), written = i.select(2, token).unsqueeze(2) * key;
    memory = kept.unsqueeze(3) * memory + written.unsqueeze(3) * v.select(2, token).unsqueeze(2);
    sum = kept * sum + written;
    plain.push_back(at::matmul(query.unsqueeze(2), memory).squeeze(2) / 2);  // sqrt(width)
    sums.push_back((sum * query).sum(2) / 2);
    normalised.push_back(plain.back() / sums.back().abs().clamp_min(1).unsqueeze(2));
  }
  golden.io["output/plain/h"] = at::stack(plain, 2);
  golden.io["output/normalised/h"] = at::stack(normalised, 2);
  golden.io["output/signed_sum"] = at::stack(sums, 2);
  golden.io["output/C_last"] = memory;
  golden.io["output/n_last"] = sum;
  return golden;
}

TEST(VisionLstmSigmoidCell, BeginsWithAMemoryThatHasNoStabiliser) {
  const t::GoldenCase golden = sigmoidCellWithStart();
  int compared = 0;
  t::onEveryCpuPath([&] {
    for (const t::Compared& line : t::compareCase(golden, t::runVisionLstmRule(golden))) {
      EXPECT_TRUE(line.isMapped) << line.tensor << " was not compared";
      EXPECT_FALSE(line.isMiss()) << line.tensor << ": error " << line.error << ", allowed "
                                  << line.allowed << " " << line.problem;
      ++compared;
    }
  });
  EXPECT_GE(compared, 35) << "seven forms, of each two readings and three states";
  for (const t::Compared& line : t::compareCellForms(golden))
    EXPECT_FALSE(line.isMiss()) << line.tensor << ": off by " << line.error << ", allowed "
                                << line.allowed << " " << line.problem;
}

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

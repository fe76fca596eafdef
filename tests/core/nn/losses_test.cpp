// Losses against tensors made with the reference codes (tests/golden/training/losses_bce), and
// distillation against its definition in float64.
#include "core/nn/losses.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/support/golden/case.h"
#include "tests/support/golden/losses.h"

namespace vitrine::nn {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/golden/training/losses_bce";

using testing::binaryCrossEntropy, testing::expectRuleReproduced, testing::OverClasses;
using testing::smoothedTargets, testing::softCrossEntropy;

constexpr const char* kCase = "training/losses_bce";

TEST(Losses, TargetsAreSmoothedMixedAndBinarisedAsInTheReference) {
  expectRuleReproduced(kCase, {"target"});
}

TEST(Losses, BinaryCrossEntropyHasTheValuesAndGradientsOfTheReference) {
  expectRuleReproduced(kCase, {"output", "grad"});
}

TEST(Losses, StayFiniteWhereTheLogitsAreExtreme) {
  expectRuleReproduced(kCase, {"output/extreme_sum", "grad/extreme_sum"});
}

TEST(Losses, BeginWhereTheBiasOfTheHeadSays) {
  std::ifstream stream(kFolder / "case.json");
  const Json json = Json::parse(stream);
  int compared = 0;
  for (const Json& row : json.at("initial_values")) {
    const auto classes = row.at("classes").get<std::int64_t>();
    const std::string bias = row.at("bias");
    const double value = row.at("bias_value");
    const at::Tensor logits = at::full({1, classes}, value, at::kDouble);
    const at::Tensor target = smoothedTargets(at::zeros({1}, at::kLong), classes, 0);
    const double sum = binaryCrossEntropy(logits, target, OverClasses::Sum).item<double>();
    const double wanted = row.at("sum_over_classes");
    EXPECT_NEAR(sum, wanted, 1e-9 * wanted) << classes << " " << bias;
    const double softmax = row.at("softmax_cross_entropy");
    EXPECT_NEAR(softCrossEntropy(logits, target).item<double>(), softmax, 1e-9 * softmax);
    ++compared;
  }
  EXPECT_EQ(compared, 30);
}

TEST(Distilled, TakesTheTeachersFirstClassWithoutATemperature) {
  const at::Tensor student = at::sin(at::arange(12, at::kDouble)).view({3, 4});
  const at::Tensor teacher = at::cos(at::arange(12, at::kDouble)).view({3, 4});
  const at::Tensor base = at::full({}, 2.0, at::kDouble);
  const at::Tensor wanted = 0.5 * base + 0.5 * at::cross_entropy_loss(student, teacher.argmax(1));
  EXPECT_DOUBLE_EQ(distilled(base, student, teacher, {0.5, {}}).item<double>(),
                   wanted.item<double>());
}

TEST(Distilled, IsTheSoftenedDivergenceOverBatchAndClasses) {
  const at::Tensor student = at::sin(at::arange(12, at::kDouble)).view({3, 4});
  at::Tensor teacher = at::cos(at::arange(12, at::kDouble)).view({3, 4}).requires_grad_(true);
  double sum = 0;
  const at::Tensor p = at::softmax(teacher / 3, 1), q = at::softmax(student / 3, 1);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) {
      const double a = p[i][k].item<double>(), b = q[i][k].item<double>();
      sum += a * std::log(a / b);
    }
  }
  at::Tensor leaf = student.clone().requires_grad_(true);
  const at::Tensor loss = distilled(at::zeros({}, at::kDouble), leaf, teacher, {0.5, 3.0});
  EXPECT_NEAR(loss.item<double>(), 0.5 * 9 * sum / 12, 1e-12);
  loss.backward();
  EXPECT_TRUE(leaf.grad().defined());
  EXPECT_FALSE(teacher.grad().defined()) << "a gradient reached the teacher";
}

TEST(Distilled, RefusesATeacherOfOtherClasses) {
  EXPECT_THROW((void)distilled(at::zeros({}), at::zeros({2, 3}), at::zeros({2, 4}), {0.5, {}}),
               ShapeError);
}

}  // namespace
}  // namespace vitrine::nn

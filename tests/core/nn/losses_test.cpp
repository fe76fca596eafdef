// Losses against tensors made with the reference codes (tests/golden/training/losses_bce), and
// distillation against its definition in float64.
#include "core/nn/losses.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/model/weights.h"

namespace vitrine::nn {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/golden/training/losses_bce";

void expectClose(const at::Tensor& actual, const at::Tensor& wanted, const std::string& name) {
  ASSERT_EQ(actual.sizes(), wanted.sizes()) << name;
  const double allowed = 1e-5 * std::max(0.01, wanted.abs().max().item<double>());
  EXPECT_LE((actual.detach() - wanted).abs().max().item<double>(), allowed) << name;
}

class Losses : public ::testing::Test {
 protected:
  /// Loss and gradient of the logits are those stored as `name`.
  void expect(const std::string& name, const at::Tensor& targets, OverClasses over,
              const std::string& logitsName = "logits") {
    at::Tensor logits = tensors_.at("input/" + logitsName).clone().requires_grad_(true);
    const at::Tensor loss = binaryCrossEntropy(logits, targets, over);
    expectClose(loss, tensors_.at("output/" + name), name);
    loss.backward();
    expectClose(logits.grad(), tensors_.at("grad/" + name), "gradient of " + name);
  }

  const std::map<std::string, at::Tensor> tensors_ = readTensors(kFolder / "io.safetensors");
  const at::Tensor labels_ = tensors_.at("input/labels");
  const at::Tensor oneHot_ = smoothedTargets(labels_, 10, 0);
  const at::Tensor smoothed_ = smoothedTargets(labels_, 10, 0.1);
};

TEST_F(Losses, TargetsAreSmoothedMixedAndBinarisedAsInTheReference) {
  expectClose(smoothed_, tensors_.at("target/smoothed"), "smoothed");
  expectClose(mixedTargets(oneHot_, 0.3), tensors_.at("target/mixed_no_smoothing"), "mixed");
  const at::Tensor mixed = mixedTargets(smoothed_, 0.3);
  expectClose(mixed, tensors_.at("target/mixed_smoothing"), "mixed and smoothed");
  expectClose(binaryTargets(mixedTargets(oneHot_, 0.3)), tensors_.at("target/binarised"), "binary");
  expectClose(binaryTargets(mixed), tensors_.at("target/binarised_with_smoothing"), "all ones");
  expectClose(binaryTargets(mixed, 0.2), tensors_.at("target/binarised_threshold_0.2"),
              "above 0.2");
}

TEST_F(Losses, BinaryCrossEntropyHasTheValuesAndGradientsOfTheReference) {
  const at::Tensor mixed = mixedTargets(smoothed_, 0.3);
  expect("bce_deit3", binaryTargets(mixedTargets(oneHot_, 0.3)), OverClasses::Mean);
  expect("bce_mixed_soft", mixedTargets(oneHot_, 0.3), OverClasses::Mean);
  expect("bce_mixed_smoothing", mixed, OverClasses::Mean);
  expect("bce_binarised_with_smoothing", binaryTargets(mixed), OverClasses::Mean);
  expect("bce_threshold_0.2", binaryTargets(mixed, 0.2), OverClasses::Mean);
  expect("bce_label_smoothing", smoothed_, OverClasses::Mean);
  expect("bce_label_smoothing_sum_classes", smoothed_, OverClasses::Sum);
  expect("sigmoid_sum_one_hot", oneHot_, OverClasses::Sum);
  expect("sigmoid_sum_mixed", mixedTargets(oneHot_, 0.3), OverClasses::Sum);
}

TEST_F(Losses, StayFiniteWhereTheLogitsAreExtreme) {
  expect("extreme_sum", tensors_.at("input/extreme_targets"), OverClasses::Sum, "extreme_logits");
}

TEST_F(Losses, BeginWhereTheBiasOfTheHeadSays) {
  std::ifstream stream(kFolder / "case.json");
  const Json json = Json::parse(stream);
  int compared = 0;
  for (const Json& row : json.at("initial_values")) {
    const auto classes = row.at("classes").get<std::int64_t>();
    const std::string bias = row.at("bias");
    const double value = row.at("bias_value");
    if (bias == "prior_0.01") {
      EXPECT_NEAR(biasOfPrior(0.01), value, 1e-12);
    }
    if (bias == "prior_1_over_K") {
      EXPECT_NEAR(biasOfPrior(1.0 / static_cast<double>(classes)), value, 1e-12);
    }
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

TEST(SoftCrossEntropy, RefusesTargetsOfAnotherShape) {
  EXPECT_THROW((void)softCrossEntropy(at::zeros({2, 3}), at::zeros({2, 4})), ShapeError);
}

}  // namespace
}  // namespace vitrine::nn

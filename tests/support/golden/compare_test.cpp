// The comparison of reference cases itself: it must be able to fail.
#include "tests/support/golden/compare.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/refusal.h"

namespace vitrine::testing {
namespace {

Allowance ofMost(double share) { return {.relativeToMost = share}; }

TEST(GoldenComparison, OneElementOffIsAMiss) {
  const at::Tensor expected = at::arange(6, at::kFloat).view({2, 3});
  at::Tensor ours = expected.clone();
  EXPECT_FALSE(compareTensors("t", ours, expected, ofMost(1e-5)).isMiss());
  ours[1][0] += 1e-3;
  const Compared result = compareTensors("t", ours, expected, ofMost(1e-5));
  EXPECT_TRUE(result.isMiss());
  EXPECT_NEAR(result.error, 1e-3, 1e-6);
  EXPECT_NEAR(result.allowed, 5e-5, 1e-9);
}

TEST(GoldenComparison, AnotherShapeAndNotFiniteAreMisses) {
  EXPECT_TRUE(compareTensors("t", at::zeros({2}), at::zeros({3}), ofMost(1)).isMiss());
  EXPECT_TRUE(compareTensors("t", at::Tensor(), at::zeros({3}), ofMost(1)).isMiss());
  EXPECT_TRUE(compareTensors("t", at::full({3}, NAN), at::zeros({3}), ofMost(1)).isMiss());
  EXPECT_TRUE(compareTensors("t", at::zeros({3}), at::full({3}, INFINITY), ofMost(1)).isMiss());
  EXPECT_FALSE(
      compareTensors("t", at::full({3}, INFINITY), at::full({3}, INFINITY), ofMost(1)).isMiss());
}

TEST(GoldenComparison, ATensorThatWasNotMadeIsNotCountedAsCompared) {
  GoldenCase golden;
  golden.json = Json::parse(R"({"tolerance": {"output": 1e-5, "grad": 1e-4}})");
  golden.io = {
      {"input/x", at::ones({1})}, {"output/a", at::ones({1})}, {"output/b", at::ones({1})}};
  golden.gradients = {{"weight", at::ones({1})}};
  const auto results = compareCase(golden, {{{"output/a", at::ones({1})}}});
  ASSERT_EQ(results.size(), 3u) << "inputs are not expected of us";
  EXPECT_TRUE(results[0].isMapped);
  EXPECT_FALSE(results[1].isMapped);
  EXPECT_FALSE(results[2].isMapped);
  EXPECT_FALSE(results[1].isMiss());
}

TEST(GoldenComparison, EveryDialectOfToleranceIsUnderstood) {
  GoldenCase golden{.gradients = {{"weight", at::ones({1})}}};
  const auto allowance = [&](const char* stated, const std::string& tensor) {
    golden.json = Json{{"tolerance", Json::parse(stated)}};
    return allowanceOf(golden, tensor);
  };
  EXPECT_EQ(allowance(R"({"output": 1e-5, "grad": 2e-5})", "weight").relativeToMost, 2e-5);
  EXPECT_EQ(allowance(R"({"output": 1e-5, "grad": 2e-5})", "output/a").relativeToMost, 1e-5);
  EXPECT_EQ(allowance(R"({"output": 1, "output/a": 0.001})", "output/a").relativeToMost, 0.001);
  EXPECT_EQ(allowance(R"({"output_relative": 1e-6})", "output/a").relative, 1e-6);
  EXPECT_EQ(allowance(R"({"output_grey_levels": 0, "output_grey_levels_allowed": 1})", "output/a")
                .absolute,
            1);
  EXPECT_EQ(allowance(R"({"atol": 0.5, "rtol": 0.25})", "output/a").relative, 0.25);
  EXPECT_EQ(allowance(R"({"exact": true})", "output/a").absolute, 0);
  EXPECT_EQ(
      allowance(R"({"float32": {"forward": 1e-5, "gradient": 1e-4}})", "weight").relativeToMost,
      1e-4);
}

TEST(GoldenComparison, SmallGradientsAreMeasuredAgainstTheLargestOfTheFile) {
  GoldenCase golden;
  golden.json = Json::parse(R"({"tolerance": {"float32": {"forward": 1e-5, "gradient": 1e-4}}})");
  golden.gradients = {{"weight", at::full({1}, -500.0)}, {"bias", at::zeros({1})}};
  EXPECT_DOUBLE_EQ(allowanceOf(golden, "bias").floor, 5);
  EXPECT_DOUBLE_EQ(allowanceOf(golden, "output/a").floor, 0.01);
}

TEST(GoldenComparison, AnOptionOrAWordWithoutCounterpartIsSaid) {
  const Json table = {{"T", 1000}, {"schedule", "sigmoid"}};
  const auto sentence = [](const auto& check) -> std::string {
    return test::refusal<Unmapped>([&] { check(); });
  };
  EXPECT_EQ(sentence([&] { requireKnown(table, "model", {"T", "schedule"}); }), "");
  EXPECT_EQ(sentence([&] { requireKnown(table, "model", {"T"}); }),
            "model.schedule has no counterpart");
  EXPECT_EQ(sentence([&] {
              static_cast<void>(counterpartOf<int>(table, "schedule", {{"cosine", 1}}));
            }),
            "schedule = 'sigmoid' has no counterpart");
  EXPECT_EQ(counterpartOf<int>(Json{{"schedule", "cosine"}}, "schedule", {{"cosine", 1}}), 1);
}

}  // namespace
}  // namespace vitrine::testing

// Guidance of a denoiser that tells what it was asked.
#include "core/diffusion/guidance.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace vitrine::diffusion {
namespace {

/// Every value of the prediction is the label, times the channel plus one.
class Echo final : public Denoiser, public GuidedDenoiser {
 public:
  explicit Echo(double drop) : drop_(drop) {}
  Sizes denoiserSizes() const override { return {4, 2, 2, 10, 8}; }
  at::Tensor denoise(const at::Tensor& x, const at::Tensor& time,
                     const Condition& condition) override {
    seen = x.size(0);
    times = time;
    const at::Tensor scale = at::arange(1, 9, at::kFloat).view({1, 8, 1, 1});
    return condition.label.to(at::kFloat).view({-1, 1, 1, 1}) * scale.expand({seen, 8, 2, 2});
  }
  Time timeUnit() const override { return Time::Step; }
  double labelDrop() const override { return drop_; }
  std::int64_t seen = 0;
  at::Tensor times;

 private:
  double drop_;
};

at::Tensor predicted(Echo& echo, const Guidance& guidance) {
  return guidedPrediction(echo, echo, at::zeros({2, 4, 2, 2}), 37, at::tensor({3, 5}, at::kLong),
                          guidance);
}

TEST(Guidance, OfOneIsTheConditionalPredictionInOnePassOfTheBatch) {
  Echo echo(0.1);
  const at::Tensor out = predicted(echo, {1, 3});
  EXPECT_EQ(echo.seen, 2);
  EXPECT_EQ(out[1][0][0][0].item<float>(), 5);
  EXPECT_TRUE(at::equal(echo.times, at::full({2}, 37, at::kFloat)));
}

TEST(Guidance, MovesTheFirstChannelsAwayFromNoLabelAndLeavesTheOthers) {
  Echo echo(0.1);
  const at::Tensor out = predicted(echo, {4, 3});
  EXPECT_EQ(echo.seen, 4);
  for (std::int64_t c = 0; c < 8; ++c) {
    const double scale = static_cast<double>(c + 1);
    const double expected = c < 3 ? scale * (10 + 4 * (3 - 10)) : scale * 3;
    EXPECT_EQ(out[0][c][1][1].item<float>(), expected) << c;
  }
}

TEST(Guidance, OfAllChannelsNeverTouchesTheVariance) {
  Echo echo(0.1);
  const at::Tensor out = predicted(echo, {2, 0});
  EXPECT_EQ(out[1][3][0][0].item<float>(), 4 * (10 + 2 * (5 - 10)));
  EXPECT_EQ(out[1][4][0][0].item<float>(), 5 * 5);
  const at::Tensor many = predicted(echo, {2, 100});
  EXPECT_TRUE(at::equal(many, out)) << "a model of four channels has no hundred";
}

TEST(Guidance, IsRefusedWhereNoLabelWasEverDropped) {
  Echo echo(0);
  EXPECT_EQ(predicted(echo, {1, 3}).size(0), 2);
  EXPECT_THAT([&] { (void)predicted(echo, {2, 3}); }, test::Fails<ConfigError>("guidance = 2"));
}

}  // namespace
}  // namespace vitrine::diffusion

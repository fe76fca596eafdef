#include "plugins/analyses/weight_histograms.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "plugins/analyses/analyses.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"

namespace vitrine::analyses {
namespace {

using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<std::int64_t> sides(const std::vector<std::int64_t>& counts, std::int64_t bin) {
  return {counts[static_cast<std::size_t>(SignedBins::kBounds - bin)],
          counts[static_cast<std::size_t>(SignedBins::kBounds + bin)]};
}

TEST(ValueSummary, CountsAndMeasures) {
  const ValueSummary found = summaryOf(at::tensor({0.0, 0.0, 1.0, 3.0, 4.0}, at::kDouble));
  EXPECT_EQ(found.values, 5);
  EXPECT_EQ(found.zeros, 2);
  EXPECT_EQ(found.nonFinite, 0);
  EXPECT_DOUBLE_EQ(found.mean, 1.6);
  EXPECT_DOUBLE_EQ(found.deviation, std::sqrt((2 * 2.56 + 0.36 + 1.96 + 5.76) / 5));
  EXPECT_DOUBLE_EQ(found.norm, std::sqrt(26.0));
  EXPECT_EQ(found.lowest, 0);
  EXPECT_EQ(found.highest, 4);
}

TEST(ValueSummary, LeavesOutValuesThatAreNotFinite) {
  const ValueSummary found =
      summaryOf(at::tensor({-1.0, kNaN, 1.0, kInfinity, -kInfinity}, at::kDouble));
  EXPECT_EQ(found.nonFinite, 3);
  EXPECT_EQ(found.mean, 0);
  EXPECT_EQ(found.deviation, 1);
  EXPECT_EQ(found.lowest, -1);
  const ValueSummary none = summaryOf(at::tensor({kNaN, kInfinity}, at::kDouble));
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_TRUE(std::isnan(none.highest));
  EXPECT_EQ(none.norm, 0);
}

TEST(ValueSummary, HoldsForEmptyEqualAndVeryLargeValues) {
  const ValueSummary empty = summaryOf(at::zeros({0, 3}));
  EXPECT_EQ(empty.values, 0);
  EXPECT_TRUE(std::isnan(empty.mean));
  const ValueSummary equal = summaryOf(at::full({3}, 2.0));
  EXPECT_EQ(equal.mean, 2);
  EXPECT_EQ(equal.deviation, 0);
  EXPECT_EQ(equal.lowest, equal.highest);
  const ValueSummary zeros = summaryOf(at::zeros({3}));
  EXPECT_EQ(zeros.zeros, 3);
  EXPECT_EQ(zeros.norm, 0);
  const ValueSummary large = summaryOf(at::tensor({-1e300, 1e300}, at::kDouble));
  EXPECT_DOUBLE_EQ(large.norm, std::sqrt(2.0) * 1e300) << "squares do not overflow";
  EXPECT_DOUBLE_EQ(large.deviation, 1e300);
}

TEST(SignedBins, AscendInSteps125ThroughFiveDecades) {
  const SignedBins bins(0.3);
  ASSERT_EQ(std::ssize(bins.bounds), SignedBins::kBounds);
  EXPECT_EQ(bins.bounds.front(), 1e-5);
  EXPECT_EQ(bins.bounds[1], 2e-5);
  EXPECT_EQ(bins.bounds[2], 5e-5);
  EXPECT_EQ(bins.bounds[12], 0.1);
  EXPECT_EQ(bins.bounds.back(), 0.5);
  EXPECT_EQ(SignedBins(1).bounds.back(), 5) << "the largest value is below the end of its decade";
  EXPECT_EQ(SignedBins(0).bounds.back(), 5);
  EXPECT_GT(SignedBins(5e-324).bounds.front(), 0);
}

TEST(SignedBins, SortValuesBySignAndMagnitude) {
  const SignedBins bins(0.3);
  const std::vector<std::int64_t> counts =
      bins.countsOf(at::tensor({0.1F, 0.15F, -0.1F, 0.0F, 9e-6F, -9e-6F, 1e-5F, 0.02F,
                                static_cast<float>(kNaN), static_cast<float>(-kInfinity)}));
  EXPECT_THAT(sides(counts, 13), ElementsAre(1, 2)) << "from 0.1 to 0.2";
  EXPECT_THAT(sides(counts, 11), ElementsAre(0, 1)) << "0.02 as float32 is below 0.02";
  EXPECT_THAT(sides(counts, 1), ElementsAre(0, 1));
  EXPECT_EQ(sides(counts, 0).front(), 3) << "closer to zero than the first bound";
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 8) << "finite values";
  EXPECT_EQ(SignedBins(0).countsOf(at::zeros({4}))[SignedBins::kBounds], 4);
}

class TwoParameters final : public test::FakeModel<> {
 public:
  TwoParameters() {
    weight = register_parameter("weight", at::tensor({1.0F, 2.0F, 0.0F, 5.0F}).view({2, 2}));
    bias = register_parameter("bias", at::tensor({-1.0F, 1.0F}));
    unused = register_parameter("unused", at::zeros({2}));
    none = register_parameter("none", at::zeros({0}));
  }
  at::Tensor weight, bias, unused, none;
};

/// Two parts: 3 * mean over samples of x * sum of weights, and sum(bias^2) over a count of four.
class TwoParts final : public NoSession {
 public:
  explicit TwoParts(TwoParameters& model) : NoSession(model), model_(model) {}
  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    if (isBroken) throw ConfigError("no label here");
    return {{"a", batch.at("x").sum() * model_.weight.sum() * factor, {}, 3},
            {"b", model_.bias.square().sum(), at::full({}, 4.0F)}};
  }
  bool isBroken = false;
  double factor = 1;

 private:
  TwoParameters& model_;
};

Batch twoSamples() {
  Batch batch{.sampleIds = {7, 9}};
  batch.fields["x"] = at::tensor({1.0F, 3.0F});
  return batch;
}

Config configOf(const Json& changes = Json::object()) {
  Json values = makeWeightHistograms()->card().schema.defaults();
  values.update(changes);
  return Config(values);
}

Analysis::Findings findingsOf(TwoParts& session, const Config& config) {
  const at::NoGradGuard noGradient;  // as probes are called
  const Batch batch = twoSamples();
  ProbeContext context{session, session.model(), batch, {}, {}};
  return makeWeightHistograms()->probe(config, context)();
}

const Artifact& named(const Analysis::Findings& findings, const std::string& name) {
  for (const Artifact& artifact : findings.artifacts)
    if (artifact.name == name) return artifact;
  throw Error("no artifact " + name);
}

Json tableOf(const Artifact& artifact) {
  return readJson(
      std::string(reinterpret_cast<const char*>(artifact.data.data()), artifact.data.size()));
}

TEST(WeightHistograms, HoldTheValuesOfEachParameterOnOneScale) {
  TwoParameters model;
  TwoParts session(model);
  const Analysis::Findings found = findingsOf(session, configOf());
  const Artifact& weights = named(found, "weights");
  EXPECT_EQ(weights.kind, artifact_kind::kMatrix);
  EXPECT_EQ(weights.meta["row_labels"], Json({"weight", "bias", "unused", "none"}));
  EXPECT_EQ(weights.meta["column_labels"].size(), static_cast<std::size_t>(SignedBins::kCount));
  EXPECT_EQ(weights.meta["column_labels"].front(), "-5");
  EXPECT_EQ(weights.meta["column_labels"].back(), "5");
  EXPECT_EQ(weights.meta["bounds"].back(), 5.0);
  const ArrayView shares = arrayOf(weights.meta, weights.data);
  ASSERT_EQ(shares.shape, (std::vector<std::int64_t>{4, SignedBins::kCount}));
  const auto share = [&](std::int64_t row, std::int64_t bin) {
    return shares.at(row * SignedBins::kCount + SignedBins::kBounds + bin);
  };
  EXPECT_EQ(share(0, 15), 0.25) << "5";
  EXPECT_EQ(share(0, 14), 0.25) << "2";
  EXPECT_EQ(share(0, 13), 0.25) << "1";
  EXPECT_EQ(share(0, 0), 0.25);
  EXPECT_EQ(share(1, -13), 0.5);
  EXPECT_EQ(share(1, 13), 0.5);
  EXPECT_EQ(share(2, 0), 1.0);
  EXPECT_EQ(share(3, 0), 0.0) << "a parameter without values";
  const Json rows = tableOf(named(found, "weight summary"))["rows"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0][1], "2 x 2");
  EXPECT_EQ(rows[0][3], 0.0);
  EXPECT_EQ(rows[0][4], 5.0);
  EXPECT_EQ(rows[0][5], 2.0);
  EXPECT_DOUBLE_EQ(rows[0][7].get<double>(), std::sqrt(30.0));
  EXPECT_EQ(rows[0][8], 0.25);
  EXPECT_EQ(rows[0][9], 0.0);
  EXPECT_TRUE(rows[3][5].is_null());
  EXPECT_EQ(found.scores[0].first, "largest_weight_norm");
  EXPECT_DOUBLE_EQ(found.scores[0].second, std::sqrt(30.0)) << "the largest of a parameter";
  EXPECT_EQ(found.scores[1].first, "weight_zeros");
  EXPECT_DOUBLE_EQ(found.scores[1].second, 3.0 / 8);
}

TEST(WeightHistograms, TakeGradientsOfTheMeanLossOfTheBatchAndLeaveTheModelAlone) {
  TwoParameters model;
  TwoParts session(model);
  const Analysis::Findings found = findingsOf(session, configOf());
  // d/dw: 3 * (1 + 3) / 2 of each weight; d/db: 2 b / 4.
  const Artifact& gradients = named(found, "gradients");
  EXPECT_EQ(gradients.meta["row_labels"], Json({"weight", "bias"}))
      << "the loss does not depend on the others";
  const ArrayView shares = arrayOf(gradients.meta, gradients.data);
  EXPECT_EQ(shares.at(SignedBins::kBounds + 15), 1.0) << "6";
  EXPECT_EQ(shares.at(SignedBins::kCount + SignedBins::kBounds - 12), 0.5) << "-0.5";
  EXPECT_EQ(shares.at(SignedBins::kCount + SignedBins::kBounds + 12), 0.5) << "0.5";
  const Json rows = tableOf(named(found, "gradient summary"))["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][5], 6.0);
  EXPECT_EQ(rows[0][6], 0.0);
  EXPECT_DOUBLE_EQ(rows[1][7].get<double>(), std::sqrt(0.5));
  EXPECT_EQ(found.scores[2].first, "largest_gradient_norm");
  EXPECT_DOUBLE_EQ(found.scores[2].second, 12);
  EXPECT_EQ(found.scores[3].second, 0) << "share of zeros";
  EXPECT_EQ(gradients.meta["split"], "train");
  EXPECT_EQ(gradients.meta["sample_ids"], Json({7, 9}));
  EXPECT_FALSE(named(found, "weights").meta.contains("split"));
  EXPECT_FALSE(model.weight.grad().defined()) << "the gradients of the optimizer stay";
}

TEST(WeightHistograms, CountGradientsThatAreNotFinite) {
  TwoParameters model;
  TwoParts session(model);
  session.factor = kNaN;
  const Analysis::Findings found = findingsOf(session, configOf());
  const Json rows = tableOf(named(found, "gradient summary"))["rows"];
  EXPECT_EQ(rows[0][9], 1.0);
  EXPECT_TRUE(rows[0][5].is_null());
  EXPECT_EQ(rows[1][9], 0.0);
  const Artifact& gradients = named(found, "gradients");
  const ArrayView shares = arrayOf(gradients.meta, gradients.data);
  for (std::int64_t i = 0; i < SignedBins::kCount; ++i) EXPECT_EQ(shares.at(i), 0.0);
}

TEST(WeightHistograms, AskForABatchOfTheNamedSplit) {
  const ProbeSamples samples =
      makeWeightHistograms()->probeSamples(configOf({{"split", "test"}, {"batch", 5}}));
  EXPECT_EQ(samples.split, Split::Test);
  EXPECT_EQ(samples.count, 5);
}

TEST(WeightHistograms, SayWhyThereAreNoGradients) {
  TwoParameters model;
  TwoParts session(model);
  const auto reason = [&](const Json& changes) {
    const Analysis::Findings found = findingsOf(session, configOf(changes));
    EXPECT_EQ(found.artifacts.size(), 2U);
    return named(found, "weights").meta["gradients"].get<std::string>();
  };
  session.isBroken = true;
  EXPECT_EQ(reason(Json::object()), "left out: no label here");
  session.isBroken = false;
  EXPECT_EQ(reason({{"batch", 0}}), "left out: batch is 0");
  for (at::Tensor& parameter : model.parameters()) parameter.set_requires_grad(false);
  EXPECT_EQ(reason(Json::object()), "left out: all parameters are frozen");
}

}  // namespace
}  // namespace vitrine::analyses

// What mixup and cutmix draw; their pixels and labels are compared in augment_golden_test.cpp.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/plugins/transforms/patterns.h"

namespace vitrine::transforms {
namespace {

using test::dataValues, test::Fails, test::Patterns, test::pipelineOf;

Json trainWith(const Json& mix) {
  Json data = dataValues();
  data["pipeline"] = {{"train", Json::array({{{"name", "normalize"}, {"by", "none"}}, mix})}};
  return data;
}

TEST(Mix, WritesLabelsThatSumToOneAndDiffersFromBatchToBatch) {
  const auto set = std::make_shared<Patterns>(1, 8, 8, 64);
  for (const char* name : {"mixup", "cutmix", "mixup_or_cutmix"}) {
    const auto pipeline = pipelineOf(set, trainWith({{"name", name}}), 5);
    EXPECT_EQ(pipeline->field("soft_label", Phase::Train).shape, std::vector<std::int64_t>{7});
    EXPECT_EQ(findField(pipeline->fields(Phase::Evaluate), "soft_label"), nullptr);
    const auto stream = pipeline->stream(Split::Train, {.batchSize = 16, .isTraining = true});
    std::set<float> shares;
    for (int i = 0; i < 8; ++i) {
      const Batch batch = stream->next();
      EXPECT_TRUE(at::allclose(batch.at("soft_label").sum(1), at::ones({16}))) << name;
      shares.insert(batch.at("soft_label").max().item<float>());
    }
    EXPECT_GT(shares.size(), 3u) << name;
    // Resumed at the fifth batch it is as if it had never stopped.
    const auto again = pipeline->stream(
        Split::Train, {.batchSize = 16, .workers = 0, .isTraining = true, .firstBatch = 5});
    const auto whole = pipeline->stream(Split::Train, {.batchSize = 16, .isTraining = true});
    for (int i = 0; i < 5; ++i) (void)whole->next();
    const Batch a = whole->next(), b = again->next();
    EXPECT_TRUE(at::equal(a.at("image"), b.at("image"))) << name;
    EXPECT_TRUE(at::equal(a.at("soft_label"), b.at("soft_label"))) << name;
  }
}

TEST(Mix, ALabelOfNoClassIsRefused) {
  for (const std::int64_t label : {7, -1}) {
    Batch batch;
    batch.fields["image"] = at::zeros({2, 1, 2, 2});
    batch.fields["label"] = at::tensor(std::vector<std::int64_t>{0, label});
    EXPECT_THAT([&] { mixBatch(batch, 7, 0.5, std::nullopt); },
                Fails<ConfigError>("0 to 6", label));
  }
}

TEST(Mix, BetaSharesHaveTheirMeanAndSpread) {
  const auto set = std::make_shared<Patterns>(1, 2, 2, 2);
  for (const double alpha : {0.2, 1.0, 4.0}) {
    const auto pipeline = pipelineOf(set, trainWith({{"name", "mixup"}, {"alpha", alpha}}), 1);
    const auto stream = pipeline->stream(Split::Train, {.batchSize = 2, .isTraining = true});
    double sum = 0, squares = 0;
    constexpr int kBatches = 2000;
    for (int i = 0; i < kBatches; ++i) {
      const Batch batch = stream->next();
      const double share =
          batch.at("soft_label")[0][batch.at("label")[0].item<std::int64_t>()].item<double>();
      sum += share;
      squares += share * share;
    }
    const double mean = sum / kBatches, variance = squares / kBatches - mean * mean;
    const double expected = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(mean, 0.5, 5 * std::sqrt(expected / kBatches)) << alpha;
    EXPECT_NEAR(variance, expected, 0.15 * expected) << alpha;
  }
}

TEST(Mix, NeedsFloatsOfOneSizeAndLabels) {
  const auto set = std::make_shared<Patterns>(1, 8, 8, 64);
  Json data = dataValues();
  data["pipeline"] = {{"train", Json::array({{{"name", "mixup"}}})}};
  EXPECT_THAT([&] { (void)pipelineOf(set, data); },
              Fails<ConfigError>("mixup", "resize", "normalize"));
  data["pipeline"]["train"] =
      Json::array({{{"name", "normalize"}}, {{"name", "mixup"}}, {{"name", "flip"}}});
  EXPECT_THAT([&] { (void)pipelineOf(set, data); }, Fails<ConfigError>("flip", "mixup"));
}

TEST(Mix, IsOneOfAListForTheSecondWouldForgetTheLabelsOfTheFirst) {
  const auto set = std::make_shared<Patterns>(1, 8, 8, 64);
  Json data = dataValues();
  data["pipeline"] = {{"train", Json::array({{{"name", "normalize"}},
                                             {{"name", "mixup"}, {"probability", 0.5}},
                                             {{"name", "cutmix"}, {"probability", 0.5}}})}};
  EXPECT_THAT([&] { (void)pipelineOf(set, data); },
              Fails<ConfigError>("cutmix", "mixup_or_cutmix"));
}

}  // namespace
}  // namespace vitrine::transforms

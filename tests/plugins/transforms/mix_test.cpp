// Mixup and cutmix against timm (tests/golden/augmentation/mixup_cutmix).
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <fstream>

#include "core/base/error.h"
#include "core/model/weights.h"
#include "tests/plugins/transforms/patterns.h"

namespace vitrine::transforms {
namespace {

using test::dataValues;
using test::Patterns;
using test::pipelineOf;
using ::testing::HasSubstr;

class MixupCutmix : public ::testing::Test {
 protected:
  MixupCutmix() {
    const std::string folder = VITRINE_SOURCE_DIR "/tests/golden/augmentation/mixup_cutmix";
    std::ifstream file(folder + "/case.json");
    parameters_ = Json::parse(file).at("parameters");
    tensors_ = readTensors(folder + "/io.safetensors");
  }
  [[nodiscard]] Batch batch() const {
    Batch batch;
    batch.fields["image"] = tensors_.at("input/images").clone();
    batch.fields["label"] = tensors_.at("input/labels").clone();
    batch.sampleIds = {0, 1, 2, 3};
    return batch;
  }
  void expectIs(const Batch& batch, const std::string& name) const {
    EXPECT_TRUE(at::allclose(batch.at("image"), tensors_.at("output/" + name + "/images"), 0, 1e-6))
        << name;
    // The reference smooths its one-hot labels; a loss does that to the mixed ones.
    const double smoothing = parameters_["smoothing"];
    const at::Tensor targets = batch.at("soft_label") * (1 - smoothing) + smoothing / 10;
    EXPECT_TRUE(at::allclose(targets, tensors_.at("output/" + name + "/targets"), 0, 1e-6)) << name;
  }
  Json parameters_;
  std::map<std::string, at::Tensor> tensors_;
};

TEST_F(MixupCutmix, MixupIsTheReferences) {
  for (const double lambda : {0.3, 0.85}) {
    Batch mixed = batch();
    mixBatch(mixed, 10, lambda, std::nullopt);
    expectIs(mixed, lambda < 0.5 ? "mixup_0.3" : "mixup_0.85");
  }
}

TEST_F(MixupCutmix, CutmixIsTheReferencesWithBothRulesOfOddSides) {
  for (const Json& row : parameters_["cutmix"]) {
    const bool isKept = row["variant"] == "timm_1.0.31";
    const CutBox box =
        cutBox({16, 16}, row["lam"], row["cy"], row["cx"], isKept ? OddSide::Keep : OddSide::Cut);
    EXPECT_EQ(Json({box.top, box.bottom, box.left, box.right}), row["box"]) << row.dump();
    std::string name = "cutmix_" + row["index"].dump();
    if (isKept && tensors_.contains("output/" + name + "_odd_kept/images")) name += "_odd_kept";
    Batch mixed = batch();
    mixBatch(mixed, 10, row["lam"], box);
    expectIs(mixed, name);
  }
}

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
  EXPECT_THAT(test::refusal<ConfigError>([&] { (void)pipelineOf(set, data); }),
              HasSubstr("put it behind resize and normalize"));
  data["pipeline"]["train"] =
      Json::array({{{"name", "normalize"}}, {{"name", "mixup"}}, {{"name", "flip"}}});
  EXPECT_THAT(test::refusal<ConfigError>([&] { (void)pipelineOf(set, data); }),
              HasSubstr("'flip' changes samples and must come before 'mixup'"));
}

}  // namespace
}  // namespace vitrine::transforms

#include "core/plugin/pipeline.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/data/pipeline_plan.h"
#include "tests/plugins/transforms/patterns.h"

namespace vitrine::test {
namespace {

using test::Fails;

void expectSame(BatchStream& a, BatchStream& b, int batches) {
  for (int i = 0; i < batches; ++i) {
    const Batch one = a.next(), other = b.next();
    EXPECT_EQ(one.sampleIds, other.sampleIds) << i;
    ASSERT_EQ(one.fields.size(), other.fields.size());
    for (const auto& [name, tensor] : one.fields)
      EXPECT_TRUE(at::equal(tensor, other.at(name))) << name << " of batch " << i;
  }
}

Json shortForm() {
  Json data = dataValues();
  data["augment"] = {{"crop_padding", 2}, {"flip", 0.5}};
  data["normalize"] = "half";
  return data;
}

TEST(Pipeline, TheShortFormStandsForAListOfTransforms) {
  const Patterns set(3, 9, 7, 4);
  const Json plan = pipelinePlan(Config(shortForm()), set.info(), {12, 8});
  EXPECT_EQ(plan["train"], Json({{{"name", "resize"}, {"size", {12, 8}}},
                                 {{"name", "random_crop"}, {"padding", 2}},
                                 {{"name", "flip"}, {"probability", 0.5}},
                                 {{"name", "normalize"}, {"by", "half"}}}));
  EXPECT_EQ(plan["evaluate"], Json({{{"name", "resize"}, {"size", {12, 8}}},
                                    {{"name", "normalize"}, {"by", "half"}}}));
  const Json plain = pipelinePlan(Config(dataValues()), set.info(), {9, 7});
  EXPECT_EQ(plain["train"], Json::array({{{"name", "normalize"}, {"by", "dataset"}}}));
}

TEST(Pipeline, TheShortFormOfAFolderCutsToItsSizeAndThenToTheModels) {
  DatasetInfo info{.channels = 3, .fields = labelledImageFields(3, -1, -1)};
  Json data = dataValues();
  data["image_size"] = {64, 64};
  data["crop"] = 0.875;
  const Json plan = pipelinePlan(Config(data), info, {32, 32});
  EXPECT_EQ(
      plan["evaluate"],
      Json({{{"name", "center_crop"}, {"size", {64, 64}}, {"by", "proportions"}, {"share", 0.875}},
            {{"name", "resize"}, {"size", {64, 64}}},
            {{"name", "resize"}, {"size", {32, 32}}},
            {{"name", "normalize"}, {"by", "dataset"}}}));
  EXPECT_EQ(pipelinePlan(Config(data), info, {64, 64})["evaluate"].size(), 3u);
}

TEST(Pipeline, TheShortFormAndItsListGiveTheSameBatches) {
  const auto set = std::make_shared<Patterns>(3, 9, 7, 40);
  const auto brief = pipelineOf(set, shortForm(), 4, {{12, 8}, 3});
  Json data = dataValues();
  data["pipeline"] = pipelinePlan(Config(shortForm()), set->info(), {12, 8});
  const auto listed = pipelineOf(set, data, 4, {{12, 8}, 3});
  EXPECT_EQ(brief->plan(), listed->plan());
  const StreamOptions training{.batchSize = 8, .isTraining = true};
  expectSame(*brief->stream(Split::Train, training), *listed->stream(Split::Train, training), 12);
  expectSame(*brief->stream(Split::Test, {.batchSize = 8}),
             *listed->stream(Split::Test, {.batchSize = 8}), 5);
}

TEST(Pipeline, ThreadsAndResumesChangeNothing) {
  const auto pipeline = pipelineOf(std::make_shared<Patterns>(1, 9, 7, 40), shortForm(), 4);
  for (const int workers : {1, 3}) {
    expectSame(
        *pipeline->stream(Split::Train, {.batchSize = 8, .workers = 0, .isTraining = true}),
        *pipeline->stream(Split::Train, {.batchSize = 8, .workers = workers, .isTraining = true}),
        12);
  }
  const auto whole = pipeline->stream(Split::Train, {.batchSize = 8, .isTraining = true});
  for (int i = 0; i < 7; ++i) (void)whole->next();
  expectSame(*whole,
             *pipeline->stream(Split::Train, {.batchSize = 8, .isTraining = true, .firstBatch = 7}),
             5);
}

TEST(Pipeline, ASecondTransformOfAKindDrawsNumbersOfItsOwn) {
  const auto set = std::make_shared<Patterns>(1, 1, 2, 64);
  const auto read = [&](const Json& list) {
    Json data = dataValues();
    data["pipeline"] = {{"train", list}};
    return pipelineOf(set, data, 1)
        ->stream(Split::Train, {.batchSize = 64, .isTraining = true})
        ->next()
        .at("image");
  };
  const Json flip = {{"name", "flip"}};
  const at::Tensor none = read(Json::array()), one = read(Json::array({flip}));
  const at::Tensor two = read(Json::array({flip, flip}));
  EXPECT_FALSE(at::equal(one, none));
  EXPECT_FALSE(at::equal(two, none)) << "the second flip undoes the first one";
}

TEST(Pipeline, ReadsAHeldOutPartFromTheTrainingSplit) {
  const auto set = std::make_shared<Patterns>(1, 1, 1, 70);
  Json data = dataValues();
  data["holdout"] = 0.1;
  data["evaluate_splits"] = {"validation"};
  const auto pipeline = pipelineOf(set, data, 3);
  const Batch out = pipeline->stream(Split::Validation, {.batchSize = 70})->next();
  EXPECT_EQ(out.size(), 7);
  const auto training = pipeline->stream(Split::Train, {.batchSize = 63, .isTraining = true});
  std::vector<std::int64_t> ids = training->next().sampleIds, both;
  std::sort(ids.begin(), ids.end());
  std::set_intersection(ids.begin(), ids.end(), out.sampleIds.begin(), out.sampleIds.end(),
                        std::back_inserter(both));
  EXPECT_EQ(ids.size(), 63u);
  EXPECT_TRUE(both.empty());
  EXPECT_TRUE(
      at::equal(pipeline->read(Split::Validation, out.sampleIds).at("image"), out.at("image")));
}

TEST(Pipeline, TrainsOnFullBatchesAndReadsAllOfAnEvaluation) {
  const auto pipeline = pipelineOf(std::make_shared<Patterns>(1, 1, 1, 21), dataValues());
  const auto training = pipeline->stream(Split::Train, {.batchSize = 8, .isTraining = true});
  EXPECT_EQ(training->batchesPerEpoch(), 2);
  EXPECT_EQ(pipeline->stream(Split::Train, {.batchSize = 50, .isTraining = true})->next().size(),
            21)
      << "a set smaller than a batch is its own batch";
  const auto evaluation = pipeline->stream(Split::Test, {.batchSize = 8});
  EXPECT_EQ(evaluation->batchesPerEpoch(), 3);
  EXPECT_EQ(pipeline->stream(Split::Test, {.batchSize = 8, .limit = 5})->samplesPerEpoch(), 5);
}

TEST(Pipeline, RefusesFieldsChannelsAndNamesThatAreNotThere) {
  const auto set = std::make_shared<Patterns>(1, 4, 4, 21);
  EXPECT_THAT(refusal<ConfigError>([&] {
                (void)pipelineOf(set, dataValues(), 0, {{4, 4}, 3});
              }),
              Names(3, "model.in_channels = 1"));
  Json data = dataValues();
  data["pipeline"] = {{"train", Json::array({{{"name", "filp"}}})}};
  EXPECT_THAT([&] { (void)pipelineOf(set, data); }, Fails<NotFoundError>("filp", "flip"));
  data["pipeline"] = {{"train", Json::array({{{"name", "flip"}, {"probability", 2}}})}};
  EXPECT_THAT([&] { (void)pipelineOf(set, data); }, Fails<ConfigError>("flip", "probability 2"));
  class Words final : public Dataset {
   public:
    Words() { info_.fields = {{"text", FieldKind::Text, at::kByte, {}, ""}}; }
    const DatasetInfo& info() const noexcept override { return info_; }
    std::int64_t size(Split) const override { return 3; }
    void read(Split, std::int64_t, Sample& sample) const override {
      sample["text"].resizeTexts(1)[0] = "word";
    }

   private:
    DatasetInfo info_;
  };
  const auto words = std::make_shared<Words>();
  EXPECT_EQ(pipelineOf(words, dataValues())->plan()["train"], Json::array());
  const std::vector<std::int64_t> ids{1};
  EXPECT_EQ(pipelineOf(words, dataValues())->read(Split::Train, ids).texts.at("text")[0][0],
            "word");
  data["pipeline"] = {{"train", Json::array({{{"name", "flip"}}})}};
  EXPECT_THAT([&] { (void)pipelineOf(words, data); }, Fails<ConfigError>("flip", "image", "text"));
  EXPECT_THAT([&] { (void)pipelineOf(words, dataValues())->field("image"); },
              Fails<ConfigError>("image"));
}

}  // namespace
}  // namespace vitrine::test

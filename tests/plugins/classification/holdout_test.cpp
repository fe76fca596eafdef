// A part of the training set as the validation split, and a choice of values that is made on it:
// who reads which split.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/config/selection.h"
#include "core/plugin/pipeline.h"
#include "core/run/null_sink.h"
#include "core/train/model_setup.h"
#include "core/train/observe.h"
#include "core/train/trainer.h"
#include "core/train/training_items.h"
#include "plugins/tasks/classification/classification.h"
#include "tests/plugins/transforms/registry.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"

namespace vitrine::classification {
namespace {

using test::Names;
using ::testing::SizeIs;

using Reads = std::array<std::atomic<std::int64_t>, 3>;  ///< by Split

/// Four classes of 25 images each in every split, one class after the other. Counts the images that
/// are read of each split.
class CountedImages final : public LabelledImages {
 public:
  explicit CountedImages(std::shared_ptr<Reads> reads, bool hasValidation = false)
      : reads_(std::move(reads)), hasValidation_(hasValidation) {
    info_.height = info_.width = 2;
    info_.classes = {"a", "b", "c", "d"};
    info_.mean = {0.0};
    info_.deviation = {1.0};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override {
    return split == Split::Validation && !hasValidation_ ? 0 : 100;
  }
  std::int64_t readImage(Split split, std::int64_t id,
                         std::span<std::uint8_t> image) const override {
    ++(*reads_)[static_cast<std::size_t>(split)];
    std::fill(image.begin(), image.end(), static_cast<std::uint8_t>(id / 25 * 60));
    return id / 25;
  }
  std::int64_t label(Split split, std::int64_t id) const override {
    ++(*reads_)[static_cast<std::size_t>(split)];
    return id / 25;
  }

 private:
  std::shared_ptr<Reads> reads_;
  bool hasValidation_;
  DatasetInfo info_;
};

/// One linear layer.
class Linear final : public test::FakeModel<ImageClassifier> {
 public:
  Linear() {
    weight_ = register_parameter("weight", at::zeros({4, 4}));
    bias_ = register_parameter("bias", at::zeros({4}));
  }
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }
  at::Tensor features(const at::Tensor& images) override { return images.flatten(1); }
  at::Tensor head(const at::Tensor& features) override {
    return at::linear(features, weight_, bias_);
  }

 private:
  at::Tensor weight_, bias_;
};

std::unique_ptr<TaskSession> openHeld(const Json& data, std::uint64_t seed = 0,
                                         bool hasValidation = false) {
  Json all = {{"train_samples", nullptr},   {"test_samples", nullptr},
              {"subset", "stratified"},     {"holdout", nullptr},
              {"evaluate_splits", nullptr}, {"augment", {{"crop_padding", 0}, {"flip", 0.0}}},
              {"normalize", "none"}};
  all.update(data);
  TaskSetup setup;
  setup.task = Config(Json{{"label_smoothing", 0.0}});
  setup.data = Config(all);
  setup.model = std::make_shared<Linear>();
  setup.seed = seed;
  setup.batchSize = 1;
  setup.evaluationBatchSize = 1000;
  setup.pipeline = std::make_shared<const Pipeline>(
      test::transformRegistry(), setup.data,
      std::make_shared<CountedImages>(std::make_shared<Reads>(), hasValidation), seed,
      Pipeline::ImageShape{});
  return ClassificationTask().open(setup);
}

std::vector<Split> splitsIn(const TaskSession& session) {
  std::vector<Split> splits;
  for (const Evaluation& each : session.evaluations()) splits.push_back(each.split);
  return splits;
}

std::set<std::int64_t> trainedOn(TaskSession& session) {
  const auto stream = session.trainingStream(0);
  std::set<std::int64_t> ids;
  for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i)
    ids.insert(stream->next().sampleIds[0]);
  return ids;
}

std::set<std::int64_t> probed(TaskSession& session) {
  const std::vector<std::int64_t> ids = train::probeBatch(session, {1000}).sampleIds;
  return {ids.begin(), ids.end()};
}

std::map<std::int64_t, int> classesOf(const std::set<std::int64_t>& ids) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t id : ids) ++counts[id / 25];
  return counts;
}

TEST(Holdout, PartsTheTrainingSamplesByClassAndBySeed) {
  const Json data = {{"holdout", 0.2}, {"evaluate_splits", {"validation"}}};
  const auto session = openHeld(data, 3);
  const std::set<std::int64_t> trained = trainedOn(*session), held = probed(*session);
  EXPECT_EQ(classesOf(trained), (std::map<std::int64_t, int>{{0, 20}, {1, 20}, {2, 20}, {3, 20}}));
  EXPECT_EQ(classesOf(held), (std::map<std::int64_t, int>{{0, 5}, {1, 5}, {2, 5}, {3, 5}}));
  std::set<std::int64_t> all = trained;
  all.insert(held.begin(), held.end());
  EXPECT_THAT(all, SizeIs(100));
  EXPECT_EQ(probed(*openHeld(data, 3)), held);
  EXPECT_NE(probed(*openHeld(data, 4)), held);
  EXPECT_EQ(session->bestBy(), "validation/top1");
}

TEST(Holdout, IsAPartOfTheSamplesThatTheRunUses) {
  const Json few = {{"holdout", 0.2}, {"evaluate_splits", {"validation"}}, {"train_samples", 40}};
  const auto session = openHeld(few, 1);
  const std::set<std::int64_t> trained = trainedOn(*session), held = probed(*session);
  EXPECT_THAT(trained, SizeIs(32));
  EXPECT_THAT(held, SizeIs(8));
  std::set<std::int64_t> used = trained;
  used.insert(held.begin(), held.end());
  EXPECT_EQ(used, trainedOn(*openHeld({{"train_samples", 40}}, 1)))
      << "a run without it learns from the same forty";
}

TEST(Holdout, TakesThePlaceOfAValidationSplitAndLeavesTheTestSplitAlone) {
  EXPECT_EQ(splitsIn(*openHeld(Json::object())), std::vector{Split::Test});
  EXPECT_EQ(splitsIn(*openHeld({{"holdout", 0.2}})),
            (std::vector{Split::Validation, Split::Test}));
  const auto session = openHeld({{"holdout", 0.2}}, 0, true);
  EXPECT_EQ(splitsIn(*session), (std::vector{Split::Validation, Split::Test}));
  EXPECT_THAT(probed(*session), SizeIs(100)) << "analyses look at the test split where it is read";
}

TEST(Holdout, OfNothingOrOfASplitThatIsNotThereIsRefused) {
  const auto told = [](const Json& data) -> std::string {
    return test::refusal<ConfigError>([&] {
      const auto session = openHeld(data);
      static_cast<void>(session->trainingStream(0));
      static_cast<void>(probed(*session));
    });
  };
  EXPECT_THAT(told({{"evaluate_splits", {"validation"}}}),
              Names("data.evaluate_splits", "validation"));
  EXPECT_THAT(told({{"evaluate_splits", {"train"}}}), Names("data.evaluate_splits", "train"));
  EXPECT_THAT(told({{"holdout", 0.001}, {"evaluate_splits", {"validation"}}}),
              Names("data.holdout"));
  EXPECT_THAT(told({{"holdout", 0.999}}), Names("data.holdout"));
}

class LinearArchitecture final : public Architecture {
 public:
  ItemCard card() const override {
    ItemCard card{.id = "linear", .offers = {ImageClassifier::kId}};
    card.schema.fields = {sizeField("image_size", 2, "side").range(1, 64),
                          integerField("num_classes", 4, "classes")};
    return card;
  }
  std::shared_ptr<Model> build(const Config&, std::uint64_t) const override {
    return std::make_shared<Linear>();
  }
};

class CountedSource final : public DatasetSource {
 public:
  explicit CountedSource(std::shared_ptr<Reads> reads) : reads_(std::move(reads)) {}
  ItemCard card() const override {
    return {.kind = ItemKind::Dataset, .id = "counted", .offers = {"image", "label"}};
  }
  std::shared_ptr<const Dataset> open(const Config&) const override {
    return std::make_shared<CountedImages>(reads_);
  }

 private:
  std::shared_ptr<Reads> reads_;
};

/// The last value of every metric.
class LastValues final : public NullSink {
 public:
  void metrics(const MetricRecord& record) override {
    for (const auto& [name, value] : record.values) values[name] = value;
  }
  std::map<std::string, double> values;
};

TEST(Select, OnlyTheRefitsReadTheTestSplit) {
  const auto reads = std::make_shared<Reads>();
  const auto readOf = [&](Split split) { return (*reads)[static_cast<std::size_t>(split)].load(); };
  Registry registry;
  registry.add(std::make_unique<LinearArchitecture>());
  registry.add(std::make_unique<ClassificationTask>());
  transforms::registerAll(registry);
  train::addTrainingItems(registry);
  registry.add(std::make_unique<CountedSource>(reads));
  const Plan plan = planExperiment(
      "[model]\narchitecture = 'linear'\n[task]\nname = 'classification'\n"
      "[data]\ndataset = 'counted'\nnormalize = 'none'\n"
      "[train]\nepochs = 2\nbatch_size = 10\ndevice = 'cpu'\nthreads = 1\nloader_workers = 0\n"
      "checkpoint = { every_epochs = 'none' }\noptimizer = { name = 'sgd', weight_decay = 0 }\n"
      "[select]\ngrid = { 'train.optimizer.learning_rate' = [1e-9, 0.1] }\nholdout = 0.2\n"
      "metric = 'validation/loss'\ndirection = 'lower'\nrefit_seeds = [0, 1]\n",
      "select.toml", registry.catalog());
  for (const Problem& problem : plan.problems) ADD_FAILURE() << problem.sentence();
  ASSERT_THAT(plan.runs, SizeIs(4));

  std::map<std::string, double> scores;
  for (const PlannedRun& run : plan.runs) {
    const bool isRefit = run.part == RunPart::Refit;
    Json config = run.config;
    if (isRefit) {
      const auto best = bestCandidate(run.selection, candidateScores(run.selection, scores));
      ASSERT_EQ(best, 1u) << "a rate of 1e-9 learns nothing";
      config = withCandidate(config, run.selection, *best);
      EXPECT_EQ(config["train"]["optimizer"]["learning_rate"], 0.1);
    }
    const std::int64_t trained = readOf(Split::Train), tested = readOf(Split::Test);
    LastValues sink;
    RunControl control;
    const train::TrainerResult result =
        train::Trainer(train::prepareRun(registry, config, run.seed), sink, control).run();
    ASSERT_EQ(result.outcome, train::Outcome::Done) << result.reason;
    EXPECT_GT(readOf(Split::Train), trained);
    EXPECT_EQ(readOf(Split::Validation), 0) << "there is no such split in the files";
    if (isRefit) {
      EXPECT_GE(readOf(Split::Test), tested + 100) << run.name;
      EXPECT_EQ(sink.values.count("validation/loss"), 0u);
      EXPECT_EQ(sink.values.count("test/loss"), 1u);
    } else {
      EXPECT_EQ(readOf(Split::Test), 0) << run.name;
      EXPECT_EQ(sink.values.count("test/loss"), 0u);
      ASSERT_EQ(sink.values.count("validation/loss"), 1u);
      scores[run.name] = sink.values["validation/loss"];
    }
  }
}

}  // namespace
}  // namespace vitrine::classification

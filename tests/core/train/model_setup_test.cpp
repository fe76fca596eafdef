// From a configuration to a run that can be trained.
#include "core/train/model_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/train/fakes.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

/// What the items were asked for.
struct Request {
  std::uint64_t seed = 0;
  Json model, task, data, opened;
  TaskSetup context;
  bool hasBuilt = false;
};

class SmallArchitecture final : public Architecture {
 public:
  explicit SmallArchitecture(Request& asked) : asked_(asked) {}
  ItemCard card() const override { return cardOf(ItemKind::Architecture, "small"); }
  std::shared_ptr<Model> build(const Config& config, std::uint64_t seed) const override {
    asked_.model = config.json();
    asked_.seed = seed;
    asked_.hasBuilt = true;
    return std::make_shared<SmallModel>(seed);
  }

 private:
  Request& asked_;
};

class SmallSource final : public DatasetSource {
 public:
  explicit SmallSource(Request& asked) : asked_(asked) {}
  ItemCard card() const override { return cardOf(ItemKind::Dataset, "pictures"); }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    asked_.opened = config.json();
    return nullptr;  // the small task brings its own
  }

 private:
  Request& asked_;
};

/// The small task with a head of its own.
class HeadedSession final : public SmallSession {
 public:
  struct Head : torch::nn::Module {
    Head() {
      weight = register_parameter("weight", at::zeros({2, 2}));
      mean = register_buffer("mean", at::zeros({2}));
    }
    at::Tensor weight, mean;
  };
  std::vector<Network> networks() override { return {{"", &model().module()}, {"task", &head_}}; }
  Head head_;
};

class SmallTask final : public Task {
 public:
  explicit SmallTask(Request& asked) : asked_(asked) {}
  ItemCard card() const override { return cardOf(ItemKind::Task, "guessing"); }
  std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override {
    asked_.task = setup.task.json();
    asked_.data = setup.data.json();
    asked_.context = setup;
    auto session = std::make_unique<HeadedSession>();
    session->use(setup.model);
    return session;
  }

 private:
  Request& asked_;
};

class PrepareRun : public testing::Test {
 protected:
  PrepareRun() {
    train::addTrainingItems(registry_);
    registry_.add(std::make_unique<SmallArchitecture>(asked_));
    registry_.add(std::make_unique<SmallSource>(asked_));
    registry_.add(std::make_unique<SmallTask>(asked_));
    config_ = {{"model", {{"architecture", "small"}, {"image_size", {4, 6}}, {"width", 16}}},
               {"task", {{"name", "guessing"}, {"smoothing", 0.1}}},
               {"data", {{"dataset", "pictures"}, {"folder", "here"}}},
               {"train", trainConfig({{"batch_size", 12}, {"loader_workers", 3}}).json()},
               {"observe", Json::object()}};
  }
  /// A weight file of a model of another seed, with the head's weights set to `headValue`.
  static void writeWeights(const std::filesystem::path& file, std::uint64_t seed,
                           double headValue) {
    SmallModel other(seed);
    auto tensors = namedTensors(other);
    tensors.emplace_back("task.weight", at::full({2, 2}, headValue));
    tensors.emplace_back("task.mean", at::full({2}, headValue));
    writeTensors(file, tensors);
  }
  static double headOf(const train::TrainerSetup& setup) {
    return static_cast<HeadedSession&>(*setup.session).head_.weight.sum().item<double>();
  }

  Request asked_;
  Registry registry_;
  Json config_;
};

TEST_F(PrepareRun, HandsEachItemItsOwnTableAndTheTaskWhatTheRunIsLike) {
  const train::TrainerSetup setup = train::prepareRun(registry_, config_, 7);
  EXPECT_EQ(asked_.model, config_["model"]);
  EXPECT_EQ(asked_.task, config_["task"]);
  EXPECT_EQ(asked_.data, config_["data"]);
  EXPECT_EQ(asked_.opened, config_["data"]);
  EXPECT_EQ(asked_.seed, 7u);
  EXPECT_EQ(asked_.context.seed, 7u);
  EXPECT_EQ(asked_.context.batchSize, 12);
  EXPECT_EQ(asked_.context.loaderWorkers, 3);
  EXPECT_EQ(setup.config, config_);
  EXPECT_EQ(setup.train.json(), config_["train"]);
  EXPECT_EQ(setup.seed, 7u);
  EXPECT_TRUE(setup.resumeFrom.empty());
}

TEST_F(PrepareRun, LetsADryStepEvaluateOneBatch) {
  static_cast<void>(train::prepareRun(registry_, config_, 7));
  EXPECT_EQ(asked_.context.evaluationLimit, 0);
  static_cast<void>(train::prepareRun(registry_, config_, 7, {}, nullptr, train::Extent::DryStep));
  EXPECT_EQ(asked_.context.evaluationLimit, asked_.context.evaluationBatchSize);
}

TEST_F(PrepareRun, NamesAMissingItemBeforeAnythingIsBuilt) {
  for (const auto& [table, key] : std::vector<std::pair<const char*, const char*>>{
           {"model", "architecture"}, {"task", "name"}, {"data", "dataset"}}) {
    Json config = config_;
    config[table][key] = "smal";
    EXPECT_THROW(static_cast<void>(train::prepareRun(registry_, config, 0)), NotFoundError)
        << table;
  }
  for (const char* table : {"optimizer", "schedule"}) {
    Json config = config_;
    config["train"][table]["name"] = "smal";
    EXPECT_THROW(static_cast<void>(train::prepareRun(registry_, config, 0)), NotFoundError)
        << table;
  }
  Json config = config_;
  config["observe"]["rank"] = observeConfig().json();
  EXPECT_THROW(static_cast<void>(train::prepareRun(registry_, config, 0)), NotFoundError);
  EXPECT_FALSE(asked_.hasBuilt);
}

TEST_F(PrepareRun, StartsFromAWeightFileWithTheHeadOfTheTask) {
  const TemporaryFolder folder;
  writeWeights(folder.path() / "w.safetensors", 42, 1);
  train::InitChoice init{.weights = folder.path() / "w.safetensors", .freeze = {"fc1"}};
  LoadReport report;
  const train::TrainerSetup setup = train::prepareRun(registry_, config_, 7, init, &report);
  SmallModel other(42);
  const auto wanted = namedTensors(other), got = namedTensors(setup.session->model());
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(at::equal(got[i].second, wanted[i].second)) << got[i].first;
  EXPECT_EQ(headOf(setup), 4);
  EXPECT_EQ(static_cast<HeadedSession&>(*setup.session).head_.mean.sum().item<double>(), 2)
      << "running statistics of the head decide its scores too";
  EXPECT_EQ(setup.freeze, init.freeze);
  EXPECT_THAT(report.loaded, ::testing::Contains("task.weight"));
}

TEST_F(PrepareRun, ChoosesTheAveragedWeightsOfACheckpointFolder) {
  const TemporaryFolder folder;
  writeWeights(folder.path() / "model.safetensors", 1, 1);
  writeWeights(folder.path() / "ema.safetensors", 2, 2);
  train::InitChoice init{.weights = folder.path()};
  EXPECT_EQ(headOf(train::prepareRun(registry_, config_, 7, init)), 4);
  init.use = "ema";
  EXPECT_EQ(headOf(train::prepareRun(registry_, config_, 7, init)), 8);
}

TEST_F(PrepareRun, LeavesASkippedHeadAloneAndRefusesOneOfAnotherShape) {
  const TemporaryFolder folder;
  train::InitChoice init{.weights = folder.path() / "w.safetensors"};
  {
    SmallModel other(42);
    auto tensors = namedTensors(other);
    tensors.emplace_back("task.weight", at::ones({3, 2}));
    writeTensors(init.weights, tensors);
  }
  EXPECT_THAT([&] { static_cast<void>(train::prepareRun(registry_, config_, 7, init)); },
              test::Fails<ConfigError>("task.weight", "init.skip"));
  init.options.skip = {"task.*"};
  LoadReport report;
  EXPECT_EQ(headOf(train::prepareRun(registry_, config_, 7, init, &report)), 0);
  EXPECT_THAT(report.skipped, ::testing::Contains("task.weight"));
}

/// Six tokens, and a map that has nothing to do with them.
struct SixTokens final : FakeModel<LanguageModel> {
  SixTokens() {
    register_parameter("embedding", at::zeros({6, 2}));
    register_parameter("map", at::zeros({4, 2}));
  }
  std::int64_t vocabularySize() const override { return 6; }
  std::int64_t contextLength() const override { return 0; }
  std::unique_ptr<Cache> makeCache(std::int64_t) override { return nullptr; }
  at::Tensor next(const at::Tensor&, Cache*, Rows) override { return {}; }
};

TEST(SameTokens, AreAskedForWhereATableOfTokensIsTaken) {
  const auto runWith = [](const std::vector<std::string>& words) {
    const Json list = Json::array({{{"name", "tokenize"}, {"words", words}}});
    return Json{{"data", {{"pipeline", {{"train", list}, {"evaluate", list}}}}}};
  };
  const Json run = runWith({"x", "y"}), other = runWith({"y", "x"});
  SixTokens model;
  const auto refused = [&](Model& of, const Json& source,
                           const std::vector<std::string>& skip) -> std::string {
    return test::refusal<ConfigError>([&] { train::requireSameTokens(of, run, source, skip); });
  };
  EXPECT_EQ(refused(model, run, {}), "");
  EXPECT_THAT(refused(model, other, {"map"}), test::Names("word 0", "x", "y"));
  EXPECT_EQ(refused(model, other, {"embed*"}), "") << "the table is new";
  EXPECT_EQ(refused(model, Json(), {}), "") << "a file alone does not say how it cut texts";
  SmallModel pictures(1);
  EXPECT_EQ(refused(pictures, other, {}), "") << "a model without tokens";
}

}  // namespace
}  // namespace vitrine::test

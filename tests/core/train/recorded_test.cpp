// The one rule of all numbers: what training recorded at a checkpoint is what an evaluation of that
// checkpoint gives, to the last bit on one machine with equal threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "core/files/checkpoint_folder.h"
#include "core/train/model_setup.h"
#include "plugins/illama/illama.h"
#include "plugins/vit/vit.h"
#include "tests/core/train/diverging.h"

namespace vitrine::test {
namespace {

constexpr std::int64_t kEvery = 5, kRecordedSteps = 24;  ///< 12 steps an epoch

class CnnArchitecture final : public Architecture {
 public:
  ItemCard card() const override { return cardOf(ItemKind::Architecture, "cnn"); }
  std::shared_ptr<Model> build(const Config&, std::uint64_t seed) const override {
    return std::make_shared<SmallCnn>(seed);
  }
};

class NoSource final : public DatasetSource {
 public:
  ItemCard card() const override { return cardOf(ItemKind::Dataset, "none"); }
  std::shared_ptr<const Dataset> open(const Config&) const override { return nullptr; }
};

/// The small task, with a validation split where its table asks for one.
class SmallTask final : public Task {
 public:
  ItemCard card() const override { return cardOf(ItemKind::Task, "small"); }
  std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override {
    auto session = std::make_unique<SmallSession>();
    session->use(setup.model);
    if (setup.task.flag("validation")) session->splits = {Split::Validation, Split::Test};
    return session;
  }
};

struct Case {
  std::string name, architecture;
  Json model = Json::object();  ///< on top of a tiny size
  std::vector<std::pair<std::string, Json>> train{};
  bool hasValidation = false;
  std::int64_t pausedAt = 0;  ///< and resumed; 0: never
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class Recorded : public testing::TestWithParam<Case> {
 protected:
  Recorded() {
    train::addTrainingItems(registry_);
    registry_.add(std::make_unique<vit::VitArchitecture>());
    registry_.add(std::make_unique<illama::IllamaArchitecture>());
    registry_.add(std::make_unique<CnnArchitecture>());
    registry_.add(std::make_unique<NoSource>());
    registry_.add(std::make_unique<SmallTask>());
  }

  [[nodiscard]] Json configuration() const {
    const Case& its = GetParam();
    Json model = its.model;
    if (its.architecture != "cnn") {
      const Json tiny{{"image_size", 4},  {"patch_size", 2}, {"in_channels", 1},
                      {"num_classes", 4}, {"width", 24},     {"depth", 3},
                      {"heads", 2},       {"dropout", 0.1},  {"drop_path", 0.2}};
      for (const auto& [key, value] : tiny.items()) model[key] = value;
      const Schema schema = registry_.architecture(its.architecture).card().schema;
      for (const Problem& problem : resolveItem(schema, "model", model))
        ADD_FAILURE() << problem.sentence();
    }
    model["architecture"] = its.architecture;
    std::vector<std::pair<std::string, Json>> train{{"steps", kRecordedSteps},
                                                    {"optimizer.learning_rate", 0.01},
                                                    {"evaluate.every_steps", kEvery},
                                                    {"evaluate.every_epochs", nullptr},
                                                    {"checkpoint.every_steps", kEvery},
                                                    {"checkpoint.every_epochs", nullptr},
                                                    {"checkpoint.keep", 100}};
    train.insert(train.end(), its.train.begin(), its.train.end());
    return {{"model", model},
            {"task", {{"name", "small"}, {"validation", its.hasValidation}}},
            {"data", {{"dataset", "none"}}},
            {"train", trainConfig(train).json()},
            {"observe", Json::object()}};
  }

  /// One segment; what it records is added to `sink_`.
  void train(const Json& config, std::int64_t pauseAt) {
    train::TrainerSetup setup = train::prepareRun(registry_, config, kSeed);
    setup.checkpointFolder = folder_.path();
    if (const auto newest = newestCheckpoint(folder_.path())) setup.resumeFrom = newest->folder;
    RunControl control;
    auto& session = static_cast<SmallSession&>(*setup.session);
    session.onLoss = [&, left = pauseAt](const Batch&) mutable {
      if (--left == 0) control.ask(Request::Pause);
    };
    const train::TrainerResult result = train::Trainer(std::move(setup), sink_, control).run();
    EXPECT_EQ(result.outcome, pauseAt > 0 ? train::Outcome::Paused : train::Outcome::Done)
        << result.reason;
  }

  [[nodiscard]] double recorded(const std::string& name, std::int64_t step) const {
    double found = std::nan("");
    int times = 0;
    for (const auto& [at, value] : sink_.curve(name)) {
      if (at != step) continue;
      found = value;
      ++times;
    }
    EXPECT_EQ(times, 1) << name << " at step " << step;
    return found;
  }

  static constexpr std::uint64_t kSeed = 5;
  Registry registry_;
  TemporaryFolder folder_;
  RecordingSink sink_;
};

TEST_P(Recorded, ScoresAreThoseOfTheCheckpointToTheLastBit) {
  const Json config = configuration();
  if (GetParam().pausedAt > 0) train(config, GetParam().pausedAt);
  train(config, 0);
  std::int64_t compared = 0;
  for (const CheckpointFolder& checkpoint : listCheckpoints(folder_.path())) {
    for (const std::string use : {"model", "ema"}) {
      const std::filesystem::path weights = checkpoint.folder / (use + ".safetensors");
      if (!std::filesystem::exists(weights)) continue;
      const train::RestoredRun run = train::restoreRun(registry_, config, kSeed, weights);
      for (const Evaluation& evaluation : run.session->evaluations()) {
        CollectedResults found;
        evaluate(*run.session, evaluation, run.look, {}, found);
        for (const auto& [name, score] : found.scores) {
          const std::string full = evaluation.id + "/" + name + (use == "ema" ? "@ema" : "");
          EXPECT_EQ(score, recorded(full, checkpoint.step))
              << full << " at step " << checkpoint.step;
          ++compared;
        }
      }
    }
  }
  const bool hasAverage = config["train"]["ema"]["decay"].is_number();
  EXPECT_EQ(compared, 5 * 2 * (hasAverage ? 2 : 1) * (GetParam().hasValidation ? 2 : 1));
}

const Json kSoftMask{{"mlp_width", 32},
                     {"mask", {{"kind", "soft"}, {"schedule", "linear"}, {"epochs", 2}}}};

INSTANTIATE_TEST_SUITE_P(
    Of, Recorded,
    testing::Values(
        Case{"Float32", "vit"}, Case{"BFloat16", "vit", Json::object(), {{"precision", "bf16"}}},
        Case{
            "Float16", "vit", Json::object(), {{"precision", "fp16"}, {"loss_scale.initial", 1e6}}},
        Case{"AnAverage", "vit", Json::object(), {{"ema.decay", 0.99}}},
        Case{"AnAverageInBFloat16",
             "vit",
             Json::object(),
             {{"ema.decay", 0.99}, {"precision", "bf16"}},
             true},
        Case{"AValidationSplit", "vit", Json::object(), {}, true},
        Case{"ASoftMaskInsideItsSchedule", "illama", kSoftMask},
        Case{"ASoftMaskInBFloat16", "illama", kSoftMask, {{"precision", "bf16"}}},
        Case{"RunningStatistics", "cnn", Json::object(), {{"ema.decay", 0.9}}},
        Case{"AnEvaluationOwedAtAPause", "illama", kSoftMask, {{"ema.decay", 0.9}}, true, 10}),
    [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

}  // namespace
}  // namespace vitrine::test

// A task with several networks, ragged tokens, draws inside its loss and a sampler: what of the
// contract between models, tasks and trainer a classifier does not use.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/checkpoint_folder.h"
#include "core/model/tensor_program.h"
#include "core/model/weights.h"
#include "core/plugin/pipeline.h"
#include "core/train/model_setup.h"
#include "core/train/modules.h"
#include "core/train/training_items.h"
#include "plugins/transforms/transforms.h"
#include "tests/core/train/diverging.h"
#include "tests/support/paired/paired.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {


constexpr std::int64_t kSteps = 32;  ///< 8 steps an epoch
constexpr std::uint64_t kSeed = 11;

class PairedRuns : public testing::Test {
 protected:
  PairedRuns() {
    paired::addPairedItems(registry_);
    transforms::registerAll(registry_);
    train::addTrainingItems(registry_);
  }

  static Json configuration(bool teach) {
    Json data = dataSchema().defaults();
    data["dataset"] = "paired";
    data["normalize"] = "half";
    return {{"model", {{"architecture", "paired"}, {"width", 24}, {"dropout", 0.1}}},
            {"task", {{"name", "paired"}, {"teach", teach}}},
            {"data", data},
            {"train", trainConfig({{"steps", kSteps},
                                   {"batch_size", 8},
                                   {"loader_workers", 0},
                                   {"optimizer.learning_rate", 0.003},
                                   {"evaluate.every_epochs", 1},
                                   {"checkpoint.every_steps", 8},
                                   {"checkpoint.keep", 100}})
                          .json()},
            {"observe", Json::object()}};
  }

  struct Outcome {
    std::vector<std::pair<std::int64_t, double>> loss, teacher, distance;
    train::LoadedCheckpoint last;
    train::TrainerResult result;
  };

  /// One segment of a run, appended to `out`. \param stop  asks for a pause after so many steps
  void train(const Json& config, const std::filesystem::path& folder, Outcome& out,
             std::int64_t stop = 0, const std::vector<train::AuxChoice>& auxiliaries = {}) {
    train::TrainerSetup setup =
        train::prepareRun(registry_, config, kSeed, {.auxiliaries = auxiliaries});
    setup.checkpointFolder = folder;
    if (const auto newest = newestCheckpoint(folder)) setup.resumeFrom = newest->folder;
    struct Stopping final : RecordingSink {
      void metrics(const MetricRecord& record) override {
        RecordingSink::metrics(record);
        if (record.step == stop) control->ask(Request::Pause);
      }
      std::int64_t stop = 0;
      RunControl* control = nullptr;
    } sink;
    RunControl control;
    sink.stop = stop;
    sink.control = &control;
    train::Trainer trainer(std::move(setup), sink, control);
    out.result = trainer.run();
    const auto append = [&](const char* name, auto& points) {
      for (const auto& point : sink.curve(name)) points.push_back(point);
    };
    append("train/loss", out.loss);
    append("train/loss/teacher", out.teacher);
    append("test/distance", out.distance);
    out.last = train::readCheckpoint(newestCheckpoint(folder)->folder);
    events_ = sink.events;
  }

  /// A run without a teacher, as [aux.teacher] of another.
  std::vector<train::AuxChoice> teacherFrom(const std::filesystem::path& folder) {
    Outcome trained;
    train(configuration(false), folder, trained);
    train::AuxChoice choice{.name = "teacher",
                            .weights = newestCheckpoint(folder)->folder / "model.safetensors"};
    choice.sha256 = sha256OfFile(choice.weights);
    choice.config = configuration(false);
    return {choice};
  }

  Registry registry_;
  std::vector<EventRecord> events_;
};

TEST_F(PairedRuns, LearnWithPartsOfTheirOwnCounts) {
  const TemporaryFolder teacher, folder;
  Outcome run;
  train(configuration(true), folder.path(), run, 0, teacherFrom(teacher.path()));
  EXPECT_EQ(run.result.outcome, vitrine::train::Outcome::Done) << run.result.reason;
  EXPECT_LT(run.loss.back().second, 0.8 * run.loss.front().second);
  ASSERT_EQ(run.teacher.size(), static_cast<std::size_t>(kSteps));
  EXPECT_LT(run.teacher.back().second, run.teacher.front().second);
  EXPECT_EQ(run.distance.size(), 4u) << "once an epoch";
}

TEST_F(PairedRuns, SaveWhatTheyTrainAndReferToWhatIsFrozen) {
  const TemporaryFolder teacher, folder;
  const std::vector<train::AuxChoice> auxiliaries = teacherFrom(teacher.path());
  Outcome run;
  train(configuration(true), folder.path(), run, 0, auxiliaries);
  EXPECT_EQ(run.last.model.count("reader.embedding"), 1u);
  EXPECT_EQ(run.last.model.count("average.embedding"), 1u);
  for (const auto& [name, tensor] : run.last.model)
    EXPECT_EQ(name.find("teacher"), std::string::npos) << name;
  ASSERT_EQ(run.last.state.frozen.size(), 1u);
  EXPECT_EQ(run.last.state.frozen[0].name, "teacher");
  EXPECT_EQ(run.last.state.frozen[0].sha256, auxiliaries[0].sha256);
  EXPECT_EQ(sha256OfFile(auxiliaries[0].weights), auxiliaries[0].sha256);
}

TEST_F(PairedRuns, FollowTheReaderByAnAverageOfEveryStep) {
  const TemporaryFolder folder;
  Json config = configuration(false);
  config["train"]["checkpoint"]["every_steps"] = 1;
  Outcome run;
  train(config, folder.path(), run);
  paired::Reader first(kSeed);
  at::Tensor average = first.embedding.detach().clone();
  for (const CheckpointFolder& each : listCheckpoints(folder.path())) {
    const auto tensors = readTensors(each.folder / "model.safetensors");
    average = 0.9 * average + 0.1 * tensors.at("reader.embedding");
    // A few ulp a step of values up to 3.
    EXPECT_LT((tensors.at("average.embedding") - average).abs().max().item<double>(), 1e-5)
        << each.step;
  }
  EXPECT_FALSE(
      at::equal(run.last.model.at("average.embedding"), run.last.model.at("reader.embedding")));
}

TEST_F(PairedRuns, ResumeBitExactlyAtTwentySteps) {
  const TemporaryFolder teacher, whole;
  const std::vector<train::AuxChoice> auxiliaries = teacherFrom(teacher.path());
  const Json config = configuration(true);
  Outcome expected;
  train(config, whole.path(), expected, 0, auxiliaries);
  // Losses are read back four steps late, and the pause is asked for then.
  const auto order = permutation(RandomStream(3, "stops"), 0, kSteps - 6);
  for (std::size_t i = 0; i < 20; ++i) {
    const std::int64_t stop = order[i] + 1;
    const TemporaryFolder folder;
    Outcome parts;
    train(config, folder.path(), parts, stop, auxiliaries);
    ASSERT_EQ(parts.result.outcome, vitrine::train::Outcome::Paused) << "at step " << stop;
    train(config, folder.path(), parts, 0, auxiliaries);
    EXPECT_EQ(parts.loss, expected.loss) << "stopped near step " << stop;
    EXPECT_EQ(parts.distance, expected.distance) << "stopped near step " << stop;
    EXPECT_TRUE(isSame(parts.last.model, expected.last.model)) << "stopped near step " << stop;
    EXPECT_TRUE(isSame(parts.last.optimizer, expected.last.optimizer));
    EXPECT_EQ(parts.last.state.generator, expected.last.state.generator);
  }
}

TEST_F(PairedRuns, RefuseToResumeWithAnotherTeacher) {
  const TemporaryFolder teacher, folder;
  std::vector<train::AuxChoice> auxiliaries = teacherFrom(teacher.path());
  Outcome run;
  train(configuration(true), folder.path(), run, 6, auxiliaries);
  auxiliaries[0].sha256 = std::string(64, 'a');
  EXPECT_THAT([&] { train(configuration(true), folder.path(), run, 0, auxiliaries); },
              test::Fails<RefusedError>("teacher"));
}

TEST_F(PairedRuns, SayWhichAuxiliaryNetworkIsMissing) {
  EXPECT_THAT([&] { static_cast<void>(train::prepareRun(registry_, configuration(true), kSeed)); },
              test::Fails<ConfigError>("aux.teacher"));
}

class PairedSamples : public PairedRuns {
 protected:
  PairedSamples() {
    Outcome trained;
    train(configuration(false), folder_.path(), trained);
    weights_ = newestCheckpoint(folder_.path())->folder / "model.safetensors";
  }
  CollectedResults sampled(const Json& changes) {
    train::RestoredRun run = train::restoreRun(registry_, configuration(false), kSeed, weights_);
    const Sampler& sampler = registry_.sampler("paired");
    Json values = sampleSchema().defaults();
    const Json own = sampler.card().schema.defaults();
    for (const auto& [key, value] : own.items()) values[key] = value;
    for (const auto& [key, value] : changes.items()) values[key] = value;
    CollectedResults results;
    Json origin;
    origin["run"] = "abc";
    const at::NoGradGuard noGradient;
    sampler.sample({*run.session, Config(values), at::kCPU, kSteps, origin}, results);
    return results;
  }
  TemporaryFolder folder_;
  std::filesystem::path weights_;
};

TEST_F(PairedSamples, OfOneSeedAreEqualBytesWhateverIsMadeBesideThem) {
  const CollectedResults many = sampled({{"count", 5}, {"seed", 7}, {"class", 2}});
  ASSERT_EQ(many.images.size(), 5u);
  std::set<std::string> different;
  for (std::size_t i = 0; i < many.images.size(); ++i) {
    const CollectedResults one = sampled({{"count", 1}, {"seed", 7 + i}, {"class", 2}});
    EXPECT_EQ(one.images.at(0).png, many.images[i].png);
    EXPECT_EQ(one.images.at(0).recipe, many.images[i].recipe);
    different.insert(many.images[i].sha256);
  }
  EXPECT_EQ(different.size(), 5u);
  const Json& recipe = many.images[1].recipe;
  EXPECT_EQ(recipe["run"], "abc");
  EXPECT_EQ(recipe["sampler"], "paired");
  EXPECT_EQ(recipe["seed"], 8);
  EXPECT_EQ(recipe["settings"], Json({{"steps", 8}, {"class", 2}}));
}

TEST_F(PairedSamples, EndWhereTheyAreCancelled) {
  train::RestoredRun run = train::restoreRun(registry_, configuration(false), kSeed, weights_);
  struct Impatient final : CollectedResults {
    bool isCancelled() override { return images.size() == 2; }
  } results;
  Json values = sampleSchema().defaults();
  values["steps"] = 2;
  values["class"] = 0;
  registry_.sampler("paired").sample({*run.session, Config(values), at::kCPU, kSteps, {}}, results);
  EXPECT_EQ(results.images.size(), 2u);
}

TEST(PairedProgram, ReadsRaggedWordsBesideImagesUnderTheirNames) {
  const auto model =
      paired::PairedArchitecture().build(Config(Json{{"width", 16}, {"dropout", 0.0}}), 3);
  model->module().eval();
  const auto program = programOf(*model);
  TensorMap inputs{
      {"image",
       at::linspace(-1, 1, 2 * paired::kPixels).view({2, 1, paired::kSide, paired::kSide})},
      {"t", at::linspace(0.25, 0.75, 2)},
      {"word_vectors", at::linspace(0, 1, 3 * paired::kText).view({3, paired::kText})},
      {"offsets", at::tensor({0, 2, 3}, at::kLong)}};
  inputs = checkedInputs(*program, inputs, "here");
  const TensorMap out = program->runTensors(inputs, {"velocity", "features"});
  const at::Tensor& vectors = inputs.at("word_vectors");
  const at::Tensor text = at::stack({vectors.narrow(0, 0, 2).mean(0), vectors[2]});
  auto* denoiser = capabilityOf<paired::TextDenoiser>(*model);
  EXPECT_TRUE(
      out.at("velocity").allclose(denoiser->velocity(inputs.at("image"), inputs.at("t"), text)));
  EXPECT_EQ(out.at("features").sizes(), (std::vector<std::int64_t>{2, 16}));
}

}  // namespace
}  // namespace vitrine::test

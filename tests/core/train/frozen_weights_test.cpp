// Frozen parameters: a checkpoint refers to the file that they came from, and no gradient work is
// done for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>

#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/safetensors.h"
#include "core/train/checkpoint.h"
#include "core/train/modules.h"
#include "tests/core/train/fakes.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using test::Names;

constexpr std::int64_t kSteps = 12;

/// A run that starts from a file of weights and freezes its first layer.
class FrozenWeights : public testing::Test {
 protected:
  FrozenWeights() {
    SmallModel other(42);
    writeTensors(file_, namedTensors(other));
  }

  [[nodiscard]] train::TrainerSetup setup(bool isFromFile, const fs::path& from = {}) const {
    train::TrainerSetup made = trainerSetup();
    const fs::path file = from.empty() ? file_ : from;
    if (isFromFile) made.weightOrigins = loadWeights(made.session->model(), file).origins;
    return made;
  }

  /// One segment. \param pauseAt  step after which it pauses; 0: never
  void train(bool isFromFile, const fs::path& folder, std::int64_t pauseAt = 0) const {
    const auto newest = newestCheckpoint(folder);
    train::TrainerSetup made = setup(isFromFile && !newest);
    made.checkpointFolder = folder;
    if (newest) made.resumeFrom = newest->folder;
    RecordingSink sink;
    RunControl control;
    auto& session = static_cast<SmallSession&>(*made.session);
    session.onLoss = [&, left = pauseAt](const Batch&) mutable {
      if (--left == 0) control.ask(Request::Pause);
    };
    train::Trainer trainer(std::move(made), sink, control);
    const train::TrainerResult result = trainer.run();
    EXPECT_EQ(result.outcome, pauseAt > 0 ? train::Outcome::Paused : train::Outcome::Done)
        << result.reason;
  }

  [[nodiscard]] static std::set<std::string> heldBy(const fs::path& file) {
    std::set<std::string> names;
    for (const auto& [name, tensor] : readTensors(file)) names.insert(name);
    return names;
  }
  [[nodiscard]] std::string refusal(const fs::path& folder) const {
    return test::refusal<Error>([&] { train(true, folder); });
  }

  static train::TrainerSetup trainerSetup() {
    train::TrainerSetup made;
    auto session = std::make_unique<SmallSession>();
    session->use(std::make_shared<SmallModel>(7));
    made.session = std::move(session);
    made.train = trainConfig({{"steps", kSteps},
                              {"ema.decay", 0.9},
                              {"checkpoint.every_steps", 4},
                              {"checkpoint.every_epochs", nullptr},
                              {"checkpoint.keep", 100}});
    made.optimizer = &coreItems().optimizer(made.train.text("optimizer.name"));
    made.schedule = &coreItems().schedule(made.train.text("schedule.name"));
    made.seed = 5;
    made.checkpointPrefix = "run-test";
    made.freeze = {"fc1", "bias1"};
    return made;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "w.safetensors";
};

TEST_F(FrozenWeights, OfAFileAreNamedInCheckpointsAndNotCopied) {
  train(true, folder_ / "files/run-a");
  const fs::path last = newestCheckpoint(folder_ / "files/run-a")->folder;
  for (const char* name : {"model.safetensors", "ema.safetensors"}) {
    EXPECT_EQ(heldBy(last / name), (std::set<std::string>{"bias2", "fc2"})) << name;
    EXPECT_THAT(SafetensorsFile(last / name).metadata().at("vitrine.references"),
                Names(file_.string(), "sha256", "fc1"));
  }
  const train::LoadedCheckpoint whole = train::readCheckpoint(last);
  const auto source = readTensors(file_);
  for (const char* name : {"fc1", "bias1"}) {
    EXPECT_TRUE(whole.model.at(name).equal(source.at(name))) << name;
    EXPECT_TRUE(whole.ema.at(name).equal(source.at(name))) << name;
  }
  EXPECT_FALSE(whole.model.at("fc2").equal(source.at("fc2"))) << "nothing was trained";
}

TEST_F(FrozenWeights, OfAFileThatACheckpointCannotNameAreCopied) {
  const fs::path named = folder_ / "caf\xE9.safetensors";
  fs::rename(file_, named);
  file_ = named;
  train(true, folder_ / "files/run-a");
  const auto last = newestCheckpoint(folder_ / "files/run-a");
  ASSERT_TRUE(last) << "no checkpoint was written";
  EXPECT_EQ(heldBy(last->folder / "model.safetensors"),
            (std::set<std::string>{"bias1", "bias2", "fc1", "fc2"}));
}

TEST_F(FrozenWeights, WithoutAFileAreCopied) {
  train(false, folder_ / "files/run-a");
  const fs::path last = newestCheckpoint(folder_ / "files/run-a")->folder;
  EXPECT_EQ(heldBy(last / "model.safetensors"),
            (std::set<std::string>{"bias1", "bias2", "fc1", "fc2"}));
  EXPECT_EQ(SafetensorsFile(last / "model.safetensors").metadata().count("vitrine.references"), 0u);
}

TEST_F(FrozenWeights, AResumeFromThemIsExactAndRefersToTheSameFile) {
  train(true, folder_ / "files/run-a");
  train(true, folder_ / "files/run-b", 6);
  train(true, folder_ / "files/run-b");
  const fs::path a = newestCheckpoint(folder_ / "files/run-a")->folder,
                 b = newestCheckpoint(folder_ / "files/run-b")->folder;
  ASSERT_EQ(a.filename(), b.filename());
  EXPECT_EQ(heldBy(b / "model.safetensors"), (std::set<std::string>{"bias2", "fc2"}));
  const train::LoadedCheckpoint straight = train::readCheckpoint(a),
                                resumed = train::readCheckpoint(b);
  for (const auto& [name, tensor] : straight.model)
    EXPECT_TRUE(resumed.model.at(name).equal(tensor)) << name;
  for (const auto& [name, tensor] : straight.ema)
    EXPECT_TRUE(resumed.ema.at(name).equal(tensor)) << name;
}

TEST_F(FrozenWeights, AChangedOrMissingFileIsNamedAtResume) {
  train(true, folder_ / "files/run-a", 6);
  SmallModel another(43);
  writeTensors(file_, namedTensors(another));
  EXPECT_THAT(refusal(folder_ / "files/run-a"), Names(file_.string()));
  fs::remove(file_);
  EXPECT_THAT(refusal(folder_ / "files/run-a"), Names(file_.string()));
}

TEST_F(FrozenWeights, AModelIsLoadedFromSuchACheckpointAsFromAnyFile) {
  train(true, folder_ / "files/run-a");
  const fs::path last = newestCheckpoint(folder_ / "files/run-a")->folder / "model.safetensors";
  SmallModel model(1);
  const LoadReport report = loadWeights(model, last);
  EXPECT_TRUE(report.missing.empty() && report.unused.empty());
  EXPECT_TRUE(model.named_parameters()["fc1"].equal(readTensors(file_).at("fc1")));
  // A run that starts from it refers to the first file, not to a file that refers.
  EXPECT_EQ(report.origins.at("fc1").file, file_);
  EXPECT_EQ(report.origins.at("fc2").file, last);
}

TEST_F(FrozenWeights, AreThereForOneWhoNamesTheFolderOfTheCheckpoint) {
  train(true, folder_ / "files/run-a");
  const fs::path last = newestCheckpoint(folder_ / "files/run-a")->folder;
  const WeightSource source = openWeightSource(last);
  ASSERT_TRUE(source.has("fc1")) << "what its file refers to is missing";
  EXPECT_TRUE(source.tensor("fc1").equal(readTensors(file_).at("fc1")));
}

TEST_F(FrozenWeights, OfAnotherRunMoveWithTheFolderOfBoth) {
  train(true, folder_ / "files/run-a");
  const fs::path from = newestCheckpoint(folder_ / "files/run-a")->folder / "model.safetensors";
  train::TrainerSetup made = setup(true, from);
  made.freeze = {"fc2", "bias2"};
  made.checkpointFolder = folder_ / "files/run-b";
  RecordingSink sink;
  RunControl control;
  EXPECT_EQ(train::Trainer(std::move(made), sink, control).run().outcome, train::Outcome::Done);
  fs::rename(folder_ / "files", folder_ / "moved");
  const fs::path last = newestCheckpoint(folder_ / "moved/run-b")->folder;
  EXPECT_EQ(heldBy(last / "model.safetensors"), (std::set<std::string>{"bias1", "fc1"}));
  const fs::path moved = newestCheckpoint(folder_ / "moved/run-a")->folder / "model.safetensors";
  EXPECT_TRUE(train::readCheckpoint(last).model.at("fc2").equal(readTensors(moved).at("fc2")));
}

/// Parameters that a backward pass of `loss` would reach.
std::size_t reached(const at::Tensor& loss) {
  std::set<const torch::autograd::Node*> seen;
  std::vector<const torch::autograd::Node*> open{loss.grad_fn().get()};
  std::size_t leaves = 0;
  while (!open.empty()) {
    const torch::autograd::Node* node = open.back();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    leaves += node->name() == "torch::autograd::AccumulateGrad";
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
  return leaves;
}

TEST_F(FrozenWeights, CostNoGradientWork) {
  train::TrainerSetup made = trainerSetup();
  made.session->model().module().eval();
  StepContext context;
  const Batch batch = made.session->read(Split::Test, {0, 1, 2});
  EXPECT_EQ(reached(made.session->loss(context, batch).front().sum), 4u);
  train::freezeParameters(*made.session, made.freeze);
  EXPECT_EQ(reached(made.session->loss(context, batch).front().sum), 2u);
  made.session->loss(context, batch).front().sum.backward();
  for (const auto& item : made.session->model().module().named_parameters())
    EXPECT_EQ(item.value().grad().defined(), item.value().requires_grad()) << item.key();
}

}  // namespace
}  // namespace vitrine::test

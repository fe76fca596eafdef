// The loop as its caller sees it: what is recorded when, what ends a run, and what never changes a
// result.
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/model/weights.h"
#include "core/train/checkpoint.h"
#include "core/train/step.h"
#include "tests/core/train/fakes.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

using Steps = std::vector<std::int64_t>;

TEST(Trainer, LearnsTheSmallProblemAndEvaluatesEveryEpochAndAtTheEnd) {
  SmallRun run(trainConfig({{"epochs", 20}, {"optimizer.learning_rate", 0.01}}));
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Done) << result.reason;
  EXPECT_EQ(result.step, 240);  // 96 samples in batches of 8
  const auto accuracy = run.sink.curve("test/top1");
  ASSERT_EQ(accuracy.size(), 20U);
  EXPECT_EQ(accuracy.front().first, 12);
  EXPECT_GT(accuracy.back().second, 0.75);
  EXPECT_EQ(result.scores.at(0).first, "test/top1");
  EXPECT_EQ(result.scores.at(0).second, accuracy.back().second);
}

TEST(Trainer, RecordsTheNamedCurvesOfEveryStep) {
  SmallRun run(trainConfig({{"steps", 5}, {"clip_norm", 1.0}}));
  static_cast<void>(run.go());
  for (const char* name :
       {"train/loss", "train/loss/plain", "optimizer/learning_rate", "optimizer/gradient_norm",
        "system/images_per_second", "model/mask_alpha"}) {
    EXPECT_EQ(run.sink.steps(name), (Steps{1, 2, 3, 4, 5})) << name;
  }
  EXPECT_FLOAT_EQ(run.sink.curve("optimizer/learning_rate")[0].second, 1e-3);
  EXPECT_TRUE(std::is_sorted(run.sink.times.begin(), run.sink.times.end()));
}

TEST(Trainer, RecordsOnlyEveryNthStepWhenAsked) {
  SmallRun run(trainConfig({{"steps", 7}, {"record_every", 3}}));
  static_cast<void>(run.go());
  EXPECT_EQ(run.sink.steps("train/loss"), (Steps{3, 6, 7}));
}

TEST(Trainer, MovesTheScheduledModelOnceBeforeEachStepAndFinishesItBeforeTheLastEvaluation) {
  SmallRun run(trainConfig({{"steps", 24}}));
  static_cast<void>(run.go());
  Steps wanted{0};  // once more at the start, for probes at step 0
  for (std::int64_t i = 0; i < 24; ++i) wanted.push_back(i);
  EXPECT_EQ(run.model->positions, wanted);
  EXPECT_TRUE(run.model->isFinished);
  ASSERT_EQ(run.sink.eventsOf("mask_cutoff").size(), 1U);
  EXPECT_EQ(run.sink.eventsOf("mask_cutoff")[0].step, 12);
}

TEST(Trainer, AveragesTheGradientsOfAccumulatedBatches) {
  // One step over two batches of 4 equals one step over the 8 samples they hold.
  std::vector<at::Tensor> weights;
  for (const int accumulate : {1, 2}) {
    SmallRun run(trainConfig({{"steps", 3}, {"accumulate", accumulate}}),
                 std::make_unique<SmallSession>(SmallData{.batchSize = 8 / accumulate}));
    run.model = std::make_shared<SmallModel>(3, 0.0);
    run.use(run.model);
    static_cast<void>(run.go());
    weights.push_back(run.weights());
  }
  EXPECT_LT((weights[0] - weights[1]).abs().max().item<double>(), 2e-6);
}

TEST(Trainer, BeginsEveryEpochWithAFreshOrderWhenAccumulationLeavesBatchesOver) {
  SmallRun run(trainConfig(
      {{"epochs", 2}, {"accumulate", 5}}));  // 12 batches an epoch: two steps, two left out
  std::vector<std::int64_t> seen;
  run.session->onLoss = [&](const Batch& batch) {
    seen.insert(seen.end(), batch.sampleIds.begin(), batch.sampleIds.end());
  };
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.step, 4);
  ASSERT_EQ(seen.size(), 160U);
  EXPECT_EQ(std::set<std::int64_t>(seen.begin(), seen.begin() + 80).size(), 80U);
  EXPECT_EQ(std::set<std::int64_t>(seen.begin() + 80, seen.end()).size(), 80U);
}

TEST(Trainer, ComputesMatrixProductsInBFloat16WhenAsked) {
  SmallRun run(
      trainConfig({{"steps", 30}, {"precision", "bf16"}, {"optimizer.learning_rate", 0.01}}));
  const SmallSession* const session = run.session;
  at::ScalarType type = at::kFloat;
  run.session->onLoss = [&](const Batch&) { type = session->lastLogitsType; };
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Done);
  EXPECT_EQ(type, at::kBFloat16);
  for (const at::Tensor& parameter : run.model->parameters())
    EXPECT_EQ(parameter.scalar_type(), at::kFloat);
  const auto loss = run.sink.curve("train/loss");
  EXPECT_LT(loss.back().second, loss.front().second);
}

TEST(Trainer, LeavesTorchsGlobalGeneratorAlone) {
  const at::Generator global = at::detail::getDefaultCPUGenerator();
  const at::Tensor before = global.get_state().clone();
  SmallProbe probe;
  SmallRun run(trainConfig({{"steps", 20}, {"ema.decay", 0.9}}));
  run.setup.observed = {{&probe, "probe", observeConfig({{"every_steps", 5}})}};
  static_cast<void>(run.go());
  EXPECT_TRUE(at::equal(before, global.get_state()));
}

TEST(Trainer, EvaluatesTheAverageBesideTheWeights) {
  SmallRun run(trainConfig({{"steps", 24}, {"ema.decay", 0.99}}));
  const train::TrainerResult result = run.go();
  EXPECT_EQ(run.sink.steps("test/top1@ema"), (Steps{12, 24}));
  EXPECT_NE(run.sink.curve("test/loss@ema")[0].second, run.sink.curve("test/loss")[0].second);
  EXPECT_EQ(result.scores.size(), 4U);
}

TEST(Trainer, TrainsNothingThatIsFrozen) {
  SmallRun run(trainConfig({{"steps", 5}}));
  run.setup.freeze = {"fc1", "bias*"};
  const at::Tensor before = run.weights();
  static_cast<void>(run.go());
  const at::Tensor after = run.weights();
  EXPECT_TRUE(at::equal(before.slice(0, 0, 24 * 16 + 24), after.slice(0, 0, 24 * 16 + 24)));
  EXPECT_FALSE(at::equal(before, after));
}

TEST(Trainer, RefusesAFreezeThatMatchesNothing) {
  SmallRun run(trainConfig({{"steps", 5}}));
  run.setup.freeze = {"encoder.*"};
  EXPECT_THROW(static_cast<void>(run.go()), ConfigError);
}

TEST(Trainer, RefusesADeviceThatCannotBeHad) {
  SmallRun odd(trainConfig({{"steps", 5}, {"device", "tpu"}}));
  EXPECT_THROW(static_cast<void>(odd.go()), ConfigError);
  SmallRun far(trainConfig({{"steps", 5}, {"device", "cuda:99"}}));
  EXPECT_THROW(static_cast<void>(far.go()), RefusedError);
}

TEST(Trainer, ReportsProgressAtMostFiveTimesASecondAndAtTheEnd) {
  SmallRun run(trainConfig({{"steps", 60}}));
  run.session->onLoss = [](const Batch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  const double seconds = run.go().seconds;
  EXPECT_LE(static_cast<double>(run.sink.progresses.size()), 5 * seconds + 3);
  ASSERT_GE(run.sink.progresses.size(), 2U);
  EXPECT_EQ(run.sink.progresses.back().step, 60);
  EXPECT_GT(run.sink.progresses.back().memoryBytes, 10'000'000);
  EXPECT_GT(run.sink.progresses.back().imagesPerSecond, 0);
}

// ---- what is not finite ----

TEST(Trainer, ReportsNoLossBeforeOneIsKnownAndTheLastStepOnce) {
  SmallRun run(trainConfig({{"steps", 60}}));
  run.session->onLoss = [](const Batch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  static_cast<void>(run.go());
  const auto losses = run.sink.curve("train/loss");
  int last = 0, known = 0;
  for (const ProgressRecord& progress : run.sink.progresses) {
    last += progress.step == 60;
    if (std::isnan(progress.loss)) continue;
    ++known;
    // A loss is that of a step that was recorded, never one of no step.
    EXPECT_TRUE(std::any_of(losses.begin(), losses.end(),
                            [&](const auto& point) {
                              return point.second == progress.loss && point.first <= progress.step;
                            }))
        << progress.loss << " at step " << progress.step;
  }
  EXPECT_EQ(last, 1);
  EXPECT_GE(known, 1);
}

TEST(NonFinite, EndsTheRunWithTheStepAndTheSamplesAndKeepsTheWeightsBeforeIt) {
  at::Tensor good;
  {
    SmallRun run(trainConfig({{"steps", 6}, {"schedule.name", "constant"}}));
    static_cast<void>(run.go());
    good = run.weights();
  }
  SmallRun run(trainConfig({{"steps", 40}, {"schedule.name", "constant"}, {"ema.decay", 0.5}}));
  run.session->poisonedLoss = 6;  // the seventh step
  std::vector<std::vector<std::int64_t>> batches;
  run.session->onLoss = [&](const Batch& batch) { batches.push_back(batch.sampleIds); };
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Failed);
  EXPECT_EQ(result.step, 6);
  EXPECT_THAT(result.reason, test::Names("step 7", batches[6][0]));
  EXPECT_TRUE(at::equal(run.weights(), good));
  EXPECT_LE(batches.size(), 7U + 8U) << "the host has read the flag too late";
  ASSERT_EQ(run.sink.eventsOf("non_finite").size(), 1U);
  const EventRecord event = run.sink.eventsOf("non_finite")[0];
  EXPECT_EQ(event.step, 7);
  EXPECT_EQ(event.data.at("sample_ids").get<std::vector<std::int64_t>>(), batches[6]);
  const auto loss = run.sink.curve("train/loss");
  EXPECT_EQ(loss.back().first, 7);
  EXPECT_TRUE(std::isnan(loss.back().second));
}

TEST(NonFinite, IsFoundInTheGradientToo) {
  SmallRun run(trainConfig({{"steps", 20}}));
  run.session->onLoss = [&, count = 0](const Batch&) mutable {
    if (++count == 4) run.model->parameters()[0].mutable_grad() = at::full({24, 16}, INFINITY);
  };
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Failed);
  EXPECT_EQ(result.step, 3);
  EXPECT_TRUE(result.reason.starts_with("the gradient norm of step 4 is ")) << result.reason;
}

TEST(NonFinite, IsNeverSaved) {
  const TemporaryFolder folder;
  SmallRun run(trainConfig({{"steps", 20}, {"checkpoint.every_steps", 5}}));
  run.setup.checkpointFolder = folder.path() / "run-test";
  run.session->poisonedLoss = 9;  // the step that the second checkpoint would hold
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Failed);
  ASSERT_EQ(run.sink.checkpoints.size(), 1U);
  EXPECT_EQ(run.sink.checkpoints[0].step, 5);
}

// ---- which weights are evaluated ----

TEST(EvaluatedWeights, AreTheOnesThatAreAskedFor) {
  for (const auto& [weights, model, average] :
       std::vector<std::tuple<const char*, std::size_t, std::size_t>>{
           {"all", 2, 2}, {"model", 2, 0}, {"ema", 0, 2}}) {
    SmallRun run(trainConfig({{"steps", 24}, {"ema.decay", 0.9}, {"evaluate.weights", weights}}));
    const train::TrainerResult result = run.go();
    EXPECT_EQ(run.sink.curve("test/top1").size(), model) << weights;
    EXPECT_EQ(run.sink.curve("test/top1@ema").size(), average) << weights;
    EXPECT_EQ(result.scores.size(), model + average) << weights;
  }
}

TEST(EvaluatedWeights, OfTheAverageAloneDecideWhichCheckpointIsTheBest) {
  const TemporaryFolder folder;
  SmallRun run(trainConfig({{"steps", 24}, {"ema.decay", 0.9}, {"evaluate.weights", "ema"}}),
               folder);
  static_cast<void>(run.go());
  const auto curve = run.sink.curve("test/top1@ema");
  double best = 0;
  for (const auto& [step, score] : curve) best = std::max(best, score);
  EXPECT_EQ(train::readCheckpointState(folder.path() / checkpointName(24)).bestScore, best);
}

TEST(EvaluatedWeights, ThatNoEvaluationTakesAreRefused) {
  SmallRun without(trainConfig({{"evaluate.weights", "ema"}}));
  EXPECT_THROW(static_cast<void>(without.go()), ConfigError);
  SmallListening listening;
  SmallRun run(trainConfig({{"ema.decay", 0.9}, {"evaluate.weights", "ema"}}));
  run.setup.observed = {{&listening, "counting", observeConfig()}};
  EXPECT_EQ(test::refusal<ConfigError>([&] { static_cast<void>(run.go()); }),
            "observe.counting.weights: 'model' is not evaluated, since train.evaluate.weights is "
            "'ema'; make them the same");
}

// ---- listeners and probes ----

TEST(Listener, HearsTheEvaluationAndKeepsItsScoresApart) {
  SmallListening listening;
  SmallRun run(trainConfig({{"steps", 24}, {"ema.decay", 0.9}}));
  run.setup.observed = {{&listening, "counting", observeConfig()},
                        {&listening, "averaged", observeConfig({{"weights", "ema"}})}};
  static_cast<void>(run.go());
  EXPECT_EQ(run.sink.curve("analysis/counting/heard"),
            (std::vector<std::pair<std::int64_t, double>>{{12, 64}, {24, 64}}));
  EXPECT_EQ(run.sink.steps("analysis/averaged/heard@ema"), (Steps{12, 24}));
  ASSERT_EQ(run.sink.artifacts.size(), 4U);
  const Artifact& artifact = run.sink.artifacts[0];
  EXPECT_EQ(artifact.analysis, "counting");
  EXPECT_EQ(artifact.step, 12);
  EXPECT_EQ(artifact.meta.at("split"), "test");
  EXPECT_EQ(artifact.meta.at("weights"), "model");
}

TEST(Listener, IsDueAtTheFirstEvaluationAfterItsInterval) {
  SmallListening listening;
  SmallRun run(trainConfig({{"steps", 60}}));  // evaluations at 12, 24, 36, 48, 60
  run.setup.observed = {{&listening, "counting", observeConfig({{"every_steps", 20}})}};
  static_cast<void>(run.go());
  EXPECT_EQ(run.sink.steps("analysis/counting/heard"), (Steps{24, 48, 60}));
}

TEST(Listener, OfAveragedWeightsNeedsAnAverage) {
  SmallListening listening;
  SmallRun run(trainConfig({{"steps", 2}}));
  run.setup.observed = {{&listening, "counting", observeConfig({{"weights", "ema"}})}};
  EXPECT_THROW(static_cast<void>(run.go()), ConfigError);
}

TEST(Probe, IsDueAtStepZeroAtItsIntervalAndAtTheEnd) {
  SmallProbe probe;
  SmallRun run(trainConfig({{"steps", 14}}));
  run.setup.observed = {{&probe, "probe", observeConfig({{"every_steps", 5}})}};
  static_cast<void>(run.go());
  std::set<std::int64_t>
      due;  // on a busy machine those in between may be late, and then they are counted
  for (const std::int64_t step : run.sink.steps("analysis/probe/mean")) due.insert(step);
  for (const EventRecord& skipped : run.sink.eventsOf("probe_skipped")) due.insert(skipped.step);
  EXPECT_EQ(due, (std::set<std::int64_t>{0, 5, 10, 14}));
  ASSERT_GE(run.sink.artifacts.size(), 2U);
  EXPECT_EQ(run.sink.artifacts.back().step, 14);
  EXPECT_EQ(run.sink.artifacts.back().analysis, "probe");
  EXPECT_EQ(run.sink.artifacts.back().meta.at("weights"), "model");
}

TEST(Probe, ChangesNoBitOfTheTraining) {
  SmallProbe probe;
  probe.isRude = true;
  std::vector<at::Tensor> weights;
  for (const bool isObserved : {false, true}) {
    SmallRun run(trainConfig({{"steps", 30}, {"ema.decay", 0.9}}));
    if (isObserved) {
      run.setup.observed = {
          {&probe, "raw", observeConfig({{"every_steps", 3}})},
          {&probe, "averaged", observeConfig({{"every_steps", 4}, {"weights", "ema"}})}};
    }
    static_cast<void>(run.go());
    weights.push_back(run.weights());
  }
  EXPECT_TRUE(at::equal(weights[0], weights[1]));
}

TEST(Probe, IsSkippedAndCountedWhenLateButNeverAtTheEnds) {
  SmallProbe probe;
  probe.takes = std::chrono::milliseconds(300);
  SmallRun run(trainConfig({{"steps", 12}}));
  run.setup.observed = {{&probe, "probe", observeConfig({{"every_steps", 1}})}};
  static_cast<void>(run.go());
  const Steps steps = run.sink.steps("analysis/probe/mean");
  const auto skipped = run.sink.eventsOf("probe_skipped");
  EXPECT_EQ(steps.size() + skipped.size(), 13U);
  EXPECT_GE(skipped.size(), 5U);
  EXPECT_EQ(steps.front(), 0);
  EXPECT_EQ(steps.back(), 12);
  EXPECT_EQ(skipped.back().data.at("skipped"), skipped.size());
}

TEST(Probe, ThatFailsIsAnEventAndTheRunContinues) {
  SmallProbe probe;
  probe.isFailing = true;
  SmallRun run(trainConfig({{"steps", 3}}));
  run.setup.observed = {{&probe, "probe", observeConfig()}};
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  ASSERT_EQ(run.sink.eventsOf("probe_failed").size(), 2U);
  EXPECT_EQ(run.sink.eventsOf("probe_failed")[0].text,
            "analysis 'probe' failed: no attention here");
}

// ---- evaluations of a task's own ----

/// The usual one, and before it one that is made every fourth step, of the raw weights, and not at
/// the end.
class TwoEvaluations final : public SmallSession {
 public:
  std::vector<Evaluation> evaluations() const override {
    return {{"rare", Split::Validation, {"logits"}, {"model"}, 4, std::nullopt, false},
            {"test", Split::Test, {"logits", "features"}}};
  }
};

TEST(Evaluations, AreMadeAtTheirOwnPeriodWithTheWeightsTheyName) {
  SmallRun run(trainConfig({{"steps", 12},
                            {"ema.decay", 0.9},
                            {"evaluate.every_steps", 6},
                            {"evaluate.every_epochs", nullptr}}),
               std::make_unique<TwoEvaluations>());
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(run.sink.steps("rare/top1"), (std::vector<std::int64_t>{4, 8}));
  EXPECT_TRUE(run.sink.steps("rare/top1@ema").empty());
  EXPECT_EQ(run.sink.steps("test/top1"), (std::vector<std::int64_t>{6, 12}));
  EXPECT_EQ(run.sink.steps("test/top1@ema"), (std::vector<std::int64_t>{6, 12}));
}

TEST(Evaluations, AreHeardByThoseWhoseOutputsTheyHave) {
  SmallListening listening;
  listening.hears = {"features"};
  SmallRun run(trainConfig({{"steps", 8}, {"evaluate.every_steps", 4}}),
               std::make_unique<TwoEvaluations>());
  run.setup.observed = {{&listening, "listening", observeConfig()}};
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(run.sink.steps("analysis/listening/heard"), (std::vector<std::int64_t>{4, 8}));
  EXPECT_TRUE(run.sink.steps("analysis/listening/rare/heard").empty());
  listening.hears = {"logits"};
  SmallRun other(trainConfig({{"steps", 8}, {"evaluate.every_steps", 4}}),
                 std::make_unique<TwoEvaluations>());
  other.setup.observed = {{&listening, "listening", observeConfig()}};
  EXPECT_EQ(other.go().outcome, train::Outcome::Done);
  EXPECT_EQ(other.sink.steps("analysis/listening/heard"), (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(other.sink.steps("analysis/listening/rare/heard"), (std::vector<std::int64_t>{4}));
}

// ---- a task with a head, a frozen helper and shapes that vary ----

class OddSession final : public SmallSession {
 public:
  struct Part : torch::nn::Module {
    explicit Part(float value) { weight = register_parameter("weight", at::full({4, 4}, value)); }
    at::Tensor weight;
  };
  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    EXPECT_FALSE(helper_->is_training());
    // Every other batch is cut, so that no two neighbours have one shape.
    const std::int64_t count = calls_++ % 2 == 0 ? batch.size() : batch.size() - 3;
    const at::Tensor images = batch.at("image").slice(0, 0, count);
    const at::Tensor logits = at::linear(classify(images), head_->weight);
    const at::Tensor teacher = at::linear(logits.detach(), helper_->weight).softmax(1);
    const at::Tensor main = at::cross_entropy_loss(logits, batch.at("label").slice(0, 0, count), {},
                                                   at::Reduction::Sum);
    const at::Tensor distilled = -(teacher * logits.log_softmax(1)).sum();
    const at::Tensor counted = at::scalar_tensor(count);
    return {{"main", main, counted}, {"distilled", distilled, counted, 0.1}};
  }
  std::vector<Network> networks() override {
    return {{"", &model().module()},
            {"task", head_.get()},
            {"helper", helper_.get(), Network::Role::Frozen, "helper.safetensors", "abc"}};
  }

  std::shared_ptr<Part> head_ = std::make_shared<Part>(0.3F);
  std::shared_ptr<Part> helper_ = std::make_shared<Part>(0.5F);

 private:
  int calls_ = 0;
};

TEST(OddTask, TrainsItsHeadAndNeverItsHelperAndSavesTheHeadUnderItsPrefix) {
  const TemporaryFolder folder;
  auto session = std::make_unique<OddSession>();
  const auto head = session->head_, helper = session->helper_;
  SmallRun run(trainConfig({{"steps", 10}, {"ema.decay", 0.9}}), std::move(session));
  run.setup.checkpointFolder = folder.path();
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_FALSE(at::equal(head->weight.detach(), at::full({4, 4}, 0.3F)));
  EXPECT_TRUE(at::equal(helper->weight.detach(), at::full({4, 4}, 0.5F)));
  EXPECT_FALSE(run.sink.curve("train/loss/distilled").empty());
  const auto saved = readTensors(folder.path() / "step-000000010" / "model.safetensors");
  EXPECT_TRUE(at::equal(saved.at("task.weight"), head->weight.detach()));
  EXPECT_EQ(readTensors(folder.path() / "step-000000010" / "ema.safetensors").count("task.weight"),
            1U);
}

}  // namespace
}  // namespace vitrine::test

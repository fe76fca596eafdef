// The parts of a loss: what they are divided by, what they are called, and what of the model takes
// part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/train/fakes.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

/// Cross-entropy of all samples, and the squared logits of those of one class: few, often none. The
/// order of the two parts changes from batch to batch, and a part of nothing is left out.
class TwoParts final : public SmallSession {
 public:
  using SmallSession::SmallSession;
  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    if (onLoss) onLoss(batch);
    const at::Tensor logits = classify(batch.at("image"));
    const at::Tensor& labels = batch.at("label");
    const at::Tensor isRare = labels.eq(2).to(at::kFloat);
    const LossPart all{"all", at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum)};
    const LossPart rare{"rare", (logits.square().sum(1) * isRare).sum(), isRare.sum(), 0.5};
    if (isRare.sum().item<double>() == 0) return {all};
    if (calls_++ % 2 == 0) return {all, rare};
    return {rare, all};
  }

 private:
  int calls_ = 0;
};

struct Ended {
  at::Tensor weights;
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> curves;
};

Ended trained(std::int64_t batchSize, std::int64_t accumulate) {
  SmallRun run(trainConfig({{"steps", 10},
                            {"accumulate", accumulate},
                            {"optimizer.name", "sgd"},
                            {"optimizer.learning_rate", 0.1}}),
               std::make_unique<TwoParts>(SmallData{.batchSize = batchSize}));
  run.use(run.model = std::make_shared<SmallModel>(3, 0.0));
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  Ended ended{run.weights(), {}};
  for (const char* name : {"train/loss", "train/loss/all", "train/loss/rare"})
    ended.curves[name] = run.sink.curve(name);
  return ended;
}

TEST(LossParts, AreAddedUpByNameAndDividedByWhatTheyCount) {
  const Ended whole = trained(8, 1);
  for (const std::int64_t accumulate : {2, 4}) {
    const Ended parts = trained(8 / accumulate, accumulate);
    // float32 sums in another order, over ten steps of SGD.
    EXPECT_LT((whole.weights - parts.weights).abs().max().item<double>(), 1e-5) << accumulate;
    for (const auto& [name, points] : whole.curves) {
      const auto& others = parts.curves.at(name);
      ASSERT_EQ(points.size(), others.size()) << name;
      for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(points[i].first, others[i].first) << name;
        EXPECT_NEAR(points[i].second, others[i].second, 1e-4) << name << " " << points[i].first;
      }
    }
  }
  EXPECT_FALSE(whole.curves.at("train/loss/rare").empty());
}

TEST(LossParts, MakeTheLossWithTheirWeights) {
  const Ended ended = trained(32, 1);
  const auto& all = ended.curves.at("train/loss/all");
  const auto& rare = ended.curves.at("train/loss/rare");
  const auto& loss = ended.curves.at("train/loss");
  ASSERT_EQ(rare.size(), loss.size()) << "a batch of 32 without the class";
  for (std::size_t i = 0; i < loss.size(); ++i)
    EXPECT_NEAR(loss[i].second, all[i].second + 0.5 * rare[i].second, 1e-5);
}

TEST(LossParts, OfWhichNothingIsCountedAddNothing) {
  class Empty final : public SmallSession {
   public:
    std::vector<LossPart> loss(StepContext& context, const Batch& batch) override {
      std::vector<LossPart> parts = SmallSession::loss(context, batch);
      parts.push_back({"none", at::zeros({}), at::zeros({})});
      return parts;
    }
  };
  for (const int accumulate : {1, 2}) {
    SmallRun run(trainConfig({{"steps", 3}, {"accumulate", accumulate}}),
                 std::make_unique<Empty>());
    EXPECT_EQ(run.go().outcome, train::Outcome::Done);
    EXPECT_EQ(run.sink.curve("train/loss/none").back().second, 0);
    EXPECT_EQ(run.sink.curve("train/loss"), run.sink.curve("train/loss/plain"));
  }
}

TEST(LossParts, WithAxesAreRefusedByName) {
  class Wide final : public SmallSession {
   public:
    std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
      return {{"wide", classify(batch.at("image"))}};
    }
  };
  SmallRun run(trainConfig({{"steps", 3}}), std::make_unique<Wide>());
  EXPECT_THAT([&] { static_cast<void>(run.go()); }, test::Fails<ShapeError>("wide"));
}

// ---- what is frozen ----

/// A norm with running statistics below a linear head.
class Normed final : public test::FakeModel<ImageClassifier> {
 public:
  struct Trunk : torch::nn::Module {
    Trunk() {
      weight = register_parameter("weight", at::ones({16}));
      mean = register_buffer("mean", at::zeros({16}));
      inner = register_module("inner", std::make_shared<torch::nn::Module>());
    }
    at::Tensor forward(const at::Tensor& x) {
      if (is_training()) {
        const at::NoGradGuard noGrad;
        mean.lerp_(x.mean(0), 0.1);
      }
      hasDropped = hasDropped || inner->is_training();  // a module without parameters of its own
      return (x - mean) * weight;
    }
    at::Tensor weight, mean;
    std::shared_ptr<torch::nn::Module> inner;
    bool hasDropped = false;
  };
  Normed() {
    trunk = register_module("trunk", std::make_shared<Trunk>());
    weight_ = register_parameter("head", at::full({4, 16}, 0.01));
  }
  at::Tensor features(const at::Tensor& images) override {
    wasTraining = wasTraining || is_training();
    return trunk->forward(images.flatten(1));
  }
  at::Tensor head(const at::Tensor& features) override { return at::linear(features, weight_); }
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }

  std::shared_ptr<Trunk> trunk;
  bool wasTraining = false;

 private:
  at::Tensor weight_;
};

TEST(Freezing, LeavesRunningStatisticsAndWhatDropsInEvaluationMode) {
  for (const bool isFrozen : {false, true}) {
    SmallRun run(trainConfig({{"steps", 14}}));  // an evaluation on the way changes modes
    const auto model = std::make_shared<Normed>();
    run.use(model);
    if (isFrozen) run.setup.freeze = {"trunk.*"};
    EXPECT_EQ(run.go().outcome, train::Outcome::Done);
    EXPECT_TRUE(model->wasTraining) << "the head is trained";
    EXPECT_EQ(model->trunk->hasDropped, !isFrozen);
    EXPECT_EQ(at::equal(model->trunk->mean, at::zeros({16})), isFrozen);
  }
}

}  // namespace
}  // namespace vitrine::test

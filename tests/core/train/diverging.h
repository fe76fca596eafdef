// Runs that diverge on purpose, and a small network with running statistics.
#pragma once

#include <map>

#include "core/files/checkpoint_folder.h"
#include "core/train/checkpoint.h"
#include "tests/core/train/fakes.h"
#include "tests/support/fake_model.h"

namespace vitrine::test {

/// Convolution, batch norm, dropout, linear: what a ViT has none of.
class SmallCnn final : public test::FakeModel<ImageClassifier> {
 public:
  explicit SmallCnn(std::uint64_t seed) {
    const RandomStream stream(seed, "init");
    const auto make = [&](const char* name, std::vector<std::int64_t> shape) {
      at::Tensor value = at::zeros(shape);
      for (std::int64_t i = 0; i < value.numel(); ++i) {
        value.data_ptr<float>()[i] =
            static_cast<float>(0.3 * stream.normal(nameHash(name), static_cast<std::uint64_t>(i)));
      }
      return register_parameter(name, value);
    };
    kernel_ = make("conv", {6, 1, 3, 3});
    scale_ = register_parameter("norm", at::ones({6}));
    shift_ = register_parameter("norm_bias", at::zeros({6}));
    mean_ = register_buffer("running_mean", at::zeros({6}));
    variance_ = register_buffer("running_var", at::ones({6}));
    batches_ = register_buffer("batches", at::zeros({}, at::kLong));
    head_ = make("fc", {4, 96});
  }
  void setGenerator(const at::Generator& generator) override { generator_ = generator; }
  at::Tensor features(const at::Tensor& images) override {
    at::Tensor x = at::conv2d(images, kernel_, {}, 1, 1);
    if (is_training()) batches_.add_(1);
    x = at::relu(
        at::batch_norm(x, scale_, shift_, mean_, variance_, is_training(), 0.1, 1e-5, false));
    if (is_training()) x = x * at::empty_like(x).bernoulli_(0.8, generator_) / 0.8;
    return x.flatten(1);
  }
  at::Tensor head(const at::Tensor& features) override { return at::linear(features, head_); }
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }

 private:
  at::Tensor kernel_, scale_, shift_, mean_, variance_, batches_, head_;
  at::Generator generator_;
};

/// A session some of whose batches, counted from 0 over all epochs, are bad whenever they come.
class BadBatches final : public SmallSession {
 public:
  enum class Kind { LossNan, DataNan, LossTimes, GradientTimes };
  BadBatches(Kind kind, std::set<std::int64_t> batches, double factor = 1e4)
      : kind_(kind), bad_(std::move(batches)), factor_(factor) {
    SmallStream stream(data_, 0);
    for (std::int64_t i = 0; i < 120; ++i) numbers_[stream.next().sampleIds] = i;
  }
  std::vector<LossPart> loss(StepContext& context, const Batch& batch) override {
    const std::int64_t number = numbers_.at(batch.sampleIds);
    taken.push_back(number);
    if (static_cast<std::int64_t>(taken.size()) == diesAt) throw std::runtime_error("it died");
    if (bad_.count(number) == 0) return SmallSession::loss(context, batch);
    if (kind_ == Kind::DataNan) {
      Batch damaged = batch;
      for (auto& field : damaged.fields) {
        if (field.first == "image") field.second = at::full_like(field.second, std::nan(""));
      }
      return SmallSession::loss(context, damaged);
    }
    std::vector<LossPart> parts = SmallSession::loss(context, batch);
    at::Tensor& sum = parts.front().sum;
    if (kind_ == Kind::LossNan) sum = sum * std::nan("");
    if (kind_ == Kind::LossTimes) sum = sum * factor_;
    if (kind_ == Kind::GradientTimes) sum = sum * factor_ - (sum * (factor_ - 1)).detach();
    return parts;
  }
  std::vector<std::int64_t> taken;  ///< numbers of the batches, in the order they came
  std::int64_t diesAt = -1;

 private:
  Kind kind_;
  std::set<std::int64_t> bad_;
  double factor_;
  std::map<std::vector<std::int64_t>, std::int64_t> numbers_;
};

/// Segments of one run as `vitrine run` would work on it: what is shown of it, and how it ended.
struct WholeRun {
  std::function<std::unique_ptr<BadBatches>()> session;
  std::function<std::shared_ptr<Model>()> model = [] { return std::make_shared<SmallModel>(3); };
  Config train;
  TemporaryFolder folder;

  std::map<std::int64_t, double> loss;  ///< shown: a new segment hides what came after its start
  std::vector<EventRecord> events;
  std::vector<std::vector<std::int64_t>> taken;  ///< batches, by segment
  std::vector<std::int64_t> starts;              ///< steps at which the segments began
  train::TrainerResult result;

  /// One segment from the newest checkpoint. \param stop  asks after so many losses; \param dies
  /// throws at that loss, as a crash would
  void segment(std::int64_t stop = -1, std::int64_t dies = -1) {
    SmallRun run(train, session());
    run.use(model());
    run.setup.checkpointFolder = folder.path();
    const auto newest = newestCheckpoint(folder.path());
    if (newest) run.setup.resumeFrom = newest->folder;
    starts.push_back(newest ? newest->step : 0);
    auto* bad = static_cast<BadBatches*>(run.session);
    bad->diesAt = dies;
    run.session->onLoss = [&run, stop, count = std::int64_t{0}](const Batch&) mutable {
      if (++count == stop) run.control.ask(Request::Interrupt);
    };
    std::unique_ptr<train::Trainer> trainer;
    try {
      trainer = std::make_unique<train::Trainer>(std::move(run.setup), run.sink, run.control);
      result = trainer->run();
    } catch (const std::runtime_error&) {
      result.outcome = train::Outcome::Interrupted;
    }
    taken.push_back(bad->taken);
    loss.erase(loss.upper_bound(starts.back()), loss.end());
    for (const auto& [step, value] : run.sink.curve("train/loss")) {
      EXPECT_EQ(loss.count(step), 0U) << "step " << step << " is shown twice";
      loss[step] = value;
    }
    events.insert(events.end(), run.sink.events.begin(), run.sink.events.end());
  }
  /// To its end.
  void go() {
    do {
      segment();
      ASSERT_LT(starts.size(), 50U) << "it goes back for ever";
    } while (result.outcome == train::Outcome::RolledBack ||
             result.outcome == train::Outcome::Interrupted);
  }
  std::vector<EventRecord> eventsOf(const std::string& kind) const {
    std::vector<EventRecord> found;
    for (const EventRecord& event : events) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }
  train::LoadedCheckpoint at(std::int64_t step) const {
    return train::readCheckpoint(folder.path() / checkpointName(step));
  }
};

inline bool isSame(const std::map<std::string, at::Tensor>& a,
                   const std::map<std::string, at::Tensor>& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& item) {
    return b.count(item.first) != 0 && at::equal(item.second, b.at(item.first));
  });
}

/// Weights, moments and averages of two runs, and every loss that they show.
inline void expectSame(const WholeRun& a, const WholeRun& b, std::int64_t lastStep) {
  EXPECT_EQ(a.loss.size(), b.loss.size());
  for (const auto& [step, value] : b.loss) {
    ASSERT_EQ(a.loss.count(step), 1U) << "step " << step;
    const double other = a.loss.at(step);
    EXPECT_TRUE(other == value || (std::isnan(other) && std::isnan(value))) << "step " << step;
  }
  const train::LoadedCheckpoint left = a.at(lastStep), right = b.at(lastStep);
  EXPECT_TRUE(isSame(left.model, right.model));
  EXPECT_TRUE(isSame(left.ema, right.ema));
  EXPECT_TRUE(isSame(left.optimizer, right.optimizer));
  EXPECT_EQ(left.state.updates, right.state.updates);
  EXPECT_EQ(left.state.generator, right.state.generator);
  EXPECT_EQ(left.state.batchesConsumed, right.state.batchesConsumed);
}

}  // namespace vitrine::test

// Small stand-ins for a model, a task and a sink, so that the trainer's tests need no plugin.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/config/experiment.h"
#include "core/files/checkpoint_folder.h"
#include "core/model/capabilities.h"
#include "core/run/event_sink.h"
#include "core/train/trainer.h"
#include "tests/support/core_items.h"
#include "tests/support/fake_model.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::test {

using Steps = std::vector<std::int64_t>;
/// Of the checkpoints in `folder`.
inline Steps stepsIn(const std::filesystem::path& folder) {
  Steps steps;
  for (const CheckpointFolder& checkpoint : listCheckpoints(folder))
    steps.push_back(checkpoint.step);
  return steps;
}

inline ItemCard cardOf(ItemKind kind, const std::string& id) { return {.kind = kind, .id = id}; }

/// Two layers with dropout between them and a dropped path beside them, both drawn from the
/// generator it is given.
class SmallModel : public test::FakeModel<ImageClassifier, Scheduled> {
 public:
  explicit SmallModel(std::uint64_t seed, double dropout = 0.1) : dropout_(dropout) {
    const RandomStream stream(seed, "init");
    const auto make = [&](const char* name, std::vector<std::int64_t> shape) {
      at::Tensor value = at::zeros(shape);
      for (std::int64_t i = 0; i < value.numel(); ++i) {
        value.data_ptr<float>()[i] =
            static_cast<float>(0.2 * stream.normal(nameHash(name), static_cast<std::uint64_t>(i)));
      }
      return register_parameter(name, value);
    };
    first_ = make("fc1", {24, 16});
    firstBias_ = make("bias1", {24});
    second_ = make("fc2", {4, 24});
    secondBias_ = make("bias2", {4});
  }
  void setGenerator(const at::Generator& generator) override { generator_ = generator; }

  at::Tensor features(const at::Tensor& images) override {
    ++forwards;
    at::Tensor x = at::gelu(at::linear(images.flatten(1), first_, firstBias_));
    if (is_training() && dropout_ > 0) {
      x = x * at::empty_like(x).bernoulli_(1 - dropout_, generator_) / (1 - dropout_);
      const at::Tensor path = at::empty({x.size(0), 1}).bernoulli_(0.8, generator_) / 0.8;
      x = x + x.tanh() * path;
    }
    return x * (1 + alpha_);
  }
  at::Tensor head(const at::Tensor& features) override {
    return at::linear(features, second_, secondBias_);
  }
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }

  void beforeStep(const StepPosition& position) override {
    positions.push_back(position.step);
    const double before = alpha_;
    alpha_ = std::max(
        0.0, 1 - static_cast<double>(position.step) / static_cast<double>(position.stepsPerEpoch));
    hasJustEnded_ = before > 0 && alpha_ == 0;
  }
  std::vector<Occurrence> occurrences() const override {
    if (!hasJustEnded_) return {};
    return {{"mask_cutoff", "the soft mask is at its end"}};
  }
  std::vector<std::pair<std::string, double>> scheduledValues() const override {
    return {{"model/mask_alpha", alpha_}};
  }
  void finish() override {
    isFinished = true;
    alpha_ = 0;
  }

  std::vector<std::int64_t> positions;
  bool isFinished = false;
  int forwards = 0;

 private:
  double dropout_, alpha_ = 0;
  bool hasJustEnded_ = false;
  at::Generator generator_;
  at::Tensor first_, firstBias_, second_, secondBias_;
};

/// 16 numbers an image whose class is the largest of four sums; shuffled by (seed, epoch).
struct SmallData {
  std::int64_t samples = 96, batchSize = 8;
  std::uint64_t seed = 0;

  Batch take(const std::vector<std::int64_t>& ids, std::uint64_t salt) const {
    Batch batch{.sampleIds = ids};
    const auto count = static_cast<std::int64_t>(ids.size());
    at::Tensor images = at::empty({count, 1, 4, 4});
    at::Tensor labels = at::empty({count}, at::kLong);
    const RandomStream stream(7 + salt, "data");
    for (std::int64_t i = 0; i < count; ++i) {
      float* image = images.data_ptr<float>() + 16 * i;
      double sums[4] = {};
      for (int j = 0; j < 16; ++j) {
        const double value =
            stream.normal(static_cast<std::uint64_t>(ids[static_cast<std::size_t>(i)]),
                          static_cast<std::uint64_t>(j));
        image[j] = static_cast<float>(value);
        sums[j / 4] += value;
      }
      labels.data_ptr<std::int64_t>()[i] = std::max_element(sums, sums + 4) - sums;
    }
    batch.fields = {{"image", images}, {"label", labels}};
    return batch;
  }
};

class SmallStream final : public BatchStream {
 public:
  SmallStream(SmallData data, std::int64_t firstBatch) : data_(data), at_(firstBatch) {}
  Batch next() override {
    const std::int64_t epoch = at_ / batchesPerEpoch(), within = at_ % batchesPerEpoch();
    ++at_;
    const auto order = permutation(RandomStream(data_.seed, "order"),
                                   static_cast<std::uint64_t>(epoch), data_.samples);
    std::vector<std::int64_t> ids;
    for (std::int64_t i = within * data_.batchSize;
         i < std::min((within + 1) * data_.batchSize, data_.samples); ++i) {
      ids.push_back(order[static_cast<std::size_t>(i)]);
    }
    return data_.take(ids, 0);
  }
  std::int64_t batchesPerEpoch() const noexcept override {
    return (data_.samples + data_.batchSize - 1) / data_.batchSize;
  }
  std::int64_t samplesPerEpoch() const noexcept override { return data_.samples; }
  double waited() const noexcept override { return 0; }

 private:
  SmallData data_;
  std::int64_t at_;
};

class SmallSession : public TaskSession {
 public:
  explicit SmallSession(SmallData data = {}) : data_(data) {}
  /// A session is made before its model in these tests.
  void use(std::shared_ptr<Model> model) { model_ = std::move(model); }
  Model& model() override { return *model_; }
  std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) override {
    return std::make_unique<SmallStream>(data_, firstBatch);
  }
  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    if (onLoss) onLoss(batch);
    const at::Tensor logits = classify(batch.at("image"));
    lastLogitsType = logits.scalar_type();
    at::Tensor sum =
        at::cross_entropy_loss(logits.to(at::kFloat), batch.at("label"), {}, at::Reduction::Sum);
    if (losses++ == poisonedLoss) sum = sum * std::numeric_limits<double>::quiet_NaN();
    return {{"plain", sum}};
  }
  void evaluate(const EvaluationRequest& request, Results& results) override {
    EXPECT_FALSE(at::GradMode::is_enabled());
    EXPECT_FALSE(model().module().is_training());
    std::vector<std::int64_t> ids(64);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
    const Batch batch = read(request.evaluation.split, ids);
    const at::Tensor logits = classify(batch.at("image"));
    results.score("top1",
                  logits.argmax(1).eq(batch.at("label")).to(at::kFloat).mean().item<double>());
    results.score("loss",
                  at::cross_entropy_loss(logits.to(at::kFloat), batch.at("label")).item<double>());
    const std::map<std::string, at::Tensor> outputs{{"logits", logits}};
    for (EvaluationListener* listener : request.listeners) {
      listener->batch({batch, outputs});
      listener->finish(results);
    }
  }
  std::vector<Evaluation> evaluations() const override {
    std::vector<Evaluation> all;
    for (const Split split : splits) all.push_back({toString(split), split, {"logits"}});
    return all;
  }
  Batch read(Split split, const std::vector<std::int64_t>& ids) override {
    return data_.take(ids, split == Split::Validation ? 2 : 1);
  }
  std::vector<std::int64_t> chooseSamples(Split, std::int64_t count) override {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < count; ++i) ids.push_back(i);
    return ids;
  }
  const DatasetInfo& dataset() const noexcept override { return info_; }
  std::string bestBy() const override { return "test/top1"; }

  std::function<void(const Batch&)> onLoss;
  std::vector<Split> splits{Split::Test};
  int losses = 0, poisonedLoss = -1;
  at::ScalarType lastLogitsType = at::kFloat;

 protected:
  at::Tensor classify(const at::Tensor& images) {
    return capabilityOf<ImageClassifier>(*model_)->classify(images);
  }
  SmallData data_;
  std::shared_ptr<Model> model_;

 private:
  DatasetInfo info_{1, 4, 4, {"a", "b", "c", "d"}, {0}, {1}};
};

class RecordingSink : public EventSink {
 public:
  void metrics(const MetricRecord& record) override {
    expectTrainingThread();
    for (const auto& value : record.values)
      values.push_back({record.step, value.first, value.second});
    times.push_back(record.time);
  }
  void event(const EventRecord& record) override { events.push_back(record); }
  void artifact(Artifact item) override {
    expectTrainingThread();
    artifacts.push_back(std::move(item));
  }
  void image(GeneratedImage item) override { images.push_back(std::move(item)); }
  void text(GeneratedText item) override { texts.push_back(std::move(item)); }
  void progress(const ProgressRecord& record) override { progresses.push_back(record); }
  void checkpoint(const CheckpointRecord& record) override {
    expectTrainingThread();
    checkpoints.push_back(record);
  }
  void flush() override { ++flushes; }
  std::atomic<int> flushes = 0;  ///< also from the thread that writes checkpoints

  struct Value {
    std::int64_t step;
    std::string name;
    double value;
  };
  /// (step, value) of one metric.
  std::vector<std::pair<std::int64_t, double>> curve(const std::string& name) const {
    std::vector<std::pair<std::int64_t, double>> points;
    for (const Value& value : values) {
      if (value.name == name) points.emplace_back(value.step, value.value);
    }
    return points;
  }
  std::vector<std::int64_t> steps(const std::string& name) const {
    std::vector<std::int64_t> steps;
    for (const auto& point : curve(name)) steps.push_back(point.first);
    return steps;
  }
  std::vector<EventRecord> eventsOf(const std::string& kind) const {
    std::vector<EventRecord> found;
    for (const EventRecord& event : events) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }

  std::vector<Value> values;
  std::vector<double> times;
  std::vector<EventRecord> events;
  std::vector<Artifact> artifacts;
  std::vector<GeneratedImage> images;
  std::vector<GeneratedText> texts;
  std::vector<ProgressRecord> progresses;
  std::vector<CheckpointRecord> checkpoints;

 private:
  void expectTrainingThread() const { EXPECT_EQ(std::this_thread::get_id(), thread_); }
  std::thread::id thread_ = std::this_thread::get_id();
};

/// A probe that takes the mean of the probe batch's logits and, when told to, a while. A rude one
/// takes it in training mode, with what is drawn there.
class SmallProbe final : public Analysis {
 public:
  ItemCard card() const override { return {}; }
  Kind kind() const noexcept override { return Kind::Probe; }
  ProbeSamples probeSamples(const Config&) const override { return {4, {}}; }
  std::function<Findings()> probe(const Config&, ProbeContext& context) const override {
    Model& model = context.model;
    const Batch& batch = context.batch;
    EXPECT_FALSE(model.module().is_training());
    EXPECT_FALSE(at::GradMode::is_enabled());
    const auto classify = [&] {
      return capabilityOf<ImageClassifier>(model)
          ->classify(batch.at("image"))
          .mean()
          .item<double>();
    };
    double mean = classify();
    if (isRude) {
      model.module().train();  // would draw from the run's dropout, were its generator at hand
      mean = classify();
    }
    if (isFailing) throw std::runtime_error("no attention here");
    const auto wait = takes;
    return [mean, wait] {
      std::this_thread::sleep_for(wait);
      Artifact artifact{.name = "mean", .kind = artifact_kind::kTable};
      setJson(artifact, Json{{"mean", mean}});
      return Findings{{artifact}, {{"mean", mean}}};
    };
  }
  std::chrono::milliseconds takes{0};
  bool isRude = false, isFailing = false;
};

/// A listener that counts what it hears.
class SmallListening final : public Analysis {
 public:
  std::vector<std::string> hears;
  std::vector<std::string> outputs() const override { return hears; }
  ItemCard card() const override { return {}; }
  Kind kind() const noexcept override { return Kind::Listener; }
  std::unique_ptr<EvaluationListener> listen(const Config&,
                                             const DatasetInfo& info) const override {
    struct Listener final : EvaluationListener {
      explicit Listener(std::size_t theClasses) : classes(theClasses) {}
      void batch(const EvaluationBatch& batch) override { heard += batch.batch.sampleIds.size(); }
      void finish(Results& results) override {
        results.score("heard", static_cast<double>(heard));
        Artifact artifact{.name = "bins", .kind = artifact_kind::kTable};
        setJson(artifact, Json{{"classes", classes}});
        results.artifact(artifact);
      }
      std::size_t heard = 0, classes;
    };
    return std::make_unique<Listener>(info.classes.size());
  }
};

/// trainSchema() with some keys set: trainConfig({{"steps", "20"}, {"ema.decay", "0.9"}}).
inline Config trainConfig(const std::vector<std::pair<std::string, Json>>& values) {
  Json config = trainSchema().defaults();
  config["device"] = "cpu";
  config["threads"] = 1;
  for (const auto& [key, value] : values) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) {
      config[key] = value;
    } else {
      config[key.substr(0, dot)][key.substr(dot + 1)] = value;
    }
  }
  return Config(config);
}

inline Config observeConfig(const std::vector<std::pair<std::string, Json>>& values = {}) {
  Json config = observeSchema().defaults();
  for (const auto& [key, value] : values) config[key] = value;
  return Config(config);
}

/// One run of the small model, with everything a test may want to look at afterwards.
struct SmallRun {
  explicit SmallRun(Config train,
                    std::unique_ptr<SmallSession> given = std::make_unique<SmallSession>())
      : model(std::make_shared<SmallModel>(3)), session(given.get()) {
    session->use(model);
    setup.session = std::move(given);
    setup.train = std::move(train);
    setup.optimizer = &coreItems().optimizer(setup.train.text("optimizer.name"));
    setup.schedule = &coreItems().schedule(setup.train.text("schedule.name"));
    setup.seed = 5;
    setup.checkpointPrefix = "run-test";
  }
  /// The same with checkpoints in `folder`.
  SmallRun(Config train, const TemporaryFolder& folder) : SmallRun(std::move(train)) {
    setup.checkpointFolder = folder.path();
  }
  /// Continues at a checkpoint of its folder.
  void resumeAt(std::int64_t step) {
    setup.resumeFrom = setup.checkpointFolder / checkpointName(step);
  }
  /// Another model than the usual one.
  void use(std::shared_ptr<Model> other) { session->use(std::move(other)); }
  train::TrainerResult go() {
    train::Trainer trainer(std::move(setup), sink, control);
    return trainer.run();
  }
  /// All parameters in one row.
  at::Tensor weights() const {
    std::vector<at::Tensor> flat;
    for (const at::Tensor& parameter : model->parameters())
      flat.push_back(parameter.detach().flatten());
    return at::cat(flat).clone();
  }

  std::shared_ptr<SmallModel> model;
  SmallSession* session;
  train::TrainerSetup setup;
  RecordingSink sink;
  RunControl control;
};

}  // namespace vitrine::test

#include "plugins/tasks/classification/classification.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/base/error.h"
#include "core/model/weights.h"
#include "core/plugin/pipeline.h"
#include "tests/plugins/transforms/registry.h"
#include "tests/support/fake_model.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::classification {
namespace {


/// Ten training and seven test images of 4 x 4 pixels in three classes; every pixel is 10 times the
/// label.
class TenImages final : public LabelledImages {
 public:
  TenImages() {
    info_.height = info_.width = 4;
    info_.classes = {"low", "middle", "high"};
    info_.mean = {0.0};
    info_.deviation = {1.0 / 255};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override {
    return split == Split::Train ? 10 : split == Split::Test ? tests : validations;
  }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
    const std::int64_t label = id % 2;  // the third class has no samples
    std::fill(image.begin(), image.end(), static_cast<std::uint8_t>(10 * label));
    return label;
  }
  std::int64_t tests = 7, validations = 0;

 private:
  DatasetInfo info_;
};

/// The logit of class 1 is the mean brightness, the others are 0.
class Brightness final : public test::FakeModel<ImageClassifier> {
 public:
  explicit Brightness(std::int64_t classes = 3) : classes_(classes) {
    gain = register_parameter("gain", at::ones({1}));
  }
  at::Tensor classify(const at::Tensor& images) override {
    seen = images.sizes().vec();
    sawGradient = sawGradient || at::GradMode::is_enabled();
    const at::Tensor bright = images.flatten(1).mean(1) * gain;
    std::vector<at::Tensor> columns(static_cast<std::size_t>(classes_), at::zeros_like(bright));
    columns[1] = bright;
    return at::stack(columns, 1);
  }
  at::Tensor features(const at::Tensor& images) override { return images; }
  at::Tensor head(const at::Tensor& features) override { return features; }

  at::Tensor gain;
  std::vector<std::int64_t> seen;
  bool sawGradient = false;

 private:
  std::int64_t classes_;
};

Json dataValues() {
  return {{"train_samples", nullptr},
          {"test_samples", nullptr},
          {"subset", "stratified"},
          {"augment", {{"crop_padding", 0}, {"flip", 0.0}}},
          {"normalize", "dataset"}};
}

TaskSetup setupOf(std::shared_ptr<Model> model, std::shared_ptr<const Dataset> dataset,
                  const Json& data = dataValues(), double smoothing = 0, std::uint64_t seed = 0,
                  std::array<std::int64_t, 2> imageSize = {0, 0}) {
  TaskSetup setup;
  setup.task = Config(Json{{"label_smoothing", smoothing}});
  setup.data = Config(data);
  setup.model = std::move(model);
  setup.seed = seed;
  setup.pipeline =
      std::make_shared<const Pipeline>(test::transformRegistry(), setup.data, std::move(dataset),
                                       seed, Pipeline::ImageShape{imageSize, 0});
  return setup;
}

/// A session over ten images in batches of 4 and 3, with its model at hand.
struct Opened {
  std::shared_ptr<Brightness> model;
  std::unique_ptr<TaskSession> session;
  TaskSession* operator->() const { return session.get(); }
};

Opened openSession(const Json& data = dataValues(),
                   const std::function<void(TaskSetup&)>& change = {},
                   std::shared_ptr<Brightness> model = std::make_shared<Brightness>(),
                   std::array<std::int64_t, 2> imageSize = {0, 0}) {
  TaskSetup setup = setupOf(model, std::make_shared<TenImages>(), data, 0, 0, imageSize);
  setup.batchSize = 4;
  setup.evaluationBatchSize = 3;
  if (change) change(setup);
  return {model, ClassificationTask().open(setup)};
}

/// What an evaluation gives, as the trainer asks for it.
CollectedResults evaluated(TaskSession& session, Split split,
                           std::vector<EvaluationListener*> listeners = {}) {
  const at::NoGradGuard noGradient;
  CollectedResults results;
  StepContext context;
  const Evaluation evaluation{toString(split), split, {"logits"}};
  session.evaluate({evaluation, context, std::move(listeners)}, results);
  return results;
}

std::vector<Split> splitsOf(const TaskSession& session) {
  std::vector<Split> splits;
  for (const Evaluation& each : session.evaluations()) splits.push_back(each.split);
  return splits;
}

std::map<std::string, double> asMap(const Scores& scores) { return {scores.begin(), scores.end()}; }

class CountingListener final : public EvaluationListener {
 public:
  void batch(const EvaluationBatch& batch) override {
    const at::Tensor &logits = batch.output("logits"), &labels = batch.batch.at("label");
    ids.insert(ids.end(), batch.batch.sampleIds.begin(), batch.batch.sampleIds.end());
    fits = fits && logits.device().is_cpu() &&
           logits.sizes() == at::IntArrayRef({labels.size(0), 3}) &&
           labels.scalar_type() == at::kLong && !logits.requires_grad();
    EXPECT_THROW((void)batch.output("features"), ConfigError);
  }
  void finish(Results& results) override {
    results.score("heard", static_cast<double>(ids.size()));
    Artifact artifact{.name = "heard"};
    results.artifact(artifact);
  }
  std::vector<std::int64_t> ids;
  bool fits = true;
};

TEST(Classification, LossIsTheReferencesWithAndWithoutSmoothingAndSoIsItsGradient) {
  const auto io = readTensors(VITRINE_SOURCE_DIR "/tests/golden/analysis/losses/io.safetensors");
  // Ten classes; the logits are the parameter itself.
  class Fixed final : public test::FakeModel<ImageClassifier> {
   public:
    explicit Fixed(const at::Tensor& value) {
      logits = register_parameter("logits", value.clone());
    }
    at::Tensor classify(const at::Tensor&) override { return logits; }
    at::Tensor features(const at::Tensor& images) override { return images; }
    at::Tensor head(const at::Tensor& features) override { return features; }
    at::Tensor logits;
  };
  class TenClasses final : public LabelledImages {
   public:
    TenClasses() {
      info_.height = info_.width = 1;
      for (int c = 0; c < 10; ++c) info_.classes.push_back(std::to_string(c));
    }
    const DatasetInfo& info() const noexcept override { return info_; }
    std::int64_t size(Split) const override { return 6; }
    std::int64_t readImage(Split, std::int64_t, std::span<std::uint8_t>) const override {
      return 0;
    }

   private:
    DatasetInfo info_;
  };
  for (const auto& [name, smoothing] :
       {std::pair<std::string, double>{"cross_entropy", 0.0}, {"label_smoothing", 0.1}}) {
    const auto model = std::make_shared<Fixed>(io.at("input/logits"));
    const auto session = ClassificationTask().open(
        setupOf(model, std::make_shared<TenClasses>(), dataValues(), smoothing));
    Batch batch;
    batch.fields["image"] = at::zeros({6, 1, 1, 1});
    batch.fields["label"] = io.at("input/labels");
    StepContext context;
    const std::vector<LossPart> parts = session->loss(context, batch);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].sum.dim(), 0);
    EXPECT_EQ(parts[0].sum.scalar_type(), at::kFloat);
    EXPECT_FALSE(parts[0].count.defined()) << "the samples of the batch";
    const at::Tensor mean = parts[0].sum / 6;
    EXPECT_NEAR(mean.item<double>(), io.at("output/" + name).item<double>(), 1e-5) << name;
    mean.backward();
    // float32 softmax of ten logits: a few ulp of values up to 1.
    EXPECT_LT((model->logits.grad() - io.at("grad/" + name)).abs().max().item<double>(), 1e-6)
        << name;
  }
}

TEST(Classification, ScoresAreWhatTheyAreByHand) {
  const Opened opened = openSession();
  CountingListener listener;
  const auto scores = asMap(evaluated(*opened.session, Split::Test, {&listener}).scores);
  // Labels 0 1 0 1 0 1 0: brightness 0 or 10, so logits (0, 0, 0) or (0, 10, 0): equal logits mean
  // class 0.
  EXPECT_EQ(scores.at("top1"), 1.0);
  EXPECT_EQ(scores.at("top5"), 1.0);
  const double sure = std::exp(10.0) / (2 + std::exp(10.0));
  EXPECT_NEAR(scores.at("loss"), (4 * std::log(3.0) - 3 * std::log(sure)) / 7, 1e-6);
  EXPECT_NEAR(scores.at("ece"), (4 * (1 - 1.0 / 3) + 3 * (1 - sure)) / 7, 1e-6);
  EXPECT_EQ(scores.at("class_accuracy/low"), 1.0);
  EXPECT_FALSE(scores.contains("class_accuracy/high"));
  EXPECT_EQ(scores.at("heard"), 7);
  for (const std::string& name : ClassificationTask().scores())
    EXPECT_TRUE(scores.contains(name)) << name;
  EXPECT_EQ(listener.ids, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(listener.fits);
  EXPECT_FALSE(opened.model->sawGradient);
}

TEST(Classification, DeclaresTheAccuracyOfAClassAndTheFallOfTheAccuracy) {
  const ItemCard card = ClassificationTask().card();
  ASSERT_EQ(card.metrics.declared.size(), 2u);
  EXPECT_EQ(card.metrics.declared[0].pattern, "*/class_accuracy/*");
  EXPECT_EQ(card.metrics.declared[0].unit, "fraction");
  EXPECT_EQ(card.metrics.declared[1].pattern, "analysis/*/fall/*");
  EXPECT_EQ(card.metrics.declared[1].unit, "points");
  EXPECT_EQ(card.metrics.declared[1].direction, "lower");
}

TEST(Classification, TheConfusionMatrixHasLabelsInRows) {
  const Opened opened = openSession();
  {
    const at::NoGradGuard noGradient;
    opened.model->gain.fill_(-1);  // bright images now look least like class 1
  }
  const CollectedResults found = evaluated(*opened.session, Split::Test);
  const auto scores = asMap(found.scores);
  const std::vector<Artifact>& artifacts = found.artifacts;
  EXPECT_NEAR(scores.at("top1"), 4.0 / 7, 1e-12);
  EXPECT_EQ(scores.at("class_accuracy/middle"), 0.0);
  ASSERT_EQ(artifacts.size(), 2u);
  const Artifact& matrix = artifacts[0];
  EXPECT_EQ(matrix.analysis, "classification");
  EXPECT_EQ(matrix.name, "confusion");
  EXPECT_EQ(matrix.kind, artifact_kind::kMatrix);
  EXPECT_EQ(matrix.meta["rows"], Json({"low", "middle", "high"}));
  EXPECT_EQ(matrix.meta["split"], "test");
  const ArrayView view = arrayOf(matrix.meta, matrix.data);
  EXPECT_EQ(view.at(0), 4);
  EXPECT_EQ(view.at(3), 3);  // label 1, prediction 0
  EXPECT_EQ(view.at(4), 0);
  const std::string text(reinterpret_cast<const char*>(artifacts[1].data.data()),
                         artifacts[1].data.size());
  const Json table = Json::parse(text);
  EXPECT_EQ(table["rows"][0], Json({"low", 4, 1.0}));
  EXPECT_EQ(table["rows"][2], Json({"high", 0, nullptr}));
}

TEST(Classification, SubsetsNormalisingAndTheModelsImageSizeAreObeyed) {
  Json data = dataValues();
  data["train_samples"] = 6;
  data["test_samples"] = 2;
  data["normalize"] = "half";
  const Opened session = openSession(data, {}, std::make_shared<Brightness>(), {8, 6});
  CountingListener listener;
  (void)evaluated(*session.session, Split::Test, {&listener});
  EXPECT_EQ(listener.ids.size(), 2u);
  EXPECT_EQ(session.model->seen, (std::vector<std::int64_t>{2, 1, 8, 6}));
  const auto stream = session->trainingStream(0);
  EXPECT_EQ(stream->batchesPerEpoch(), 1);  // six samples, batches of four, all equal
  const Batch batch = stream->next();
  EXPECT_EQ(batch.size(), 4);
  const Batch probe = session->read(Split::Test, {0, 1});
  EXPECT_EQ(probe.sampleIds, (std::vector<std::int64_t>{0, 1}));
  EXPECT_FLOAT_EQ(probe.at("image")[0][0][0][0].item<float>(), -1.0f);
  EXPECT_NEAR(probe.at("image")[1][0][7][5].item<float>(), (10.0 / 255 - 0.5) / 0.5, 1e-6);
  EXPECT_EQ(session->chooseSamples(Split::Test, 100).size(), 7u);
  EXPECT_THROW((void)session->read(Split::Test, {7}), ConfigError);
}

/// Four classes of 25 images each, one after the other, as a folder lists them.
class SortedByClass final : public LabelledImages {
 public:
  SortedByClass() {
    info_.height = info_.width = 1;
    info_.classes = {"a", "b", "c", "d"};
    info_.mean = {0.0};
    info_.deviation = {1.0};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override { return split == Split::Validation ? 0 : 100; }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t>) const override {
    return id / 25;
  }

 private:
  DatasetInfo info_;
};

struct Chosen {
  std::vector<std::int64_t> trained, tested, probed;
};
Chosen chosenOf(const Json& subset, std::uint64_t seed) {
  Json data = dataValues();
  data["train_samples"] = 20;
  data["test_samples"] = 12;
  data["subset"] = subset;
  if (subset.is_null()) data.erase("subset");
  TaskSetup setup =
      setupOf(std::make_shared<Brightness>(4), std::make_shared<SortedByClass>(), data, 0, seed);
  setup.batchSize = 20;
  setup.evaluationBatchSize = 12;
  const auto session = ClassificationTask().open(setup);
  Chosen chosen{.trained = session->trainingStream(0)->next().sampleIds};
  std::sort(chosen.trained.begin(), chosen.trained.end());
  class Ids final : public EvaluationListener {
   public:
    explicit Ids(std::vector<std::int64_t>& ids) : ids_(ids) {}
    void batch(const EvaluationBatch& batch) override {
      ids_.insert(ids_.end(), batch.batch.sampleIds.begin(), batch.batch.sampleIds.end());
    }
    void finish(Results&) override {}

   private:
    std::vector<std::int64_t>& ids_;
  } ids(chosen.tested);
  (void)evaluated(*session, Split::Test, {&ids});
  chosen.probed = session->chooseSamples(Split::Test, 4);
  return chosen;
}

std::map<std::int64_t, int> classesOf(const std::vector<std::int64_t>& ids) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t id : ids) ++counts[id / 25];
  return counts;
}

TEST(Classification, SubsetsAndProbesTakeImagesOfEveryClass) {
  const Chosen chosen = chosenOf("stratified", 1);
  EXPECT_EQ(classesOf(chosen.trained),
            (std::map<std::int64_t, int>{{0, 5}, {1, 5}, {2, 5}, {3, 5}}));
  EXPECT_EQ(classesOf(chosen.tested),
            (std::map<std::int64_t, int>{{0, 3}, {1, 3}, {2, 3}, {3, 3}}));
  EXPECT_EQ(classesOf(chosen.probed),
            (std::map<std::int64_t, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
  EXPECT_TRUE(std::includes(chosen.tested.begin(), chosen.tested.end(), chosen.probed.begin(),
                            chosen.probed.end()));
}

TEST(Classification, TheSeedDrawsTheTrainingSamplesAndLeavesTestAndProbesToAllRuns) {
  const Chosen one = chosenOf("stratified", 1), again = chosenOf("stratified", 1),
               other = chosenOf("stratified", 2);
  EXPECT_EQ(one.trained, again.trained);
  EXPECT_NE(one.trained, other.trained);
  EXPECT_EQ(one.tested, other.tested);
  EXPECT_EQ(one.probed, other.probed);
}

TEST(Classification, TakesTheFirstSamplesWhenAskedWithAWarningAndInRunsFromBeforeTheChoice) {
  ::testing::internal::CaptureStderr();
  const Chosen chosen = chosenOf("first", 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              test::HasLine("warning: data.train_samples = 20 takes images of 1 of the 4 classes "
                            "only; data.subset = \"stratified\" takes all\n"));
  EXPECT_EQ(chosen.trained.back(), 19);
  EXPECT_EQ(chosen.tested.back(), 11);
  EXPECT_EQ(chosen.probed, (std::vector<std::int64_t>{0, 1, 2, 3}));
  const Chosen before = chosenOf(nullptr, 1);
  EXPECT_EQ(before.trained, chosen.trained);
  EXPECT_EQ(before.probed, chosen.probed);
}

TEST(Classification, LeavesTheConfusionMatrixOfManyClassesOut) {
  class ManyClasses final : public LabelledImages {
   public:
    ManyClasses() {
      info_.height = info_.width = 1;
      for (int c = 0; c < 1001; ++c) info_.classes.push_back(std::to_string(c));
      info_.mean = {0.0};
      info_.deviation = {1.0};
    }
    const DatasetInfo& info() const noexcept override { return info_; }
    std::int64_t size(Split split) const override { return split == Split::Test ? 3 : 0; }
    std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
      std::fill(image.begin(), image.end(), std::uint8_t{0});
      return id;
    }

   private:
    DatasetInfo info_;
  };
  const auto session = ClassificationTask().open(
      setupOf(std::make_shared<Brightness>(1001), std::make_shared<ManyClasses>()));
  const CollectedResults found = evaluated(*session, Split::Test);
  EXPECT_NEAR(asMap(found.scores).at("top1"), 1.0 / 3, 1e-12);
  ASSERT_EQ(found.artifacts.size(), 1u);
  EXPECT_EQ(found.artifacts[0].name, "classes");
}

TEST(Classification, ASetSmallerThanABatchStillTrains) {
  Json data = dataValues();
  data["train_samples"] = 3;
  const auto session = openSession(data);
  EXPECT_EQ(session->trainingStream(0)->next().size(), 3);
}

TEST(Classification, ChoosesTheBestCheckpointByTheTestSplitOnlyWhereThereIsNoOther) {
  const auto opened = [](std::int64_t validations, std::int64_t tests) {
    const auto images = std::make_shared<TenImages>();
    images->validations = validations;
    images->tests = tests;
    return ClassificationTask().open(setupOf(std::make_shared<Brightness>(), images));
  };
  const auto both = opened(5, 7), test = opened(0, 7), validation = opened(5, 0);
  EXPECT_EQ(splitsOf(*both), (std::vector<Split>{Split::Validation, Split::Test}));
  EXPECT_EQ(both->bestBy(), "validation/top1");
  EXPECT_EQ(splitsOf(*test), std::vector<Split>{Split::Test});
  EXPECT_EQ(test->bestBy(), "test/top1");
  EXPECT_EQ(splitsOf(*validation), std::vector<Split>{Split::Validation});
  EXPECT_EQ(validation->bestBy(), "validation/top1");
}

TEST(Classification, LearnsFromMixedLabelsWhereThereAreSome) {
  const Opened session = openSession();
  Batch batch;
  batch.fields["image"] = at::full({2, 1, 4, 4}, 3.0);
  batch.fields["label"] = at::tensor({1, 0}, at::kLong);
  StepContext context;
  const auto lossOf = [&] { return session->loss(context, batch)[0].sum.item<double>(); };
  const double hard = lossOf();
  batch.fields["soft_label"] = at::tensor({0.0, 1.0, 0.0, 1.0, 0.0, 0.0}).view({2, 3});
  EXPECT_NEAR(lossOf(), hard, 1e-6);
  batch.fields["soft_label"] = at::tensor({0.5, 0.5, 0.0, 0.5, 0.5, 0.0}).view({2, 3});
  // Logits (0, 3, 0): -log of the class with logit 0 is log(2 + e^3), of the other 3 less.
  EXPECT_NEAR(lossOf(), 2 * (std::log(2 + std::exp(3.0)) - 1.5), 1e-5);
}

TEST(Classification, ADryRunEvaluatesNoMoreImagesThanItIsTold) {
  const auto heard = [&](const Json& data) {
    const Opened session = openSession(data, [](TaskSetup& setup) { setup.evaluationLimit = 3; });
    CountingListener listener;
    (void)evaluated(*session.session, Split::Test, {&listener});
    return listener.ids.size();
  };
  EXPECT_EQ(heard(dataValues()), 3u);
  Json fewer = dataValues();
  fewer["test_samples"] = 2;
  EXPECT_EQ(heard(fewer), 2u);
}

TEST(Classification, AModelWithOtherClassesIsRefusedWithTheKeyToSet) {
  const Opened session = openSession(dataValues(), {}, std::make_shared<Brightness>(5));
  EXPECT_THAT([&] { (void)evaluated(*session.session, Split::Test); },
              test::Fails<ConfigError>("model.num_classes = 3"));
}

TEST(Classification, RefusesAModelThatClassifiesNothing) {
  class Blind final : public test::FakeModel<> {
   public:
  };
  EXPECT_EQ(test::refusal<ConfigError>([] {
              (void)ClassificationTask().open(
                  setupOf(std::make_shared<Blind>(), std::make_shared<TenImages>()));
            }),
            "classification needs a model that offers image_classifier; this one offers nothing");
}

TEST(Classification, LeavesTheGlobalGeneratorAlone) {
  const Opened session = openSession();
  at::manual_seed(5);
  const at::Tensor expected = at::rand({3});
  at::manual_seed(5);
  (void)evaluated(*session.session, Split::Test);
  (void)session->trainingStream(0)->next();
  EXPECT_TRUE(at::equal(at::rand({3}), expected));
}

}  // namespace
}  // namespace vitrine::classification

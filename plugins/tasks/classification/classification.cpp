#include "plugins/tasks/classification/classification.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/data/subset.h"
#include "core/eval/accuracy.h"
#include "core/eval/calibration.h"

namespace vitrine::classification {

namespace {

constexpr std::int64_t kCalibrationBins = 15;
constexpr std::int64_t kTopK = 5;
constexpr std::size_t kMostClassScores = 100;
constexpr int kPrefetch = 4;
constexpr std::int64_t kNoIgnoredLabel = -100;
/// Scores and maps of two runs compare only where they saw the same images.
constexpr std::uint64_t kSeedOfAllRuns = 0;

class Session final : public TaskSession {
 public:
  explicit Session(const TaskSetup& setup)
      : setup_(setup),
        dataset_(setup.dataset),
        classifier_(requireCapability<ImageClassifier>(*setup.model, "classification")),
        smoothing_(setup.task.real("label_smoothing")) {
    const DatasetInfo& info = dataset_->info();
    const Config& data = setup.data;
    classes_ = static_cast<std::int64_t>(info.classes.size());
    if (classes_ < 1)
      throw ConfigError("classification needs a data set with class names; this one has none");

    options_.workers = setup.loaderWorkers;
    options_.prefetch = kPrefetch;
    options_.seed = setup.seed;
    options_.height = setup.imageSize[0];
    options_.width = setup.imageSize[1];
    options_.augmentation.cropPadding = data.integer("augment.crop_padding");
    options_.augmentation.flip = data.real("augment.flip");
    const auto channels = static_cast<std::size_t>(info.channels);
    const std::string normalize = data.text("normalize");
    if (normalize == "dataset") {
      options_.augmentation.mean = info.mean;
      options_.augmentation.deviation = info.deviation;
    } else if (normalize == "half") {
      options_.augmentation.mean.assign(channels, 0.5);
      options_.augmentation.deviation.assign(channels, 0.5);
    }
    trainLimit_ = data.maybeInteger("train_samples").value_or(0);
    testLimit_ = data.maybeInteger("test_samples").value_or(0);
    // Runs from before there was a choice took the first samples, and do so when they are resumed.
    isStratified_ = data.has("subset") && data.text("subset") == "stratified";
  }

  Model& model() override { return *setup_.model; }
  const DatasetInfo& dataset() const noexcept override { return dataset_->info(); }
  std::string bestBy() const override {
    return dataset_->size(Split::Validation) > 0 ? "validation/top1" : "test/top1";
  }

  std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) override {
    LoaderOptions options = options_;
    options.batchSize = setup_.batchSize;
    options.shuffle = true;
    options.augment = true;
    options.samples = samplesOf(Split::Train);
    // Equal shapes in every step; a set smaller than one batch is its own batch.
    const std::int64_t size = options.samples ? static_cast<std::int64_t>(options.samples->size())
                                              : dataset_->size(Split::Train);
    options.dropLast = size >= options.batchSize;
    return makeLoader(dataset_, Split::Train, options, firstBatch);
  }

  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    const at::Tensor logits = logitsOf(batch.at("image"));
    return {{"", at::cross_entropy_loss(logits.to(at::kFloat), batch.at("label"), {},
                                        at::Reduction::Sum, kNoIgnoredLabel, smoothing_)}};
  }

  std::vector<Evaluation> evaluations() const override {
    std::vector<Evaluation> all;
    for (const Split split : {Split::Validation, Split::Test}) {
      if (dataset_->size(split) > 0) all.push_back({toString(split), split, {"logits"}});
    }
    return all;
  }

  Batch read(Split split, const std::vector<std::int64_t>& ids) override {
    return readBatch(*dataset_, split, ids, options_);
  }

  std::vector<std::int64_t> chooseSamples(Split split, std::int64_t count) override {
    return choose(split, count, kSeedOfAllRuns);
  }

  void evaluate(const EvaluationRequest& request, Results& results) override {
    const Split split = request.evaluation.split;
    LoaderOptions options = options_;
    options.batchSize = setup_.evaluationBatchSize;
    options.samples =
        setup_.evaluationLimit > 0 ? firstOf(split, setup_.evaluationLimit) : samplesOf(split);
    const std::unique_ptr<BatchStream> stream = makeLoader(dataset_, split, options);

    std::int64_t samples = 0, first = 0, firstFive = 0;
    double loss = 0;
    eval::ClassCounts counts(classes_);
    eval::Confidences confidences;
    for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i) {
      const Batch batch = stream->next();
      const at::Tensor images = batch.at("image").to(request.context.device);
      const at::Tensor logits = logitsOf(images).detach().to(at::kCPU, at::kFloat);
      const at::Tensor& labels = batch.at("label");
      samples += batch.size();
      loss += at::cross_entropy_loss(logits.to(at::kDouble), labels, {}, at::Reduction::Sum,
                                     kNoIgnoredLabel, 0.0)
                  .item<double>();
      first += eval::topKCorrect(logits, labels, 1);
      firstFive += eval::topKCorrect(logits, labels, kTopK);
      counts.add(logits, labels);
      confidences.append(eval::confidencesOf(logits, labels));
      const std::map<std::string, at::Tensor> outputs{{"logits", logits}};
      for (EvaluationListener* listener : request.listeners) listener->batch({batch, outputs});
    }

    const double count = static_cast<double>(samples);
    results.score("top1", static_cast<double>(first) / count);
    results.score("top5", static_cast<double>(firstFive) / count);
    results.score("loss", loss / count);
    results.score("ece", eval::calibrationError(
                             eval::reliabilityBins(confidences, kCalibrationBins), samples));
    addClasses(counts, split, results);
    for (EvaluationListener* listener : request.listeners) listener->finish(results);
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> choose(Split split, std::int64_t count,
                                                 std::uint64_t seed) const {
    if (isStratified_) return stratifiedSubset(*dataset_, split, count, seed);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(std::min(count, dataset_->size(split))));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }

  /// The samples of a split that are used; null: all.
  std::shared_ptr<const std::vector<std::int64_t>> samplesOf(Split split) {
    const std::int64_t limit = split == Split::Train  ? trainLimit_
                               : split == Split::Test ? testLimit_
                                                      : 0;
    if (limit == 0 || limit >= dataset_->size(split)) return nullptr;
    auto& samples = samples_[static_cast<std::size_t>(split)];
    if (!samples) {
      samples = std::make_shared<const std::vector<std::int64_t>>(
          choose(split, limit, split == Split::Train ? setup_.seed : kSeedOfAllRuns));
      warnOfMissingClasses(split, *samples);
    }
    return samples;
  }

  /// The first `limit` of those, for a step that is only tried.
  std::shared_ptr<const std::vector<std::int64_t>> firstOf(Split split, std::int64_t limit) {
    const auto all = samplesOf(split);
    const std::int64_t size = all ? std::ssize(*all) : dataset_->size(split);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(std::min(limit, size)));
    std::iota(ids.begin(), ids.end(), 0);
    if (all) std::copy_n(all->begin(), ids.size(), ids.begin());
    return std::make_shared<const std::vector<std::int64_t>>(std::move(ids));
  }

  /// `first` of a folder takes whole classes; fewer samples than classes leave some out, too.
  void warnOfMissingClasses(Split split, const std::vector<std::int64_t>& samples) const {
    std::set<std::int64_t> labels;
    for (const std::int64_t id : samples) labels.insert(dataset_->label(split, id));
    const auto there = std::ssize(labels);
    // Those that a stratified draw of so many leaves out have no images in this split.
    if (there >= classes_ || (isStratified_ && std::ssize(samples) >= classes_)) return;
    log::warning("data." + toString(split) + "_samples = " + formatCount(std::ssize(samples)) +
                 " takes images of " + formatCount(there) + " of the " + formatCount(classes_) +
                 " classes only" +
                 (isStratified_ ? "; take more" : "; data.subset = \"stratified\" takes all"));
  }

  at::Tensor logitsOf(const at::Tensor& images) const {
    at::Tensor logits = classifier_.classify(images);
    if (logits.dim() != 2 || logits.size(1) != classes_) {
      throw ConfigError("the model has " + std::to_string(logits.size(-1)) + " classes, the data " +
                        std::to_string(classes_) +
                        "; set model.num_classes = " + std::to_string(classes_));
    }
    return logits;
  }

  Artifact confusionOf(const eval::ClassCounts& counts, Split split) const {
    const std::vector<std::string>& names = dataset_->info().classes;
    Artifact matrix;
    matrix.analysis = "classification";
    matrix.name = "confusion";
    matrix.kind = artifact_kind::kMatrix;
    const std::vector<float> values(counts.matrix().begin(), counts.matrix().end());
    setFloat32(matrix, values, {classes_, classes_}, {"label", "prediction"});
    matrix.meta["rows"] = names;
    matrix.meta["columns"] = names;
    matrix.meta["row_title"] = "label";
    matrix.meta["column_title"] = "prediction";
    matrix.meta["unit"] = "images";
    matrix.meta["split"] = toString(split);
    return matrix;
  }

  void addClasses(const eval::ClassCounts& counts, Split split, Results& results) const {
    const std::vector<std::string>& names = dataset_->info().classes;
    const std::vector<double> accuracy = counts.accuracy();
    const std::vector<std::int64_t>& samples = counts.samples();
    if (!counts.matrix().empty()) results.artifact(confusionOf(counts, split));

    Artifact table;
    table.analysis = "classification";
    table.name = "classes";
    table.kind = artifact_kind::kTable;
    Json rows = Json::array();
    for (std::size_t c = 0; c < names.size(); ++c) {
      // A class without samples has no accuracy, neither as a score nor in the table.
      const bool isSeen = samples[c] > 0;
      rows.push_back({names[c], samples[c], isSeen ? Json(accuracy[c]) : Json()});
      if (isSeen && names.size() <= kMostClassScores)
        results.score("class_accuracy/" + names[c], accuracy[c]);
    }
    setJson(table, {{"columns", {"class", "images", "accuracy"}}, {"rows", std::move(rows)}});
    table.meta["split"] = toString(split);
    results.artifact(std::move(table));
  }

  TaskSetup setup_;
  std::shared_ptr<const Dataset> dataset_;
  ImageClassifier& classifier_;
  double smoothing_;
  std::int64_t classes_ = 0;
  LoaderOptions options_;  // what training and evaluation share
  std::int64_t trainLimit_ = 0, testLimit_ = 0;
  bool isStratified_ = true;
  std::array<std::shared_ptr<const std::vector<std::int64_t>>, 3> samples_;  ///< by Split
};

}  // namespace

ItemCard ClassificationTask::card() const {
  ItemCard card;
  card.kind = ItemKind::Task;
  card.id = "classification";
  card.title = "Image classification";
  card.doc = "One label per image, learned with cross-entropy";
  card.needs = {ImageClassifier::kId};
  card.offers = {"logits"};
  card.metrics = {{"top1", "ece", "top5"}, {"train/loss", "test/top1"}, "images"};
  card.schema.fields = {
      realField("label_smoothing", 0.0, "share of the target spread evenly over all classes")
          .titled("Label smoothing")
          .atLeast(0)
          .lessThan(1)
          .runOnly()};
  return card;
}

std::unique_ptr<TaskSession> ClassificationTask::open(const TaskSetup& setup) const {
  return std::make_unique<Session>(setup);
}

}  // namespace vitrine::classification

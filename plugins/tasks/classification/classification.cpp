#include "plugins/tasks/classification/classification.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/eval/accuracy.h"
#include "core/eval/calibration.h"

namespace vitrine::classification {

namespace {

constexpr std::int64_t kCalibrationBins = 15;
constexpr std::int64_t kTopK = 5;
constexpr std::size_t kMostClassScores = 100;
constexpr int kPrefetch = 4;
constexpr std::int64_t kNoIgnoredLabel = -100;

ImageClassifier& classifierOf(Model& model) {
  if (auto* classifier = capabilityOf<ImageClassifier>(model)) return *classifier;
  throw ConfigError(
      "classification needs a model that offers image_classifier, which this one does not");
}

at::Device deviceOf(Model& model) {
  const std::vector<at::Tensor> parameters = model.module().parameters();
  return parameters.empty() ? at::Device(at::kCPU) : parameters.front().device();
}

class Session final : public TaskSession {
 public:
  Session(const Config& task, const Config& data, std::shared_ptr<const Dataset> dataset,
          const TaskContext& context)
      : dataset_(std::move(dataset)), context_(context), smoothing_(task.real("label_smoothing")) {
    const DatasetInfo& info = dataset_->info();
    io_.channels = info.channels;
    io_.height = context.imageSize[0] > 0 ? context.imageSize[0] : info.height;
    io_.width = context.imageSize[1] > 0 ? context.imageSize[1] : info.width;
    io_.classes = static_cast<std::int64_t>(info.classes.size());
    if (io_.classes < 1)
      throw ConfigError("classification needs a data set with class names; this one has none");

    options_.workers = context.loaderWorkers;
    options_.prefetch = kPrefetch;
    options_.seed = context.seed;
    options_.height = io_.height;
    options_.width = io_.width;
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
  }

  const IoSpec& io() const noexcept override { return io_; }
  const DatasetInfo& dataset() const noexcept override { return dataset_->info(); }
  std::string bestBy() const override {
    return dataset_->size(Split::Test) > 0 ? "test/top1" : "validation/top1";
  }

  std::unique_ptr<BatchStream> trainingStream(std::int64_t firstBatch) override {
    LoaderOptions options = options_;
    options.batchSize = context_.batchSize;
    options.shuffle = true;
    options.augment = true;
    options.limit = trainLimit_;
    // Equal shapes in every step; a set smaller than one batch is its own batch.
    const std::int64_t size = dataset_->size(Split::Train);
    options.dropLast = (trainLimit_ > 0 ? std::min(trainLimit_, size) : size) >= options.batchSize;
    return makeLoader(dataset_, Split::Train, options, firstBatch);
  }

  Loss loss(Model& model, const Batch& batch) override {
    const at::Tensor logits = logitsOf(model, batch.at("image"));
    return {at::cross_entropy_loss(logits.to(at::kFloat), batch.at("label"), {},
                                   at::Reduction::Mean, kNoIgnoredLabel, smoothing_),
            {}};
  }

  std::vector<Split> evaluationSplits() const override {
    std::vector<Split> splits;
    for (const Split split : {Split::Validation, Split::Test}) {
      if (dataset_->size(split) > 0) splits.push_back(split);
    }
    return splits;
  }

  Batch probeBatch(std::int64_t images) override {
    const Split split = dataset_->size(Split::Test) > 0 ? Split::Test : Split::Validation;
    std::vector<std::int64_t> ids(
        static_cast<std::size_t>(std::min(images, dataset_->size(split))));
    std::iota(ids.begin(), ids.end(), 0);
    return readBatch(*dataset_, split, ids, options_);
  }

  Scores evaluate(Model& model, Split split, const std::vector<EvaluationListener*>& listeners,
                  std::vector<Artifact>& artifacts) override {
    const at::NoGradGuard noGradient;
    const at::Device device = deviceOf(model);
    LoaderOptions options = options_;
    options.batchSize = context_.evaluationBatchSize;
    options.limit = split == Split::Train ? trainLimit_ : split == Split::Test ? testLimit_ : 0;
    const std::unique_ptr<BatchStream> stream = makeLoader(dataset_, split, options);

    std::int64_t samples = 0, first = 0, firstFive = 0;
    double loss = 0;
    at::Tensor confusion = at::zeros({io_.classes, io_.classes}, at::kLong);
    eval::Confidences confidences;
    for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i) {
      const Batch batch = stream->next();
      const at::Tensor logits =
          logitsOf(model, batch.at("image").to(device)).detach().to(at::kCPU, at::kFloat);
      const at::Tensor& labels = batch.at("label");
      samples += batch.size();
      loss += at::cross_entropy_loss(logits.to(at::kDouble), labels, {}, at::Reduction::Sum,
                                     kNoIgnoredLabel, 0.0)
                  .item<double>();
      first += eval::topKCorrect(logits, labels, 1);
      firstFive += eval::topKCorrect(logits, labels, kTopK);
      eval::addToConfusion(confusion, logits, labels);
      confidences.append(eval::confidencesOf(logits, labels));
      for (EvaluationListener* listener : listeners)
        listener->batch(batch.sampleIds, logits, labels);
    }

    const double count = static_cast<double>(samples);
    Scores scores{{"top1", static_cast<double>(first) / count},
                  {"top5", static_cast<double>(firstFive) / count},
                  {"loss", loss / count},
                  {"ece", eval::calibrationError(
                              eval::reliabilityBins(confidences, kCalibrationBins), samples)}};
    addClasses(confusion, split, scores, artifacts);
    for (EvaluationListener* listener : listeners) {
      for (Artifact& artifact : listener->finish(scores)) artifacts.push_back(std::move(artifact));
    }
    return scores;
  }

 private:
  at::Tensor logitsOf(Model& model, const at::Tensor& images) const {
    at::Tensor logits = classifierOf(model).classify(images);
    if (logits.dim() != 2 || logits.size(1) != io_.classes) {
      throw ConfigError("the model has " + std::to_string(logits.size(-1)) + " classes, the data " +
                        std::to_string(io_.classes) +
                        "; set model.num_classes = " + std::to_string(io_.classes));
    }
    return logits;
  }

  void addClasses(const at::Tensor& confusion, Split split, Scores& scores,
                  std::vector<Artifact>& artifacts) const {
    const std::vector<std::string>& names = dataset_->info().classes;
    const std::vector<double> accuracy = eval::classAccuracy(confusion);
    const at::Tensor perClass = confusion.sum(1).contiguous();
    const auto* samples = perClass.const_data_ptr<std::int64_t>();

    Artifact matrix;
    matrix.analysis = "classification";
    matrix.name = "confusion";
    matrix.kind = artifact_kind::kMatrix;
    const at::Tensor counts = confusion.to(at::kFloat).contiguous();
    setFloat32(matrix, {counts.const_data_ptr<float>(), static_cast<std::size_t>(counts.numel())},
               {io_.classes, io_.classes}, {"label", "prediction"});
    matrix.meta["rows"] = names;
    matrix.meta["columns"] = names;
    matrix.meta["row_title"] = "label";
    matrix.meta["column_title"] = "prediction";
    matrix.meta["unit"] = "images";
    matrix.meta["split"] = toString(split);
    artifacts.push_back(std::move(matrix));

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
        scores.emplace_back("class_accuracy/" + names[c], accuracy[c]);
    }
    setJson(table, {{"columns", {"class", "images", "accuracy"}}, {"rows", std::move(rows)}});
    table.meta["split"] = toString(split);
    artifacts.push_back(std::move(table));
  }

  std::shared_ptr<const Dataset> dataset_;
  TaskContext context_;
  double smoothing_;
  IoSpec io_;
  LoaderOptions options_;  // what training and evaluation share
  std::int64_t trainLimit_ = 0, testLimit_ = 0;
};

}  // namespace

ItemCard ClassificationTask::card() const {
  ItemCard card;
  card.kind = ItemKind::Task;
  card.id = "classification";
  card.title = "Image classification";
  card.doc = "One label per image, learned with cross-entropy";
  card.needs = {capability::kImageClassifier};
  card.schema.fields = {
      realField("label_smoothing", 0.0, "share of the target spread evenly over all classes")
          .atLeast(0)
          .lessThan(1)
          .runOnly()};
  return card;
}

std::unique_ptr<TaskSession> ClassificationTask::open(const Config& task, const Config& data,
                                                      std::shared_ptr<const Dataset> dataset,
                                                      const TaskContext& context) const {
  return std::make_unique<Session>(task, data, std::move(dataset), context);
}

}  // namespace vitrine::classification

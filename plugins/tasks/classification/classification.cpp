#include "plugins/tasks/classification/classification.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <torch/nn/module.h>

#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/eval/accuracy.h"
#include "core/eval/calibration.h"
#include "core/plugin/pipeline_session.h"

namespace vitrine::classification {

namespace {

constexpr std::int64_t kCalibrationBins = 15;
constexpr std::int64_t kTopK = 5;
constexpr std::size_t kMostClassScores = 100;
constexpr std::int64_t kNoIgnoredLabel = -100;

class Session final : public PipelineSession {
 public:
  explicit Session(const TaskSetup& setup)
      : PipelineSession(setup),
        classifier_(requireCapability<ImageClassifier>(*setup.model, "classification")),
        smoothing_(setup.task.real("label_smoothing")) {
    const SampleField& image = pipeline_->field("image");
    if (image.type != at::kFloat || image.isRagged()) {
      throw ConfigError(
          "classification needs images of one size as floats; end data.pipeline with resize or "
          "center_crop and normalize");
    }
    (void)pipeline_->field("label");
    classes_ = static_cast<std::int64_t>(pipeline_->info().classes.size());
    if (classes_ < 1)
      throw ConfigError("classification needs a data set with class names; this one has none");
  }

  std::string bestBy() const override { return bestBySplit("top1"); }

  std::vector<LossPart> loss(StepContext&, const Batch& batch) override {
    const at::Tensor logits = logitsOf(batch.at("image"));
    // Mixed images have a distribution over the classes instead of one of them.
    const auto soft = batch.fields.find("soft_label");
    const at::Tensor& target = soft == batch.fields.end() ? batch.at("label") : soft->second;
    return {{"", at::cross_entropy_loss(logits.to(at::kFloat), target, {}, at::Reduction::Sum,
                                        kNoIgnoredLabel, smoothing_)}};
  }

  std::vector<Evaluation> evaluations() const override { return splitEvaluations({"logits"}); }

  void evaluate(const EvaluationRequest& request, Results& results) override {
    const Split split = request.evaluation.split;
    const std::unique_ptr<BatchStream> stream = evaluationStream(split);

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
    const std::vector<std::string>& names = pipeline_->info().classes;
    Artifact matrix{"classification", "confusion", artifact_kind::kMatrix};
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
    const std::vector<std::string>& names = pipeline_->info().classes;
    const std::vector<double> accuracy = counts.accuracy();
    const std::vector<std::int64_t>& samples = counts.samples();
    if (!counts.matrix().empty()) results.artifact(confusionOf(counts, split));

    Artifact table{"classification", "classes", artifact_kind::kTable};
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

  ImageClassifier& classifier_;
  double smoothing_;
  std::int64_t classes_ = 0;
};

}  // namespace

ItemCard ClassificationTask::card() const {
  ItemCard card = itemCard(ItemKind::Task, "classification", "Image classification",
                           "One label per image, learned with cross-entropy");
  card.needs = {ImageClassifier::kId, "image", "label"};
  card.offers = {"logits"};
  card.metrics = {{"top1", "ece", "top5"},
                  {"train/loss", "test/top1"},
                  "images",
                  {{"*/class_accuracy/*", "class accuracy", "fraction", "higher",
                    "top-1 accuracy of the samples of one class"},
                   {"analysis/*/fall/*", "fall of the accuracy", "points", "lower",
                    "accuracy in the setting of training minus that in another one"}}};
  card.schema.fields = runOnly(
      {realField("label_smoothing", 0.0, "share of the target spread evenly over all classes")
           .titled("Label smoothing")
           .atLeast(0)
           .lessThan(1)});
  return card;
}

std::vector<std::string> ClassificationTask::scores() const {
  return {"top1", "top5", "loss", "ece"};
}

std::unique_ptr<TaskSession> ClassificationTask::open(const TaskSetup& setup) const {
  return std::make_unique<Session>(setup);
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<ClassificationTask>());
}

}  // namespace vitrine::classification

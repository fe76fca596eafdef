#include "core/eval/calibration.h"

#include <utility>

#include "core/config/item_card.h"
#include "plugins/analyses/analyses.h"
#include "plugins/analyses/predictions.h"

namespace vitrine::analyses {

namespace {

class Listener final : public EvaluationListener {
 public:
  Listener(const Config& config, std::vector<std::string> classes)
      : bins_(config.integer("bins")),
        binning_(config.text("binning")),
        classes_(std::move(classes)),
        mebibytes_(config.integer("predictions")),
        predictions_(mebibytes_ * kMebibyte) {}

  void batch(const EvaluationBatch& batch) override {
    const at::Tensor& logits = batch.output("logits");
    const at::Tensor& labels = batch.batch.at("label");
    confidences_.append(eval::confidencesOf(logits, labels));
    if (mebibytes_ > 0) predictions_.append(batch.batch.sampleIds, logits, labels);
  }

  void finish(Results& results) override {
    const auto samples = static_cast<std::int64_t>(confidences_.confidence.size());
    const std::vector<eval::ReliabilityBin> bins = eval::reliabilityBins(
        confidences_, bins_,
        binning_ == "equal_mass" ? eval::Binning::EqualMass : eval::Binning::EqualWidth);
    const double error = eval::calibrationError(bins, samples);
    std::vector<double> values, gaps;
    for (const eval::ReliabilityBin& bin : bins) {
      values.insert(values.end(), {bin.lower, bin.upper, static_cast<double>(bin.count),
                                   bin.confidence, bin.accuracy});
      gaps.push_back(bin.gapMidpoint());
    }
    Artifact artifact{"calibration", "reliability", artifact_kind::kReliability};
    setFloat64(artifact, values, {bins_, 5}, {"bin", "lower, upper, count, confidence, accuracy"});
    artifact.meta["binning"] = binning_;
    artifact.meta["ece"] = error;
    artifact.meta["samples"] = samples;
    artifact.meta["gap_midpoint"] = gaps;
    results.score("ece", error);
    if (mebibytes_ > 0 && samples > 0 && predictions_.isLeftOut())
      artifact.meta["predictions"] = "left out: larger than " + std::to_string(mebibytes_) + " MiB";
    results.artifact(std::move(artifact));
    if (!predictions_.isLeftOut()) results.artifact(predictions_.artifact(classes_));
  }

 private:
  static constexpr std::int64_t kMebibyte = 1 << 20;

  std::int64_t bins_;
  std::string binning_;
  std::vector<std::string> classes_;
  std::int64_t mebibytes_;
  eval::Confidences confidences_;
  PredictionRows predictions_;
};

class Calibration final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Analysis, "calibration", "Calibration");
    card.paper = "Guo et al. 2017, arXiv:1706.04599";
    card.doc =
        "Whether the model is as sure as it is right: reliability bins and expected calibration "
        "error";
    card.needs = {"image_classifier"};
    card.schema.fields = runOnly(
        {integerField("bins", 15, "bins of the confidence")
             .titled("Bins")
             .range(1, 1000)
             .withUnit("bins"),
         choiceField("binning", "equal_width", {"equal_width", "equal_mass"}, "edges of the bins")
             .titled("Bin edges")
             .withChoiceDocs({"every bin covers the same range of confidence",
                              "every bin holds the same number of images"}),
         integerField("predictions", 64,
                      "largest size of the stored answers of one evaluation; where "
                      "the logits of all classes are larger, only the top classes "
                      "are stored; 0 stores none")
             .titled("Stored answers")
             .range(0, 900)
             .withUnit("MiB")});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Listener; }
  std::vector<std::string> outputs() const override { return {"logits"}; }

  std::unique_ptr<EvaluationListener> listen(const Config& config,
                                             const DatasetInfo& dataset) const override {
    return std::make_unique<Listener>(config, dataset.classes);
  }
};

}  // namespace

std::unique_ptr<Analysis> makeCalibration() { return std::make_unique<Calibration>(); }

}  // namespace vitrine::analyses

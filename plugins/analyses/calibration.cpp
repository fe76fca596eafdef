#include "plugins/analyses/calibration.h"

#include <utility>

#include "core/eval/calibration.h"

namespace vitrine::analyses {

namespace {

class Listener final : public EvaluationListener {
 public:
  Listener(std::int64_t bins, std::string binning) : bins_(bins), binning_(std::move(binning)) {}

  void batch(const EvaluationBatch& batch) override {
    confidences_.append(eval::confidencesOf(batch.output("logits"), batch.batch.at("label")));
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
    Artifact artifact;
    artifact.analysis = "calibration";
    artifact.name = "reliability";
    artifact.kind = artifact_kind::kReliability;
    setFloat64(artifact, values, {bins_, 5}, {"bin", "lower, upper, count, confidence, accuracy"});
    artifact.meta["binning"] = binning_;
    artifact.meta["ece"] = error;
    artifact.meta["samples"] = samples;
    artifact.meta["gap_midpoint"] = gaps;
    results.score("ece", error);
    results.artifact(std::move(artifact));
  }

 private:
  std::int64_t bins_;
  std::string binning_;
  eval::Confidences confidences_;
};

}  // namespace

ItemCard Calibration::card() const {
  ItemCard card;
  card.kind = ItemKind::Analysis;
  card.id = "calibration";
  card.title = "Calibration";
  card.paper = "Guo et al. 2017, arXiv:1706.04599";
  card.doc =
      "Whether the model is as sure as it is right: reliability bins and expected calibration "
      "error";
  card.needs = {"image_classifier"};
  card.schema.fields = {integerField("bins", 15, "bins of the confidence")
                            .titled("Bins")
                            .range(1, 1000)
                            .withUnit("bins")
                            .runOnly(),
                        choiceField("binning", "equal_width", {"equal_width", "equal_mass"},
                                    "where the edges of the bins lie")
                            .titled("Bin edges")
                            .withChoiceDocs({"every bin covers the same range of confidence",
                                             "every bin holds the same number of images"})
                            .runOnly()};
  return card;
}

std::unique_ptr<EvaluationListener> Calibration::listen(const Config& config,
                                                        const DatasetInfo&) const {
  return std::make_unique<Listener>(config.integer("bins"), config.text("binning"));
}

}  // namespace vitrine::analyses

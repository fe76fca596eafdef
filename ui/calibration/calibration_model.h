// Calibration of a classifier from its stored answers: bins, scores, and the temperature that fits
// them best. No widgets.
//
// Bins are those of core/base/reliability.h. Classwise ECE is the mean over classes of the ECE of
// each class's probability (Nixon et al. 2019, arXiv:1904.01685).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/reliability.h"

namespace vitrine::ui {

/// Answers of one evaluation, from an artifact `predictions`.
struct Predictions {
  enum class Form {
    Logits,  ///< of all classes
    Top,     ///< of the largest ones, and sums over all
  };
  Form form = Form::Logits;
  std::string split;
  int classes = 0;
  std::vector<std::string> classNames;  ///< empty: there are none
  std::vector<std::int64_t> ids;        ///< of the samples; -1: not known
  std::vector<int> labels;
  int width = 0;                            ///< columns of `values`
  std::vector<float> values;                ///< [samples, width], without ids and labels
  std::vector<double> inverseTemperatures;  ///< of Form::Top, ascending
  int top = 0;                              ///< classes of Form::Top

  [[nodiscard]] std::size_t samples() const { return ids.size(); }
  [[nodiscard]] std::string nameOf(int label) const;
};

/// \throws FileError  `meta` and `data` do not fit: names the error
[[nodiscard]] Predictions readPredictions(const Json& meta, std::span<const std::byte> data);

inline constexpr double kLeastTemperature = 0.2, kMostTemperature = 5;

struct Binning {
  enum class Edges { EqualWidth, EqualMass };
  static constexpr int kTopClass = -1;
  static constexpr int kMostBins = 100;
  Edges edges = Edges::EqualWidth;
  int bins = 15;  ///< those of the metric "ece", whose value the page then shows
  /// The class whose probability is binned; kTopClass: the largest probability of each sample.
  int target = kTopClass;
  [[nodiscard]] bool operator==(const Binning&) const = default;
};

struct CalibrationScores {
  std::int64_t samples = 0;
  double ece = 0;
  double mce = 0;        ///< largest gap of a bin
  double classwise = 0;  ///< NaN where the stored answers do not have all classes
  double brier = 0;      ///< mean of the sums over classes, 0 to 2
  double nll = 0;        ///< nats
  double accuracy = 0;
};

/// The binned quantity, sample by sample.
struct Confidence {
  std::vector<double> values;
  std::vector<int> predicted;
  /// The prediction is right; with a target class: the sample is of that class.
  std::vector<std::uint8_t> isHit;
};

struct CalibrationResult {
  double temperature = 1;
  Confidence confidence;
  std::vector<ReliabilityBin> bins;
  std::vector<int> binOf;  ///< of each sample; -1: none
  CalibrationScores scores;
};

/// \param temperature  logits are divided by it, kLeastTemperature to kMostTemperature
[[nodiscard]] CalibrationResult calibrationOf(const Predictions& predictions, double temperature,
                                              const Binning& binning);
/// Confidences alone. \param target  as Binning::target
[[nodiscard]] Confidence confidenceAt(const Predictions& predictions, double temperature,
                                      int target = Binning::kTopClass);
/// Probabilities of one class cannot be had from Form::Top.
[[nodiscard]] bool canBinClasses(const Predictions& predictions);

/// Bins alone. \param binOf  receives the bin of each sample, unless it is nullptr
[[nodiscard]] std::vector<ReliabilityBin> binsOf(const Confidence& confidence,
                                                 const Binning& binning,
                                                 std::vector<int>* binOf = nullptr);

/// Mean negative log-likelihood of the labels.
[[nodiscard]] double nllOf(const Predictions& predictions, double temperature);
/// ECE at each temperature; shorter where `isStale` became true.
[[nodiscard]] std::vector<double> eceOver(const Predictions& predictions, const Binning& binning,
                                          const std::vector<double>& temperatures,
                                          const std::atomic<bool>& isStale);
/// Equal steps of the logarithm over the whole range, both ends and 1 included.
[[nodiscard]] std::vector<double> temperatureGrid();

struct FittedTemperature {
  double temperature = 1;
  double nll = 0;
  bool isAtEdge = false;  ///< the optimum lies beyond the range
};
/// The temperature with the least NLL: golden-section search over its logarithm, in which the NLL
/// has one minimum.
[[nodiscard]] FittedTemperature fitTemperature(const Predictions& predictions);

struct ClassShare {
  int label = 0;
  double probability = 0;
};
/// The most probable classes of a sample, and its own when it is not among them and known.
[[nodiscard]] std::vector<ClassShare> sharesOf(const Predictions& predictions, std::size_t sample,
                                               double temperature, int most);

/// The classes with the most errors, as label or as prediction, in their order. All where they are
/// at most `most`.
[[nodiscard]] std::vector<int> mostConfused(const Predictions& predictions,
                                            const Confidence& confidence, int most);
/// [classes, classes]: rows are labels, columns predictions. \param classes  that are counted
[[nodiscard]] std::vector<std::int64_t> confusionOf(const Predictions& predictions,
                                                    const Confidence& confidence,
                                                    const std::vector<int>& classes);

/// Samples, errors first, the most confident first.
[[nodiscard]] std::vector<std::size_t> samplesIn(
    const CalibrationResult& result, const std::function<bool(std::size_t sample)>& isChosen);

}  // namespace vitrine::ui

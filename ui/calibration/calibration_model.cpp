#include "ui/calibration/calibration_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/artifact/artifact.h"
#include "core/artifact/predictions.h"
#include "core/base/error.h"
#include "core/base/statistics.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr std::int64_t kMostClasses = 1'000'000;
/// Beyond this many probabilities the mean over classes takes longer than a slider may wait.
constexpr std::size_t kMostClasswise = 4'000'000;

std::int64_t integerAt(const Json& meta, const char* key, std::int64_t least, std::int64_t most) {
  const auto value = stateInteger(meta, key);
  if (!value) throw FileError(std::string("answers need the integer meta.") + key);
  if (*value < least || *value > most) {
    throw FileError(std::string("meta.") + key + " is " + std::to_string(*value) +
                    "; it has to be " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

/// Log of the sum of exp(b (z - largest z)) of one sample of Form::Top, between the stored
/// temperatures by a cubic through four of them.
double logSumAt(const Predictions& predictions, const float* row, double inverse) {
  const std::vector<double>& grid = predictions.inverseTemperatures;
  const auto last = static_cast<std::ptrdiff_t>(grid.size()) - 1;
  const auto after = std::upper_bound(grid.begin(), grid.end(), inverse) - grid.begin();
  const std::ptrdiff_t at =
      std::clamp<std::ptrdiff_t>(after - 1, 0, std::max<std::ptrdiff_t>(0, last - 1));
  const auto value = [&](std::ptrdiff_t i) {
    return static_cast<double>(row[1 + std::clamp<std::ptrdiff_t>(i, 0, last)]);
  };
  if (last == 0) return value(0);
  const double low = std::log(grid[static_cast<std::size_t>(at)]);
  const double high = std::log(grid[static_cast<std::size_t>(at + 1)]);
  const double t = std::clamp((std::log(inverse) - low) / (high - low), 0.0, 1.0);
  const double a = value(at), b = value(at + 1);
  const double slopeA = at > 0 ? (b - value(at - 1)) / 2 : b - a;
  const double slopeB = at + 1 < last ? (value(at + 2) - a) / 2 : b - a;
  const double t2 = t * t, t3 = t2 * t;
  return (2 * t3 - 3 * t2 + 1) * a + (t3 - 2 * t2 + t) * slopeA + (3 * t2 - 2 * t3) * b +
         (t3 - t2) * slopeB;
}

/// Values of one sample at one temperature.
struct SampleAnswer {
  int predicted = 0;
  double confidence = 0, logLikelihood = 0, squares = 0, ofLabel = 0;
};

const float* answersRow(const Predictions& predictions, std::size_t sample) {
  return predictions.values.data() + sample * static_cast<std::size_t>(predictions.width);
}

/// \param shares  receives the probabilities of all classes, of Form::Logits; may be nullptr
SampleAnswer answerOf(const Predictions& predictions, std::size_t sample, double temperature,
                      std::vector<double>* shares) {
  const float* row = answersRow(predictions, sample);
  const double inverse = 1 / temperature;
  SampleAnswer answer;
  const int label = predictions.labels[sample];
  if (predictions.form == Predictions::Form::Top) {
    const std::size_t grid = predictions.inverseTemperatures.size();
    const double largest = row[1 + grid + static_cast<std::size_t>(predictions.top)];
    const double sum = logSumAt(predictions, row, inverse);
    answer.predicted = static_cast<int>(row[1 + grid]);
    answer.confidence = std::exp(-sum);
    answer.logLikelihood = inverse * (static_cast<double>(row[0]) - largest) - sum;
    answer.ofLabel = std::exp(answer.logLikelihood);
    answer.squares = std::exp(logSumAt(predictions, row, 2 * inverse) - 2 * sum);
    return answer;
  }
  const auto classes = static_cast<std::size_t>(predictions.classes);
  const float* top = std::max_element(row, row + classes);
  answer.predicted = static_cast<int>(top - row);
  const double largest = *top;
  double sum = 0, squares = 0;
  if (shares != nullptr) shares->resize(classes);
  for (std::size_t k = 0; k < classes; ++k) {
    const double one = std::exp((static_cast<double>(row[k]) - largest) * inverse);
    sum += one;
    squares += one * one;
    if (shares != nullptr) (*shares)[k] = one;
  }
  if (shares != nullptr)
    for (double& share : *shares) share /= sum;
  answer.confidence = 1 / sum;
  answer.squares = squares / (sum * sum);
  answer.logLikelihood = (static_cast<double>(row[label]) - largest) * inverse - std::log(sum);
  answer.ofLabel = std::exp(answer.logLikelihood);
  return answer;
}

/// \param shares  [samples, classes]
double classwiseError(const Predictions& predictions, const std::vector<double>& shares,
                      const Binning& binning) {
  const auto classes = static_cast<std::size_t>(predictions.classes);
  const std::size_t samples = predictions.samples();
  double sum = 0;
  Confidence one;
  one.values.resize(samples);
  one.isHit.resize(samples);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t i = 0; i < samples; ++i) {
      one.values[i] = shares[i * classes + k];
      one.isHit[i] = predictions.labels[i] == static_cast<int>(k) ? 1 : 0;
    }
    sum += calibrationError(binsOf(one, binning), samples);
  }
  return sum / static_cast<double>(classes);
}

}  // namespace

std::string Predictions::nameOf(int label) const {
  const auto at = static_cast<std::size_t>(label);
  return label >= 0 && at < classNames.size() ? classNames[at] : std::to_string(label);
}

Predictions readPredictions(const Json& meta, std::span<const std::byte> data) {
  const ArrayView view = arrayOf(meta, data);
  if (view.shape.size() != 2 || view.shape[1] < 3)
    throw FileError("answers need the shape [samples, columns]");
  Predictions out;
  out.classes = static_cast<int>(integerAt(meta, "classes", 1, kMostClasses));
  out.split = stateText(meta, "split");
  const std::string form = stateText(meta, "form");
  if (form != predictions_form::kLogits && form != predictions_form::kTop) {
    throw FileError("answers of the form '" + form + "' cannot be read; there are '" +
                    predictions_form::kLogits + "' and '" + predictions_form::kTop + "'");
  }
  std::int64_t width = out.classes;
  if (form == predictions_form::kTop) {
    out.form = Predictions::Form::Top;
    out.top = static_cast<int>(integerAt(meta, "top", 1, out.classes));
    const Json& grid = stateList(meta, "inverse_temperatures");
    if (grid.empty())
      throw FileError("answers of the form 'top' need the list meta.inverse_temperatures");
    for (const Json& one : grid) {
      const double before = out.inverseTemperatures.empty() ? 0 : out.inverseTemperatures.back();
      if (!one.is_number() || !(one.get<double>() > before))
        throw FileError("meta.inverse_temperatures has to ascend from above 0");
      out.inverseTemperatures.push_back(one.get<double>());
    }
    width = 1 + std::ssize(out.inverseTemperatures) + 2 * std::int64_t{out.top};
  }
  if (view.shape[1] != width + 2) {
    throw FileError("answers of " + std::to_string(out.classes) + " classes need " +
                    std::to_string(width + 2) + " columns, not " + std::to_string(view.shape[1]));
  }
  for (const Json& name : stateList(meta, "class_names")) {
    if (name.is_string()) out.classNames.push_back(name.get<std::string>());
  }
  if (out.classNames.size() != static_cast<std::size_t>(out.classes)) out.classNames.clear();
  out.width = static_cast<int>(width);
  const std::int64_t samples = view.shape[0];
  out.values.reserve(static_cast<std::size_t>(samples * width));
  const auto isClass = [&](double value) {
    return value >= 0 && value < out.classes && value == std::floor(value);
  };
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t row = i * (width + 2);
    const double id = view.at(row), label = view.at(row + 1);
    if (!(std::abs(id) < 9e15) || !isClass(label)) {
      throw FileError("row " + std::to_string(i) + " has no sample id and label of " +
                      std::to_string(out.classes) + " classes");
    }
    out.ids.push_back(static_cast<std::int64_t>(id));
    out.labels.push_back(static_cast<int>(label));
    for (std::int64_t k = 0; k < width; ++k)
      out.values.push_back(static_cast<float>(view.at(row + 2 + k)));
    if (out.form == Predictions::Form::Top &&
        !isClass(
            out.values[static_cast<std::size_t>(i * width) + 1 + out.inverseTemperatures.size()]))
      throw FileError("row " + std::to_string(i) + " names a class that there is not");
  }
  return out;
}

bool canBinClasses(const Predictions& predictions) {
  return predictions.form == Predictions::Form::Logits;
}

Confidence confidenceAt(const Predictions& predictions, double temperature, int target) {
  if (!canBinClasses(predictions) || target >= predictions.classes) target = Binning::kTopClass;
  Confidence out;
  const std::size_t samples = predictions.samples();
  out.values.resize(samples);
  out.predicted.resize(samples);
  out.isHit.resize(samples);
  std::vector<double> shares;
  for (std::size_t i = 0; i < samples; ++i) {
    const bool isTop = target < 0;
    const SampleAnswer answer = answerOf(predictions, i, temperature, isTop ? nullptr : &shares);
    out.predicted[i] = answer.predicted;
    out.values[i] = isTop ? answer.confidence : shares[static_cast<std::size_t>(target)];
    out.isHit[i] = predictions.labels[i] == (isTop ? answer.predicted : target) ? 1 : 0;
  }
  return out;
}

std::vector<ReliabilityBin> binsOf(const Confidence& confidence, const Binning& binning,
                                   std::vector<int>* binOf) {
  const auto count = static_cast<std::size_t>(std::clamp(binning.bins, 1, Binning::kMostBins));
  const bool isEqualMass = binning.edges == Binning::Edges::EqualMass;
  return reliabilityBins(
      confidence.values, confidence.isHit,
      binEdges(count, isEqualMass ? confidence.values : std::vector<double>()), binOf);
}

CalibrationResult calibrationOf(const Predictions& predictions, double temperature,
                                const Binning& binning) {
  CalibrationResult out{.temperature = temperature};
  const std::size_t samples = predictions.samples();
  const auto classes = static_cast<std::size_t>(predictions.classes);
  const bool hasAll = canBinClasses(predictions);
  const bool isClasswise = hasAll && samples * classes <= kMostClasswise;
  const int target =
      hasAll && binning.target < predictions.classes ? binning.target : Binning::kTopClass;
  out.confidence.values.resize(samples);
  out.confidence.predicted.resize(samples);
  out.confidence.isHit.resize(samples);
  std::vector<double> shares, all;
  if (isClasswise) all.reserve(samples * classes);
  CalibrationScores& scores = out.scores;
  scores.samples = static_cast<std::int64_t>(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const SampleAnswer answer = answerOf(predictions, i, temperature, hasAll ? &shares : nullptr);
    const int label = predictions.labels[i];
    scores.accuracy += answer.predicted == label ? 1 : 0;
    scores.nll -= answer.logLikelihood;
    scores.brier += answer.squares - 2 * answer.ofLabel + 1;
    out.confidence.predicted[i] = answer.predicted;
    out.confidence.values[i] =
        target < 0 ? answer.confidence : shares[static_cast<std::size_t>(target)];
    out.confidence.isHit[i] = label == (target < 0 ? answer.predicted : target) ? 1 : 0;
    if (isClasswise) all.insert(all.end(), shares.begin(), shares.end());
  }
  Binning used = binning;
  used.target = target;
  out.bins = binsOf(out.confidence, used, &out.binOf);
  scores.ece = calibrationError(out.bins, samples);
  for (const ReliabilityBin& bin : out.bins) {
    if (bin.count > 0) scores.mce = std::max(scores.mce, std::abs(bin.accuracy - bin.confidence));
  }
  scores.classwise = isClasswise ? classwiseError(predictions, all, binning)
                                 : std::numeric_limits<double>::quiet_NaN();
  if (samples > 0) {
    for (double* sum : {&scores.accuracy, &scores.nll, &scores.brier})
      *sum /= static_cast<double>(samples);
  }
  return out;
}

double nllOf(const Predictions& predictions, double temperature) {
  double sum = 0;
  for (std::size_t i = 0; i < predictions.samples(); ++i)
    sum -= answerOf(predictions, i, temperature, nullptr).logLikelihood;
  return predictions.samples() == 0 ? 0 : sum / static_cast<double>(predictions.samples());
}

std::vector<double> temperatureGrid() {
  constexpr int kEachSide = 16;
  std::vector<double> grid;
  for (int i = -kEachSide; i <= kEachSide; ++i)
    grid.push_back(std::pow(kMostTemperature, static_cast<double>(i) / kEachSide));
  return grid;
}

std::vector<double> eceOver(const Predictions& predictions, const Binning& binning,
                            const std::vector<double>& temperatures,
                            const std::atomic<bool>& isStale) {
  std::vector<double> errors;
  for (const double temperature : temperatures) {
    if (isStale) break;
    errors.push_back(
        calibrationError(binsOf(confidenceAt(predictions, temperature, binning.target), binning),
                         predictions.samples()));
  }
  return errors;
}

FittedTemperature fitTemperature(const Predictions& predictions) {
  constexpr double kGolden = 0.6180339887498949, kExact = 1e-5;  // of the logarithm
  double low = std::log(kLeastTemperature), high = std::log(kMostTemperature);
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double atLeft = nllOf(predictions, std::exp(left)), atRight = nllOf(predictions, std::exp(right));
  while (high - low > kExact) {
    if (atLeft <= atRight) {
      high = right;
      right = left;
      atRight = atLeft;
      left = high - kGolden * (high - low);
      atLeft = nllOf(predictions, std::exp(left));
    } else {
      low = left;
      left = right;
      atLeft = atRight;
      right = low + kGolden * (high - low);
      atRight = nllOf(predictions, std::exp(right));
    }
  }
  const double middle = (low + high) / 2;
  FittedTemperature fitted{.temperature = std::exp(middle)};
  fitted.nll = nllOf(predictions, fitted.temperature);
  fitted.isAtEdge = middle - std::log(kLeastTemperature) < 2 * kExact ||
                    std::log(kMostTemperature) - middle < 2 * kExact;
  return fitted;
}

std::vector<ClassShare> sharesOf(const Predictions& predictions, std::size_t sample,
                                 double temperature, int most) {
  std::vector<ClassShare> all;
  const float* row = answersRow(predictions, sample);
  const double inverse = 1 / temperature;
  const int label = predictions.labels[sample];
  if (predictions.form == Predictions::Form::Top) {
    const std::size_t grid = predictions.inverseTemperatures.size();
    const auto top = static_cast<std::size_t>(predictions.top);
    const double sum = logSumAt(predictions, row, inverse);
    const double largest = row[1 + grid + top];
    for (std::size_t k = 0; k < top; ++k) {
      all.push_back({static_cast<int>(row[1 + grid + k]),
                     std::exp(inverse * (row[1 + grid + top + k] - largest) - sum)});
    }
    if (std::none_of(all.begin(), all.end(),
                     [&](const ClassShare& one) { return one.label == label; }))
      all.push_back({label, std::exp(inverse * (row[0] - largest) - sum)});
  } else {
    std::vector<double> shares;
    (void)answerOf(predictions, sample, temperature, &shares);
    for (std::size_t k = 0; k < shares.size(); ++k) all.push_back({static_cast<int>(k), shares[k]});
    std::stable_sort(all.begin(), all.end(), [](const ClassShare& a, const ClassShare& b) {
      return a.probability > b.probability;
    });
  }
  const auto own = std::find_if(all.begin(), all.end(),
                                [&](const ClassShare& one) { return one.label == label; });
  const auto room = static_cast<std::size_t>(std::max(1, most));
  if (all.size() > room) {
    if (own - all.begin() >= static_cast<std::ptrdiff_t>(room)) all[room - 1] = *own;
    all.resize(room);
  }
  return all;
}

std::vector<int> mostConfused(const Predictions& predictions, const Confidence& confidence,
                              int most) {
  std::vector<int> classes(static_cast<std::size_t>(predictions.classes));
  std::iota(classes.begin(), classes.end(), 0);
  if (predictions.classes <= most) return classes;
  std::vector<std::int64_t> errors(classes.size());
  for (std::size_t i = 0; i < predictions.samples(); ++i) {
    const int label = predictions.labels[i], predicted = confidence.predicted[i];
    if (label == predicted) continue;
    for (const int one : {label, predicted}) ++errors[static_cast<std::size_t>(one)];
  }
  std::stable_sort(classes.begin(), classes.end(), [&errors](int a, int b) {
    return errors[static_cast<std::size_t>(a)] > errors[static_cast<std::size_t>(b)];
  });
  classes.resize(static_cast<std::size_t>(most));
  std::sort(classes.begin(), classes.end());
  return classes;
}

std::vector<std::int64_t> confusionOf(const Predictions& predictions, const Confidence& confidence,
                                      const std::vector<int>& classes) {
  std::vector<std::optional<std::size_t>> places(static_cast<std::size_t>(predictions.classes));
  for (std::size_t i = 0; i < classes.size(); ++i)
    places[static_cast<std::size_t>(classes[i])] = i;
  std::vector<std::int64_t> cells(classes.size() * classes.size());
  for (std::size_t i = 0; i < predictions.samples(); ++i) {
    const auto row = places[static_cast<std::size_t>(predictions.labels[i])];
    const auto column = places[static_cast<std::size_t>(confidence.predicted[i])];
    if (row && column) ++cells[*row * classes.size() + *column];
  }
  return cells;
}

std::vector<std::size_t> samplesIn(const CalibrationResult& result,
                                   const std::function<bool(std::size_t sample)>& isChosen) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < result.confidence.values.size(); ++i) {
    if (isChosen(i)) chosen.push_back(i);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    const Confidence& all = result.confidence;
    if (all.isHit[a] != all.isHit[b]) return all.isHit[a] < all.isHit[b];
    return all.values[a] > all.values[b];
  });
  return chosen;
}

}  // namespace vitrine::ui

#include "core/eval/captions.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"

namespace vitrine::eval {

namespace {

constexpr std::size_t kLongest = 4;  ///< words of an n-gram
constexpr double kLengthSpread = 6;  ///< of the penalty for another length
constexpr double kScale = 10;

/// Counts of the n-grams of a caption, their words joined by spaces.
struct Grams {
  std::array<std::map<std::string, double>, kLongest> counts;
};

Grams gramsOf(const std::string& caption) {
  const std::vector<std::string> words = captionWords(caption);
  Grams grams;
  for (std::size_t n = 1; n <= kLongest; ++n) {
    for (std::size_t at = 0; at + n <= words.size(); ++at) {
      std::string gram = words[at];
      for (std::size_t i = 1; i < n; ++i) gram += " " + words[at + i];
      grams.counts[n - 1][gram] += 1;
    }
  }
  return grams;
}

/// n-grams times how rare they are.
struct Weighted {
  std::array<std::map<std::string, double>, kLongest> values;
  std::array<double, kLongest> norms{};
  double length = 0;  ///< in pairs of words, as the published tool counts it
};

class Rarity {
 public:
  explicit Rarity(const std::vector<std::vector<Grams>>& references)
      : images_(std::log(static_cast<double>(references.size()))) {
    for (const std::vector<Grams>& ofImage : references) {
      std::set<std::string> seen;
      for (const Grams& grams : ofImage) {
        for (const auto& counts : grams.counts) {
          for (const auto& [gram, count] : counts) seen.insert(gram);
        }
      }
      for (const std::string& gram : seen) frequency_[gram] += 1;
    }
  }

  [[nodiscard]] Weighted weigh(const Grams& grams) const {
    Weighted weighted;
    for (std::size_t n = 0; n < kLongest; ++n) {
      double squares = 0;
      for (const auto& [gram, count] : grams.counts[n]) {
        const auto found = frequency_.find(gram);
        const double images = found == frequency_.end() ? 1 : std::max(1.0, found->second);
        const double value = count * (images_ - std::log(images));
        weighted.values[n][gram] = value;
        squares += value * value;
        if (n == 1) weighted.length += count;
      }
      weighted.norms[n] = std::sqrt(squares);
    }
    return weighted;
  }

 private:
  double images_;
  std::map<std::string, double> frequency_;
};

double similarity(const Weighted& caption, const Weighted& reference) {
  double sum = 0;
  const double apart = caption.length - reference.length;
  const double penalty = std::exp(-apart * apart / (2 * kLengthSpread * kLengthSpread));
  for (std::size_t n = 0; n < kLongest; ++n) {
    double product = 0;
    for (const auto& [gram, value] : caption.values[n]) {
      const auto found = reference.values[n].find(gram);
      if (found != reference.values[n].end())
        product += std::min(value, found->second) * found->second;
    }
    const double norms = caption.norms[n] * reference.norms[n];
    sum += (norms > 0 ? product / norms : product) * penalty;
  }
  return sum / static_cast<double>(kLongest);
}

}  // namespace

std::vector<std::string> captionWords(const std::string& caption) {
  std::vector<std::string> words;
  bool isInside = false;
  for (char letter : caption) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    const bool isOfWord = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    if (isOfWord && !isInside) words.emplace_back();
    if (isOfWord) words.back() += letter;
    isInside = isOfWord;
  }
  return words;
}

CaptionScores captionScores(const std::vector<std::string>& captions,
                            const std::vector<std::vector<std::string>>& references) {
  if (captions.size() != references.size()) {
    throw ShapeError(std::to_string(captions.size()) + " captions cannot be compared with the " +
                     "references of " + std::to_string(references.size()) + " images");
  }
  std::vector<std::vector<Grams>> grams;
  for (const std::vector<std::string>& ofImage : references) {
    if (ofImage.empty()) throw ShapeError("an image without a reference caption has no score");
    grams.emplace_back();
    for (const std::string& each : ofImage) grams.back().push_back(gramsOf(each));
  }
  const Rarity rarity(grams);
  CaptionScores result;
  for (std::size_t i = 0; i < captions.size(); ++i) {
    const Weighted caption = rarity.weigh(gramsOf(captions[i]));
    double sum = 0;
    for (const Grams& reference : grams[i]) sum += similarity(caption, rarity.weigh(reference));
    result.scores.push_back(kScale * sum / static_cast<double>(grams[i].size()));
    result.mean += result.scores.back();
  }
  if (!captions.empty()) result.mean /= static_cast<double>(captions.size());
  return result;
}

}  // namespace vitrine::eval

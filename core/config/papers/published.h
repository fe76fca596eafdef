// The numbers that a paper prints, as data: published.toml.
#pragma once

#include <string>
#include <vector>

#include "core/config/toml/problem.h"

namespace vitrine {

/// One `[[result]]`: a printed number and everything that is said about it.
struct VITRINE_FOUNDATION_EXPORT PublishedResult {
  std::string place;   ///< "Table 17" or "Figure 4"
  std::string metric;  ///< "top1"
  double value = 0;    ///< as printed: accuracies in percent
  /// The other keys in the order of the file: model, step, dataset, resolution ... Numbers as the
  /// file writes them.
  std::vector<std::pair<std::string, std::string>> conditions;

  [[nodiscard]] std::string condition(const std::string& key) const;  ///< "" where there is none
};

struct PublishedNumbers {
  std::string paper;
  std::vector<PublishedResult> results;
};

/// \param problems  receives every problem of the text, as for an experiment file
[[nodiscard]] VITRINE_FOUNDATION_EXPORT PublishedNumbers
readPublished(const std::string& text, const std::string& fileName, std::vector<Problem>& problems);

}  // namespace vitrine

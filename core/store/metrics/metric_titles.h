// Titles of metrics for people: a table of the quantities that are known, and a readable form of
// the name of any other.
#pragma once

#include <string>

#include "core/store_export.h"

namespace vitrine::store {

struct MetricTitle {
  std::string title;         ///< "calibration error"
  std::string shortTitle;    ///< "ECE", for a narrow column
  std::string subtitle;      ///< "top-1"; "" where nothing is known
  int decimals = 4;          ///< of values in a read-out
  bool isKnown = false;      ///< in the table; otherwise made of the name
  bool followsPlan = false;  ///< a schedule makes it: smoothing would only falsify it
};
/// \param quantity  of a metric "split/quantity": "top1", "images_per_second"; in lower case
[[nodiscard]] VITRINE_STORE_EXPORT MetricTitle titleOf(const std::string& quantity);

/// A metric "test/top1@ema" in its parts; without a slash all of it is the quantity.
struct MetricName {
  std::string split;     ///< "test", or another family: "optimizer"
  std::string quantity;  ///< "top1"
  std::string part;      ///< of the quantity, "" for the whole
  bool isAveraged = false;
};
[[nodiscard]] VITRINE_STORE_EXPORT MetricName metricName(const std::string& metric);

/// A whole metric: "Accuracy, test", "Loss (diffusion), train", "Rank at 80 %, layer 1",
/// "FID, test, averaged weights"; its short title likewise, "ECE, test". Families that are not
/// splits are left out: "Learning rate".
/// \param declared  MetricKind::title: names quantity and part; "" where the task gave none
[[nodiscard]] VITRINE_STORE_EXPORT MetricTitle metricTitle(const std::string& metric,
                                                           const std::string& declared = "");

}  // namespace vitrine::store

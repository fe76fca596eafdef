// A tour as data: experiments that are run one after the other, and the samples drawn from them.
#pragma once

#include <string>
#include <vector>

#include "core/config/experiment.h"

namespace vitrine {

struct Tour {
  struct Part {
    std::string experiment;  ///< a file next to the tour's
    /// Arguments of each call of `vitrine sample`, after the number of the part's last run.
    std::vector<std::vector<std::string>> samples;
  };
  std::string title;
  std::string about;       ///< what it does, a sentence or two
  double minutes = 0;      ///< that it takes on the machine that `measuredOn` names
  std::string measuredOn;  ///< "2 cores of an AMD EPYC"
  std::vector<Part> parts;
};

/// Reads `title`, `about`, `minutes`, `measured_on`, `experiments = ["a.toml"]` and
/// `samples = [["a.toml", "--use", "ema", "count=8"]]`.
/// \param problems  receives every problem of the text, as for an experiment file
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Tour readTour(const std::string& text,
                                                      const std::string& fileName,
                                                      std::vector<Problem>& problems);

}  // namespace vitrine

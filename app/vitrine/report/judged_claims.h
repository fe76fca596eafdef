// The verdicts on the claims of a file, from the finished runs of a database.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/papers/claims.h"
#include "core/store/metrics/metric_format.h"
#include "core/store/run_reader.h"

namespace vitrine::app {

struct JudgedClaim {
  Claim claim;
  std::string experiment;  ///< title of its experiment
  Judgement judgement;
  store::MetricFormat format;  ///< of the measured values
};

/// In the order of the file. \throws ConfigError  every problem of the file; FileError
[[nodiscard]] std::vector<JudgedClaim> judgedClaims(store::RunReader& store,
                                                    const std::filesystem::path& file);

/// "wide - narrow >= 0.1", "wide - narrow >= 0.5 %" where `format` writes percent.
[[nodiscard]] std::string relationText(const Claim& claim, const store::MetricFormat& format);
/// "0.75 [0.74, 0.76]", "75.2 [74.1, 76.3] %"; "" without a value.
[[nodiscard]] std::string measuredText(const Judgement& judgement,
                                       const store::MetricFormat& format);
/// The reason, and the runs that are not counted.
[[nodiscard]] std::string whyText(const Judgement& judgement);

}  // namespace vitrine::app

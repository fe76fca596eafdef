// The verdicts on a paper's claims about an experiment, as every page shows them.
#pragma once

#include <QColor>
#include <QString>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/config/papers/claims.h"
#include "core/store/metrics/metric_format.h"
#include "core/store/run_reader.h"

namespace vitrine::ui {

struct ClaimRow {
  Claim claim;
  Judgement judgement;         ///< its reason names the runs that are not counted, too
  store::MetricFormat format;  ///< of the measured values
};

/// Where experiments of the program lie: its source tree, else next to the installed program.
[[nodiscard]] std::vector<std::filesystem::path> experimentFolders();

/// Whether a claim is judged.
using ClaimFilter = std::function<bool(const Claim&)>;
/// Verdicts on the claims of claims.toml in `folder` that are about an experiment of `runs`, in the
/// order of the file. Empty where there is no such file. \param isMeant  empty: every claim
/// \throws Error  a file cannot be read
[[nodiscard]] std::vector<ClaimRow> readClaimRows(const store::QueryFunction& query,
                                                  const std::vector<store::RunRow>& runs,
                                                  const std::filesystem::path& folder,
                                                  const ClaimFilter& isMeant = {});

/// "1.3 ± 0.2 %" in the unit of the metric; an en dash without a value.
[[nodiscard]] QString measuredText(const ClaimRow& row);
/// What the measured value is held against: "0.5 %".
[[nodiscard]] QString thresholdText(const ClaimRow& row);
/// "measured 3.0 ± 0.8, claimed at least 1, 3 seeds"; without a value the reason.
[[nodiscard]] QString evidenceText(const ClaimRow& row);
/// One line a claim below the names of the columns, in full precision.
[[nodiscard]] QString claimsCsv(const std::vector<ClaimRow>& rows);
/// "reproduced" with its sign.
[[nodiscard]] QString verdictWords(Verdict verdict);
[[nodiscard]] QColor verdictColor(Verdict verdict);

}  // namespace vitrine::ui

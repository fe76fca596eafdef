// The paper's numbers next to ours: which of them speak of a variant here, whether they can be
// compared, and what they say.
#pragma once

#include <QString>
#include <QStringList>
#include <filesystem>
#include <vector>

#include "core/config/papers/published.h"
#include "core/store/metrics/metric_format.h"
#include "ui/compare/compare_data.h"
#include "ui/workbench/claims/claim_rows.h"

namespace vitrine::ui {

enum class PublishedVerdict { Matches, Differs, Undecided, NotComparable };
/// "matches", "differs", "undecided", "not comparable".
[[nodiscard]] QString toString(PublishedVerdict verdict);

struct PublishedRow {
  QString place;       ///< "Table 17"
  QString model;       ///< with its size: "Base/16, 384 px"
  QString conditions;  ///< "+ SwiGLU, ImageNet-1k"
  QString metric;      ///< as the paper names it: "top1"
  QString title;       ///< "Accuracy, test (%)"
  double value = 0;    ///< the paper's
  int decimals = 0;    ///< with which the paper prints it
  std::size_t variant = 0;
  SampleStatistics ours;       ///< in the paper's unit
  store::MetricFormat format;  ///< of ours
  int oursDecimals = -1;       ///< those of all rows of this metric
  PublishedVerdict verdict = PublishedVerdict::NotComparable;
  QStringList reasons;  ///< why it is not comparable, or undecided
  /// Whether ours moves against the baseline as the paper's does: "order kept", "order reversed",
  /// "order unclear". "" where the paper has no baseline of the same conditions.
  QString order;
};

/// "82.45 ± 0.57"
[[nodiscard]] QString oursText(const PublishedRow& row);
/// "not comparable: other data, 2 more reasons", for a narrow column.
[[nodiscard]] QString shortVerdictText(const PublishedRow& row);
/// The same with every reason.
[[nodiscard]] QString verdictText(const PublishedRow& row);

struct PublishedTable {
  QString file;           ///< "" where none was found
  QString paper;          ///< citation
  QString error;          ///< why the file cannot be read, or why nothing of it is shown
  std::size_t total = 0;  ///< numbers in the file
  std::vector<PublishedRow> rows;
  std::vector<ClaimRow> claims;
};

/// published.toml next to the experiment file with this title, in the folders of experiments that
/// come with the program; empty where there is none.
[[nodiscard]] std::filesystem::path publishedFileOf(
    const std::string& experiment, const std::vector<std::filesystem::path>& folders);

/// Reads two files and asks for the metrics in them. Never throws for what the files say.
[[nodiscard]] PublishedTable readPublishedTable(const store::QueryFunction& query,
                                                const CompareData& data,
                                                const CompareChoice& choice,
                                                const std::vector<std::filesystem::path>& folders);

/// Why a printed number and a variant's cannot be compared; empty where they can.
[[nodiscard]] QStringList incomparableReasons(const PublishedResult& result, const Json& config);
/// Matches: the printed number lies within our interval, and that reaches no further than 1 % of
/// the number to either side. A wider one would match anything and leaves it undecided. \param
/// decimals  of the print: half a unit of its last digit counts as equal \param ours      in the
/// unit of `printed`
[[nodiscard]] PublishedVerdict compareWithPrinted(double printed, int decimals,
                                                  const SampleStatistics& ours);

}  // namespace vitrine::ui

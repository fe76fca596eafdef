// The ablation table as a value: one row a variant, and its text for the screen, CSV and Markdown.
// LaTeX: latex_table.h.
#pragma once

#include <QString>
#include <cstddef>
#include <string>
#include <vector>

#include "core/store/metrics/metric_format.h"
#include "ui/compare/compare_data.h"
#include "ui/workbench/claims/shown_number.h"

namespace vitrine::ui {

/// One metric of one variant.
struct AblationCell {
  store::VariantSample sample;
  PairedSample paired;  ///< ours - baseline's, over common seeds; empty for the baseline
  Outcome outcome = Outcome::Unknown;
};

struct AblationRow {
  std::size_t variant = 0;
  QString label;
  QString differs;       ///< "mlp = swiglu"; "" for the baseline
  QString differsShort;  ///< "swiglu"
  bool isBaseline = false;
  std::vector<AblationCell> cells;  ///< per metric
  QString runs;                     ///< "3 done, 1 running"
};

struct AblationMetric {
  std::string name;
  store::MetricMeaning meaning;
  store::MetricFormat format;
  int decimals = -1, differenceDecimals = -1;  ///< of its two columns, of columnDecimals()
  [[nodiscard]] QString title() const;         ///< "Accuracy, test (%)"
};

struct AblationTable {
  QString experiment;
  QString value;  ///< "last value", "value at step 2,000"
  Centre centre = Centre::Mean;
  Spread spread = Spread::Interval;  ///< of the values; differences always have their interval
  std::vector<AblationMetric> metrics;
  std::vector<AblationRow> rows;
  std::size_t baseline = 0;  ///< of `rows`
  QString baselineLabel;
  QString leftOut;  ///< one sentence on runs that give no value; "" where all do
  QString mixed;    ///< one sentence where the counted runs come from several commits or devices
};

[[nodiscard]] AblationTable makeAblationTable(const CompareData& data, const CompareChoice& choice);

/// Of one metric in a table: as its centre and spread say.
[[nodiscard]] ShownNumber shownNumber(const AblationTable& table,
                                      const store::VariantSample& sample,
                                      const store::MetricFormat& format);
/// "−1.27 ± 0.17", with its sign and the decimals of the column.
[[nodiscard]] QString differenceText(const SampleStatistics& statistics,
                                     const AblationMetric& metric);
/// "86.58 ± 0.11" with the centre and the spread of the table and the decimals of the column.
[[nodiscard]] QString sampleText(const AblationTable& table, const store::VariantSample& sample,
                                 const AblationMetric& metric);
/// What stands behind the numbers of a table: "± half of the 95 % interval over seeds".
[[nodiscard]] QString spreadText(const AblationTable& table);
/// The value of a run, the spread, and how differences are made: above the table.
[[nodiscard]] QString aboutText(const AblationTable& table);
/// The sign before the word: never colour alone.
[[nodiscard]] QString outcomeSign(Outcome outcome);
/// Seeds that the mean is from, and the pairs that the difference is from where these are fewer:
/// "3", "3, 2 paired".
[[nodiscard]] QString countText(const AblationCell& cell, bool isBaseline);
[[nodiscard]] QString valueChoiceText(store::ValueChoice choice);

/// What a file of the table says of its origin, in one line.
struct TableOrigin {
  QString database;  ///< file name and id
  QString runs;      ///< "1, 2, 3"
};
[[nodiscard]] TableOrigin originOf(const CompareData& data, const std::string& databaseFile);

/// Full precision, fractions as fractions.
[[nodiscard]] QString toCsv(const AblationTable& table, const TableOrigin& origin);
[[nodiscard]] QString toMarkdown(const AblationTable& table, const TableOrigin& origin);
/// Where the table comes from, in one line of plain letters.
[[nodiscard]] QString originLine(const AblationTable& table, const TableOrigin& origin);

}  // namespace vitrine::ui

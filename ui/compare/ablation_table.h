// The ablation table as a value: one row a variant, and its text for the screen, CSV, LaTeX and
// Markdown.
#pragma once

#include <QString>
#include <cstddef>
#include <string>
#include <vector>

#include "ui/compare/compare_data.h"

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
  QString differs;  ///< "mlp = swiglu"; "" for the baseline
  bool isBaseline = false;
  std::vector<AblationCell> cells;  ///< per metric
  QString runs;                     ///< "3 done, 1 running"
};

struct AblationMetric {
  std::string name;
  store::MetricMeaning meaning;
  bool isPercent = false;
  [[nodiscard]] QString title() const;  ///< "Accuracy, test (%)"
};

struct AblationTable {
  QString experiment;
  QString value;  ///< "last value", "value at step 2,000"
  std::vector<AblationMetric> metrics;
  std::vector<AblationRow> rows;
  std::size_t baseline = 0;  ///< of `rows`
  QString baselineLabel;
  QString leftOut;  ///< one sentence on runs that give no value; "" where all do
  QString mixed;    ///< one sentence where the counted runs come from several commits or devices
};

[[nodiscard]] AblationTable makeAblationTable(const CompareData& data, const CompareChoice& choice);

/// "86.58 ± 0.11", never more digits than the interval supports; an en dash where there is nothing,
/// "not a number" where a seed has none.
[[nodiscard]] QString meanText(const SampleStatistics& statistics, bool isPercent);
/// "−1.27 ± 0.17", with its sign.
[[nodiscard]] QString differenceText(const SampleStatistics& statistics, bool isPercent);
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
/// A booktabs tabular; what LaTeX would read as a command is escaped.
[[nodiscard]] QString toLatex(const AblationTable& table, const TableOrigin& origin);
[[nodiscard]] QString toMarkdown(const AblationTable& table, const TableOrigin& origin);

[[nodiscard]] QString escapeLatex(const QString& text);

}  // namespace vitrine::ui

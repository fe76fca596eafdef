// Differences between runs: configuration, environment, source.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "ui/compare/compare_data.h"

namespace vitrine::ui {

struct DifferenceRow {
  QString key;
  QStringList values;  ///< one a run
  bool isDifferent = false;
  bool operator==(const DifferenceRow&) const = default;
};
struct DifferenceSection {
  QString title;  ///< "Configuration"
  std::vector<DifferenceRow> rows;
  bool operator==(const DifferenceSection&) const = default;
};
struct DifferenceList {
  std::vector<std::size_t> runs;  ///< columns, indices into CompareData::runs
  QStringList names;              ///< of the columns
  std::vector<DifferenceSection> sections;
  QString source;  ///< diffs of the experiment files to that of the first run, or sentences
  bool operator==(const DifferenceList&) const = default;
};
constexpr std::size_t kMostDiffered = 6;

/// The runs side by side: those that were chosen where they are few, else one of each variant, the
/// baseline first.
[[nodiscard]] std::vector<std::size_t> differedRuns(const CompareData& data,
                                                    const CompareChoice& choice,
                                                    const std::vector<std::int64_t>& selected);
[[nodiscard]] DifferenceList differenceList(const CompareData& data,
                                            const std::vector<std::size_t>& runs);

/// `key=value` for each configuration key in which `run` differs from `other`, one a line, quoted
/// for a shell: what `vitrine train FILE` takes.
[[nodiscard]] QString overridesText(const CompareData& data, std::size_t run, std::size_t other);

/// Lines of two texts: " same", "-only in the first", "+only in the second". Runs of more than six
/// equal lines are shortened to three around each change, with "@@ line N @@" between. "" for equal
/// texts.
[[nodiscard]] QString textDifference(const std::string& before, const std::string& after);

}  // namespace vitrine::ui

// A plot for those who do not see it: a table of its values, read out cell by cell.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace vitrine::ui {

/// The description of a plot. A widget that is also one of these is a table to a screen
/// reader, once useAccessiblePlots() was called.
class DescribedPlot {
 public:
  virtual ~DescribedPlot() = default;
  /// One sentence: content and range.
  [[nodiscard]] virtual QString plotSummary() const = 0;
  struct Table {
    QStringList columns;            ///< "run", "last", "least" ...
    std::vector<QStringList> rows;  ///< as many texts as columns
  };
  [[nodiscard]] virtual Table plotTable() const = 0;
};

/// From here on screen readers find the tables. May be called more than once.
void useAccessiblePlots();

}  // namespace vitrine::ui

// A result as a chart: which columns are x, y and group, and the lines or points that follow.
#pragma once

#include <QString>
#include <QStringList>

#include "core/base/json.h"
#include "core/store/run_store.h"
#include "ui/figures/line_chart.h"

namespace vitrine::ui {

struct SqlChartChoice {
  QString x;  ///< "" for the number of the row
  QStringList y;
  QString group;  ///< one column, or two with a comma: "run_id, name"; "" for none
  bool isPoints = false;
  AxisScale xScale = AxisScale::Linear, yScale = AxisScale::Linear;
  bool operator==(const SqlChartChoice&) const = default;
};

/// More lines than this are not drawn: they could not be told apart.
inline constexpr int kMostSqlSeries = 40;

/// Columns that hold numbers, in order.
[[nodiscard]] QStringList sqlNumberColumns(const store::RunReader::Table& table);
/// The default: x from the names that are known as such, the other numbers as y, a line for each
/// run. A run has a line for each metric where x repeats within one.
[[nodiscard]] SqlChartChoice guessSqlChart(const store::RunReader::Table& table);
/// `choice` without columns that the table does not have; guessed where nothing of it is left.
[[nodiscard]] SqlChartChoice fitSqlChart(const SqlChartChoice& choice,
                                         const store::RunReader::Table& table);

[[nodiscard]] LineChart sqlChart(const store::RunReader::Table& table,
                                 const SqlChartChoice& choice);

[[nodiscard]] Json toJson(const SqlChartChoice& choice);
[[nodiscard]] SqlChartChoice sqlChartFromJson(const Json& json);

}  // namespace vitrine::ui

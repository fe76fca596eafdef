#include "ui/sql/sql_chart.h"

#include <QHash>
#include <QSet>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ui/kit/series/run_series.h"
#include "ui/kit/value_text.h"
#include "ui/sql/sql_result.h"

namespace vitrine::ui {
namespace {

constexpr std::size_t kSampled = 2'000;  // rows that tell what a column holds

int chartColumn(const store::RunReader::Table& table, const QString& name) {
  const std::string wanted = name.toStdString();
  const auto found = std::find(table.columns.begin(), table.columns.end(), wanted);
  return found == table.columns.end() ? -1 : static_cast<int>(found - table.columns.begin());
}

double chartNumber(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

bool isNumberColumn(const store::RunReader::Table& table, std::size_t column) {
  bool hasNumber = false;
  for (std::size_t row = 0; row < std::min(table.rows.size(), kSampled); ++row) {
    const Json& value = table.rows[row][column];
    if (value.is_null()) continue;
    if (!value.is_number()) return false;
    hasNumber = true;
  }
  return hasNumber;
}

/// Numbers that name something: no curve is made of them.
bool isNameLike(const QString& column) {
  return column == QLatin1String("id") || column.endsWith(QLatin1String("_id")) ||
         column == QLatin1String("run") || column == QLatin1String("seed") ||
         column == QLatin1String("layer") || column == QLatin1String("head") ||
         column == QLatin1String("image") || column == QLatin1String("segment");
}

QString namedColumn(const store::RunReader::Table& table,
                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const int column = chartColumn(table, QString::fromLatin1(name));
    if (column >= 0) return QString::fromLatin1(name);
  }
  return {};
}

/// Columns of a group; empty for none, and where one of them is not there.
std::vector<std::size_t> groupColumns(const store::RunReader::Table& table, const QString& group) {
  std::vector<std::size_t> columns;
  if (group.isEmpty()) return columns;
  if (const int whole = chartColumn(table, group); whole >= 0)
    return {static_cast<std::size_t>(whole)};
  for (const QString& part : group.split(QStringLiteral(", "))) {
    const int column = chartColumn(table, part);
    if (column < 0) return {};
    columns.push_back(static_cast<std::size_t>(column));
  }
  return columns;
}

bool isRunColumn(const QString& column) {
  return column == QLatin1String("run_id") || column == QLatin1String("run");
}

/// "run 3", "layer 0"; a text says by itself what it is.
QString lineName(const QString& column, const Json& value) {
  const QString text = value.is_null() ? QStringLiteral("\u2013") : sqlPlain(value);
  if (value.is_string()) return text;
  return (isRunColumn(column) ? QObject::tr("run") : column) + QLatin1Char(' ') + text;
}

/// Whether two rows of one line have the same x.
bool repeatsX(const store::RunReader::Table& table, const SqlChartChoice& choice) {
  const int x = chartColumn(table, choice.x);
  if (x < 0) return false;
  const std::vector<std::size_t> columns = groupColumns(table, choice.group);
  QSet<QString> seen;
  for (std::size_t row = 0; row < std::min(table.rows.size(), kSampled); ++row) {
    const auto& values = table.rows[row];
    QString key = sqlPlain(values[static_cast<std::size_t>(x)]);
    for (const std::size_t column : columns) key += QLatin1Char('\n') + sqlPlain(values[column]);
    if (seen.contains(key)) return true;
    seen.insert(key);
  }
  return false;
}

}  // namespace

QStringList sqlNumberColumns(const store::RunReader::Table& table) {
  QStringList names;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (isNumberColumn(table, column)) names << QString::fromStdString(table.columns[column]);
  }
  return names;
}

SqlChartChoice guessSqlChart(const store::RunReader::Table& table) {
  SqlChartChoice choice;
  const QStringList numbers = sqlNumberColumns(table);
  choice.x = namedColumn(
      table, {"step", "epoch", "time", "position", "confidence", "bin", "lower", "layer"});
  if (!numbers.contains(choice.x)) choice.x.clear();
  if (choice.x.isEmpty()) {
    for (const QString& name : numbers) {
      if (isNameLike(name)) continue;
      if (numbers.size() > 1) choice.x = name;
      break;
    }
  }
  for (const QString& name : numbers) {
    const bool isBeside = name == QLatin1String("step") || name == QLatin1String("epoch") ||
                          name == QLatin1String("time") || name == QLatin1String("bin") ||
                          name == QLatin1String("lower") || name == QLatin1String("upper") ||
                          name == QLatin1String("count");
    if (name != choice.x && !isNameLike(name) && !isBeside) choice.y << name;
  }
  if (choice.y.isEmpty()) {
    for (const QString& name : numbers) {
      if (name != choice.x) choice.y << name;
    }
  }
  if (choice.y.size() > 1) choice.y = choice.y.mid(0, 1);
  const auto isFree = [&](const QString& name) {
    return !name.isEmpty() && name != choice.x && !choice.y.contains(name);
  };
  if (const QString group =
          namedColumn(table, {"run_id", "run", "variant", "head", "layer", "name"});
      isFree(group))
    choice.group = group;
  for (const char* more : {"name", "metric", "split", "layer", "seed"}) {
    const QString name = QString::fromLatin1(more);
    if (choice.group.isEmpty() || !repeatsX(table, choice)) break;
    if (chartColumn(table, name) < 0 || !isFree(name) || name == choice.group) continue;
    choice.group += QStringLiteral(", ") + name;
    break;
  }
  return choice;
}

SqlChartChoice fitSqlChart(const SqlChartChoice& wanted, const store::RunReader::Table& table) {
  const QStringList numbers = sqlNumberColumns(table);
  SqlChartChoice choice = wanted;
  choice.y.removeIf([&numbers](const QString& name) { return !numbers.contains(name); });
  if (choice.y.isEmpty()) {
    SqlChartChoice guess = guessSqlChart(table);
    guess.isPoints = wanted.isPoints;
    guess.xScale = wanted.xScale;
    guess.yScale = wanted.yScale;
    return guess;
  }
  if (!numbers.contains(choice.x)) choice.x.clear();
  if (groupColumns(table, choice.group).empty()) choice.group.clear();
  return choice;
}

LineChart sqlChart(const store::RunReader::Table& table, const SqlChartChoice& choice) {
  LineChart chart;
  const bool hasRowAxis = choice.x.isEmpty();
  chart.x.title = hasRowAxis ? QObject::tr("row") : choice.x;
  chart.y.title = choice.y.join(QStringLiteral(", "));
  chart.x.scale = choice.xScale;
  chart.y.scale = choice.yScale;
  chart.title = chart.y.title;
  if (!hasRowAxis) chart.title += QObject::tr(" by ") + choice.x;
  chart.emptyText =
      choice.y.isEmpty()
          ? QObject::tr("None of the columns holds numbers: there is nothing to draw.")
          : QObject::tr("No row has a number in both columns: there is nothing to draw.");
  const int xColumn = hasRowAxis ? -1 : chartColumn(table, choice.x);
  const std::vector<std::size_t> groups = groupColumns(table, choice.group);
  const bool isRunGroup = isRunColumn(choice.group);
  const bool isManyY = choice.y.size() > 1;

  QHash<QString, std::size_t> known;
  QSet<QString> left;  // of lines beyond the limit
  std::int64_t points = 0;
  for (const QString& yName : choice.y) {
    const int yColumn = chartColumn(table, yName);
    if (yColumn < 0) continue;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const auto& values = table.rows[row];
      const double x = xColumn < 0 ? static_cast<double>(row + 1)
                                   : chartNumber(values[static_cast<std::size_t>(xColumn)]);
      if (!std::isfinite(x)) continue;
      QString key = yName;
      for (const std::size_t column : groups) key += QLatin1Char('\n') + sqlPlain(values[column]);
      auto found = known.find(key);
      if (found == known.end()) {
        if (chart.series.size() >= static_cast<std::size_t>(kMostSqlSeries)) {
          left.insert(key);
          continue;
        }
        ChartSeries series;
        QStringList names;
        for (const std::size_t column : groups)
          names << lineName(QString::fromStdString(table.columns[column]), values[column]);
        if (groups.empty() || isManyY) names << yName;
        series.name = names.join(QStringLiteral(", "));
        const Json none;
        const Json& first = groups.empty() ? none : values[groups.front()];
        const std::int64_t id = first.is_number_integer() ? first.get<std::int64_t>() : 0;
        series.run = isRunGroup && id > 0 && !isManyY
                         ? seriesOf(id)
                         : static_cast<std::int64_t>(chart.series.size()) + 1;
        series.draw = choice.isPoints ? ChartSeries::Draw::Points : ChartSeries::Draw::Line;
        found = known.insert(key, chart.series.size());
        chart.series.push_back(std::move(series));
      }
      ChartSeries& series = chart.series[*found];
      series.x.push_back(x);
      series.y.push_back(chartNumber(values[static_cast<std::size_t>(yColumn)]));
      ++points;
    }
  }
  for (ChartSeries& series : chart.series) {
    if (std::is_sorted(series.x.begin(), series.x.end())) continue;
    std::vector<std::size_t> order(series.x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&series](std::size_t a, std::size_t b) { return series.x[a] < series.x[b]; });
    std::vector<double> x, y;
    for (const std::size_t i : order) {
      x.push_back(series.x[i]);
      y.push_back(series.y[i]);
    }
    series.x = std::move(x);
    series.y = std::move(y);
  }
  chart.about = counted(points, QObject::tr("point"), QObject::tr("points"));
  QStringList remarks;
  if (!left.isEmpty()) {
    remarks << QObject::tr("%1 of %2 lines are drawn; narrow the statement with WHERE.")
                   .arg(kMostSqlSeries)
                   .arg(kMostSqlSeries + left.size());
  }
  if (table.isCut) remarks << QObject::tr("The result was cut at its limit of rows.");
  chart.footnote = remarks.join(QLatin1Char(' '));
  chart.legend = chart.series.size() > 1 ? FigureLegend::Below : FigureLegend::None;
  return chart;
}

Json toJson(const SqlChartChoice& choice) {
  Json json = Json::object();
  json["x"] = choice.x.toStdString();
  json["y"] = Json::array();
  for (const QString& name : choice.y) json["y"].push_back(name.toStdString());
  json["group"] = choice.group.toStdString();
  json["points"] = choice.isPoints;
  json["log_x"] = choice.xScale == AxisScale::Log;
  json["log_y"] = choice.yScale == AxisScale::Log;
  return json;
}

SqlChartChoice sqlChartFromJson(const Json& json) {
  SqlChartChoice choice{.x = stateWords(json, "x"), .group = stateWords(json, "group")};
  for (const Json& name : stateList(json, "y"))
    if (name.is_string()) choice.y << QString::fromStdString(name.get<std::string>());
  choice.isPoints = stateFlag(json, "points");
  if (stateFlag(json, "log_x")) choice.xScale = AxisScale::Log;
  if (stateFlag(json, "log_y")) choice.yScale = AxisScale::Log;
  return choice;
}

}  // namespace vitrine::ui

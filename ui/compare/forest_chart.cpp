#include "ui/compare/forest_chart.h"

#include <QFontMetricsF>
#include <QObject>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/figures/chart_axis.h"
#include "ui/figures/chart_marks.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr double kRuleLine = 16, kNumbers = 20, kAxisTitle = 18, kLeastRow = 20, kMostRow = 40,
                 kGapOfColumns = 12;

bool isDrawn(const ForestRow& row) {
  return row.number.count > 0 && std::isfinite(row.number.centre);
}

bool hasEnds(const ForestRow& row) {
  return isDrawn(row) && row.number.around != ShownNumber::Around::Nothing &&
         std::isfinite(row.number.lower) && std::isfinite(row.number.upper);
}

QString seedName(std::uint64_t seed) { return QObject::tr("seed %1").arg(seed); }

ForestRow rowOf(const CompareData& data, const AblationRow& row) {
  return {.name = row.label, .series = seriesOf(data, row.variant), .isBaseline = row.isBaseline};
}

void addSeed(ForestRow& row, const QString& name, double value) {
  if (std::isfinite(value)) row.seeds.emplace_back(name, value);
}

}  // namespace

bool isSingleValued(const CompareData& data) {
  if (data.metrics.empty()) return false;
  const auto& values = data.measured.values.at(data.metrics.front());
  return !values.empty() && std::all_of(values.begin(), values.end(),
                                        [](const auto& one) { return one.second.count <= 1; });
}

ForestChart forestChart(const CompareData& data, const AblationTable& table,
                        const std::vector<std::size_t>& variants) {
  ForestChart chart{.emptyText = QObject::tr("No counted run has a value.")};
  if (table.metrics.empty()) return chart;
  const AblationMetric& metric = table.metrics.front();
  const double factor = metric.format.isPercent ? 100 : 1;
  chart.title = metric.title();
  chart.about = QStringLiteral("%1 \u00b7 %2").arg(nameOf(table.centre), spreadText(table));
  chart.axis = metric.title();
  chart.centre = nameOf(table.centre);
  for (const std::size_t variant : variants) {
    const AblationRow& row = table.rows.at(variant);
    const store::VariantSample& sample = row.cells.front().sample;
    ForestRow out = rowOf(data, row);
    out.number = shownNumber(table, sample, metric.format);
    out.text = sampleText(table, sample, metric);
    for (const auto& [seed, value] : sample.values) {
      addSeed(out, QObject::tr("%1, run %2").arg(seedName(seed)).arg(sample.runs.at(seed)),
              value * factor);
    }
    chart.rows.push_back(std::move(out));
  }
  const ShownNumber baseline =
      shownNumber(table, table.rows.at(table.baseline).cells.front().sample, metric.format);
  if (baseline.count > 0 && std::isfinite(baseline.centre)) chart.rule = baseline.centre;
  chart.ruleText = table.baselineLabel;
  return chart;
}

ForestChart forestDifferences(const CompareData& data, const AblationTable& table,
                              const std::vector<std::size_t>& variants) {
  ForestChart chart{.emptyText = QObject::tr("No variant has a counted run of a seed that %1 has.")
                                     .arg(table.baselineLabel)};
  if (table.metrics.empty()) return chart;
  const AblationMetric& metric = table.metrics.front();
  const double factor = metric.format.isPercent ? 100 : 1;
  chart.title = QObject::tr("Difference to %1").arg(table.baselineLabel);
  chart.about = QObject::tr("mean over common seeds \u00b7 \u00b1 half of the 95\u2009% interval");
  chart.axis = metric.format.isPercent
                   ? QObject::tr("\u0394 %1 (points)").arg(data.titleOf(metric.name))
                   : QStringLiteral("\u0394 ") + metric.title();
  chart.centre = nameOf(Centre::Mean);
  for (const std::size_t variant : variants) {
    const AblationRow& row = table.rows.at(variant);
    if (row.isBaseline) continue;
    const PairedSample& paired = row.cells.front().paired;
    if (paired.keys.empty()) continue;
    ForestRow out = rowOf(data, row);
    out.number = shownNumber(paired.statistics, metric.format);
    out.text = differenceText(paired.statistics, metric);
    const QString sign = outcomeSign(row.cells.front().outcome);
    if (!sign.isEmpty()) out.text += QLatin1Char(' ') + sign;
    for (std::size_t i = 0; i < paired.keys.size(); ++i)
      addSeed(out, seedName(paired.keys[i]), paired.differences[i] * factor);
    chart.rows.push_back(std::move(out));
  }
  chart.rule = 0;
  chart.ruleText = table.baselineLabel;
  return chart;
}

ForestFigure::ForestFigure(ForestChart chart, FigureStyle style)
    : Figure(std::move(style)), chart_(std::move(chart)) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto include = [&](double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const ForestRow& row : chart_.rows) {
    if (isDrawn(row)) include(row.number.centre);
    for (const auto& [name, value] : row.seeds) include(value);
  }
  if (chart_.rule) include(*chart_.rule);
  // Two seeds have an interval of twelve times their distance: it must not squeeze the others.
  const double reach = high - low;
  const double least = low - reach, most = high + reach;
  for (const ForestRow& row : chart_.rows) {
    if (!hasEnds(row)) continue;
    include(std::max(row.number.lower, least));
    include(std::min(row.number.upper, most));
  }
  range_ = soundRange({low, high}, AxisScale::Linear);
  const double room = (range_[1] - range_[0]) * 0.04;
  range_ = {range_[0] - room, range_[1] + room};
}

QSize ForestFigure::sizeHint() const {
  constexpr int kWidth = 540, kFrame = 120, kRow = 28;
  return {kWidth, kFrame + kRow * static_cast<int>(chart_.rows.size())};
}

double ForestFigure::leastHeight(double width) const {
  return 2 * kMargin + headerHeight(width - 2 * kMargin, chart_.title, chart_.about) + kRuleLine +
         kLeastRow * static_cast<double>(chart_.rows.size()) + kNumbers +
         (style().hasAxisTitles ? kAxisTitle : 0);
}

QString ForestFigure::summary() const {
  QStringList rows;
  for (const ForestRow& row : chart_.rows) rows << QStringLiteral("%1 %2").arg(row.name, row.text);
  return QObject::tr("Forest plot, %1: %2.")
      .arg(chart_.title, rows.isEmpty() ? chart_.emptyText : rows.join(QStringLiteral("; ")));
}

QString ForestFigure::csv() const {
  QString text = QStringLiteral("variant,part,value,lower,upper\n");
  const auto line = [&](const ForestRow& row, const QString& part, double value,
                        const QString& ends) {
    text += csvText(row.name) + QLatin1Char(',') + csvText(part) + QLatin1Char(',') +
            csvNumber(value) + ends + QLatin1Char('\n');
  };
  for (const ForestRow& row : chart_.rows) {
    const QString ends = hasEnds(row) ? QStringLiteral(",%1,%2").arg(csvNumber(row.number.lower),
                                                                     csvNumber(row.number.upper))
                                      : QStringLiteral(",,");
    if (isDrawn(row)) line(row, chart_.centre, row.number.centre, ends);
    for (const auto& [name, value] : row.seeds) line(row, name, value, QStringLiteral(",,"));
  }
  return text;
}

bool ForestFigure::isCut() const {
  return std::any_of(chart_.rows.begin(), chart_.rows.end(), [this](const ForestRow& row) {
    return hasEnds(row) && (row.number.lower < range_[0] || row.number.upper > range_[1]);
  });
}

QString ForestFigure::note() const {
  return isCut() ? QObject::tr("arrow: the interval continues beyond the axis") : QString();
}

double ForestFigure::pixelOf(const QRectF& plot, double value) const {
  return plot.left() + plot.width() * shareOf(AxisScale::Linear, range_, value);
}

void ForestFigure::drawRow(QPainter& painter, const QRectF& plot, double y,
                           const ForestRow& row) const {
  const QColor color = seriesColor(row.series, style().theme);
  if (hasEnds(row)) {
    const double left = std::max(plot.left(), pixelOf(plot, row.number.lower));
    const double right = std::min(plot.right(), pixelOf(plot, row.number.upper));
    constexpr double kCap = 4;
    painter.setPen(QPen(color, 1.5));
    painter.drawLine(QPointF(left, y), QPointF(right, y));
    const auto end = [&](double x, bool isBeyond, double inward) {
      const double slant = isBeyond ? inward * kCap : 0;  // an arrow in place of a cap
      painter.drawLine(QPointF(x, y), QPointF(x + slant, y - kCap));
      painter.drawLine(QPointF(x, y), QPointF(x + slant, y + kCap));
    };
    end(left, row.number.lower < range_[0], 1);
    end(right, row.number.upper > range_[1], -1);
  }
  for (const auto& [name, value] : row.seeds) {
    painter.setPen(QPen(color, 1));
    painter.setBrush(themeColors().panel);
    painter.drawEllipse(QPointF(pixelOf(plot, value), y), 2.5, 2.5);
  }
  painter.setBrush(Qt::NoBrush);
  if (isDrawn(row)) {
    constexpr double kCentre = 4.5;
    drawSymbol(painter, seriesSymbol(row.series), {pixelOf(plot, row.number.centre), y}, color,
               themeColors().panel, kCentre);
  }
}

void ForestFigure::draw(QPainter& painter, const QRectF& area) {
  const QRectF body = drawHeader(painter, area, chart_.title, chart_.about);
  if (chart_.rows.empty()) {
    painter.setFont(smallLetters());
    painter.setPen(themeColors().muted);
    painter.drawText(body, Qt::AlignCenter | Qt::TextWordWrap, chart_.emptyText);
    return;
  }
  const QFontMetricsF small(smallLetters()), axis(axisLetters());
  double names = 0, texts = 0;
  for (const ForestRow& row : chart_.rows) {
    names = std::max(names, small.horizontalAdvance(row.name) + 8);
    texts = std::max(texts, axis.horizontalAdvance(row.text) + 2);
  }
  names = std::min(names, body.width() * 0.35);
  // The numbers stand in the table, too: a narrow picture goes without them.
  const bool hasTexts = body.width() - names - texts > 180;
  QRectF plot = body.adjusted(names + kGapOfColumns, kRuleLine,
                              -(hasTexts ? texts + kGapOfColumns : kGapOfColumns), -kNumbers);
  if (style().hasAxisTitles) plot.setBottom(plot.bottom() - kAxisTitle);
  const auto rows = static_cast<double>(chart_.rows.size());
  const double height = std::min(plot.height() / rows, kMostRow);
  plot.setHeight(height * rows);

  painter.setFont(axisLetters());
  ChartAxis numbers;
  numbers.format = [](double value, int decimals) {
    constexpr int kMostDecimals = 6;
    return decimals > kMostDecimals ? compactNumber(value, 3) : number(value, decimals);
  };
  const ChartTicks ticks =
      chartTicks(numbers, range_, std::max(2, static_cast<int>(plot.width() / 55)));
  for (std::size_t i = 0; i < ticks.values.size(); ++i) {
    const double x = pixelOf(plot, ticks.values[i]);
    painter.setPen(QPen(themeColors().grid, 1));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(themeColors().muted);
    painter.drawText(QRectF(x - 40, plot.bottom() + 4, 80, 16), Qt::AlignHCenter | Qt::AlignTop,
                     ticks.labels[static_cast<qsizetype>(i)]);
  }
  if (style().hasAxisTitles) {
    const QRectF line(body.left(), plot.bottom() + kNumbers, body.width(), kAxisTitle);
    const double title = axis.horizontalAdvance(chart_.axis) + 2;
    drawLine(painter, line, Qt::AlignRight | Qt::AlignVCenter, chart_.axis);
    drawLine(painter, line.adjusted(0, 0, -title - kGapOfColumns, 0),
             Qt::AlignLeft | Qt::AlignVCenter, note());
  }
  if (chart_.rule) {
    const double x = pixelOf(plot, *chart_.rule);
    painter.setPen(QPen(themeColors().muted, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    const double room = axis.horizontalAdvance(chart_.ruleText) + 4;
    const double left =
        std::clamp(x - room / 2, body.left(), std::max(body.left(), body.right() - room));
    drawLine(painter, QRectF(left, plot.top() - kRuleLine, room, kRuleLine),
             Qt::AlignHCenter | Qt::AlignVCenter, chart_.ruleText);
  }
  for (std::size_t i = 0; i < chart_.rows.size(); ++i) {
    const ForestRow& row = chart_.rows[i];
    const double y = plot.top() + height * (static_cast<double>(i) + 0.5);
    QFont font = smallLetters();
    if (row.isBaseline) font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(themeColors().text);
    drawLine(painter, QRectF(body.left(), y - 9, names, 18), Qt::AlignLeft | Qt::AlignVCenter,
             row.name);
    drawRow(painter, plot, y, row);
    if (hasTexts) {
      painter.setFont(axisLetters());
      painter.setPen(themeColors().text);
      drawLine(painter, QRectF(body.right() - texts, y - 9, texts, 18),
               Qt::AlignRight | Qt::AlignVCenter, row.text);
    }
    addRegion(QRectF(body.left(), y - height / 2, body.width(), height), [&row](const QPointF&) {
      QStringList lines{QStringLiteral("%1: %2").arg(row.name, row.text)};
      for (const auto& [name, value] : row.seeds)
        lines << QStringLiteral("%1: %2").arg(name, compactNumber(value, 6));
      return lines.join(QLatin1Char('\n'));
    });
  }
}

}  // namespace vitrine::ui

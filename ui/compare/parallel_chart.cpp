#include "ui/compare/parallel_chart.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <set>

#include "ui/compare/ablation_table.h"
#include "ui/figures/chart_axis.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostAxes = 12;
constexpr double kSide = 64, kHead = 44, kFoot = 22;
constexpr double kSlantedHead = 84, kTightRoom = 70;

}  // namespace

QString ParallelAxis::valueText(double value) const {
  if (!words.isEmpty()) {
    const auto place = static_cast<qsizetype>(std::lround(value));
    return place >= 0 && place < words.size() ? words[place] : QString();
  }
  return compactNumber(value, 6);
}

double ParallelAxis::share(double value) const {
  double a = low, b = high, v = value;
  if (choice.isLog) {
    if (v <= 0) return choice.isFlipped ? 1 : 0;
    a = std::log(a);
    b = std::log(b);
    v = std::log(v);
  }
  const double part = b > a ? std::clamp((v - a) / (b - a), 0.0, 1.0) : 0.5;
  return choice.isFlipped ? 1 - part : part;
}

double ParallelAxis::valueAt(double share) const {
  const double part = choice.isFlipped ? 1 - share : share;
  if (choice.isLog) return std::exp(std::log(low) + part * (std::log(high) - std::log(low)));
  return low + part * (high - low);
}

std::vector<double> ParallelAxis::ticks(int most) const {
  std::vector<double> ticks;
  for (qsizetype word = 0; word < words.size(); ++word) ticks.push_back(static_cast<double>(word));
  if (!ticks.empty()) return ticks;
  // Values that a person set are round as they are.
  constexpr std::size_t kFew = 6;
  if (settings.size() <= kFew && !settings.empty()) return settings;
  ChartAxis round{.scale = choice.isLog ? AxisScale::Log : AxisScale::Linear};
  return chartTicks(round, {low, high}, std::clamp(most, 2, 10)).values;
}

QStringList ParallelAxis::tickTexts(const std::vector<double>& ticks) const {
  QStringList texts;
  for (const double tick : ticks) {
    const auto place = static_cast<qsizetype>(std::lround(tick));
    texts << (place >= 0 && place < names.size() ? names[place] : valueText(tick));
  }
  if (!words.isEmpty() || choice.isLog || texts.join(QString()).contains(QLatin1Char('e')))
    return texts;
  const auto decimals = [](const QString& text) {
    const qsizetype point = text.indexOf(QLatin1Char('.'));
    return point < 0 ? 0 : text.size() - point - 1;
  };
  qsizetype most = 0;
  for (const QString& text : texts) most = std::max(most, decimals(text));
  for (QString& text : texts) {
    const qsizetype missing = most - decimals(text);
    if (missing > 0 && missing == most) text += QLatin1Char('.');
    text += QString(missing, QLatin1Char('0'));
  }
  return texts;
}

bool ParallelChart::isKept(const ParallelLine& line) const {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& brush = axes[i].choice.brush;
    if (!brush) continue;
    if (!line.values[i] || *line.values[i] < (*brush)[0] || *line.values[i] > (*brush)[1])
      return false;
  }
  return true;
}

std::vector<std::int64_t> ParallelChart::keptRuns() const {
  std::vector<std::int64_t> runs;
  for (const ParallelLine& line : lines) {
    if (isKept(line)) runs.push_back(line.run);
  }
  return runs;
}

bool ParallelChart::isBrushed() const {
  return std::any_of(axes.begin(), axes.end(),
                     [](const ParallelAxis& axis) { return axis.choice.brush.has_value(); });
}

std::vector<ParallelAxisChoice> parallelAxes(const CompareData& data, const CompareChoice& choice) {
  if (!choice.parallel.empty()) return choice.parallel;
  std::vector<ParallelAxisChoice> axes;
  const std::vector<Quantity> telling = quantitiesOf(data, QuantityScope::Telling);
  const auto add = [&](bool isMetric) {
    for (const Quantity& quantity : telling) {
      if (axes.size() >= kMostAxes) break;
      if (quantity.id.starts_with("metric:") == isMetric)
        axes.push_back({quantity.id, false, false, std::nullopt});
    }
  };
  add(false);
  // What comes out stands on the right, whatever many keys differ.
  if (axes.size() > kMostAxes - 3) axes.resize(kMostAxes - 3);
  add(true);
  return axes;
}

ParallelChart parallelChart(const CompareData& data, const CompareChoice& choice) {
  ParallelChart chart{.title = QString::fromStdString(data.experiment)};
  const std::vector<Quantity>& all = data.quantities;
  for (const ParallelAxisChoice& one : parallelAxes(data, choice)) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Quantity& quantity) {
      return quantity.id == one.quantity;
    });
    if (found != all.end()) chart.axes.push_back({*found, one, 0, 1, {}, {}, {}});
  }
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    ParallelLine line{.run = data.runs[i].row.id};
    line.name = QObject::tr("%1, seed %2, run %3")
                    .arg(data.labels[data.ofRun[i]], QString::number(data.runs[i].row.seed),
                         QString::number(line.run));
    line.series = seriesOf(data, data.ofRun[i]);
    for (ParallelAxis& axis : chart.axes) {
      const Json value = quantityValue(data, i, axis.quantity, choice.value);
      if (value.is_null()) {
        line.values.emplace_back();
      } else if (axis.quantity.isNumber && value.is_number()) {
        line.values.emplace_back(value.get<double>());
      } else {
        const QString word = ui::valueText(value);
        if (!axis.words.contains(word)) {
          axis.words << word;
          QString name = namesOrText(value);
          if (axis.names.contains(name)) name += QStringLiteral(" (%1)").arg(axis.words.size());
          axis.names << name;
        }
        line.values.emplace_back(static_cast<double>(axis.words.indexOf(word)));
      }
    }
    chart.lines.push_back(std::move(line));
  }
  for (std::size_t i = 0; i < chart.axes.size(); ++i) {
    ParallelAxis& axis = chart.axes[i];
    bool isFirst = true;
    for (const ParallelLine& line : chart.lines) {
      const auto& value = line.values[i];
      if (!value || (axis.choice.isLog && *value <= 0)) continue;
      axis.low = isFirst ? *value : std::min(axis.low, *value);
      axis.high = isFirst ? *value : std::max(axis.high, *value);
      isFirst = false;
    }
    if (axis.quantity.id.starts_with("config:") && axis.words.isEmpty()) {
      std::set<double> values;
      for (const ParallelLine& line : chart.lines) {
        if (line.values[i]) values.insert(*line.values[i]);
      }
      axis.settings.assign(values.begin(), values.end());
    }
    if (!axis.words.isEmpty() || isFirst || axis.low <= 0) axis.choice.isLog = false;
    if (isFirst) axis.low = 0;
    if (axis.high <= axis.low) {
      const double room = axis.low == 0 ? 1 : std::abs(axis.low) * 0.1;
      axis.high = axis.low + room;
      if (!axis.choice.isLog) axis.low -= room;
    }
  }
  chart.about = chart.isBrushed()
                    ? QObject::tr("%1 of %2 runs are kept")
                          .arg(chart.keptRuns().size())
                          .arg(chart.lines.size())
                    : QObject::tr("one line a run, %1").arg(valueChoiceText(choice.value));
  return chart;
}

ParallelFigure::ParallelFigure(ParallelChart chart, FigureStyle style)
    : Figure(std::move(style)), chart_(std::move(chart)) {}

QString ParallelFigure::summary() const {
  QStringList names;
  for (const ParallelAxis& axis : chart_.axes) names << axis.quantity.name;
  return QObject::tr("Parallel coordinates of %1 runs over %2; %3.")
      .arg(chart_.lines.size())
      .arg(names.join(QStringLiteral(", ")), chart_.about);
}

QString ParallelFigure::csv() const {
  QStringList header{QStringLiteral("run"), QStringLiteral("name")};
  for (const ParallelAxis& axis : chart_.axes) header << csvText(axis.quantity.name);
  header << QStringLiteral("kept");
  QString text = header.join(QLatin1Char(',')) + QLatin1Char('\n');
  for (const ParallelLine& line : chart_.lines) {
    QStringList cells{QString::number(line.run), csvText(line.name)};
    for (std::size_t i = 0; i < chart_.axes.size(); ++i) {
      const ParallelAxis& axis = chart_.axes[i];
      cells << (!line.values[i]        ? QString()
                : axis.words.isEmpty() ? csvNumber(*line.values[i])
                                       : csvText(axis.valueText(*line.values[i])));
    }
    cells << (chart_.isKept(line) ? QStringLiteral("1") : QStringLiteral("0"));
    text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
  }
  return text;
}

ParallelFigure::Layout ParallelFigure::layout(const QRectF& area) const {
  Layout layout;
  layout.top = area.top() + headerHeight(area.width(), chart_.title, chart_.about) +
               (isTight(area.width()) ? kSlantedHead : kHead);
  layout.bottom = std::max(layout.top + 20, area.bottom() - kFoot);
  const std::size_t count = chart_.axes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count < 2 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
    layout.x.push_back(area.left() + kSide + share * (area.width() - 2 * kSide));
  }
  return layout;
}

bool ParallelFigure::isTight(double width) const {
  const auto gaps = static_cast<double>(chart_.axes.size()) - 1;
  return gaps >= 1 && (width - 2 * kSide) / gaps - 8 < kTightRoom;
}

double ParallelFigure::leastHeight(double width) const {
  constexpr double kMargins = 2 * kMargin, kAxis = 120;
  const double room = width - kMargins;
  return kMargins + headerHeight(room, chart_.title, chart_.about) +
         (isTight(room) ? kSlantedHead : kHead) + kAxis + kFoot;
}

QPointF ParallelFigure::pointOf(const Layout& layout, std::size_t axis, double value) const {
  return {layout.x[axis],
          layout.bottom - chart_.axes[axis].share(value) * (layout.bottom - layout.top)};
}

void ParallelFigure::draw(QPainter& painter, const QRectF& area) {
  static_cast<void>(drawHeader(painter, area, chart_.title, chart_.about));
  if (chart_.axes.empty()) {
    painter.setPen(themeColors().muted);
    painter.drawText(area, Qt::AlignCenter,
                     QObject::tr("Nothing differs between these runs: choose axes."));
    return;
  }
  const Layout place = layout(area);
  painter.setRenderHint(QPainter::Antialiasing);
  // Kept lines above the others.
  for (const bool isKept : {false, true}) {
    for (const ParallelLine& line : chart_.lines) {
      if (chart_.isKept(line) != isKept) continue;
      QPainterPath path;
      bool isOpen = false;
      for (std::size_t i = 0; i < chart_.axes.size(); ++i) {
        if (!line.values[i]) {
          isOpen = false;
          continue;
        }
        const QPointF point = pointOf(place, i, *line.values[i]);
        if (isOpen) {
          path.lineTo(point);
        } else {
          path.moveTo(point);
        }
        isOpen = true;
      }
      QColor color = isKept ? seriesColor(line.series, style().theme) : themeColors().muted;
      color.setAlphaF(isKept ? (chart_.lines.size() > 60 ? 0.55F : 0.9F) : 0.18F);
      painter.setPen(QPen(color, isKept && chart_.lines.size() <= 60 ? 1.5 : 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawPath(path);
    }
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QFontMetricsF metrics(axisLetters());
  const bool isSlanted = isTight(area.width());
  const double room = chart_.axes.size() < 2 ? area.width() - 8 : place.x[1] - place.x[0] - 8;
  for (std::size_t i = 0; i < chart_.axes.size(); ++i) {
    const ParallelAxis& axis = chart_.axes[i];
    const double x = place.x[i];
    const bool hasFocus = static_cast<int>(i) == focusAxis_;
    painter.setPen(QPen(hasFocus ? themeColors().accent : themeColors().muted, hasFocus ? 2 : 1));
    painter.drawLine(QPointF(x, place.top), QPointF(x, place.bottom));
    if (axis.choice.brush) {
      const double a = pointOf(place, i, (*axis.choice.brush)[0]).y();
      const double b = pointOf(place, i, (*axis.choice.brush)[1]).y();
      QColor fill = themeColors().accent;
      fill.setAlphaF(0.3F);
      painter.setPen(QPen(themeColors().accent, 1));
      painter.setBrush(fill);
      painter.drawRect(QRectF(x - 5, std::min(a, b), 10, std::max(2.0, std::abs(a - b))));
      painter.setBrush(Qt::NoBrush);
    }
    QString title = axis.quantity.name;
    if (!axis.quantity.unit.isEmpty()) title += QStringLiteral(" (%1)").arg(axis.quantity.unit);
    QStringList marks;
    if (axis.choice.isLog) marks << QObject::tr("log");
    if (axis.choice.isFlipped) marks << QObject::tr("reversed");
    const QRectF head(x - room / 2, place.top - kHead, room, kHead / 2);
    painter.setFont(smallLetters());
    painter.setPen(hasFocus ? themeColors().accent : themeColors().text);
    if (isSlanted) {
      if (!marks.isEmpty()) title += QStringLiteral(" (%1)").arg(marks.join(QStringLiteral(", ")));
      const double length = std::min(112.0, (area.right() - x) * std::sqrt(2.0));
      painter.save();
      painter.translate(x, place.top - 12);
      painter.rotate(-45);
      drawLine(painter, QRectF(0, -8, length, 16), Qt::AlignLeft | Qt::AlignVCenter, title);
      painter.restore();
    } else {
      drawLine(painter, head, Qt::AlignHCenter | Qt::AlignVCenter, title);
      painter.setFont(axisLetters());
      painter.setPen(themeColors().muted);
      drawLine(painter, head.translated(0, kHead / 2 - 4), Qt::AlignHCenter | Qt::AlignVCenter,
               marks.join(QStringLiteral(", ")));
    }
    std::vector<double> ticks = axis.ticks(static_cast<int>((place.bottom - place.top) / 50));
    double last = 1e9;
    std::sort(ticks.begin(), ticks.end(),
              [&](double a, double b) { return axis.share(a) < axis.share(b); });
    const QStringList texts = axis.tickTexts(ticks);
    for (std::size_t at = 0; at < ticks.size(); ++at) {
      const double y = pointOf(place, i, ticks[at]).y();
      if (last - y < metrics.height()) continue;
      last = y;
      painter.setPen(themeColors().muted);
      painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y));
      // The last axis has the margin of the picture for its labels.
      const bool isLast = i + 1 == chart_.axes.size();
      const QRectF label(x + 6, y - 8, isLast ? kSide - 6 : room - 8, 16);
      const QString& text = texts[static_cast<qsizetype>(at)];
      // Part of a number is another number.
      if (isSlanted && (axis.words.isEmpty() || label.width() < 28) &&
          metrics.horizontalAdvance(text) > label.width())
        continue;
      // Lines end before the letters and continue after them.
      const double width = std::min(metrics.horizontalAdvance(text), label.width());
      painter.fillRect(QRectF(label.left(), y - 7, width + 2, 14), themeColors().panel);
      drawLine(painter, label, Qt::AlignLeft | Qt::AlignVCenter, text);
    }
    const QString tip = title;
    addRegion(QRectF(x - room / 2, place.top - kHead, room, kHead), [tip](const QPointF&) {
      return tip + QObject::tr(
                       "\ndrag along the axis to keep runs; L: logarithmic, "
                       "F: reverse, Delete: drop the brush");
    });
  }
  addRegion(QRectF(area.left(), place.top, area.width(), place.bottom - place.top),
            [this, place](const QPointF& point) {
              // The nearest line between the two axes around the pointer.
              std::size_t i = 0;
              while (i + 2 < place.x.size() && point.x() > place.x[i + 1]) ++i;
              if (place.x.size() < 2) return QString();
              const double share =
                  std::clamp((point.x() - place.x[i]) / (place.x[i + 1] - place.x[i]), 0.0, 1.0);
              const ParallelLine* nearest = nullptr;
              double distance = 8;
              for (const ParallelLine& line : chart_.lines) {
                if (!line.values[i] || !line.values[i + 1]) continue;
                const double y = pointOf(place, i, *line.values[i]).y() * (1 - share) +
                                 pointOf(place, i + 1, *line.values[i + 1]).y() * share;
                if (std::abs(y - point.y()) > distance) continue;
                distance = std::abs(y - point.y());
                nearest = &line;
              }
              if (nearest == nullptr) return QString();
              QStringList lines{nearest->name};
              for (std::size_t k = 0; k < chart_.axes.size(); ++k) {
                lines << chart_.axes[k].quantity.name + QStringLiteral(": ") +
                             (nearest->values[k] ? chart_.axes[k].valueText(*nearest->values[k])
                                                 : QStringLiteral("\u2013"));
              }
              return lines.join(QLatin1Char('\n'));
            });
}

}  // namespace vitrine::ui

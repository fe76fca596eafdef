#include "ui/monitor/value_bars.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr double kRow = 26, kBar = 12, kGap = 8, kLargestNameShare = 0.4;
constexpr double kEnd = 3;  // of what lies around a mean: half of the stroke across

}  // namespace

ValueBars::ValueBars(QString title, QString about, std::vector<ValueBar> bars,
                     const store::MetricFormat& format, FigureStyle style)
    : Figure(std::move(style)),
      title_(std::move(title)),
      about_(std::move(about)),
      bars_(std::move(bars)),
      format_(format) {}

QString ValueBars::textOf(const ValueBar& bar) const {
  const QString text = metricText(format_, bar.value);
  return bar.around ? QStringLiteral("%1 [%2, %3]")
                          .arg(text, metricText(format_, (*bar.around)[0]),
                               metricText(format_, (*bar.around)[1]))
                    : text;
}

QString ValueBars::summary() const {
  QStringList rows;
  for (const ValueBar& bar : bars_) rows << QStringLiteral("%1: %2").arg(bar.name, textOf(bar));
  return QStringLiteral("%1, %2").arg(title_, rows.join(QStringLiteral("; ")));
}

QString ValueBars::csv() const {
  const bool isAround = std::any_of(bars_.begin(), bars_.end(),
                                    [](const ValueBar& bar) { return bar.around.has_value(); });
  QString text =
      QStringLiteral("run,name,value%1\n").arg(QLatin1String(isAround ? ",low,high" : ""));
  for (const ValueBar& bar : bars_) {
    text += QString::number(bar.run) + QLatin1Char(',') + csvText(bar.name) + QLatin1Char(',') +
            csvNumber(bar.value);
    if (bar.around) {
      text += QLatin1Char(',') + csvNumber((*bar.around)[0]) + QLatin1Char(',') +
              csvNumber((*bar.around)[1]);
    } else if (isAround) {
      text += QStringLiteral(",,");
    }
    text += QLatin1Char('\n');
  }
  return text;
}

double ValueBars::leastHeight(double width) const {
  return static_cast<double>(bars_.size()) * kRow + 2 * kMargin +
         (title_.isEmpty() ? 0 : headerHeight(width, title_, about_));
}

void ValueBars::draw(QPainter& painter, const QRectF& area) {
  const QRectF body = title_.isEmpty() ? area : drawHeader(painter, area, title_, about_);
  if (bars_.empty()) return;
  painter.setFont(axisLetters());
  const QFontMetricsF metrics(axisLetters());
  double low = 0, high = 0, names = 0, values = 0;
  for (const ValueBar& bar : bars_) {
    names = std::max(names, metrics.horizontalAdvance(bar.name));
    values = std::max(values, metrics.horizontalAdvance(textOf(bar)));
    for (const double value : {bar.value, bar.around ? (*bar.around)[0] : bar.value,
                               bar.around ? (*bar.around)[1] : bar.value}) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(high > low)) high = low + 1;
  names = std::min(names, body.width() * kLargestNameShare);
  // More runs than rows fit: rows become lower, then the last ones are counted.
  const auto rows = static_cast<double>(bars_.size());
  const double row = std::clamp(body.height() / rows, metrics.height(), kRow);
  const auto shown = std::min<std::size_t>(
      bars_.size(), static_cast<std::size_t>(std::max(1.0, std::floor(body.height() / row))));
  const QRectF bars(body.left() + names + kGap, body.top(),
                    std::max(10.0, body.width() - names - values - 2 * kGap), body.height());
  const auto xOf = [&](double value) {
    return bars.left() + bars.width() * (value - low) / (high - low);
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const ValueBar& bar = bars_[i];
    const QRectF line(body.left(), body.top() + static_cast<double>(i) * row, body.width(), row);
    painter.setPen(themeColors().muted);
    const bool isRest = i + 1 == shown && shown < bars_.size();
    const QString name = isRest ? QObject::tr("and %1 more").arg(bars_.size() - i) : bar.name;
    painter.drawText(QRectF(line.left(), line.top(), isRest ? line.width() : names, row),
                     Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(name, Qt::ElideMiddle, isRest ? line.width() : names));
    if (isRest) break;
    double end = std::isfinite(bar.value) ? xOf(bar.value) : xOf(0);
    const double thickness = std::min(kBar, row - 4);
    const QRectF rect = QRectF(QPointF(xOf(0), line.center().y() - thickness / 2),
                               QPointF(end, line.center().y() + thickness / 2))
                            .normalized();
    painter.fillRect(rect, seriesColor(seriesOf(bar.run), style().theme));
    painter.setPen(themeColors().text);
    if (bar.around && std::isfinite((*bar.around)[0]) && std::isfinite((*bar.around)[1])) {
      const double left = xOf((*bar.around)[0]), right = xOf((*bar.around)[1]);
      const double y = line.center().y();
      painter.drawLine(QPointF(left, y), QPointF(right, y));
      for (const double x : {left, right})
        painter.drawLine(QPointF(x, y - kEnd), QPointF(x, y + kEnd));
      end = std::max(end, right);
    }
    painter.drawText(QRectF(std::max(end, xOf(0)) + kGap, line.top(), values + kGap, row),
                     Qt::AlignLeft | Qt::AlignVCenter, textOf(bar));
    addRegion(line, [bar, this](const QPointF&) {
      return QStringLiteral("%1: %2").arg(bar.name, textOf(bar));
    });
  }
  painter.setPen(QPen(themeColors().line, 1));
  painter.drawLine(QPointF(xOf(0), body.top()),
                   QPointF(xOf(0), body.top() + static_cast<double>(shown) * row));
}

}  // namespace vitrine::ui

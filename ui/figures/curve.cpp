// A line through points, reduced to the smallest and largest value of each pixel column before it
// is drawn.
#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

class CurveFigure final : public Figure {
 public:
  CurveFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 2 || view.shape[1] != 2)
      throw FileError("a curve needs the shape [points, 2]");
    for (std::int64_t i = 0; i < view.shape[0]; ++i)
      points_.emplace_back(view.at(2 * i), view.at(2 * i + 1));
    isAscending_ =
        std::is_sorted(points_.begin(), points_.end(),
                       [](const QPointF& a, const QPointF& b) { return !(a.x() >= b.x()); });
    xTitle_ = metaText(meta, "x");
    yTitle_ = metaText(meta, "y");
    if (yTitle_.isEmpty()) yTitle_ = metaText(meta, "unit");
  }

  QString summary() const override {
    return QStringLiteral("Curve of %1 points, from %2 to %3")
        .arg(points_.size())
        .arg(shortNumber(low()), shortNumber(high()));
  }

  QString csv() const override {
    QString text = csvText(xTitle_.isEmpty() ? QStringLiteral("x") : xTitle_) + QLatin1Char(',') +
                   csvText(yTitle_.isEmpty() ? QStringLiteral("y") : yTitle_) + QLatin1Char('\n');
    for (const QPointF& point : points_) {
      text += csvNumber(point.x()) + QLatin1Char(',') + csvNumber(point.y()) + QLatin1Char('\n');
    }
    return text;
  }

  std::optional<std::array<double, 2>> valueRange() const override {
    return std::array{low(), high()};
  }

 private:
  double low() const {
    return extreme([](double a, double b) { return a < b; });
  }
  double high() const {
    return extreme([](double a, double b) { return a > b; });
  }
  template <class Better>
  double extreme(Better better) const {
    double best = std::nan("");
    for (const QPointF& point : points_) {
      if (std::isfinite(point.y()) && (std::isnan(best) || better(point.y(), best)))
        best = point.y();
    }
    return best;
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QString title = metaText(meta_, "title");
    const QRectF body = drawHeader(painter, area, title.isEmpty() ? QStringLiteral("Curve") : title,
                                   metaAbout(meta_));
    double x0 = std::nan(""), x1 = std::nan("");
    for (const QPointF& point : points_) {
      if (!std::isfinite(point.x())) continue;
      x0 = std::isnan(x0) ? point.x() : std::min(x0, point.x());
      x1 = std::isnan(x1) ? point.x() : std::max(x1, point.x());
    }
    double y0 = style().range ? (*style().range)[0] : low();
    double y1 = style().range ? (*style().range)[1] : high();
    if (!std::isfinite(x0) || !std::isfinite(y0)) {
      painter.setFont(bodyLetters());
      painter.setPen(themeColors().muted);
      painter.drawText(body, Qt::AlignCenter, QStringLiteral("No finite points."));
      return;
    }
    if (!(x1 > x0)) x1 = x0 + 1;
    const double margin = y1 > y0 ? 0.04 * (y1 - y0) : std::max(1e-12, 0.1 * std::abs(y0));
    y0 -= margin;
    y1 += margin;
    const Axes axes =
        drawAxes(painter, themeColors(), body, x0, x1, y0, y1, {xTitle_, {}, 6}, {yTitle_, {}, 5});
    painter.setClipRect(axes.plot.adjusted(-1, -1, 1, 1), Qt::IntersectClip);
    painter.setPen(QPen(seriesOrAccent(), 1));
    if (points_.size() > 4 * static_cast<std::size_t>(axes.plot.width())) {
      drawColumns(painter, axes);
    } else {
      const auto isFinite = [this](std::size_t i) {
        return i < points_.size() && std::isfinite(points_[i].x()) && std::isfinite(points_[i].y());
      };
      QPainterPath path, dots;
      for (std::size_t i = 0; i < points_.size(); ++i) {
        if (!isFinite(i)) continue;
        const QPointF place = axes.at(points_[i].x(), points_[i].y());
        const bool isOpen = i > 0 && isFinite(i - 1);
        if (isOpen) {
          path.lineTo(place);
        } else {
          path.moveTo(place);
        }
        // A point between two gaps is not a line.
        if (!isOpen && !isFinite(i + 1)) dots.addEllipse(place, 1.5, 1.5);
      }
      painter.fillPath(dots, seriesOrAccent());
      painter.setBrush(Qt::NoBrush);
      painter.drawPath(path);
    }
    addRegion(axes.plot, [this, axes](const QPointF& pointer) {
      const double x = axes.xOf(pointer.x());
      const auto isCloser = [x](const QPointF& left, const QPointF& right) {
        return std::abs(left.x() - x) < std::abs(right.x() - x);
      };
      auto from = points_.begin(), to = points_.end();
      if (isAscending_) {  // a pointer that moves asks often
        from = std::lower_bound(from, to, x,
                                [](const QPointF& point, double at) { return point.x() < at; });
        to = from == to ? to : from + 1;
        if (from != points_.begin()) --from;
      }
      const auto nearest = std::min_element(from, to, isCloser);
      if (nearest == points_.end()) return QString();
      return QStringLiteral("%1: %2").arg(shortNumber(nearest->x()), shortNumber(nearest->y()));
    });
  }

  void drawColumns(QPainter& painter, const Axes& axes) const {
    const int width = std::max(1, static_cast<int>(axes.plot.width()));
    std::vector<double> lows(static_cast<std::size_t>(width), std::nan(""));
    std::vector<double> highs = lows;
    for (const QPointF& point : points_) {
      if (!std::isfinite(point.x()) || !std::isfinite(point.y())) continue;
      const int column =
          std::clamp(static_cast<int>(unitOf(point.x(), axes.x0, axes.x1) * width), 0, width - 1);
      double& columnLow = lows[static_cast<std::size_t>(column)];
      double& columnHigh = highs[static_cast<std::size_t>(column)];
      columnLow = std::isnan(columnLow) ? point.y() : std::min(columnLow, point.y());
      columnHigh = std::isnan(columnHigh) ? point.y() : std::max(columnHigh, point.y());
    }
    for (int column = 0; column < width; ++column) {
      const auto i = static_cast<std::size_t>(column);
      if (std::isnan(lows[i])) continue;
      const double x = axes.plot.left() + column + 0.5;
      painter.drawLine(QPointF(x, axes.at(0, lows[i]).y()),
                       QPointF(x, axes.at(0, highs[i]).y() - 0.5));
    }
  }

  Json meta_;
  std::vector<QPointF> points_;
  bool isAscending_ = false;
  QString xTitle_, yTitle_;
};

}  // namespace

std::unique_ptr<Figure> makeCurve(const Json& meta, std::vector<std::byte> data,
                                  FigureStyle style) {
  return std::make_unique<CurveFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui

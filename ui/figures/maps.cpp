// Heat maps: one, or a stack of them as small multiples on one colour range.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

constexpr double kMapBar = 20;

class HeatmapFigure final : public Figure {
 public:
  HeatmapFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 2 && view.shape.size() != 3)
      throw FileError("a heat map needs the shape [rows, columns] or [n, rows, columns]");
    const std::size_t first = view.shape.size() - 2;
    const std::vector<int> sides =
        sidesOf(view, first == 0 ? std::vector{65'536, 65'536} : std::vector{4096, 65'536, 65'536});
    maps_ = first == 0 ? 1 : sides[0];
    rows_ = sides[first];
    columns_ = sides[first + 1];
    values_.reserve(static_cast<std::size_t>(view.count()));
    for (std::int64_t i = 0; i < view.count(); ++i) values_.push_back(view.at(i));
    labels_ = metaTexts(meta, {"labels", "names"});
    if (const QStringList layers = metaTexts(meta, {"layers"});
        labels_.isEmpty() && layers.size() == maps_) {
      for (const QString& layer : layers) labels_ << QObject::tr("layer ") + layer;
    }
    if (labels_.isEmpty()) labels_ = metaTexts(meta, {"sample_ids"});
    const QStringList axes = metaTexts(meta, {"axes"});
    if (axes.size() >= 2) {
      rowName_ = axes[axes.size() - 2];
      columnName_ = axes.last();
    }
  }

  QString summary() const override {
    const std::array<double, 2> extremes = rangeOf(0, maps_);
    return QObject::tr("%1 of %2 x %3 cells, from %4 to %5")
        .arg(counted(maps_, QObject::tr("heat map"), QObject::tr("heat maps")))
        .arg(rows_)
        .arg(columns_)
        .arg(shortNumber(extremes[0]), shortNumber(extremes[1]));
  }

  QString csv() const override {
    QString text =
        maps_ > 1 ? QStringLiteral("map,row,column,value\n") : QStringLiteral("row,column,value\n");
    for (int map = 0; map < maps_; ++map) {
      for (int row = 0; row < rows_; ++row) {
        for (int column = 0; column < columns_; ++column) {
          if (maps_ > 1) text += QString::number(map) + QLatin1Char(',');
          text += QStringLiteral("%1,%2,%3\n")
                      .arg(row)
                      .arg(column)
                      .arg(csvNumber(value(map, row, column)));
        }
      }
    }
    return text;
  }

  std::optional<std::array<double, 2>> valueRange() const override { return rangeOf(0, maps_); }
  int imageCount() const override { return maps_ > 1 ? maps_ : 0; }
  double fittingHeight(double width) const override {
    if (maps_ == 0 || rows_ == 0 || columns_ == 0) return 0;
    const double inner = width - 2 * kMargin;
    return 2 * kMargin + headerHeight(inner, title(), about()) +
           tilesHeight(maps_, inner, aspect(), labelHeight()) + kMapBar + 4;
  }

 private:
  QString title() const {
    const QString own = metaText(meta_, "title");
    return own.isEmpty() ? QObject::tr("Heat map") : own;
  }
  /// On paper no tool tip says what rows and columns are.
  QString about() const {
    QStringList parts;
    if (const QString text = metaAbout(meta_); !text.isEmpty()) parts << text;
    if (style().isOnPaper() && metaTexts(meta_, {"axes"}).size() >= 2)
      parts << QObject::tr("rows: %1, columns: %2").arg(rowName_, columnName_);
    return parts.join(QStringLiteral(" \u00b7 "));
  }
  double aspect() const { return static_cast<double>(columns_) / rows_; }
  double labelHeight() const { return maps_ > 1 ? 18 : 0; }
  double value(int map, int row, int column) const {
    return values_[(static_cast<std::size_t>(map) * static_cast<std::size_t>(rows_) +
                    static_cast<std::size_t>(row)) *
                       static_cast<std::size_t>(columns_) +
                   static_cast<std::size_t>(column)];
  }

  std::array<double, 2> rangeOf(int from, int to) const {
    double low = std::nan(""), high = std::nan("");
    const std::size_t size = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_);
    for (std::size_t i = static_cast<std::size_t>(from) * size;
         i < static_cast<std::size_t>(to) * size; ++i) {
      if (!std::isfinite(values_[i])) continue;
      low = std::isnan(low) ? values_[i] : std::min(low, values_[i]);
      high = std::isnan(high) ? values_[i] : std::max(high, values_[i]);
    }
    return {low, high};
  }

  QColor colorOf(double cell, const std::array<double, 2>& range) const {
    if (!std::isfinite(cell)) return themeColors().line;
    if (range[0] < 0 && range[1] > 0) return diverging(cell / std::max(-range[0], range[1]));
    return mapColor(unitOf(cell, range[0], range[1]));
  }

  void draw(QPainter& painter, const QRectF& area) override {
    QRectF body = drawHeader(painter, area, title(), about());
    if (maps_ == 0 || rows_ == 0 || columns_ == 0) {
      drawNothing(painter, body, QObject::tr("No cells."));
      return;
    }
    const bool isShared = style().scale == FigureStyle::Scale::Shared || style().range;
    const std::array<double, 2> all = style().range ? *style().range : rangeOf(0, maps_);
    const bool hasLabels = maps_ > 1;
    const double label = labelHeight();
    const Tiles tiles = tilesIn(maps_, body.size() - QSizeF(0, kMapBar + 4), aspect(), label);
    const double left =
        body.left() + (style().isOnPaper() ? (body.width() - tiles.width()) / 2 : 0);
    const int down = (maps_ + tiles.across - 1) / tiles.across;
    // Right below the maps, on paper as wide as they are.
    const QRectF bar(
        left,
        body.top() + tiles.at((down - 1) * tiles.across, label).y() + label + tiles.size.height() +
            8,
        style().isOnPaper() ? std::max(tiles.width(), std::min(260.0, body.width())) : body.width(),
        kMapBar - 4);
    for (int map = 0; map < maps_; ++map) {
      const QPointF corner = QPointF(left, body.top()) + tiles.at(map, label);
      if (hasLabels) {
        painter.setFont(axisLetters());
        painter.setPen(themeColors().muted);
        drawLine(painter, QRectF(corner, QSizeF(tiles.size.width(), label)),
                 Qt::AlignLeft | Qt::AlignVCenter,
                 map < labels_.size() ? labels_[map] : QString::number(map));
      }
      const QRectF rect(corner + QPointF(0, label), tiles.size);
      const std::array<double, 2> range = isShared ? all : rangeOf(map, map + 1);
      drawCells(painter, rect, rows_, columns_,
                [&](int row, int column) { return colorOf(value(map, row, column), range); });
      if (hasLabels && map == style().image && !style().isOnPaper()) drawRing(painter, rect);
      addRegion(rect, [this, rect, map](const QPointF& at) {
        const auto [row, column] = cellAt(rect, rows_, columns_, at);
        return QStringLiteral("%1 %2, %3 %4: %5")
            .arg(rowName_, QString::number(row), columnName_, QString::number(column),
                 shortNumber(value(map, row, column)));
      });
      addTarget(rect, FigureTarget{.image = map});
    }
    const QString unit = metaText(meta_, "unit");
    if (!isShared && maps_ > 1) {
      painter.setFont(axisLetters());
      painter.setPen(themeColors().muted);
      drawLine(painter, bar, Qt::AlignLeft | Qt::AlignVCenter,
               QObject::tr("each map on its own scale"));
    } else if (all[0] < 0 && all[1] > 0) {
      const double most = std::max(-all[0], all[1]);
      drawColorBar(painter, themeColors(), bar, -most, most, unit,
                   [](double t) { return diverging(2 * t - 1); });
    } else {
      drawColorBar(painter, themeColors(), bar, all[0], all[1], unit,
                   [this](double t) { return mapColor(t); });
    }
  }

  Json meta_;
  int maps_ = 0, rows_ = 0, columns_ = 0;
  std::vector<double> values_;
  QStringList labels_;
  QString rowName_ = QObject::tr("row"), columnName_ = QObject::tr("column");
};

}  // namespace

std::unique_ptr<Figure> makeHeatmap(const Json& meta, std::vector<std::byte> data,
                                    FigureStyle style) {
  return std::make_unique<HeatmapFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui

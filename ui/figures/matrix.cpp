// A labelled matrix. Counts (a confusion matrix) are coloured by their share of the row and written
// as counts.
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

class MatrixFigure final : public Figure {
 public:
  MatrixFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 2) throw FileError("a matrix needs the shape [rows, columns]");
    const std::vector<int> sides = sidesOf(view, {65'536, 65'536});
    rows_ = sides[0];
    columns_ = sides[1];
    isCounts_ = rows_ > 0 && columns_ > 0;
    rowSums_.assign(static_cast<std::size_t>(rows_), 0);
    for (std::int64_t i = 0; i < view.count(); ++i) {
      const double value = view.at(i);
      values_.push_back(value);
      rowSums_[static_cast<std::size_t>(i / columns_)] += value;
      isCounts_ = isCounts_ && std::isfinite(value) && value >= 0 && value == std::floor(value);
    }
    const QStringList classes = metaTexts(meta, {"classes", "class_names", "labels"});
    rowLabels_ = metaTexts(meta, {"row_labels", "rows"});
    columnLabels_ = metaTexts(meta, {"column_labels", "columns"});
    if (rowLabels_.isEmpty()) rowLabels_ = classes;
    if (columnLabels_.isEmpty()) columnLabels_ = classes;
    while (rowLabels_.size() < rows_) rowLabels_ << QString::number(rowLabels_.size());
    while (columnLabels_.size() < columns_) columnLabels_ << QString::number(columnLabels_.size());
  }

  QSize sizeHint() const override { return {640, 600}; }

  QString summary() const override {
    if (!isCounts_) return QObject::tr("Matrix of %1 x %2 values").arg(rows_).arg(columns_);
    double total = 0, diagonal = 0;
    for (int row = 0; row < rows_; ++row) {
      total += rowSums_[static_cast<std::size_t>(row)];
      if (row < columns_) diagonal += value(row, row);
    }
    return QObject::tr("Matrix of %1 x %2 counts, %3 of %4 on the diagonal")
        .arg(rows_)
        .arg(columns_)
        .arg(count(static_cast<std::int64_t>(diagonal)), count(static_cast<std::int64_t>(total)));
  }

  QString csv() const override {
    QStringList header{QString()};
    for (int column = 0; column < columns_; ++column) header << csvText(columnLabels_[column]);
    QString text = header.join(QLatin1Char(',')) + QLatin1Char('\n');
    for (int row = 0; row < rows_; ++row) {
      QStringList cells{csvText(rowLabels_[row])};
      for (int column = 0; column < columns_; ++column) cells << csvNumber(value(row, column));
      text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return text;
  }

  /// Rows as high as their labels, where the width lets cells be that large.
  double leastHeight(double width) const override {
    const QFontMetricsF metrics(axisLetters());
    double longest = 0;
    for (const QString& label : columnLabels_)
      longest = std::max(longest, metrics.horizontalAdvance(label));
    const double inner = width - 2 * kMargin;
    constexpr int kMostRows = 200;  // of which every name has its place
    const double high = metrics.height() * 0.85;
    const double cell = isSquare() || rows_ > kMostRows
                            ? std::min(inner * 0.7 / std::max(1, columns_), high)
                            : high;
    return 2 * kMargin + headerHeight(inner, title(), metaAbout(meta_)) + 24 +
           std::min(longest, 110.0) * 0.72 + 2 * metrics.height() + rows_ * cell;
  }

  std::array<int, 2> cellCount() const override {
    return isCounts_ ? std::array{rows_, columns_} : std::array{0, 0};
  }

  /// What the outlined cell says.
  QString note() const override {
    const auto cell = chosenCell();
    return cell ? cellWords((*cell)[0], (*cell)[1]) : QString();
  }

  std::optional<std::array<double, 2>> valueRange() const override {
    if (isCounts_) return std::nullopt;
    std::optional<std::array<double, 2>> range;
    for (const double one : values_) {
      if (!std::isfinite(one)) continue;
      range = range ? std::array{std::min((*range)[0], one), std::max((*range)[1], one)}
                    : std::array{one, one};
    }
    return range;
  }

 private:
  QString title() const {
    const QString own = metaText(meta_, "title");
    if (!own.isEmpty()) return own;
    return isCounts_ ? QObject::tr("Confusion matrix") : QObject::tr("Matrix");
  }
  double value(int row, int column) const {
    return values_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                   static_cast<std::size_t>(column)];
  }
  double share(int row, int column) const {
    const double sum = rowSums_[static_cast<std::size_t>(row)];
    return sum > 0 ? value(row, column) / sum : 0;
  }

  std::optional<std::array<int, 2>> chosenCell() const {
    const auto& cell = style().cell;
    const bool isThere = cell && (*cell)[0] < cellCount()[0] && (*cell)[1] < cellCount()[1];
    return isThere ? cell : std::nullopt;
  }
  QString cellWords(int row, int column) const {
    if (!isCounts_) {
      return QStringLiteral("%1, %2: %3")
          .arg(rowLabels_[row], columnLabels_[column], shortNumber(value(row, column)));
    }
    return QObject::tr("true %1, predicted %2: %3 of %4 (%5)")
        .arg(rowLabels_[row], columnLabels_[column],
             count(static_cast<std::int64_t>(value(row, column))),
             count(static_cast<std::int64_t>(rowSums_[static_cast<std::size_t>(row)])),
             percent(share(row, column), 1));
  }

  QString cellText(double cell) const {
    return isCounts_ ? count(static_cast<std::int64_t>(cell)) : shortNumber(cell);
  }
  /// Rows and columns are of one kind: so are their sizes.
  bool isSquare() const { return isCounts_ || rows_ == columns_; }

  /// The largest letters, down to kLeastLetters of `font`, whose longest number fits a cell;
  /// letters higher than a cell where none do.
  QFont numberLetters(QFont font, const QSizeF& cell) const {
    constexpr double kLeastLetters = 0.72;
    double widest = 0;
    const QFontMetricsF metrics(font);
    for (const double one : values_) {
      widest = std::max(widest, metrics.horizontalAdvance(cellText(one)));
      if (widest * kLeastLetters + 3 > cell.width()) break;
    }
    const double share =
        std::min({1.0, (cell.width() - 3) / widest, cell.height() / metrics.height()});
    if (share < kLeastLetters) {
      font.setPixelSize(static_cast<int>(cell.height()) * 2 + 2);
    } else if (font.pixelSize() > 0) {
      font.setPixelSize(std::max(1, static_cast<int>(font.pixelSize() * share)));
    } else {
      font.setPointSizeF(font.pointSizeF() * share);
    }
    return font;
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, title(), metaAbout(meta_));
    if (rows_ == 0 || columns_ == 0) {
      drawNothing(painter, body, QObject::tr("No cells."));
      return;
    }
    const QFont font = axisLetters();
    const QFontMetricsF metrics(font);
    const double lineHeight = metrics.height();
    double rowLabel = 0;
    for (const QString& label : rowLabels_)
      rowLabel = std::max(rowLabel, metrics.horizontalAdvance(label));
    rowLabel = std::min(rowLabel + 2, body.width() * (isSquare() ? 0.24 : 0.36));
    double columnLabel = 0;
    for (const QString& label : columnLabels_)
      columnLabel = std::max(columnLabel, metrics.horizontalAdvance(label));
    QString rowTitle = metaText(meta_, "row_title");
    QString columnTitle = metaText(meta_, "column_title");
    if (isCounts_ && rowTitle.isEmpty()) rowTitle = QObject::tr("true class");
    if (isCounts_ && columnTitle.isEmpty()) columnTitle = QObject::tr("predicted class");
    const double barHeight = 24;
    const double titleHeight = columnTitle.isEmpty() ? 0 : lineHeight + 2;
    const auto leftOf = [&](double labels) {
      return labels + 8 + (rowTitle.isEmpty() ? 0 : lineHeight + 4);
    };
    constexpr double kMostWidth = 64;
    const auto cellFor = [&](double rowLabels, double columnLabels) -> QSizeF {
      const double across = body.width() - leftOf(rowLabels);
      const double up = body.height() - columnLabels - titleHeight - barHeight;
      QSizeF one(std::max(2.0, across / columns_), std::max(2.0, up / rows_));
      if (isSquare()) return QSizeF(1, 1) * std::min(one.width(), one.height());
      return QSizeF(std::min(one.width(), kMostWidth), std::min(one.height(), 2 * lineHeight));
    };
    double labelHeight = lineHeight + 4;
    const bool isSlanted = columnLabel > cellFor(rowLabel, labelHeight).width() - 4;
    if (isSlanted) labelHeight = std::min(columnLabel, 110.0) * 0.72 + lineHeight;
    QSizeF cell = cellFor(rowLabel, labelHeight);
    // Names that would lie on each other are every second, every third; of too many the cells take
    // the room.
    constexpr int kMostLeftOut = 8;
    const auto everyOf = [&](double size) {
      return static_cast<int>(std::ceil(lineHeight * 0.8 / size - 1e-9));
    };
    const int everyRow = everyOf(cell.height()), everyColumn = everyOf(cell.width());
    const bool hasLabels = std::max(everyRow, everyColumn) <= (isSquare() ? 1 : kMostLeftOut);
    if (!hasLabels) {
      rowLabel = labelHeight = 0;
      cell = cellFor(0, 0);
    }
    const double left = leftOf(rowLabel), spaceX = body.width() - left;
    const double under = labelHeight + titleHeight;
    // A square grid on a wide page stands in its middle.
    const double across = cell.width(), high = cell.height();
    const double indent = std::max(0.0, (spaceX - across * columns_) / 2);
    const QRectF grid(body.left() + left + indent, body.top(), across * columns_, high * rows_);
    const std::array<double, 2> range =
        style().range.value_or(valueRange().value_or(std::array{0.0, 1.0}));
    const auto color = [&](int row, int column) {
      if (isCounts_) return mapColor(share(row, column));
      const double one = value(row, column);
      return std::isfinite(one) ? mapColor(unitOf(one, range[0], range[1])) : themeColors().line;
    };
    drawCells(painter, grid, rows_, columns_, color);
    painter.setFont(numberLetters(font, cell));
    if (QFontMetricsF(painter.font()).height() <= high) {
      for (int row = 0; row < rows_; ++row) {
        for (int column = 0; column < columns_; ++column) {
          painter.setPen(inkOn(color(row, column)));
          const double cellValue = value(row, column);
          painter.drawText(
              QRectF(grid.left() + column * across, grid.top() + row * high, across, high),
              Qt::AlignCenter, cellText(cellValue));
        }
      }
    }
    painter.setFont(font);
    painter.setPen(themeColors().muted);
    if (hasLabels) {
      for (int row = 0; row < rows_; row += everyRow) {
        const double middle = grid.top() + (row + 0.5) * high, line = std::max(high, lineHeight);
        drawLine(painter, QRectF(grid.left() - rowLabel - 6, middle - line / 2, rowLabel, line),
                 Qt::AlignRight | Qt::AlignVCenter, rowLabels_[row],
                 isSquare() ? Qt::ElideRight : Qt::ElideMiddle);
      }
      for (int column = 0; column < columns_; column += everyColumn) {
        const QPointF foot(grid.left() + (column + 0.5) * across, grid.bottom() + 4);
        if (!isSlanted) {
          drawLine(painter, QRectF(foot.x() - across / 2, foot.y(), across, lineHeight),
                   Qt::AlignCenter, columnLabels_[column]);
          continue;
        }
        painter.save();
        painter.translate(foot);
        painter.rotate(-45);
        drawLine(painter, QRectF(-116, -2, 116, lineHeight), Qt::AlignRight | Qt::AlignVCenter,
                 columnLabels_[column]);
        painter.restore();
      }
    }
    painter.setPen(themeColors().muted);
    if (!columnTitle.isEmpty()) {
      drawLine(painter,
               QRectF(grid.left(), grid.bottom() + under - lineHeight, grid.width(), lineHeight),
               Qt::AlignCenter, columnTitle);
    }
    if (!rowTitle.isEmpty()) {
      painter.save();
      painter.translate(body.left() + indent, grid.bottom());
      painter.rotate(-90);
      drawLine(painter, QRectF(0, 0, grid.height(), lineHeight), Qt::AlignCenter, rowTitle);
      painter.restore();
    }
    const QRectF bar(grid.left(), grid.bottom() + under + 4,
                     std::min(std::max(grid.width(), 260.0), body.right() - grid.left()),
                     barHeight - 6);
    drawColorBar(painter, themeColors(), bar, isCounts_ ? 0 : range[0], isCounts_ ? 1 : range[1],
                 isCounts_ ? QObject::tr("share of the row") : metaText(meta_, "unit"),
                 [this](double t) { return mapColor(t); });
    if (const auto chosen = chosenCell())
      drawOutline(painter, QRectF(grid.left() + (*chosen)[1] * across,
                                  grid.top() + (*chosen)[0] * high, across, high));
    addRegion(grid, [this, grid](const QPointF& at) {
      const auto [row, column] = cellAt(grid, rows_, columns_, at);
      return cellWords(row, column);
    });
    if (isCounts_) {
      addTarget(grid, [this, grid](const QPointF& at) {
        return FigureTarget{.cell = cellAt(grid, rows_, columns_, at)};
      });
    }
  }

  Json meta_;
  int rows_ = 0, columns_ = 0;
  bool isCounts_ = false;
  std::vector<double> values_, rowSums_;
  QStringList rowLabels_, columnLabels_;
};

}  // namespace

std::unique_ptr<Figure> makeMatrix(const Json& meta, std::vector<std::byte> data,
                                   FigureStyle style) {
  return std::make_unique<MatrixFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui

#include "ui/playground/board_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

constexpr int kMostScale = 16;
constexpr double kTextWidth = 260, kTextHeight = 84;  // of a tile with words
constexpr double kMostLabel = 130;                    // width of the labels of rows

/// Tiles next to each other within one cell.
int tilesAcross(int count) {
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count)))));
}

int tilesOf(const DrawnCell& cell) {
  const auto made = static_cast<int>(std::max(cell.images.size(), cell.texts.size()));
  return std::max({1, made, static_cast<int>(std::min<std::int64_t>(cell.settings.count(), 4096))});
}

/// A grid of cells, each with its own small grid.
BoardLayout layoutGrid(const Drawing& drawing, const QSizeF& tile, const QFontMetricsF& metrics) {
  BoardLayout layout;
  constexpr double kGap = BoardLayout::kGap;
  int most = 1;
  for (const DrawnCell& cell : drawing.cells) most = std::max(most, tilesOf(cell));
  const int across = tilesAcross(most), down = (most + across - 1) / across;
  const QSizeF cellSize(across * (tile.width() + kGap) - kGap,
                        down * (tile.height() + kGap) - kGap);
  const double between = most > 1 ? 2 * kGap : kGap;
  double left = 0;
  if (drawing.grid.rows) {
    for (const QString& label : drawing.grid.rows->labels)
      left = std::max(left, metrics.horizontalAdvance(label));
    left = std::min(left, kMostLabel) + 2 * kGap;
  }
  const double top = drawing.grid.columns ? metrics.height() + kGap : 0;
  const int rows = drawing.grid.rowCount(), columns = drawing.grid.columnCount();
  for (int row = 0; row < rows; ++row) {
    const double y = top + row * (cellSize.height() + between);
    if (drawing.grid.rows) layout.rowLabels.emplace_back(0, y, left - 2 * kGap, cellSize.height());
    for (int column = 0; column < columns; ++column) {
      const double x = left + column * (cellSize.width() + between);
      if (row == 0 && drawing.grid.columns)
        layout.columnLabels.emplace_back(x, 0, cellSize.width(), metrics.height());
      const int cell = row * columns + column;
      if (cell >= static_cast<int>(drawing.cells.size())) continue;
      const int tiles = tilesOf(drawing.cells[static_cast<std::size_t>(cell)]);
      for (int i = 0; i < tiles; ++i) {
        const QPointF at(x + i % across * (tile.width() + kGap),
                         y + i / across * (tile.height() + kGap));
        layout.tiles.push_back({{cell, i},
                                row * down + i / across,
                                column * across + i % across,
                                QRectF(at, tile)});
      }
    }
  }
  layout.size = {left + columns * (cellSize.width() + between) - between,
                 top + rows * (cellSize.height() + between) - between};
  return layout;
}

/// The images of one cell, as many in a row as there is room for.
BoardLayout layoutFlow(const Drawing& drawing, const QSizeF& tile, double width) {
  BoardLayout layout;
  constexpr double kGap = BoardLayout::kGap;
  const int tiles = drawing.cells.empty() ? 0 : tilesOf(drawing.cells.front());
  const int across =
      std::clamp(static_cast<int>((width + kGap) / (tile.width() + kGap)), 1, std::max(1, tiles));
  for (int i = 0; i < tiles; ++i) {
    const QPointF at(i % across * (tile.width() + kGap), i / across * (tile.height() + kGap));
    layout.tiles.push_back({{0, i}, i / across, i % across, QRectF(at, tile)});
  }
  const int rows = (tiles + across - 1) / across;
  layout.size = {across * (tile.width() + kGap) - kGap, rows * (tile.height() + kGap) - kGap};
  return layout;
}

}  // namespace

const BoardTile* BoardLayout::at(const ImagePlace& place) const {
  const auto found = std::find_if(tiles.begin(), tiles.end(),
                                  [&](const BoardTile& tile) { return tile.place == place; });
  return found == tiles.end() ? nullptr : &*found;
}

const BoardTile* BoardLayout::at(int row, int column) const {
  const auto found = std::find_if(tiles.begin(), tiles.end(), [&](const BoardTile& tile) {
    return tile.row == row && tile.column == column;
  });
  return found == tiles.end() ? nullptr : &*found;
}

const BoardTile* BoardLayout::at(const QPointF& point) const {
  const auto found = std::find_if(tiles.begin(), tiles.end(),
                                  [&](const BoardTile& tile) { return tile.rect.contains(point); });
  return found == tiles.end() ? nullptr : &*found;
}

QSize imageSizeOf(const Drawing& drawing, const QSize& otherwise) {
  const QImage picture = drawing.thumbnail();
  return picture.isNull() ? otherwise : picture.size();
}

QImage pictureAt(const Drawing& drawing, const ImagePlace& place) {
  if (place.cell < 0 || place.image < 0 || place.cell >= static_cast<int>(drawing.cells.size()))
    return {};
  const DrawnCell& cell = drawing.cells[static_cast<std::size_t>(place.cell)];
  if (place.image < static_cast<int>(cell.images.size()))
    return cell.images[static_cast<std::size_t>(place.image)].image;
  const auto film =
      cell.films.find(cell.settings.seed() + static_cast<std::uint64_t>(place.image));
  return film == cell.films.end() || film->second.empty() ? QImage() : film->second.back().image;
}

BoardLayout layoutBoard(const Drawing& drawing, const QSizeF& room, const QSize& image, int zoom,
                        const QFont& letters) {
  const bool isGrid = drawing.grid.rows || drawing.grid.columns;
  const QFontMetricsF metrics(letters);
  const auto with = [&](const QSizeF& tile) {
    return isGrid ? layoutGrid(drawing, tile, metrics) : layoutFlow(drawing, tile, room.width());
  };
  if (drawing.textCount() > 0) {
    BoardLayout layout = with({kTextWidth, kTextHeight});
    layout.isText = true;
    return layout;
  }
  // Large enough to be seen: what does not fit then is scrolled.
  constexpr int kSeen = 2, kSmallSide = 128;
  const bool isSmall = std::max(image.width(), image.height()) <= kSmallSide;
  const int least = zoom > 0 ? zoom : isSmall ? kSeen : 1;
  BoardLayout layout;
  for (int scale = zoom > 0 ? zoom : kMostScale; scale >= least; --scale) {
    layout = with(QSizeF(image) * scale);
    layout.scale = scale;
    const bool fits =
        layout.size.width() <= room.width() && layout.size.height() <= room.height();
    if (fits) break;
  }
  return layout;
}

void paintBoard(QPainter& painter, const Drawing& drawing, const BoardLayout& layout,
                const ThemeColors& colors, const QFont& small, const QFont& body) {
  painter.setFont(small);
  painter.setPen(colors.muted);
  for (std::size_t i = 0; i < layout.rowLabels.size(); ++i) {
    drawLine(painter, layout.rowLabels[i], Qt::AlignLeft | Qt::AlignVCenter,
             drawing.grid.rows->labels.value(static_cast<qsizetype>(i)));
  }
  for (std::size_t i = 0; i < layout.columnLabels.size(); ++i) {
    drawLine(painter, layout.columnLabels[i], Qt::AlignHCenter | Qt::AlignTop,
             drawing.grid.columns->labels.value(static_cast<qsizetype>(i)));
  }
  for (const BoardTile& tile : layout.tiles) {
    const DrawnCell& cell = drawing.cells[static_cast<std::size_t>(tile.place.cell)];
    const auto number = static_cast<std::size_t>(tile.place.image);
    if (layout.isText) {
      painter.setPen(colors.line);
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(tile.rect.adjusted(0.5, 0.5, -0.5, -0.5));
      if (number >= cell.texts.size()) continue;
      const DrawnText& text = cell.texts[number];
      QRectF inside = tile.rect.adjusted(8, 6, -8, -6);
      if (!text.image.isNull()) {
        double scale = inside.height() / std::max(text.image.width(), text.image.height());
        if (scale >= 1) scale = std::floor(scale);
        const QSizeF size = QSizeF(text.image.size()) * scale;
        drawPixels(painter, QRectF(inside.topLeft(), size), text.image);
        inside.setLeft(inside.left() + size.width() + 8);
      }
      painter.setFont(small);
      painter.setPen(colors.muted);
      const double line = QFontMetricsF(small).height();
      drawLine(painter, QRectF(inside.topLeft(), QSizeF(inside.width(), line)), Qt::AlignLeft,
               text.prompt, Qt::ElideLeft);
      painter.setFont(body);
      painter.setPen(colors.text);
      painter.drawText(inside.adjusted(0, line + 2, 0, 0),
                       Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, text.shown());
      continue;
    }
    const QImage picture = pictureAt(drawing, tile.place);
    if (picture.isNull()) {
      painter.fillRect(tile.rect, colors.raised);
    } else {
      drawPixels(painter, tile.rect, picture);
    }
  }
}

}  // namespace vitrine::ui

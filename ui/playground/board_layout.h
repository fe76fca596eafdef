// The layout of a drawing's images and texts, on a screen and on paper.
#pragma once

#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QSize>
#include <QSizeF>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/playground/draw_worker.h"
#include "ui/playground/drawing.h"

namespace vitrine::ui {

struct BoardTile {
  ImagePlace place;
  int row = 0, column = 0;  ///< among all tiles
  QRectF rect;
};

struct BoardLayout {
  static constexpr double kGap = 4;
  std::vector<BoardTile> tiles;
  std::vector<QRectF> rowLabels, columnLabels;  ///< empty where that is not an axis
  QSizeF size;
  int scale = 1;        ///< pixels of the screen for each of an image
  bool isText = false;  ///< the tiles hold texts

  [[nodiscard]] const BoardTile* at(const ImagePlace& place) const;
  [[nodiscard]] const BoardTile* at(int row, int column) const;
  [[nodiscard]] const BoardTile* at(const QPointF& point) const;
};

/// \param room    where all is seen without scrolling, if it can be
/// \param image   pixels of an image
/// \param zoom    pixels of the screen for each of an image; 0: as many as fit
/// \param letters of the labels
[[nodiscard]] BoardLayout layoutBoard(const Drawing& drawing, const QSizeF& room,
                                      const QSize& image, int zoom, const QFont& letters);

/// Pixels of the images of a drawing; `otherwise` while there are none.
[[nodiscard]] QSize imageSizeOf(const Drawing& drawing, const QSize& otherwise);
/// The image, or what it is taken for at present; null where nothing came yet.
[[nodiscard]] QImage pictureAt(const Drawing& drawing, const ImagePlace& place);

/// Labels, images and texts. \param small, body  letters
void paintBoard(QPainter& painter, const Drawing& drawing, const BoardLayout& layout,
                const ThemeColors& colors, const QFont& small, const QFont& body);

}  // namespace vitrine::ui

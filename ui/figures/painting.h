// Painting shared by the figures: axes, colour maps, ticks, and reading an artifact's `meta`
// without trusting it.
#pragma once

#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// Round numbers inside [low, high], about `target` of them.
struct Ticks {
  std::vector<double> values;
  int decimals = 0;
};
[[nodiscard]] Ticks niceTicks(double low, double high, int target);

// Figures are painted in the design's pixels, whatever the zoom of the window is and however many
// dots per inch a page has. Letters, margins and lines keep their proportions.
[[nodiscard]] QFont axisLetters();   ///< 11 px
[[nodiscard]] QFont smallLetters();  ///< 12 px
[[nodiscard]] QFont bodyLetters();   ///< 13 px
[[nodiscard]] QFont titleLetters();  ///< 13 px, weight 600
[[nodiscard]] QFont monoLetters();   ///< 12 px
/// Pixels of the window per pixel of the design: its zoom, and the desktop's font size.
[[nodiscard]] double designScale();

/// Four significant digits, a dot in every locale; an en dash for not-a-number.
[[nodiscard]] QString shortNumber(double value);
/// As in a CSV file: shortest form that reads back, empty for NaN.
[[nodiscard]] QString csvNumber(double value);
/// A CSV cell, quoted where it must be.
[[nodiscard]] QString csvText(const QString& text);
/// Its rows that are not empty; a line break within quotes belongs to its cell.
[[nodiscard]] QStringList csvRows(const QString& csv);

[[nodiscard]] QString metaText(const Json& meta, const char* key);
/// The first key that holds a list, as texts; empty when none does.
[[nodiscard]] QStringList metaTexts(const Json& meta, std::initializer_list<const char*> keys);
/// "test", "10,000 samples" ...: where the numbers of an artifact come from.
[[nodiscard]] QString metaAbout(const Json& meta);
/// What an artifact says of its image: the true class, or the answer of the model.
struct ImageAnswer {
  QString text;                 ///< "true: Trouser", "predicted: Dress, 83.4 % ×"
  std::optional<bool> isRight;  ///< of the model's answer where the true class is known
};
[[nodiscard]] std::vector<ImageAnswer> imageAnswers(const Json& meta);
[[nodiscard]] QColor answerColor(const ImageAnswer& answer, const ThemeColors& colors);

/// Cells of a map: crisp, as vectors on paper and as one image on the screen.
void drawCells(QPainter& painter, const QRectF& rect, int rows, int columns,
               const std::function<QColor(int row, int column)>& color);

/// A title above the column of each head, in the painter's font: "head 3". Where columns are
/// narrow: the number alone, of every second one.
/// \param first  place of the first title
void drawHeadTitles(QPainter& painter, const ThemeColors& colors, const QRectF& first, double gap,
                    int heads, int shown);
inline constexpr double kHeadTitle = 18;  ///< height of these titles

/// An image whose pixels stay sharp where it is enlarged.
void drawPixels(QPainter& painter, const QRectF& rect, const QImage& image);

/// Adds a line "row,column,red,green,blue" for each pixel, with `prefix` in front.
void appendPixels(QString& text, const QImage& image, const QString& prefix);

/// Outlines a patch in white on black: visible on every colour. \param width  of the white line
void drawPatchFrame(QPainter& painter, const QRectF& patch, double width);

/// Clips the line from `a` to `b` to `box`; false where it is outside.
bool cutLine(const QRectF& box, QPointF& a, QPointF& b);
/// A line through `points` inside of `box`, with the painter's pen. NaN in y is a gap; a point
/// alone between two gaps is a dot.
void drawPolyline(QPainter& painter, const QRectF& box, std::span<const QPointF> points);

/// Pictures of one shape in rows.
struct Tiles {
  static constexpr double kGap = 8;
  int across = 1;
  QSizeF size;  ///< of each
  [[nodiscard]] double width() const { return across * (size.width() + kGap) - kGap; }
  /// Where the one of this number begins. \param label  height of the words of each
  [[nodiscard]] QPointF at(int number, double label) const;
};
/// As large as they can be in `room`. \param aspect  width / height
[[nodiscard]] Tiles tilesIn(int count, const QSizeF& room, double aspect, double label);
/// What they need to be seen well at this width.
[[nodiscard]] double tilesHeight(int count, double width, double aspect, double label);

/// Oblique lines, 1 wide. Not a brush: its pattern has the pixels of the device, and is solid on
/// paper.
void drawHatchLines(QPainter& painter, const QRectF& rect, const QColor& color);

/// Row and column of the cell at a point of `rect`, which has that many; the nearest one outside.
[[nodiscard]] std::array<int, 2> cellAt(const QRectF& rect, int rows, int columns,
                                        const QPointF& at);

/// Left to right, with the ends written next to it and `unit` after them.
void drawColorBar(QPainter& painter, const ThemeColors& colors, const QRectF& rect, double low,
                  double high, const QString& unit, const std::function<QColor(double t)>& color);

/// Blue through white to orange, t in [-1, 1]: for signed values.
[[nodiscard]] QColor diverging(double t);
/// Black or white, whichever can be read on `background`.
[[nodiscard]] QColor inkOn(const QColor& background);

/// Text in one line, shortened with an ellipsis where it is too long.
void drawLine(QPainter& painter, const QRectF& rect, int flags, const QString& text,
              Qt::TextElideMode mode = Qt::ElideRight);

/// Places of names in rows from the upper left corner, in axis letters.
/// \param sign  room before each name
[[nodiscard]] std::vector<QRectF> namePlaces(const QStringList& names, double sign, double width);
inline constexpr double kNameRow = 15;  ///< height of such a row

/// `value` scaled to [0, 1] within [low, high]; 0.5 where the range is empty.
[[nodiscard]] double unitOf(double value, double low, double high);

}  // namespace vitrine::ui

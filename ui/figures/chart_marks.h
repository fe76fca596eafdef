// The signs inside of a plot: symbols of points, marks on its edges, notes. One for the live plots
// of the window and for figures.
#pragma once

#include <QColor>
#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <QString>

#include "ui/figures/line_chart.h"

namespace vitrine::ui {

struct ThemeColors;

inline constexpr double kSymbolRadius = 3.2, kMarkSize = 3.5,
                        kSegmentHeight = 14;  ///< pixels

/// The symbol of a series in `color`, set off from its background by `paper`.
void drawSymbol(QPainter& painter, ChartSymbol symbol, const QPointF& at, const QColor& color,
                const QColor& paper, double radius = kSymbolRadius);

enum class ChartMark {
  NotANumber,  ///< a cross at the lower edge
  Above,       ///< an arrow at the edge that the value lies beyond
  Below,
  Floor,  ///< at or below zero, on a logarithmic axis
};
/// \param x  pixels
void drawMark(QPainter& painter, ChartMark mark, const QRectF& plot, double x, const QColor& color,
              double size = kMarkSize);
/// Where a later segment of a run begins.
void drawSegmentStart(QPainter& painter, const QRectF& plot, double x, const QColor& color,
                      double height = kSegmentHeight);

/// Where the words of a note at `x` stand: right of it, left where that has no room, or over its
/// line. Always inside of the plot.
[[nodiscard]] QRectF noteBox(const QRectF& plot, double x, double top, const QSizeF& size);
/// Their upper edge: notes stand below each other, so that two at one place can both be read.
[[nodiscard]] double noteTop(const QRectF& plot, int number, double height);
/// On a ground of their own, in the painter's font, and cut where the box ends.
void drawNoteWords(QPainter& painter, const QRectF& box, const QString& text,
                   const ThemeColors& colors);

}  // namespace vitrine::ui

// The lines of a live plot: paths, and curves with a point or more in every column of pixels. The
// latter are one vertical stroke per column.
#pragma once

#include <QImage>
#include <QPainter>
#include <QPen>
#include <QPointF>
#include <cstddef>
#include <optional>
#include <vector>

#include "ui/figures/chart_frame.h"
#include "ui/figures/line_chart.h"

namespace vitrine::ui {

/// What a line covers of each column of pixels.
class ColumnSpans {
 public:
  /// Rows are counted downwards; \param columns  pixels across, \param rows and down
  void reset(int columns, int rows);
  /// The next point of the line, in pixels from the upper left corner; NaN is a gap before the
  /// next one. `x` never goes back.
  void add(double x, double y);
  [[nodiscard]] int columns() const { return static_cast<int>(spans_.size()); }
  /// The heights between which the line, `thickness` rows thick, is in a column; false where it is
  /// not, or not inside the picture.
  [[nodiscard]] bool heights(int column, float thickness, float& top, float& bottom) const;

 private:
  struct Span {
    float low, high;
  };
  void cover(std::ptrdiff_t column, double from, double to);

  std::vector<Span> spans_;
  int rows_ = 0;
  double lastX_ = 0, lastY_ = 0;
  bool isJoined_ = false;
};

/// A line of the picture, in values of the axes.
struct DrawnLine {
  enum class Drawing {
    Path,     ///< corner by corner, as wide as the pen
    Columns,  ///< a stroke in each column of pixels
  };
  std::vector<QPointF> points;  ///< ascending in x; NaN in y is a gap
  QPen pen;
  Drawing drawing = Drawing::Path;
  std::optional<ChartSymbol> symbol = {};  ///< at each point
};

/// The ground around a line, in values of the axes.
struct DrawnBand {
  std::vector<std::vector<QPointF>> outlines;  ///< closed
  QColor fill;
};

/// Draws the lines of a plot. A path of thousands of corners costs many times as much as columns,
/// and a see-through one is darker wherever it meets itself. The strokes of all lines come together
/// in one picture: thousands of short lines each asked from QPainter cost several times as much. A
/// dash is a part of the columns in full colour and the others fainter, for a spike in a gap would
/// be hidden.
class CurveSheet {
 public:
  /// \param ratio  device pixels per pixel of the painter
  CurveSheet(QPainter& painter, const ChartFrame& frame, double ratio);
  /// Above those that were drawn before.
  void draw(const DrawnLine& line);
  /// Draws the rest; called before anything else is drawn over the lines.
  void show();

 private:
  void addColumns(const DrawnLine& line);
  void addSpans(const QPen& pen);

  QPainter& painter_;
  const ChartFrame& frame_;
  PixelMap across_, down_;
  double ratio_;
  QImage strokes_;
  ColumnSpans spans_;
  bool isOpen_ = false;
};

}  // namespace vitrine::ui

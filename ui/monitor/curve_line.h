// A curve with a point or more in every column of pixels, drawn as one vertical stroke per column.
#pragma once

#include <QImage>
#include <cstddef>
#include <span>
#include <vector>

#include "ui/kit/custom_plot.h"

namespace vitrine::ui {

/// What a line covers of each column of pixels.
class ColumnSpans {
 public:
  /// Rows are counted downwards; \param columns  pixels across, \param rows  and down
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

/// Where the strokes of all curves of a plot come together: thousands of short lines each asked
/// from QPainter cost several times as much. Curves are drawn in their order; whatever else is
/// drawn between two of them must show() it first.
class CurveSheet : public QCPLayerable {
 public:
  /// In a layer right above that of the curves: what is left is shown there.
  explicit CurveSheet(QCustomPlot* plot, const QString& layer);
  /// Strokes of a line in `inside`, logical pixels of the plot.
  void add(const ColumnSpans& spans, const QRect& inside, double ratio, const QPen& pen);
  void show(QPainter& painter);

 protected:
  void draw(QCPPainter* painter) override { show(*painter); }
  void applyDefaultAntialiasingHint(QCPPainter*) const override {}

 private:
  void open(const QRect& inside, double ratio);

  QImage strokes_;
  QPoint corner_;
  bool isOpen_ = false;
};

/// A graph that can draw its line by columns: a path of thousands of corners costs many times as
/// much, and a see-through one is darker wherever it meets itself. A dash is a part of the columns
/// in full colour and the others fainter, for a spike in a gap would be hidden.
class CurveLine : public QCPGraph {
 public:
  enum class Drawing { Path, Columns };
  CurveLine(QCPAxis* x, QCPAxis* y, CurveSheet& sheet) : QCPGraph(x, y), sheet_(sheet) {}
  void setDrawing(Drawing drawing) { drawing_ = drawing; }
  [[nodiscard]] Drawing drawing() const { return drawing_; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  CurveSheet& sheet_;
  Drawing drawing_ = Drawing::Path;
  ColumnSpans spans_;
};

}  // namespace vitrine::ui

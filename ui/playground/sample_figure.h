// The images of a drawing as a figure: on paper with what they were drawn from.
#pragma once

#include "ui/figures/figure.h"
#include "ui/playground/drawing.h"

namespace vitrine::ui {

/// Run, step, and the settings of the cell of a drawing that are no axis of its grid.
[[nodiscard]] QString drawnFrom(const Drawing& drawing, const Json& values);

class SampleFigure final : public Figure {
 public:
  SampleFigure(Drawing drawing, FigureStyle style);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] double fittingHeight(double width) const override;
  [[nodiscard]] QString summary() const override;
  /// Row and column of the grid, seed, hash and recipe of every image, or its text.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] int imageCount() const override { return drawing_.imageCount(); }

 private:
  void draw(QPainter& painter, const QRectF& area) override;
  [[nodiscard]] QString title() const;
  [[nodiscard]] QString about() const;

  Drawing drawing_;
};

}  // namespace vitrine::ui

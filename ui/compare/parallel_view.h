// Parallel coordinates to work with: brushes by mouse and keys, axes turned and made logarithmic.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>

#include "ui/compare/parallel_chart.h"
#include "ui/kit/plot_accessible.h"

namespace vitrine::ui {

class ParallelView : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  explicit ParallelView(QWidget* parent = nullptr);
  ~ParallelView() override;

  void setChart(ParallelChart chart);
  [[nodiscard]] const ParallelChart& chart() const { return chart_; }
  /// The picture as it is now.
  [[nodiscard]] std::unique_ptr<Figure> figure() const;
  /// The axis that the keys and the buttons next to it work on.
  void toggleLog();
  void flip();
  void clearBrushes();
  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override;
  /// Where the axis has this share of its range.
  [[nodiscard]] QPointF placeOf(int axis, double share) const;
  [[nodiscard]] QSize sizeHint() const override { return {px(720), px(360)}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {px(240), px(200)}; }

 Q_SIGNALS:
  void axesChanged(const std::vector<vitrine::ui::ParallelAxisChoice>& axes);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] int axisAt(const QPointF& point) const;  ///< -1: none
  [[nodiscard]] ParallelFigure::Layout layoutNow() const;
  void setBrush(int axis, std::optional<std::array<double, 2>> brush);
  void moveBrush(int axis, double by, double widen);
  void redraw();
  void commit();

  ParallelChart chart_;
  std::unique_ptr<ParallelFigure> figure_;
  QImage drawn_;
  int focusAxis_ = 0;
  int draggedAxis_ = -1;
  double dragFrom_ = 0;  ///< share of the axis
  bool wasMoved_ = false;
};

}  // namespace vitrine::ui

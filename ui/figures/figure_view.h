// A widget that shows one figure: tool tips and clicks on maps.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>

#include "ui/figures/figure.h"
#include "ui/kit/plot_accessible.h"

namespace vitrine::ui {

class FigureView : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  explicit FigureView(QWidget* parent = nullptr);
  ~FigureView() override;

  /// Takes the figure over; nullptr shows `emptyText`.
  void setFigure(std::unique_ptr<Figure> figure);
  [[nodiscard]] Figure* figure() const { return figure_.get(); }
  void setEmptyText(const QString& text);
  /// Draws again, after the figure's style was changed.
  void refresh();

  [[nodiscard]] QString plotSummary() const override;
  /// The first rows of Figure::csv().
  [[nodiscard]] Table plotTable() const override;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void clicked(const vitrine::ui::FigureTarget& target);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// Pixels of the widget per pixel of the figure: smaller letters where there is no room, rather
  /// than parts that lie on each other.
  [[nodiscard]] double drawnScale() const;

  std::unique_ptr<Figure> figure_;
  QString emptyText_;
  QImage drawn_;  ///< what was painted last, so that an expose costs nothing
};

}  // namespace vitrine::ui

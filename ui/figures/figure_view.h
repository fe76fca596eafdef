// A widget that shows one figure: tool tips and clicks on maps.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>

#include "ui/figures/figure.h"
#include "ui/kit/plot_accessible.h"

namespace vitrine::ui {

/// The first rows of Figure::csv(); without columns where there is no figure.
[[nodiscard]] DescribedPlot::Table tableOf(const Figure* figure);

class FigureView : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  explicit FigureView(QWidget* parent = nullptr);
  ~FigureView() override;

  /// Takes the figure over; nullptr shows `emptyText`.
  void setFigure(std::unique_ptr<Figure> figure);
  [[nodiscard]] Figure* figure() const { return figure_.get(); }
  void setEmptyText(const QString& text);
  /// The keyboard reaches what a click does: the view takes the focus, shows it, and tells arrows
  /// and Enter.
  void setSteered(bool isSteered);
  /// The room below which letters become smaller, in pixels of the design: a strip needs less than
  /// a chart.
  void setLeastRoom(QSizeF room);
  /// Draws again, after the figure's style was changed.
  void refresh();

  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override { return tableOf(figure_.get()); }

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void clicked(const vitrine::ui::FigureTarget& target);
  /// An arrow key of a steered view: one step right and down is (1, 1), a page is 10.
  void steered(int right, int down);
  /// Enter or Space in a steered view.
  void entered();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

  /// What a click at a place of the widget chooses, also before a new figure is painted.
  [[nodiscard]] FigureTarget targetAt(const QPointF& position);

 private:
  /// Pixels of the widget per pixel of the figure: smaller letters where there is no room, rather
  /// than parts that lie on each other.
  [[nodiscard]] double drawnScale() const;
  /// Draws the figure where `drawn_` is another one's or of another size.
  /// \param ratio  device pixels per pixel of the widget
  void drawFigure(double ratio);

  std::unique_ptr<Figure> figure_;
  QString emptyText_;
  bool isSteered_ = false;
  QSizeF leastRoom_{260, 200};
  QImage drawn_;  ///< what was painted last, so that an expose costs nothing
};

}  // namespace vitrine::ui

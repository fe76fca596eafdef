// The images of a drawing in a grid: one of them is selected, with the mouse or the arrow keys.
#pragma once

#include <QWidget>
#include <array>
#include <memory>

#include "ui/kit/plot_accessible.h"
#include "ui/playground/board_layout.h"

class QScrollArea;

namespace vitrine::ui {

class ImageBoard : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  explicit ImageBoard(QWidget* parent = nullptr);

  /// The area that this board scrolls in, made once.
  [[nodiscard]] QScrollArea* area();
  void setDrawing(std::shared_ptr<const Drawing> drawing);
  [[nodiscard]] const std::shared_ptr<const Drawing>& drawing() const { return drawing_; }
  /// Draws again after more of it came. \param progress  of the cell that is drawn, 0 to 1; below
  /// 0: none is
  void refresh(double progress);
  /// Pixels of an image that is not there yet.
  void setExpectedSize(const QSize& size);
  /// Pixels of the screen for each of an image; 0: as many as fit.
  void setZoom(int zoom);
  [[nodiscard]] int zoom() const { return zoom_; }
  [[nodiscard]] const BoardLayout& tiles() const { return layout_; }

  [[nodiscard]] ImagePlace selected() const { return selected_; }
  /// Moves the outline; selectionChanged() is emitted where it is another image.
  void select(const ImagePlace& place);

  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override;
  [[nodiscard]] QSize sizeHint() const override;

 Q_SIGNALS:
  void selectionChanged();
  /// A click on the selected image: the shares of its height and width.
  void placeClicked(const std::array<double, 2>& at);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void arrange();
  /// What a tool tip says there: of an image, or of a label, which may be cut.
  [[nodiscard]] QString wordsAt(const QPointF& at) const;
  [[nodiscard]] QString wordsOf(const BoardTile& tile) const;

  std::shared_ptr<const Drawing> drawing_;
  BoardLayout layout_;
  QScrollArea* area_ = nullptr;
  QSize expected_{28, 28};
  int zoom_ = 0;
  double progress_ = -1;
  ImagePlace selected_;
};

}  // namespace vitrine::ui

// A canvas drawn by the processor: where there is no OpenGL, and for pictures.
#pragma once

#include <QImage>
#include <QWidget>

namespace vitrine::ui {

class LiveCanvas;

class RasterView final : public QWidget {
  Q_OBJECT
 public:
  explicit RasterView(LiveCanvas& canvas, QWidget* parent = nullptr);
  /// Another picture is drawn before the next painting.
  void redraw();
  [[nodiscard]] double drawSeconds() const { return drawSeconds_; }

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  LiveCanvas& canvas_;
  QImage picture_;
  bool isStale_ = true;
  double drawSeconds_ = 0;
};

}  // namespace vitrine::ui

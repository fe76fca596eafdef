// A canvas in an OpenGL window of its own, inside the page or outside of it.
#pragma once

#include <QOpenGLContext>
#include <QString>
#include <QWindow>
#include <memory>

namespace vitrine::ui {

class LiveCanvas;

/// Why OpenGL cannot be used here, one sentence; empty where it can. Looked at once.
[[nodiscard]] QString openGlProblem();

class GlView final : public QWindow {
  Q_OBJECT
 public:
  explicit GlView(LiveCanvas& canvas);
  ~GlView() override;
  /// "llvmpipe (LLVM 15.0.6, 256 bits)"; empty before the first picture.
  [[nodiscard]] const QString& renderer() const { return renderer_; }
  /// Of the last picture, with the exchange of buffers.
  [[nodiscard]] double drawSeconds() const { return drawSeconds_; }

 Q_SIGNALS:
  void pressed();  ///< the user clicked into it

 protected:
  bool event(QEvent* event) override;

 private:
  void paint();
  void uploadTextures();
  LiveCanvas& canvas_;
  std::unique_ptr<QOpenGLContext> context_;
  QString renderer_;
  double drawSeconds_ = 0;
  bool isReady_ = false;
};

}  // namespace vitrine::ui

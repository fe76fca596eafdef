// The Live page: looks into a model of this machine while it trains.
#pragma once

#include <QAction>
#include <QLabel>
#include <QPointer>
#include <QStackedWidget>
#include <QTimer>
#include <cstdint>
#include <memory>

#include "core/live/channel.h"
#include "ui/kit/background.h"
#include "ui/live/live_canvas.h"
#include "ui/live/live_model.h"
#include "ui/live/live_scene.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/page.h"

class QVBoxLayout;

namespace vitrine::ui {

class ElidedLabel;
class EmptyPage;
class GlView;
class LiveValues;
class RasterView;

class LivePage final : public Page {
  Q_OBJECT
 public:
  explicit LivePage(Workbench& workbench, QWidget* parent = nullptr);
  ~LivePage() override;

  void waitUntilIdle() override;
  [[nodiscard]] QList<QAction*> tools() override;
  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  /// What can be exported.
  enum class FigurePart {
    Attention,  ///< of the layer shown, every head and query that the frame has
    Schedule,   ///< its values and the loss change, over the steps
    Matrices,   ///< of the layer and head shown, before and after the mask
    Film,       ///< clean images that are predicted from noise, a row for each
    Steps,      ///< seconds of each part of a step
  };
  /// nullptr: nothing of it was seen yet.
  [[nodiscard]] std::unique_ptr<Figure> figureOf(FigurePart part) const;
  /// The attention; while another part is exported, that one.
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;
  [[nodiscard]] QImage snapshot(QSize size, double scale) override;

  [[nodiscard]] LiveModel& model() { return model_; }
  [[nodiscard]] bool isWatching() const { return viewer_ != nullptr; }
  [[nodiscard]] std::int64_t run() const { return run_; }  ///< watched, or watched last; 0: none
  /// Looks at the shared memory once, as the clock does ten times a second.
  void look();

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  // live_page.cpp
  void makeActions();
  void choose();
  void watch(const store::RunRow& row);
  void leave();
  void readStored();
  void takeFrame(const std::vector<std::byte>& bytes);
  void onChoice();
  void shareFocus();  ///< with the other pages
  void explain();
  void showStatus();
  void redraw();
  enum class Painter { OpenGl, Processor };
  void placeView(QWidget* into, Painter painter);
  void setOwnWindow(bool isOn);
  [[nodiscard]] const store::RunRow* otherRunning();
  [[nodiscard]] bool hasWaiting() const;  ///< runs in the queue
  void takeWayOn();                       ///< that an empty page offers
  void trainDemo();
  // live_figure.cpp
  [[nodiscard]] std::unique_ptr<Figure> attentionFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> scheduleFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> matricesFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> filmFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> stepsFigure() const;
  void exportPart(FigurePart part);
  // live_page_keys.cpp
  [[nodiscard]] bool takeKey(int key, Qt::KeyboardModifiers modifiers);
  [[nodiscard]] QString described() const;

  Workbench& workbench_;
  LiveModel model_;
  LiveScene scene_;
  LiveCanvas canvas_;
  std::unique_ptr<live::Viewer> viewer_;
  live::TrainerState trainer_ = live::TrainerState::Waiting;
  live::Wishes wished_;
  std::int32_t sharedImage_ = 0;  ///< the image whose sample other pages know
  std::int64_t run_ = 0;
  QString runUuid_, refused_;
  double begun_ = 0;  ///< when the watching began, in seconds of the steady clock

  QTimer clock_;
  Background reader_;
  EnqueueProcess enqueue_;
  QStackedWidget* stack_;
  EmptyPage* empty_;
  QWidget* emptyArea_ = nullptr;  ///< where it is
  QWidget* live_ = nullptr;
  ElidedLabel *state_ = nullptr, *status_ = nullptr;
  QVBoxLayout* place_ = nullptr;
  QPointer<GlView> gl_;
  QPointer<RasterView> raster_;
  QPointer<QWidget> viewWidget_, ownWindow_;
  QPointer<EmptyPage> away_;  ///< in the place of a picture that has a window of its own
  LiveValues* values_ = nullptr;
  QWidget* valuesArea_ = nullptr;  ///< where they are
  FigurePart figurePart_ = FigurePart::Attention;
  QAction *valuesAction_ = nullptr, *export_ = nullptr;
  QAction *freeze_ = nullptr, *follow_ = nullptr, *own_ = nullptr, *reset_ = nullptr;
};

}  // namespace vitrine::ui

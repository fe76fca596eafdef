// The steps of one image from left to right: what the network took it for, and where one patch
// read.
#pragma once

#include <QWidget>
#include <array>
#include <vector>

#include "ui/kit/plot_accessible.h"
#include "ui/playground/drawing.h"
#include "ui/playground/film_figure.h"

namespace vitrine::ui {

class FilmStrip : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  explicit FilmStrip(QWidget* parent = nullptr);

  /// \param replay  with the attention of a patch; nullptr: of none
  /// \param keepsStep  the step that is shown stays; else the last one is shown
  void setFilm(std::vector<FilmFrame> film, const Replay* replay, bool keepsStep);
  /// Whether a click on a frame asks where that patch reads.
  void setAsksPatch(bool asks);
  /// \param layer, head  from 0; -1: the mean over all
  void setChannel(int layer, int head);
  [[nodiscard]] int layer() const { return layer_; }
  [[nodiscard]] int head() const { return head_; }
  [[nodiscard]] int frameCount() const { return static_cast<int>(film_.size()); }
  [[nodiscard]] int step() const { return step_; }  ///< from 0
  void setStep(int step);
  [[nodiscard]] double timeAt(int step) const;
  /// All that is shown, without words.
  [[nodiscard]] ImageWay way() const {
    return {film_, attention_, patch_, layer_, head_, QString(), QString()};
  }
  [[nodiscard]] QImage imageAt(int step) const;
  /// The words that the patch reads most at a step, and the weight of all; "" where there are none.
  [[nodiscard]] QString wordsAt(int step) const;
  /// Layers and heads of the attention, 0 where there is none.
  [[nodiscard]] std::array<int, 2> channels() const;
  /// Largest weight of all steps shown: the end of the colours.
  [[nodiscard]] double largest() const { return largest_; }
  /// Where a frame is drawn.
  [[nodiscard]] QRectF frameRect(int step) const;

  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  void stepChanged();
  /// \param at  down and right in the image, 0 to 1
  void patchRequested(const std::array<double, 2>& at);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Places {
    double label = 0;  ///< width of the words on the left
    QSizeF tile;       ///< of one frame
    int shown = 0;     ///< frames that there is room for
  };
  [[nodiscard]] Places places() const;
  [[nodiscard]] std::vector<int> shownSteps() const;
  [[nodiscard]] const AttentionFrame* attentionAt(int step) const;
  void measure();
  void paintLabels(QPainter& painter, const Places& places) const;

  std::vector<FilmFrame> film_;
  std::vector<AttentionFrame> attention_;
  std::vector<std::vector<float>> maps_;  ///< of attention_, in the chosen channel
  std::array<int, 2> patch_{};
  std::array<double, 2> cursor_{0.5, 0.5};  ///< of the keyboard, in the image
  double largest_ = 0;
  int step_ = 0, layer_ = -1, head_ = -1;
  bool asksPatch_ = false;
};

}  // namespace vitrine::ui

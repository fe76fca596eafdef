// One image as large as whole pixels allow, or two of them compared.
#pragma once

#include <QImage>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "ui/gallery/image_pair.h"
#include "ui/kit/plot_accessible.h"

namespace vitrine::ui {

class ImageStage : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  enum class View {
    One,
    Slider,      ///< A left of a line that is dragged, B right of it
    Side,        ///< next to each other
    Difference,  ///< A - B in colours
    Flicker,     ///< now A, now B, twice a second
  };
  explicit ImageStage(QWidget* parent = nullptr);

  void setView(View view);
  [[nodiscard]] View view() const { return view_; }
  struct Shown {
    QImage picture;
    QString name;  ///< "run 12, step 400"
  };
  /// The second is null where one is shown alone, whatever the view.
  void setImages(Shown a, Shown b);
  /// Instead of images.
  void setSentence(const QString& sentence);
  /// Where the line of the slider is, 0 to 1.
  void setLine(double share);
  [[nodiscard]] double line() const { return line_; }
  /// The shown comparison: One where there is no second image.
  [[nodiscard]] View shownView() const;
  [[nodiscard]] const ImageDifference& difference() const { return difference_; }
  /// Sizes A and B are drawn at, times the pixels of the image. \see wholeScale()
  [[nodiscard]] int scale() const;

  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void lineMoved(double share);
  void stepRequested(int by);  ///< previous or next image
  void closed();           ///< Escape, Space or Enter

 protected:
  /// The tool tip has what may be cut: the names, and how far the two differ.
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void keepTime();
  /// Where images of this size stand in `place`, in whole pixels of the screen.
  [[nodiscard]] QRectF fitted(const QSize& image, const QRectF& place) const;
  [[nodiscard]] QRectF stage() const;
  void drawImage(QPainter& painter, const QImage& image, const QRectF& rect) const;
  void drawDifference(QPainter& painter);
  [[nodiscard]] QString differenceWords() const;

  View view_ = View::One;
  Shown a_, b_;
  QString sentence_;
  ImageDifference difference_;
  double line_ = 0.5;
  bool isSecond_ = false;
  QTimer flicker_;
};

[[nodiscard]] QString toString(ImageStage::View view);  ///< "slider" ...
[[nodiscard]] std::optional<ImageStage::View> stageViewFromString(const QString& text);

}  // namespace vitrine::ui

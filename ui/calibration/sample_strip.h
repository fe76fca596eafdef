// Images of a bin or a cell as a contact sheet: what they are, what the model said, how sure it
// was.
#pragma once

#include <QImage>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <vector>

#include "ui/calibration/calibration_model.h"
#include "ui/figures/figure.h"
#include "ui/kit/plot_accessible.h"

namespace vitrine::ui {

class SampleStrip : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  struct Entry {
    std::int64_t id = -1;  ///< of the sample in its split
    QString label, predicted;
    QString target;         ///< the class whose probability it shows; "": the predicted one
    double confidence = 0;  ///< probability of that class
    bool isRight = false;   ///< it is of that class
    QImage picture;         ///< null: not there yet
  };
  explicit SampleStrip(QWidget* parent = nullptr);

  void setEntries(std::vector<Entry> entries);
  /// Of the sample `id`, wherever it is shown.
  void setPicture(std::int64_t id, const QImage& picture);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] int current() const { return current_; }  ///< -1: none
  /// Emits currentChanged() where it is another one.
  void setCurrent(int index);
  [[nodiscard]] QRect cellOf(int index) const;

  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override;
  [[nodiscard]] QSize sizeHint() const override;

 Q_SIGNALS:
  void currentChanged(int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] int across() const;
  void makeRoom();
  std::vector<Entry> entries_;
  int current_ = -1;
};

/// One sample, large, with the most probable classes.
struct SamplePicture {
  QString title, about;
  QImage picture;
  QStringList names;
  std::vector<ClassShare> shares;
  int label = -1, predicted = -1;
};
[[nodiscard]] std::unique_ptr<Figure> makeSampleFigure(SamplePicture picture,
                                                       FigureStyle style = {});

}  // namespace vitrine::ui

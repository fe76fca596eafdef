// The same picture by several runs over their training: a row for each run, a column for each step.
#pragma once

#include <QWidget>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "ui/gallery/gallery_model.h"
#include "ui/gallery/thumbnails.h"
#include "ui/kit/plot_accessible.h"

namespace vitrine::ui {

struct StepsTable {
  std::vector<std::int64_t> runs, steps;
  std::map<std::pair<std::int64_t, std::int64_t>, SamePicture> cells;  ///< by run and step

  /// Of those images; at most `mostRuns` runs, `first` among them.
  [[nodiscard]] static StepsTable of(const std::vector<SamePicture>& pictures, std::int64_t first,
                                     std::size_t mostRuns);
  [[nodiscard]] const SamePicture* at(std::int64_t run, std::int64_t step) const;
};

class StepsView : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  StepsView(Thumbnails& pictures, std::function<QString(std::int64_t run)> runName,
            QWidget* parent = nullptr);

  void setTable(StepsTable table);
  [[nodiscard]] const StepsTable& table() const { return table_; }
  void setTile(int designPixels);
  void setCurrent(std::int64_t run, std::int64_t step);
  void setOther(std::int64_t id);
  /// Whether an image has a star.
  void setStars(std::function<bool(std::int64_t id)> isStarred) {
    isStarred_ = std::move(isStarred);
  }
  /// Where a cell is.
  [[nodiscard]] QRect placeOf(std::int64_t run, std::int64_t step) const;

  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  void currentChosen(std::int64_t id);
  void otherChosen(std::int64_t id);
  void activated();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] int namesWidth() const;
  [[nodiscard]] QRect cell(std::size_t row, std::size_t column) const;
  [[nodiscard]] const SamePicture* at(const QPoint& point) const;
  void move(int rows, int columns);

  Thumbnails& pictures_;
  std::function<QString(std::int64_t)> runName_;
  std::function<bool(std::int64_t)> isStarred_;
  StepsTable table_;
  int tile_ = 64;
  std::int64_t run_ = 0, step_ = -1, other_ = 0;
};

}  // namespace vitrine::ui

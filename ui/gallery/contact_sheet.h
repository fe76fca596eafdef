// A contact sheet of any number of images: only visible images are laid out, read and drawn.
#pragma once

#include <QAbstractScrollArea>
#include <cstdint>
#include <functional>
#include <set>

#include "ui/gallery/gallery_model.h"
#include "ui/gallery/sheet_layout.h"
#include "ui/gallery/thumbnails.h"
#include "ui/kit/plot_accessible.h"

namespace vitrine::ui {

class ContactSheet : public QAbstractScrollArea, public DescribedPlot {
  Q_OBJECT
 public:
  static constexpr int kLeastTile = 24, kMostTile = 256;  ///< design pixels

  /// \param model      outlives the sheet  \param describe  of an image, for tool tips
  ContactSheet(const GalleryModel& model, Thumbnails& thumbnails,
               std::function<QString(const store::ImageEntry&)> describe,
               QWidget* parent = nullptr);

  /// After the model changed: keeps the visible images where they are.
  void refresh();
  void setTile(int designPixels);
  [[nodiscard]] int tile() const { return tile_; }
  /// The outlined image, by id; brought onto the screen where `isShown`.
  enum class Reveal { Yes, No };
  void setCurrent(std::int64_t id, Reveal reveal = Reveal::Yes);
  void setOther(std::int64_t id);  ///< the one compared with; 0: none
  [[nodiscard]] std::int64_t current() const { return current_; }
  [[nodiscard]] const std::set<std::int64_t>& picked() const { return picked_; }
  void setPicked(std::set<std::int64_t> ids);
  /// Scrolls to the first image of a group.
  void showGroup(int group);
  /// Group at the top of the screen.
  [[nodiscard]] int groupInSight() const;
  [[nodiscard]] const SheetLayout& sheet() const { return layout_; }
  /// Where a tile is on the viewport.
  [[nodiscard]] QRect placeOf(int index) const;
  /// First and last image on the screen, from 0; -1 where there is none.
  [[nodiscard]] std::pair<int, int> inSight() const;

  [[nodiscard]] QString plotSummary() const override;
  [[nodiscard]] Table plotTable() const override;

 Q_SIGNALS:
  void currentChosen(std::int64_t id);
  void otherChosen(std::int64_t id);  ///< Alt and a click, or the first of two that were picked
  void pickedChanged();
  void activated();
  void tileChosen(int designPixels);
  void scrolled();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void lay();
  void askForSight();
  void moveTo(int index, Qt::KeyboardModifiers keys);
  void reveal(int index);
  void paintTile(QPainter& painter, int index, const QRect& rect);

  const GalleryModel& model_;
  Thumbnails& thumbnails_;
  std::function<QString(const store::ImageEntry&)> describe_;
  SheetLayout layout_;
  int tile_ = 64;
  std::int64_t current_ = 0, other_ = 0, anchor_ = 0;
  std::set<std::int64_t> picked_;
};

/// A letter on a square, in the corner of an image: A accent, B white.
void drawPairMark(QPainter& painter, const QPoint& corner, bool isFirst);
/// White with a dark edge, so that it is seen on any picture.
void drawStar(QPainter& painter, const QRectF& rect);

}  // namespace vitrine::ui

// The layout of a contact sheet's tiles: rows of squares, in groups with a line of words above.
#pragma once

#include <QPoint>
#include <QRect>
#include <utility>
#include <vector>

namespace vitrine::ui {

class SheetLayout {
 public:
  /// Tiles in each group. One group without words where there is one alone. \param heading  height
  /// of the words, 0 for none
  void setGroups(std::vector<int> counts, int heading);
  /// \param tile  side of a square  \param gap  between two
  void setPlace(int width, int tile, int gap);

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int groupCount() const { return static_cast<int>(groups_.size()); }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] int rowHeight() const { return tile_ + gap_; }
  [[nodiscard]] QRect rectOf(int index) const;
  [[nodiscard]] QRect headingOf(int group) const;
  [[nodiscard]] int groupOf(int index) const;
  /// -1 where there is none.
  [[nodiscard]] int indexAt(const QPoint& point) const;
  /// Tiles [first, last) that lie in the rows from `top` to `bottom`.
  [[nodiscard]] std::pair<int, int> between(int top, int bottom) const;
  /// The tile `rows` below (above, where negative) in the same column, across groups; stays inside.
  [[nodiscard]] int below(int index, int rows) const;

 private:
  struct Group {
    int first = 0, count = 0, top = 0;  ///< of the words
  };
  void lay();
  [[nodiscard]] int tilesTop(const Group& group) const { return group.top + heading_; }
  [[nodiscard]] int rowsOf(const Group& group) const {
    return (group.count + columns_ - 1) / columns_;
  }

  std::vector<Group> groups_;
  int heading_ = 0, width_ = 1, tile_ = 1, gap_ = 0;
  int count_ = 0, columns_ = 1, height_ = 0;
};

}  // namespace vitrine::ui

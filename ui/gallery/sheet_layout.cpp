#include "ui/gallery/sheet_layout.h"

#include <algorithm>

namespace vitrine::ui {

void SheetLayout::setGroups(std::vector<int> counts, int heading) {
  groups_.clear();
  count_ = 0;
  for (const int count : counts) {
    groups_.push_back({count_, count, 0});
    count_ += count;
  }
  heading_ = heading;
  lay();
}

void SheetLayout::setPlace(int width, int tile, int gap) {
  width_ = width;
  tile_ = std::max(1, tile);
  gap_ = gap;
  lay();
}

void SheetLayout::lay() {
  columns_ = std::max(1, (width_ - gap_) / (tile_ + gap_));
  int top = 0;
  for (Group& group : groups_) {
    group.top = top;
    top = tilesTop(group) + gap_ + rowsOf(group) * rowHeight();
  }
  height_ = top;
}

QRect SheetLayout::rectOf(int index) const {
  if (index < 0 || index >= count_) return {};
  const Group& group = groups_[static_cast<std::size_t>(groupOf(index))];
  const int in = index - group.first;
  return {gap_ + in % columns_ * rowHeight(), tilesTop(group) + gap_ + in / columns_ * rowHeight(),
          tile_, tile_};
}

QRect SheetLayout::headingOf(int group) const {
  if (group < 0 || group >= groupCount()) return {};
  return {0, groups_[static_cast<std::size_t>(group)].top, width_, heading_};
}

int SheetLayout::groupOf(int index) const {
  const auto after =
      std::upper_bound(groups_.begin(), groups_.end(), index,
                       [](int value, const Group& group) { return value < group.first; });
  return std::max(0, static_cast<int>(after - groups_.begin()) - 1);
}

int SheetLayout::indexAt(const QPoint& point) const {
  const auto [first, last] = between(point.y(), point.y());
  for (int i = first; i < last; ++i)
    if (rectOf(i).contains(point)) return i;
  return -1;
}

std::pair<int, int> SheetLayout::between(int top, int bottom) const {
  int first = count_, last = 0;
  auto group = std::upper_bound(groups_.begin(), groups_.end(), top,
                                [](int y, const Group& one) { return y < one.top; });
  if (group != groups_.begin()) --group;
  for (; group != groups_.end() && group->top <= bottom; ++group) {
    const int begin = tilesTop(*group) + gap_;
    const int rows = rowsOf(*group);
    if (rows == 0 || bottom < begin) continue;
    const int from = std::clamp((top - begin) / rowHeight(), 0, rows);
    const int to = std::clamp((bottom - begin) / rowHeight(), 0, rows - 1);
    if (from > to) continue;
    first = std::min(first, group->first + from * columns_);
    last = std::max(last, group->first + std::min(group->count, (to + 1) * columns_));
  }
  return first < last ? std::pair(first, last) : std::pair(0, 0);
}

int SheetLayout::below(int index, int rows) const {
  if (count_ == 0) return -1;
  int group = groupOf(index);
  const int column = (index - groups_[static_cast<std::size_t>(group)].first) % columns_;
  int row = (index - groups_[static_cast<std::size_t>(group)].first) / columns_ + rows;
  while (row < 0 && group > 0) row += rowsOf(groups_[static_cast<std::size_t>(--group)]);
  while (group + 1 < groupCount() && row >= rowsOf(groups_[static_cast<std::size_t>(group)]))
    row -= rowsOf(groups_[static_cast<std::size_t>(group++)]);
  const Group& in = groups_[static_cast<std::size_t>(group)];
  if (row < 0) return index;  // the first row of all
  row = std::min(row, std::max(0, rowsOf(in) - 1));
  return in.first + std::clamp(row * columns_ + column, 0, std::max(0, in.count - 1));
}

}  // namespace vitrine::ui

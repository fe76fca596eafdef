// Decoded pictures, as many as a number of bytes holds; those that were not used longest go first.
#pragma once

#include <QCache>
#include <QImage>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace vitrine::ui {

class ThumbnailCache {
 public:
  explicit ThumbnailCache(qsizetype mostBytes) : pictures_(mostBytes) {}

  /// nullptr where it is not there. What was asked for last goes last.
  [[nodiscard]] const QImage* find(std::int64_t id) { return pictures_.object(id); }
  /// A picture larger than all of the cache is alone in it.
  void insert(std::int64_t id, QImage picture) {
    const qsizetype withEntry = picture.sizeInBytes() + 256;
    pictures_.insert(id, new QImage(std::move(picture)), std::min(withEntry, mostBytes()));
  }
  void clear() { pictures_.clear(); }

  [[nodiscard]] qsizetype bytes() const { return pictures_.totalCost(); }
  [[nodiscard]] qsizetype mostBytes() const { return pictures_.maxCost(); }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(pictures_.size()); }

 private:
  QCache<std::int64_t, QImage> pictures_;
};

}  // namespace vitrine::ui

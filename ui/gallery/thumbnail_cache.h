// Decoded pictures, as many as a number of bytes holds; those that were not used longest go first.
#pragma once

#include <QImage>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace vitrine::ui {

class ThumbnailCache {
 public:
  explicit ThumbnailCache(qsizetype mostBytes) : most_(mostBytes) {}

  /// nullptr where it is not there. What was asked for last goes last.
  [[nodiscard]] const QImage* find(std::int64_t id);
  /// A picture larger than all of the cache is alone in it.
  void insert(std::int64_t id, QImage picture);
  void clear();

  [[nodiscard]] qsizetype bytes() const { return bytes_; }
  [[nodiscard]] qsizetype mostBytes() const { return most_; }
  [[nodiscard]] std::size_t count() const { return places_.size(); }

 private:
  /// Of a picture and its entry.
  [[nodiscard]] static qsizetype costOf(const QImage& picture) {
    return picture.sizeInBytes() + 256;
  }
  using Order = std::list<std::pair<std::int64_t, QImage>>;  ///< the last used one first
  Order order_;
  std::unordered_map<std::int64_t, Order::iterator> places_;
  qsizetype most_, bytes_ = 0;
};

}  // namespace vitrine::ui

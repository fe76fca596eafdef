#include "ui/gallery/thumbnail_cache.h"

namespace vitrine::ui {

const QImage* ThumbnailCache::find(std::int64_t id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return nullptr;
  order_.splice(order_.begin(), order_, place->second);
  return &place->second->second;
}

void ThumbnailCache::insert(std::int64_t id, QImage picture) {
  if (const auto known = places_.find(id); known != places_.end()) {
    bytes_ -= costOf(known->second->second);
    order_.erase(known->second);
    places_.erase(known);
  }
  bytes_ += costOf(picture);
  order_.emplace_front(id, std::move(picture));
  places_[id] = order_.begin();
  while (bytes_ > most_ && order_.size() > 1) {
    bytes_ -= costOf(order_.back().second);
    places_.erase(order_.back().first);
    order_.pop_back();
  }
}

void ThumbnailCache::clear() {
  order_.clear();
  places_.clear();
  bytes_ = 0;
}

}  // namespace vitrine::ui

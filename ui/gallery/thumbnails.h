// Pictures of images, read and decoded in the background when they are wanted on the screen.
#pragma once

#include <QImage>
#include <QObject>
#include <filesystem>
#include <set>
#include <span>
#include <vector>

#include "ui/gallery/thumbnail_cache.h"
#include "ui/kit/background.h"

namespace vitrine::ui {

class Thumbnails : public QObject {
  Q_OBJECT
 public:
  /// \param mostBytes  of decoded pictures
  Thumbnails(const std::filesystem::path& database, qsizetype mostBytes, QObject* parent = nullptr);

  /// Longest side of the pictures in device pixels, smoothed; 0: as they are. Another size empties
  /// the cache.
  void setSide(int pixels);
  /// Those that are larger than a place of this side are reduced by a whole number until they fit,
  /// as they are drawn there. So the pictures in sight always fit into the cache. 0: none is.
  void setMost(int pixels);
  /// nullptr while it is not there; want() it then.
  [[nodiscard]] const QImage* find(std::int64_t id) { return cache_.find(id); }
  /// The visible images now. Those that are missing are read a few at a time, those that came
  /// last first asked for; arrived() follows.
  void want(std::span<const std::int64_t> ids);
  [[nodiscard]] bool isBusy() const { return reader_.isBusy(); }
  /// All that is wanted is there, or cannot be read.
  void waitUntilIdle();
  [[nodiscard]] qsizetype bytes() const { return cache_.bytes(); }
  [[nodiscard]] qsizetype mostBytes() const { return cache_.mostBytes(); }
  /// It is there and no picture.
  [[nodiscard]] bool isBroken(std::int64_t id) const { return broken_.count(id) > 0; }

 Q_SIGNALS:
  void arrived();

 private:
  void readNext();
  void forget();

  ThumbnailCache cache_;
  Background reader_;
  std::vector<std::int64_t> wanted_;
  std::set<std::int64_t> broken_;
  int side_ = 0, most_ = 0;
};

/// The picture in a PNG file, smoothed so that its longest side is `side`; as it is where that is
/// 0. Null where it cannot be read.
[[nodiscard]] QImage thumbnailOf(std::span<const std::byte> png, int side);

}  // namespace vitrine::ui

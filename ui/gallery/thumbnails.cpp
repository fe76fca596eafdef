#include "ui/gallery/thumbnails.h"

#include <QBuffer>
#include <QImageReader>
#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "ui/gallery/image_pair.h"

namespace vitrine::ui {

namespace {

/// Read at once: few, so that what scrolled away meanwhile costs little.
constexpr std::size_t kBatch = 96;
constexpr int kLargestSide = 1 << 14;  // pixels of a stored image

QImage reducedTo(const QImage& picture, int most) {
  const int scale = picture.isNull() ? 1 : wholeScale(picture.size(), {most, most});
  return scale >= 1 ? picture
                    : picture.scaled(scaledBy(picture.size(), scale), Qt::IgnoreAspectRatio,
                                     Qt::SmoothTransformation);
}

}  // namespace

QImage thumbnailOf(std::span<const std::byte> png, int side) {
  QByteArray bytes =
      QByteArray::fromRawData(reinterpret_cast<const char*>(png.data()), std::ssize(png));
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::ReadOnly);
  QImageReader reader(&buffer, "PNG");
  const QSize size = reader.size();
  if (size.isEmpty() || std::max(size.width(), size.height()) > kLargestSide) return {};
  QImage picture = reader.read();
  if (picture.isNull() || side == 0) return picture;
  const QSize wanted = picture.size().scaled(side, side, Qt::KeepAspectRatio);
  if (wanted != picture.size())
    picture =
        picture
            .convertToFormat(picture.hasAlphaChannel() ? QImage::Format_ARGB32_Premultiplied
                                                       : QImage::Format_RGB32)
            .scaled(wanted.expandedTo({1, 1}), Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
  // As it is painted: nothing is converted while the sheet scrolls.
  return picture.convertToFormat(picture.hasAlphaChannel() ? QImage::Format_ARGB32_Premultiplied
                                                           : QImage::Format_RGB32);
}

Thumbnails::Thumbnails(const std::filesystem::path& database, qsizetype mostBytes, QObject* parent)
    : QObject(parent), cache_(mostBytes), reader_(database) {
  connect(&reader_, &Background::failed, this, [this](const QString&) {
    // The list of images says that the database cannot be read.
    wanted_.clear();
  });
}

void Thumbnails::setSide(int pixels) {
  if (pixels == side_) return;
  side_ = pixels;
  forget();
}

void Thumbnails::setMost(int pixels) {
  if (pixels == most_) return;
  most_ = pixels;
  forget();
}

void Thumbnails::forget() {
  cache_.clear();
  reader_.cancel();
  wanted_.clear();
}

void Thumbnails::want(std::span<const std::int64_t> ids) {
  wanted_.assign(ids.begin(), ids.end());
  if (!reader_.isBusy()) readNext();
}

void Thumbnails::readNext() {
  std::vector<std::int64_t> ids;
  for (const std::int64_t id : wanted_) {
    if (broken_.count(id) > 0 || cache_.find(id) != nullptr) continue;
    ids.push_back(id);
    if (ids.size() == kBatch) break;
  }
  if (ids.empty()) return;
  reader_.run([this, ids, side = side_, most = most_](
                  store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    auto pictures = std::make_shared<std::vector<QImage>>();
    for (const std::int64_t id : ids) {
      if (isStale) return {};
      try {
        const QImage picture = thumbnailOf(store.generatedImagePng(id), side);
        pictures->push_back(most > 0 ? reducedTo(picture, most) : picture);
      } catch (const NotFoundError&) {  // its run was deleted: the list will say so
        pictures->emplace_back();
      }
    }
    return [this, ids, pictures] {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        QImage& picture = (*pictures)[i];
        if (picture.isNull()) {
          broken_.insert(ids[i]);
        } else {
          cache_.insert(ids[i], std::move(picture));
        }
      }
      Q_EMIT arrived();
      readNext();
    };
  });
}

void Thumbnails::waitUntilIdle() {
  // Each batch asks for the next one.
  while (reader_.isBusy()) reader_.waitUntilIdle();
}

}  // namespace vitrine::ui

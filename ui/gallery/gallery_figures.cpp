#include "ui/gallery/gallery_figures.h"

#include <QBuffer>
#include <QObject>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "ui/figures/side_by_side.h"

namespace vitrine::ui {

namespace {

constexpr int kGridGap = 2;  // pixels

std::vector<std::byte> pngOf(const QImage& picture) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  picture.save(&buffer, "PNG");
  const auto* first = reinterpret_cast<const std::byte*>(bytes.constData());
  return {first, first + bytes.size()};
}

std::unique_ptr<Figure> imageFigure(const QImage& picture, const QString& title,
                                    FigureStyle style) {
  return makeFigure(QString::fromLatin1(artifact_kind::kImage),
                    {{"version", 1},
                     {"dtype", "png"},
                     {"shape", {picture.height(), picture.width(), 3}},
                     {"title", title.toStdString()}},
                    pngOf(picture), std::move(style));
}

bool areOfSize(const std::vector<LabelledImage>& images, const QSize& size) {
  return std::all_of(images.begin(), images.end(), [&](const LabelledImage& one) {
    return one.picture.isNull() || one.picture.size() == size;
  });
}

/// Of images of one size; one without a picture is black.
std::unique_ptr<Figure> gridFigure(const std::vector<LabelledImage>& images, const QSize& size,
                                   Json meta, FigureStyle style) {
  constexpr int kChannels = 3;
  const auto line = static_cast<std::size_t>(size.width()) * kChannels;
  std::vector<std::byte> pixels;
  pixels.reserve(images.size() * line * static_cast<std::size_t>(size.height()));
  for (const LabelledImage& one : images) {
    const QImage picture = one.picture.convertToFormat(QImage::Format_RGB888);
    for (int y = 0; y < size.height(); ++y) {
      if (picture.isNull()) {
        pixels.resize(pixels.size() + line);
        continue;
      }
      const auto* first = reinterpret_cast<const std::byte*>(picture.constScanLine(y));
      pixels.insert(pixels.end(), first, first + line);
    }
  }
  meta["version"] = 1;
  meta["dtype"] = "uint8";
  meta["shape"] = {images.size(), size.height(), size.width(), kChannels};
  return makeFigure(QString::fromLatin1(artifact_kind::kImageGrid), meta, std::move(pixels),
                    std::move(style));
}

Json namesOf(const QStringList& texts) {
  Json names = Json::array();
  for (const QString& text : texts) names.push_back(text.toStdString());
  return names;
}

}  // namespace

int columnsFor(int count) {
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count)))));
}

std::unique_ptr<Figure> imagesFigure(const std::vector<LabelledImage>& images, const QString& title,
                                     FigureStyle style) {
  if (images.empty()) return nullptr;
  const QSize size = images.front().picture.size();
  if (images.size() == 1)
    return imageFigure(images.front().picture, images.front().label, std::move(style));
  if (!areOfSize(images, size)) {
    std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures;
    for (const LabelledImage& one : images)
      figures.emplace_back(one.label, imageFigure(one.picture, one.label, style));
    return std::make_unique<SideBySide>(
        std::move(figures), columnsFor(static_cast<int>(images.size())), std::move(style));
  }
  Json labels = Json::array();
  for (const LabelledImage& one : images) labels.push_back(one.label.toStdString());
  return gridFigure(images, size, {{"title", title.toStdString()}, {"labels", labels}},
                    std::move(style));
}

std::unique_ptr<Figure> tableFigure(const std::vector<LabelledImage>& images,
                                    const QStringList& rows, const QStringList& columns,
                                    const QString& title, FigureStyle style) {
  std::vector<LabelledImage> there;
  Json absent = Json::array();
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (images[i].picture.isNull())
      absent.push_back(i);
    else
      there.push_back(images[i]);
  }
  const QSize size = there.empty() ? QSize() : there.front().picture.size();
  if (there.empty() || !areOfSize(there, size)) return imagesFigure(there, title, std::move(style));
  return gridFigure(images, size,
                    {{"title", title.toStdString()},
                     {"row_names", namesOf(rows)},
                     {"column_names", namesOf(columns)},
                     {"absent", absent}},
                    std::move(style));
}

std::unique_ptr<Figure> pairFigure(const LabelledImage& a, const LabelledImage& b,
                                   ImageStage::View view, FigureStyle style) {
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures;
  figures.emplace_back(a.label, imageFigure(a.picture, a.label, style));
  figures.emplace_back(b.label, imageFigure(b.picture, b.label, style));
  const ImageDifference difference = differenceOf(a.picture, b.picture);
  if (view == ImageStage::View::Difference && difference.isThere) {
    const QString title =
        QObject::tr("A \u2212 B, colours from \u2212%1 to %1").arg(number(difference.range, 2));
    figures.emplace_back(title, imageFigure(difference.picture, title, style));
  }
  const int columns = static_cast<int>(figures.size());
  return std::make_unique<SideBySide>(std::move(figures), columns, std::move(style));
}

QImage gridImage(const std::vector<LabelledImage>& images, int columns, int leastSide) {
  if (images.empty()) return {};
  QSize largest(1, 1);
  for (const LabelledImage& one : images) largest = largest.expandedTo(one.picture.size());
  const int times = std::max(1, (leastSide + std::min(largest.width(), largest.height()) - 1) /
                                    std::min(largest.width(), largest.height()));
  const QSize tile = largest * times;
  const int count = static_cast<int>(images.size());
  columns = std::clamp(columns, 1, count);
  const int rows = (count + columns - 1) / columns;
  QImage grid(columns * (tile.width() + kGridGap) - kGridGap,
              rows * (tile.height() + kGridGap) - kGridGap, QImage::Format_RGB32);
  grid.fill(Qt::white);
  QPainter painter(&grid);
  for (int i = 0; i < count; ++i) {
    const QImage& picture = images[static_cast<std::size_t>(i)].picture;
    const QPoint corner(i % columns * (tile.width() + kGridGap),
                        i / columns * (tile.height() + kGridGap));
    painter.drawImage(QRect(corner, picture.size() * times), picture);
  }
  return grid;
}

Json recipesOf(const std::vector<LabelledImage>& images) {
  Json all = Json::array();
  for (const LabelledImage& one : images) {
    all.push_back({{"id", one.row.id},
                   {"run", one.run},
                   {"step", one.row.step},
                   {"seed", one.row.seed},
                   {"sha256", one.row.sha256},
                   {"recipe", one.row.recipe}});
  }
  return all;
}

}  // namespace vitrine::ui

// One image, or a grid of small ones. Pixels stay square and crisp: enlarging never blurs.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

/// Images of a grid that are drawn: more than a page can show apart.
constexpr std::int64_t kMostImages = 4096;
/// Of a table of images: between two, the line of a name, and the widest image where the height is
/// free.
constexpr double kCellGap = 3, kNameLine = 18, kMostCell = 112;

QString pixelText(const QImage& image, int x, int y) {
  const QColor color = image.pixelColor(x, y);
  if (image.isGrayscale()) return QString::number(color.red());
  return QStringLiteral("%1 %2 %3").arg(color.red()).arg(color.green()).arg(color.blue());
}

/// The largest rectangle of the image's shape inside `area`. On a screen it is at its left top, and
/// in whole multiples where it is enlarged; on paper in the middle.
QRectF fitted(const QSize& size, const QRectF& area, const FigureStyle& style) {
  double factor = std::min(area.width() / size.width(), area.height() / size.height());
  if (factor > 2 && !style.isOnPaper()) factor = std::floor(factor);
  QRectF rect(area.topLeft(), QSizeF(size) * factor);
  if (style.isOnPaper()) rect.moveLeft(area.center().x() - rect.width() / 2);
  return rect;
}

void drawSmall(QPainter& painter, const QRectF& rect, const QImage& image) {
  painter.setRenderHint(QPainter::SmoothPixmapTransform, rect.width() < image.width());
  drawPixels(painter, rect, image);
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
}

QString pixelLine(const QRectF& rect, const QImage& image, const QPointF& at) {
  const auto [y, x] = cellAt(rect, image.height(), image.width(), at);
  return QObject::tr("row %1, column %2: %3").arg(y).arg(x).arg(pixelText(image, x, y));
}

class ImageFigure final : public Figure {
 public:
  ImageFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    if (!image_.loadFromData(reinterpret_cast<const uchar*>(data.data()),
                             static_cast<int>(data.size()), "PNG")) {
      throw FileError("the data are not a PNG file");
    }
  }

  double fittingHeight(double width) const override {
    constexpr double kMost = 0.66;  // of the width
    const double inner = width - 2 * kMargin;
    return 2 * kMargin + headerHeight(inner, title(), about()) +
           std::min(inner * image_.height() / image_.width(), kMost * inner);
  }
  QString summary() const override {
    return QObject::tr("Image of %1 x %2 pixels").arg(image_.width()).arg(image_.height());
  }
  QString csv() const override {
    QString text = QStringLiteral("row,column,red,green,blue\n");
    appendPixels(text, image_, QString());
    return text;
  }

 private:
  QString title() const {
    const QString own = metaText(meta_, "title");
    return own.isEmpty() ? QObject::tr("Image") : own;
  }
  QString about() const {
    return QObject::tr("%1 \u00d7 %2 px").arg(image_.width()).arg(image_.height());
  }
  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, title(), about());
    const QRectF rect = fitted(image_.size(), body, style());
    drawSmall(painter, rect, image_);
    addRegion(rect, [this, rect](const QPointF& at) { return pixelLine(rect, image_, at); });
  }

  Json meta_;
  QImage image_;
};

class ImageGridFigure final : public Figure {
 public:
  ImageGridFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 4 || view.dtype != "uint8")
      throw FileError("an image grid needs uint8 values of the shape [n, height, width, channels]");
    const std::int64_t height = view.shape[1], width = view.shape[2], channels = view.shape[3];
    if (channels != 1 && channels != 3 && channels != 4)
      throw FileError("images have 1, 3 or 4 channels");
    if (height < 1 || width < 1 || height > 16384 || width > 16384)
      throw FileError("images have 1 to 16384 pixels a side");
    const auto* pixels = reinterpret_cast<const uchar*>(view.bytes.data());
    const QImage::Format format = channels == 1   ? QImage::Format_Grayscale8
                                  : channels == 3 ? QImage::Format_RGB888
                                                  : QImage::Format_RGBA8888;
    total_ = view.shape[0];
    for (std::int64_t i = 0; i < std::min(total_, kMostImages); ++i) {
      const QImage borrowed(pixels + i * height * width * channels, static_cast<int>(width),
                            static_cast<int>(height), static_cast<qsizetype>(width * channels),
                            format);
      images_.push_back(borrowed.copy());
    }
    labels_ = metaTexts(meta, {"labels", "names", "sample_ids"});
    rows_ = metaTexts(meta, {"row_names"});
    columns_ = metaTexts(meta, {"column_names"});
    if (rows_.size() * columns_.size() != total_ || total_ > kMostImages) rows_.clear();
    const QStringList absent = metaTexts(meta, {"absent"});
    for (std::int64_t i = 0; i < total_ && isTable(); ++i)
      isAbsent_.push_back(absent.contains(QString::number(i)));
  }

  QString summary() const override {
    return images_.empty() ? QObject::tr("Image grid without images")
                           : (areFilters() ? QObject::tr("%1 filters of %2 x %3 pixels")
                                           : QObject::tr("%1 images of %2 x %3 pixels"))
                                 .arg(count())
                                 .arg(images_.front().width())
                                 .arg(images_.front().height());
  }
  QString csv() const override {
    if (isTable()) return tableCsv();
    QString text = QStringLiteral("image,row,column,red,green,blue\n");
    for (std::size_t i = 0; i < images_.size(); ++i)
      appendPixels(text, images_[i], QString::number(i) + QLatin1Char(','));
    return text;
  }
  int imageCount() const override { return static_cast<int>(images_.size()); }
  double leastWidth() const override {
    if (!isTable()) return 0;
    double widest = 0;
    for (const QString& name : columns_)
      widest = std::max(widest, QFontMetricsF(axisLetters()).horizontalAdvance(name));
    const auto columns = static_cast<double>(columns_.size());
    return 2 * kMargin + columns * (widest + kCellGap) - kCellGap;
  }
  double fittingHeight(double width) const override {
    if (images_.empty()) return 0;
    const double inner = width - 2 * kMargin;
    if (isTable()) {
      const double tile =
          std::min(kMostCell, cellRoom(inner) / static_cast<double>(columns_.size()));
      return 2 * kMargin + headerHeight(inner, title(), about()) + kNameLine +
             static_cast<double>(rows_.size()) * (kNameLine + tile / aspect() + kCellGap);
    }
    return 2 * kMargin + headerHeight(inner, title(), about()) +
           tilesHeight(static_cast<int>(images_.size()), inner, aspect(), labelHeight());
  }

 private:
  /// How many are drawn, and of how many where these are not all.
  QString count() const {
    const auto absent = std::count(isAbsent_.begin(), isAbsent_.end(), true);
    const QString drawn = QString::number(std::ssize(images_) - absent);
    return std::ssize(images_) < total_ ? QObject::tr("%1 of %2").arg(drawn).arg(total_) : drawn;
  }
  QString title() const {
    const QString own = metaText(meta_, "title");
    return own.isEmpty() ? QObject::tr("Images") : own;
  }
  /// Principal filters are of the weights, not of a split.
  bool areFilters() const { return meta_.is_object() && meta_.contains("explained"); }
  QString about() const {
    if (areFilters()) return QObject::tr("%1 filters \u00b7 share explained by each").arg(count());
    QString text = QObject::tr("%1 images").arg(count());
    if (const QString more = metaAbout(meta_); !more.isEmpty())
      text += QStringLiteral(" \u00b7 ") + more;
    return text;
  }
  double aspect() const {
    return static_cast<double>(images_.front().width()) / images_.front().height();
  }
  double labelHeight() const { return labels_.isEmpty() ? 0 : 18; }
  /// Rows and columns have names: a line of words above each row, and one above all columns.
  bool isTable() const { return !rows_.isEmpty(); }
  double cellRoom(double width) const {
    return std::max(1.0, width - kCellGap * (static_cast<double>(columns_.size()) - 1));
  }
  QString tableCsv() const {
    QString text = QStringLiteral("row_name,column_name,row,column,red,green,blue\n");
    for (int i = 0; i < std::ssize(images_); ++i) {
      const auto columns = static_cast<int>(columns_.size());
      if (isAbsent_[static_cast<std::size_t>(i)]) continue;
      appendPixels(text, images_[static_cast<std::size_t>(i)],
                   csvText(rows_[i / columns]) + QLatin1Char(',') + csvText(columns_[i % columns]) +
                       QLatin1Char(','));
    }
    return text;
  }
  void drawTable(QPainter& painter, const QRectF& body) {
    const auto columns = static_cast<int>(columns_.size());
    const double tile =
        std::max(1.0, std::min(cellRoom(body.width()) / columns,
                               ((body.height() - kNameLine) / static_cast<double>(rows_.size()) -
                                kNameLine - kCellGap) *
                                   aspect()));
    const QSizeF size(tile, tile / aspect());
    const auto words = [&](const QRectF& rect, Qt::Alignment side, const QString& text) {
      painter.setFont(axisLetters());
      painter.setPen(themeColors().muted);
      drawLineWithTip(painter, rect, static_cast<int>(side | Qt::AlignVCenter), text);
    };
    for (int i = 0; i < columns; ++i)
      words({body.left() + i * (tile + kCellGap), body.top(), tile, kNameLine}, Qt::AlignHCenter,
            columns_[i]);
    for (int i = 0; i < std::ssize(images_); ++i) {
      const double each = kNameLine + size.height() + kCellGap;
      const double top = body.top() + kNameLine + i / columns * each;
      if (i % columns == 0)
        words({body.left(), top, body.width(), kNameLine}, Qt::AlignLeft, rows_[i / columns]);
      if (isAbsent_[static_cast<std::size_t>(i)]) continue;
      const QImage& image = images_[static_cast<std::size_t>(i)];
      const double left = body.left() + i % columns * (tile + kCellGap);
      const QRectF rect(QPointF(left, top + kNameLine), size);
      drawSmall(painter, rect, image);
      const QString name =
          QStringLiteral("%1, %2, ").arg(rows_[i / columns], columns_[i % columns]);
      addRegion(rect, [&image, rect, name](const QPointF& at) {
        return name + pixelLine(rect, image, at);
      });
      addTarget(rect, FigureTarget{.image = i});
    }
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, title(), about());
    if (images_.empty()) {
      drawNothing(painter, body, QObject::tr("No images."));
      return;
    }
    if (isTable()) return drawTable(painter, body);
    const int total = static_cast<int>(images_.size());
    const double label = labelHeight();
    const Tiles tiles = tilesIn(total, body.size(), aspect(), label);
    const double left =
        body.left() + (style().isOnPaper() ? (body.width() - tiles.width()) / 2 : 0);
    for (int i = 0; i < total; ++i) {
      const QImage& image = images_[static_cast<std::size_t>(i)];
      const QRectF rect(QPointF(left, body.top()) + tiles.at(i, label), tiles.size);
      drawSmall(painter, rect, image);
      if (i < labels_.size()) {
        painter.setFont(axisLetters());
        painter.setPen(themeColors().muted);
        drawLineWithTip(painter, QRectF(rect.left(), rect.bottom() + 2, rect.width(), label - 2),
                        Qt::AlignLeft | Qt::AlignVCenter, labels_[i]);
      }
      if (i == style().image && !style().isOnPaper()) drawRing(painter, rect);
      const QString name = i < labels_.size() ? labels_[i] : QObject::tr("image %1").arg(i);
      addRegion(rect, [&image, rect, name](const QPointF& at) {
        return name + QStringLiteral(", ") + pixelLine(rect, image, at);
      });
      addTarget(rect, FigureTarget{.image = i});
    }
  }

  Json meta_;
  std::vector<QImage> images_;
  std::int64_t total_ = 0;  ///< of the artifact
  QStringList labels_, rows_, columns_;
  std::vector<bool> isAbsent_;  ///< of a table: a cell without an image
};

}  // namespace

std::unique_ptr<Figure> makeImage(const Json& meta, std::vector<std::byte> data,
                                  FigureStyle style) {
  return std::make_unique<ImageFigure>(meta, data, std::move(style));
}

std::unique_ptr<Figure> makeImageGrid(const Json& meta, std::vector<std::byte> data,
                                      FigureStyle style) {
  return std::make_unique<ImageGridFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui

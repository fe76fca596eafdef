// Painting, regions, export, and the choice of the maker.
#include "ui/figures/figure.h"

#include <QFile>
#include <QFontMetricsF>
#include <QPageSize>
#include <QPdfWriter>
#include <algorithm>
#include <exception>
#include <map>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

constexpr double kMargin = 12;

/// Restores a figure's style when an export is done with the light one.
class LightStyle {
 public:
  explicit LightStyle(Figure& figure) : figure_(figure), kept_(figure.style()) {
    FigureStyle light = kept_;
    light.theme = ThemeKind::Light;
    figure_.setStyle(light);
  }
  ~LightStyle() { figure_.setStyle(kept_); }
  LightStyle(const LightStyle&) = delete;
  LightStyle& operator=(const LightStyle&) = delete;

 private:
  Figure& figure_;
  FigureStyle kept_;
};

[[noreturn]] void cannotWrite(const QString& file, const QString& reason) {
  throw Error("cannot write " + file.toStdString() + ": " + reason.toStdString() +
              "; choose a folder you may write to");
}

}  // namespace

Figure::Figure(FigureStyle style) : style_(std::move(style)) {}
Figure::~Figure() = default;

QSize Figure::sizeHint() const { return {640, 420}; }
std::optional<std::array<double, 2>> Figure::valueRange() const { return std::nullopt; }
int Figure::imageCount() const { return 0; }
int Figure::layerCount() const { return 0; }
int Figure::headCount() const { return 0; }
QString Figure::problem() const { return {}; }
QString Figure::note() const { return {}; }

void Figure::paint(QPainter& painter, const QRectF& area) {
  regions_.clear();
  targets_.clear();
  painter.save();
  painter.fillRect(area, tokens().panel);
  painter.setClipRect(area, Qt::IntersectClip);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  draw(painter, area.adjusted(kMargin, kMargin, -kMargin, -kMargin));
  painter.restore();
}

QString Figure::describeAt(const QPointF& point) const {
  const auto found = std::find_if(regions_.rbegin(), regions_.rend(), [&](const Region& region) {
    return region.rect.contains(point);
  });
  return found == regions_.rend() ? QString() : found->describe(point);
}

FigureTarget Figure::targetAt(const QPointF& point) const {
  const auto found = std::find_if(targets_.rbegin(), targets_.rend(), [&](const Target& target) {
    return target.rect.contains(point);
  });
  return found == targets_.rend() ? FigureTarget{} : found->target(point);
}

void Figure::addRegion(const QRectF& rect, std::function<QString(const QPointF&)> describe) {
  regions_.push_back({rect, std::move(describe)});
}

void Figure::addTarget(const QRectF& rect, std::function<FigureTarget(const QPointF&)> target) {
  targets_.push_back({rect, std::move(target)});
}

QColor Figure::seriesOrAccent() const {
  return style_.color.isValid() ? style_.color : tokens().accent;
}

QColor Figure::mapColor(double t) const {
  const double clamped = std::clamp(t, 0.0, 1.0);
  return style_.palette == FigureStyle::Palette::Cividis ? cividis(clamped) : viridis(clamped);
}

QRectF Figure::drawHeader(QPainter& painter, const QRectF& area, const QString& title,
                          const QString& about) const {
  constexpr double kHeight = 20;
  const QString left = style_.title.isEmpty() ? title : style_.title;
  const QFont titleType = inPixels(titleFont());
  const QFont aboutType = inPixels(smallFont());
  double x = area.left();
  if (style_.color.isValid()) {
    painter.fillRect(QRectF(x, area.top() + 5, 8, 8), style_.color);
    x += 14;
  }
  const double wanted = QFontMetricsF(titleType).horizontalAdvance(left) + 2;
  const double titleWidth = std::min(wanted, std::max(area.width() * 0.5, area.width() - 160));
  painter.setFont(titleType);
  painter.setPen(tokens().text);
  drawLine(painter, QRectF(x, area.top(), titleWidth, kHeight), Qt::AlignLeft | Qt::AlignVCenter,
           left);
  const double from = x + titleWidth + 12;
  if (area.right() - from > 40) {
    painter.setFont(aboutType);
    painter.setPen(tokens().muted);
    drawLine(painter, QRectF(from, area.top(), area.right() - from, kHeight),
             Qt::AlignRight | Qt::AlignVCenter, about);
  }
  return area.adjusted(0, kHeight + 8, 0, 0);
}

QImage Figure::image(QSize size, double scale) {
  QImage picture((QSizeF(size) * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
  picture.setDevicePixelRatio(scale);
  picture.fill(tokens().panel);
  QPainter painter(&picture);
  paint(painter, QRectF(QPointF(0, 0), QSizeF(size)));
  return picture;
}

void Figure::savePng(const QString& file, QSize size, double scale) {
  const LightStyle light(*this);
  if (!image(size, scale).save(file, "PNG"))
    cannotWrite(file, QStringLiteral("the image was not saved"));
}

void Figure::savePdf(const QString& file, QSize size) {
  constexpr int kResolution = 960;  // ten dots per logical pixel: fine enough for every line
  const LightStyle light(*this);
  QFile target(file);
  if (!target.open(QIODevice::WriteOnly)) cannotWrite(file, target.errorString());
  QPdfWriter writer(&target);
  writer.setResolution(kResolution);
  writer.setCreator(QStringLiteral("Vitrine"));
  writer.setPageSize(
      QPageSize(QSizeF(size) * 72.0 / 96.0, QPageSize::Point, QString(), QPageSize::ExactMatch));
  writer.setPageMargins(QMarginsF(0, 0, 0, 0));
  QPainter painter;
  if (!painter.begin(&writer)) cannotWrite(file, QStringLiteral("the page was not started"));
  painter.scale(kResolution / 96.0, kResolution / 96.0);
  paint(painter, QRectF(QPointF(0, 0), QSizeF(size)));
  if (!painter.end()) cannotWrite(file, QStringLiteral("the page was not finished"));
  target.close();
  if (target.error() != QFileDevice::NoError) cannotWrite(file, target.errorString());
}

void Figure::saveCsv(const QString& file) const {
  QFile target(file);
  const QByteArray text = csv().toUtf8();
  if (!target.open(QIODevice::WriteOnly) || target.write(text) != text.size() || !target.flush()) {
    cannotWrite(file, target.errorString());
  }
}

std::unique_ptr<Figure> makeFigure(const QString& kind, const Json& meta,
                                   std::vector<std::byte> data, FigureStyle style) {
  static const std::map<QString, FigureMaker> kMakers = {
      {artifact_kind::kCurve, makeCurve},         {artifact_kind::kHeatmap, makeHeatmap},
      {artifact_kind::kMatrix, makeMatrix},       {artifact_kind::kImage, makeImage},
      {artifact_kind::kImageGrid, makeImageGrid}, {artifact_kind::kTable, makeTable},
      {artifact_kind::kHistogram, makeHistogram}, {artifact_kind::kReliability, makeReliability},
      {artifact_kind::kSpectrum, makeSpectrum},   {artifact_kind::kAttention, makeAttention},
  };
  const auto maker = kMakers.find(kind);
  if (maker == kMakers.end()) {
    return makeMetaFigure(
        QStringLiteral("No picture is known for the kind \"%1\"; this is its description.")
            .arg(kind),
        QString(), meta, std::move(style));
  }
  try {
    return maker->second(meta, std::move(data), style);
  } catch (const std::exception& error) {
    const QString sentence =
        QStringLiteral("This %1 cannot be drawn: %2").arg(kind, QString::fromUtf8(error.what()));
    return makeMetaFigure(sentence, sentence, meta, std::move(style));
  }
}

}  // namespace vitrine::ui

// Painting, regions, and the choice of the maker.
#include "ui/figures/figure.h"

#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <exception>
#include <map>

#include "core/artifact/artifact.h"
#include "core/artifact/cue_decisions.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"
#include "ui/kit/icons.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

Figure::Figure(FigureStyle style) : style_(std::move(style)) {}
Figure::~Figure() = default;

QSize Figure::sizeHint() const { return {640, 420}; }
double Figure::leastHeight(double /*width*/) const { return 0; }
double Figure::fittingHeight(double /*width*/) const { return 0; }
double Figure::leastWidth() const { return 0; }
bool Figure::breaksWords(double /*width*/) const { return false; }
std::optional<std::array<double, 2>> Figure::valueRange() const { return std::nullopt; }
int Figure::imageCount() const { return 0; }
int Figure::layerCount() const { return 0; }
int Figure::headCount() const { return 0; }
std::array<int, 2> Figure::cellCount() const { return {0, 0}; }
QString Figure::error() const { return {}; }
QString Figure::note() const { return {}; }

void Figure::paint(QPainter& painter, const QRectF& area) {
  regions_.clear();
  targets_.clear();
  painter.save();
  painter.fillRect(area, themeColors().panel);
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

void Figure::addTarget(const QRectF& rect, const FigureTarget& target) {
  addTarget(rect, [target](const QPointF&) { return target; });
}

QColor Figure::seriesOrAccent() const {
  return style_.run > 0 ? seriesColor(style_.run, style_.theme) : themeColors().accent;
}

QColor Figure::mapColor(double t) const {
  const double clamped = std::clamp(t, 0.0, 1.0);
  return style_.palette == FigureStyle::Palette::Cividis ? cividis(clamped) : viridis(clamped);
}

void Figure::drawOutline(QPainter& painter, const QRectF& part) const {
  painter.setPen(QPen(themeColors().accent, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(part);
}

void Figure::drawRing(QPainter& painter, const QRectF& part) const {
  painter.setPen(QPen(themeColors().accent, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(part.adjusted(-2, -2, 2, 2), 3, 3);
}

Figure::Header Figure::headerOf(double width, const QString& title, const QString& about) const {
  constexpr double kLine = 20, kBelow = 8, kBetween = 12, kMark = 14;
  Header header{.markWidth = style_.run > 0 ? kMark : 0, .titleHeight = kLine};
  if (style_.isOnPaper() || style_.wrapsAbout) {
    const QFontMetricsF strong(titleLetters()), small(smallLetters());
    const double room = width - header.markWidth;
    const double wanted = strong.horizontalAdvance(title) + 2;
    const auto lines = [](const QFontMetricsF& metrics, double across, const QString& text) {
      return metrics.boundingRect(QRectF(0, 0, across, 1e4), Qt::TextWordWrap, text).height();
    };
    if (style_.isOnPaper() && wanted > room)
      header.titleHeight = std::max(kLine, lines(strong, room, title) + 4);
    if (!about.isEmpty() &&
        (style_.stacksHeader || wanted + kBetween + small.horizontalAdvance(about) + 2 > room))
      header.aboutHeight = lines(small, width, about);
  }
  header.height = header.titleHeight + header.aboutHeight + kBelow;
  return header;
}

void Figure::drawNothing(QPainter& painter, const QRectF& body, const QString& sentence) const {
  painter.setFont(bodyLetters());
  painter.setPen(themeColors().muted);
  painter.drawText(body, Qt::AlignCenter | Qt::TextWordWrap, sentence);
}

double Figure::headerHeight(double width, const QString& title, const QString& about) const {
  return headerOf(width, style_.title.isEmpty() ? title : style_.title, about).height;
}

void Figure::drawLineWithTip(QPainter& painter, const QRectF& rect, int flags,
                             const QString& text) {
  drawLine(painter, rect, flags, text);
  if (QFontMetricsF(painter.font()).horizontalAdvance(text) > rect.width() + 1)
    addRegion(rect, [text](const QPointF&) { return text; });
}

QRectF Figure::drawHeader(QPainter& painter, const QRectF& area, const QString& title,
                          const QString& about) {
  const QString left = style_.title.isEmpty() ? title : style_.title;
  const Header header = headerOf(area.width(), left, about);
  const QRectF body = area.adjusted(0, header.height, 0, 0);
  if (style_.run > 0)
    drawRunMark(painter, QRectF(area.left(), area.top() + 5, 8, 8), style_.run, seriesOrAccent());
  const QFont titleType = titleLetters();
  QRectF line(area.left() + header.markWidth, area.top(), area.width() - header.markWidth,
              header.titleHeight);
  painter.setFont(titleType);
  painter.setPen(themeColors().text);
  if (header.aboutHeight > 0 || about.isEmpty()) {
    if (style_.isOnPaper()) {
      painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, left);
    } else {
      drawLineWithTip(painter, line, Qt::AlignLeft | Qt::AlignVCenter, left);
    }
    painter.setFont(smallLetters());
    painter.setPen(themeColors().muted);
    painter.drawText(QRectF(area.left(), line.bottom(), area.width(), header.aboutHeight + 2),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, about);
    return body;
  }
  const double wanted = QFontMetricsF(titleType).horizontalAdvance(left) + 2;
  if (left.isEmpty()) {
    painter.setFont(smallLetters());
    painter.setPen(themeColors().muted);
    drawLineWithTip(painter, line, Qt::AlignLeft | Qt::AlignVCenter, about);
    return body;
  }
  constexpr double kBetween = 12;
  // The description has the room that it needs, within limits.
  const double beside = QFontMetricsF(smallLetters()).horizontalAdvance(about) + kBetween + 2;
  const double free = std::max(area.width() * 0.5, area.width() - std::min(beside, 160.0));
  const double most = style_.isOnPaper() ? wanted : free;
  line.setWidth(std::min(wanted, most));
  drawLineWithTip(painter, line, Qt::AlignLeft | Qt::AlignVCenter, left);
  const double from = line.right() + kBetween;
  if (area.right() - from > std::min(40.0, beside - kBetween - 1)) {
    painter.setFont(smallLetters());
    painter.setPen(themeColors().muted);
    drawLineWithTip(painter, QRectF(from, area.top(), area.right() - from, header.titleHeight),
                    Qt::AlignRight | Qt::AlignVCenter, about);
  } else {
    addRegion(line, [both = left + QLatin1Char('\n') + about](const QPointF&) { return both; });
  }
  return body;
}

void Figure::lendStyle(Figure& part, const FigureStyle& whole) {
  FigureStyle style = part.style();
  style.theme = whole.theme;
  style.hasAxisTitles = whole.hasAxisTitles;
  style.markerEvery = whole.markerEvery;
  style.legend = whole.legend;
  style.pointsPerPixel = whole.pointsPerPixel;
  style.stacksHeader = whole.stacksHeader;
  style.wrapsAbout = whole.wrapsAbout;
  part.setStyle(style);
}

QImage Figure::image(QSizeF size, double scale) {
  QImage picture((size * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
  picture.fill(themeColors().panel);
  QPainter painter(&picture);
  painter.scale(scale, scale);  // a painter takes no device pixel ratio below one
  paint(painter, QRectF(QPointF(0, 0), size));
  painter.end();
  picture.setDevicePixelRatio(scale);
  return picture;
}

std::vector<int> sidesOf(const ArrayView& view, std::vector<int> most) {
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (view.shape.at(i) > most[i]) {
      throw FileError("side " + std::to_string(i + 1) + " of its shape is " +
                      formatCount(view.shape[i]) + ", and at most " + formatCount(most[i]) +
                      " can be drawn");
    }
    most[i] = static_cast<int>(view.shape[i]);
  }
  return most;
}

std::unique_ptr<Figure> makeFigure(const QString& kind, const Json& meta,
                                   std::vector<std::byte> data, FigureStyle style) {
  static const std::map<QString, FigureMaker> kMakers = {
      {artifact_kind::kCurve, makeCurve},         {artifact_kind::kHeatmap, makeHeatmap},
      {artifact_kind::kMatrix, makeMatrix},       {artifact_kind::kImage, makeImage},
      {artifact_kind::kImageGrid, makeImageGrid}, {artifact_kind::kTable, makeTable},
      {artifact_kind::kHistogram, makeHistogram}, {artifact_kind::kReliability, makeReliability},
      {artifact_kind::kSpectrum, makeSpectrum},   {artifact_kind::kAttention, makeAttention},
      {artifact_kind::kCueDecisions, makeCueDecisions},
  };
  if (const Json& left = stateMember(meta, "left_out"); left.is_number()) {
    const QString sentence =
        QObject::tr(
            "This %1 of %2 was too large to be copied from the other machine. Open the database "
            "there, or export the run and import it here.")
            .arg(kind, QString::fromStdString(formatBytes(left.get<double>())));
    return makeMetaFigure(sentence, sentence, meta, std::move(style));
  }
  const auto maker = kMakers.find(kind);
  if (maker == kMakers.end()) {
    return makeMetaFigure(
        QObject::tr("No picture is known for the kind \u201c%1\u201d; this is its description.")
            .arg(kind),
        QString(), meta, std::move(style));
  }
  try {
    return maker->second(meta, std::move(data), style);
  } catch (const std::exception& error) {
    const QString sentence =
        QObject::tr("This %1 cannot be drawn: %2").arg(kind, QString::fromUtf8(error.what()));
    return makeMetaFigure(sentence, sentence, meta, std::move(style));
  }
}

}  // namespace vitrine::ui

#include "ui/figures/svg_device.h"

#include <QBuffer>
#include <QFontInfo>
#include <QImage>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QTransform>
#include <cmath>

namespace vitrine::ui {
namespace {

QByteArray svgNumber(double value) {
  if (!std::isfinite(value)) return "0";
  QByteArray text = QByteArray::number(value, 'f', 3);
  while (text.endsWith('0')) text.chop(1);
  if (text.endsWith('.')) text.chop(1);
  return text == "-0" ? QByteArray("0") : text;
}

QByteArray svgPoint(const QPointF& point) {
  return svgNumber(point.x()) + ' ' + svgNumber(point.y());
}

QByteArray svgEscaped(const QString& text) {
  QString safe;
  for (const QChar c : text) {
    // Control characters have no place in XML, escaped or not.
    if (c >= QLatin1Char(' ') || c == QLatin1Char('\t')) safe += c;
  }
  return safe.toHtmlEscaped().toUtf8();
}

QByteArray svgMatrix(const QTransform& transform) {
  if (transform.isIdentity()) return {};
  return " transform=\"matrix(" + svgNumber(transform.m11()) + ' ' + svgNumber(transform.m12()) +
         ' ' + svgNumber(transform.m21()) + ' ' + svgNumber(transform.m22()) + ' ' +
         svgNumber(transform.dx()) + ' ' + svgNumber(transform.dy()) + ")\"";
}

}  // namespace

class SvgEngine final : public QPaintEngine {
 public:
  SvgEngine()
      : QPaintEngine(PrimitiveTransform | PixmapTransform | AlphaBlend | Antialiasing |
                     PainterPaths | PaintOutsidePaintEvent) {}

  bool begin(QPaintDevice*) override {
    body.clear();
    clips_.clear();
    isClipped_ = false;
    return true;
  }
  bool end() override {
    closeClip();
    return true;
  }
  Type type() const override { return SVG; }

  void updateState(const QPaintEngineState& now) override {
    const DirtyFlags flags = now.state();
    if (flags & DirtyPen) pen_ = now.pen();
    if (flags & DirtyBrush) brush_ = now.brush();
    if (flags & DirtyTransform) transform_ = now.transform();
    if (flags & (DirtyClipPath | DirtyClipRegion | DirtyClipEnabled)) {
      const QPainter* with = painter();
      const QRectF clip = with->hasClipping()
                              ? with->combinedTransform().mapRect(with->clipBoundingRect())
                              : QRectF();
      if (with->hasClipping() != hasClip_ || clip != clip_) closeClip();
      hasClip_ = with->hasClipping();
      clip_ = clip;
    }
  }

  void drawPath(const QPainterPath& path) override {
    QByteArray d;
    for (int i = 0; i < path.elementCount(); ++i) {
      const QPainterPath::Element element = path.elementAt(i);
      static constexpr char kLetters[] = {'M', 'L', 'C', ' '};
      if (i > 0) d += ' ';
      d += kLetters[element.type];
      d += svgPoint(element);
    }
    open();
    body += "<path d=\"" + d + '"' + fill(path.fillRule() == Qt::OddEvenFill) + stroke() +
            svgMatrix(transform_) + "/>\n";
  }
  void drawPolygon(const QPointF* points, int number, PolygonDrawMode mode) override {
    open();
    QByteArray list;
    for (int i = 0; i < number; ++i) list += (i > 0 ? " " : "") + svgPoint(points[i]);
    const bool isLine = mode == PolylineMode;
    body += QByteArray(isLine ? "<polyline" : "<polygon") + " points=\"" + list + '"' +
            (isLine ? QByteArray(" fill=\"none\"") : fill(mode == OddEvenMode)) + stroke() +
            svgMatrix(transform_) + "/>\n";
  }
  void drawPolygon(const QPoint* points, int number, PolygonDrawMode mode) override {
    QPolygonF exact;
    for (int i = 0; i < number; ++i) exact << points[i];
    drawPolygon(exact.constData(), number, mode);
  }
  void drawPoints(const QPointF* points, int number) override {
    open();
    for (int i = 0; i < number; ++i) {
      body += "<circle cx=\"" + svgNumber(points[i].x()) + "\" cy=\"" + svgNumber(points[i].y()) +
              "\" r=\"" + svgNumber(std::max(pen_.widthF(), 1.0) / 2) + "\" fill=\"" +
              pen_.color().name().toLatin1() + '"' + svgMatrix(transform_) + "/>\n";
    }
  }
  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    open();
    const QFont font = item.font();
    const double size = font.pixelSize() > 0 ? font.pixelSize() : QFontInfo(font).pixelSize();
    body += "<text x=\"" + svgNumber(at.x()) + "\" y=\"" + svgNumber(at.y()) + "\" font-family=\"" +
            svgEscaped(font.family()) + ", Helvetica, Arial, sans-serif\" font-size=\"" +
            svgNumber(size) + '"' +
            (font.weight() >= QFont::DemiBold ? QByteArray(" font-weight=\"600\"") : QByteArray()) +
            " textLength=\"" + svgNumber(item.width()) +
            "\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"" +
            pen_.color().name().toLatin1() + '"' + opacity("fill", pen_.color()) +
            svgMatrix(transform_) + '>' + svgEscaped(item.text()) + "</text>\n";
  }
  void drawImage(const QRectF& target, const QImage& image, const QRectF& source,
                 Qt::ImageConversionFlags) override {
    open();
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    QImage part = image.copy(source.toAlignedRect());
    // Not every reader knows image-rendering: with pixels of its own size nothing is left to blur.
    const QSize shown = transform_.mapRect(target).size().toSize();
    const int times = std::min({8, 2 * shown.width() / std::max(part.width(), 1),
                                2048 / std::max({part.width(), part.height(), 1})});
    if (times > 1)
      part = part.scaled(part.size() * times, Qt::IgnoreAspectRatio, Qt::FastTransformation);
    part.save(&buffer, "PNG");
    body +=
        "<image x=\"" + svgNumber(target.x()) + "\" y=\"" + svgNumber(target.y()) + "\" width=\"" +
        svgNumber(target.width()) + "\" height=\"" + svgNumber(target.height()) +
        "\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\"" +
        svgMatrix(transform_) + " xlink:href=\"data:image/png;base64," + png.toBase64() + "\"/>\n";
  }
  void drawPixmap(const QRectF& target, const QPixmap& pixmap, const QRectF& source) override {
    drawImage(target, pixmap.toImage(), source, Qt::AutoColor);
  }

  QByteArray body;
  [[nodiscard]] const QByteArray& clips() const { return clips_; }

 private:
  static QByteArray opacity(const char* what, const QColor& color) {
    if (color.alpha() == 255) return {};
    return QByteArray(" ") + what + "-opacity=\"" + svgNumber(color.alphaF()) + '"';
  }
  [[nodiscard]] QByteArray fill(bool isEvenOdd) const {
    if (brush_.style() == Qt::NoBrush) return " fill=\"none\"";
    return " fill=\"" + brush_.color().name().toLatin1() + '"' + opacity("fill", brush_.color()) +
           (isEvenOdd ? QByteArray(" fill-rule=\"evenodd\"") : QByteArray());
  }
  [[nodiscard]] QByteArray stroke() const {
    if (pen_.style() == Qt::NoPen) return {};
    const double width = pen_.widthF() > 0 ? pen_.widthF() : 1;
    QByteArray text = " stroke=\"" + pen_.color().name().toLatin1() + "\" stroke-width=\"" +
                      svgNumber(width) + '"' + opacity("stroke", pen_.color());
    if (pen_.capStyle() == Qt::RoundCap) text += " stroke-linecap=\"round\"";
    if (pen_.capStyle() == Qt::SquareCap) text += " stroke-linecap=\"square\"";
    text += pen_.joinStyle() == Qt::RoundJoin ? " stroke-linejoin=\"round\""
                                              : " stroke-linejoin=\"bevel\"";
    if (pen_.isCosmetic()) text += " vector-effect=\"non-scaling-stroke\"";
    QByteArray dashes;
    if (pen_.style() != Qt::SolidLine) {
      for (const double dash : pen_.dashPattern())
        dashes += (dashes.isEmpty() ? "" : ",") + svgNumber(dash * width);
    }
    if (!dashes.isEmpty()) text += " stroke-dasharray=\"" + dashes + '"';
    return text;
  }
  void open() {
    if (!hasClip_ || isClipped_) return;
    isClipped_ = true;
    const QByteArray name = "clip" + QByteArray::number(++clipNumber_);
    clips_ += "<clipPath id=\"" + name + "\"><rect x=\"" + svgNumber(clip_.x()) + "\" y=\"" +
              svgNumber(clip_.y()) + "\" width=\"" + svgNumber(clip_.width()) + "\" height=\"" +
              svgNumber(clip_.height()) + "\"/></clipPath>\n";
    body += "<g clip-path=\"url(#" + name + ")\">\n";
  }
  void closeClip() {
    if (isClipped_) body += "</g>\n";
    isClipped_ = false;
  }

  QPen pen_;
  QBrush brush_;
  QTransform transform_;
  QRectF clip_;
  bool hasClip_ = false, isClipped_ = false;
  int clipNumber_ = 0;
  QByteArray clips_;
};

SvgDevice::SvgDevice(QSizeF logical, QSizeF paper)
    : logical_(logical), paper_(paper), engine_(std::make_unique<SvgEngine>()) {}

SvgDevice::~SvgDevice() = default;

QPaintEngine* SvgDevice::paintEngine() const { return engine_.get(); }

QByteArray SvgDevice::document(const QByteArray& metadata) const {
  QByteArray text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
      "version=\"1.1\" width=\"" +
      svgNumber(paper_.width()) + "mm\" height=\"" + svgNumber(paper_.height()) +
      "mm\" viewBox=\"0 0 " + svgNumber(logical_.width()) + ' ' + svgNumber(logical_.height()) +
      "\">\n";
  if (!metadata.isEmpty()) text += "<metadata>" + metadata + "</metadata>\n";
  if (!engine_->clips().isEmpty()) text += "<defs>\n" + engine_->clips() + "</defs>\n";
  return text + engine_->body + "</svg>\n";
}

int SvgDevice::metric(PaintDeviceMetric which) const {
  constexpr int kDotsPerInch = 96;
  switch (which) {
    case PdmWidth:
      return static_cast<int>(std::ceil(logical_.width()));
    case PdmHeight:
      return static_cast<int>(std::ceil(logical_.height()));
    case PdmWidthMM:
      return static_cast<int>(std::ceil(paper_.width()));
    case PdmHeightMM:
      return static_cast<int>(std::ceil(paper_.height()));
    case PdmNumColors:
      return 1 << 24;
    case PdmDepth:
      return 32;
    case PdmDpiX:
    case PdmDpiY:
    case PdmPhysicalDpiX:
    case PdmPhysicalDpiY:
      return kDotsPerInch;
    case PdmDevicePixelRatio:
      return 1;
    default:
      return static_cast<int>(QPaintDevice::devicePixelRatioFScale());
  }
}

}  // namespace vitrine::ui

#include "ui/monitor/curve_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ui/figures/chart_marks.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr float kNoRow = std::numeric_limits<float>::infinity();
constexpr double kGapOpacity = 0.35;  // of the columns between the dashes

// Columns of a dash and of the gap after it, in turn; empty for a line without gaps.
std::span<const int> columnsOf(Qt::PenStyle style) {
  static constexpr int kDash[] = {10, 5}, kDot[] = {3, 4}, kDashDot[] = {10, 4, 3, 4};
  if (style == Qt::DashLine) return kDash;
  if (style == Qt::DotLine) return kDot;
  if (style == Qt::DashDotLine) return kDashDot;
  return {};
}

// Each of the four channels times `share` of 255, rounded: all at once, 16 bits for each.
QRgb sharedColor(QRgb color, quint32 share) {
  constexpr quint64 kLow = 0x00ff00ff00ff00ffULL, kHalf = 0x0080008000800080ULL;
  const quint64 wide = color;
  const quint64 product = ((wide | (wide << 24)) & kLow) * share;
  const quint64 rounded = ((product + ((product >> 8) & kLow) + kHalf) >> 8) & kLow;
  return static_cast<QRgb>(rounded | (rounded >> 24));
}

QRgb partOf(QRgb color, float covered) {
  return sharedColor(color, static_cast<quint32>(covered * 255 + 0.5F));
}

void over(QRgb& pixel, QRgb color) {
  pixel = color + sharedColor(pixel, 255U - static_cast<quint32>(qAlpha(color)));
}

}  // namespace

void ColumnSpans::reset(int columns, int rows) {
  spans_.assign(static_cast<std::size_t>(std::max(columns, 0)), Span{kNoRow, -kNoRow});
  rows_ = rows;
  isJoined_ = false;
}

void ColumnSpans::cover(std::ptrdiff_t column, double from, double to) {
  Span& span = spans_[static_cast<std::size_t>(column)];
  const auto a = static_cast<float>(from), b = static_cast<float>(to);
  span.low = std::min(span.low, std::min(a, b));
  span.high = std::max(span.high, std::max(a, b));
}

void ColumnSpans::add(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) {
    isJoined_ = false;
    return;
  }
  const auto last = static_cast<std::ptrdiff_t>(spans_.size()) - 1;
  // The last point of a curve that is shown whole lies on the edge, and in the last column.
  constexpr double kOnEdge = 1e-6;
  const double edge = static_cast<double>(last + 1);
  if (x >= edge && x <= edge + kOnEdge) x = edge - kOnEdge;
  // Far beyond the picture a column is as good as the next but one to its edge.
  const auto columnOf = [last](double at) {
    constexpr double kBefore = 2;  // so that cutting off the fraction rounds down
    const double inside = std::clamp(at, -kBefore, static_cast<double>(last) + 2);
    return static_cast<std::ptrdiff_t>(inside + kBefore) - static_cast<std::ptrdiff_t>(kBefore);
  };
  const std::ptrdiff_t to = columnOf(x);
  if (!isJoined_) {
    if (to >= 0 && to <= last) cover(to, y, y);
  } else {
    const std::ptrdiff_t from = columnOf(lastX_);
    if (from == to) {
      if (to >= 0 && to <= last) cover(to, lastY_, y);
    } else {
      // The part of the straight line that lies in each column it crosses.
      const double slope = (y - lastY_) / (x - lastX_);
      const auto heightAt = [&](std::ptrdiff_t column) {
        return lastY_ + (static_cast<double>(column) - lastX_) * slope;
      };
      const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(from, 0), end = std::min(to, last);
      for (std::ptrdiff_t column = begin; column <= end; ++column) {
        cover(column, column == from ? lastY_ : heightAt(column),
              column == to ? y : heightAt(column + 1));
      }
    }
  }
  lastX_ = x;
  lastY_ = y;
  isJoined_ = true;
}

bool ColumnSpans::heights(int column, float thickness, float& top, float& bottom) const {
  const Span& span = spans_[static_cast<std::size_t>(column)];
  if (span.low > span.high) return false;
  // A line of one row at a whole height fills the row of that number.
  const float beside = (thickness - 1) / 2;
  top = std::max(span.low - beside, 0.0F);
  bottom = std::min(span.high + 1 + beside, static_cast<float>(rows_));
  return top < bottom;
}

CurveSheet::CurveSheet(QPainter& painter, const ChartFrame& frame, double ratio)
    : painter_(painter), frame_(frame), across_(frame.x), down_(frame.y), ratio_(ratio) {}

void CurveSheet::addSpans(const QPen& pen) {
  const std::span<const int> dash = columnsOf(pen.style());
  int period = 0;
  for (const int columns : dash) period += columns;
  const auto isOn = [&](int column) {
    if (period == 0) return true;
    int rest = column % period;
    bool isDrawn = true;
    for (const int columns : dash) {
      if (rest < columns) break;
      rest -= columns;
      isDrawn = !isDrawn;
    }
    return isDrawn;
  };
  QColor faint = pen.color();
  faint.setAlphaF(faint.alphaF() * kGapOpacity);
  const QRgb strong = qPremultiply(pen.color().rgba()), weak = qPremultiply(faint.rgba());
  auto* const first = reinterpret_cast<QRgb*>(strokes_.bits());
  const auto stride = strokes_.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
  const float thickness = std::max(static_cast<float>(pen.widthF() * ratio_), 1.0F);
  const int columns = std::min(spans_.columns(), strokes_.width());
  for (int column = 0; column < columns; ++column) {
    float top = 0, bottom = 0;
    if (!spans_.heights(column, thickness, top, bottom)) continue;
    const QRgb color = isOn(column) ? strong : weak;
    // Only the pixels at both ends are covered in part: the slope of a calm line is smooth by that.
    const auto firstRow = static_cast<int>(top), lastRow = static_cast<int>(bottom);
    QRgb* pixel = first + firstRow * stride + column;
    if (firstRow == lastRow) {
      over(*pixel, partOf(color, bottom - top));
      continue;
    }
    over(*pixel, partOf(color, static_cast<float>(firstRow + 1) - top));
    pixel += stride;
    QRgb* const end = first + lastRow * stride + column;
    if (qAlpha(color) == 255) {
      for (; pixel != end; pixel += stride) *pixel = color;
    } else {
      for (; pixel != end; pixel += stride) over(*pixel, color);
    }
    const float rest = bottom - static_cast<float>(lastRow);
    if (rest > 0 && lastRow < strokes_.height()) over(*end, partOf(color, rest));
  }
}

void CurveSheet::show() {
  if (!isOpen_) return;
  isOpen_ = false;
  painter_.drawImage(frame_.plot.topLeft(), strokes_);
}

void CurveSheet::addColumns(const DrawnLine& line) {
  const QRectF& plot = frame_.plot;
  const QSize size(static_cast<int>(std::ceil(plot.width() * ratio_)),
                   static_cast<int>(std::ceil(plot.height() * ratio_)));
  if (!isOpen_) {
    if (strokes_.size() != size) strokes_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
    strokes_.setDevicePixelRatio(ratio_);
    strokes_.fill(Qt::transparent);
    isOpen_ = true;
  }
  spans_.reset(size.width(), size.height());
  for (const QPointF& point : line.points)
    spans_.add((across_(point.x()) - plot.left()) * ratio_,
               (down_(point.y()) - plot.top()) * ratio_);
  addSpans(line.pen);
}

void CurveSheet::draw(const DrawnLine& line) {
  if (line.drawing == DrawnLine::Drawing::Columns) return addColumns(line);
  show();
  std::vector<QPointF> places;
  places.reserve(line.points.size());
  for (const QPointF& point : line.points)
    places.emplace_back(across_(point.x()), down_(point.y()));
  const QRectF inside = frame_.plot.adjusted(-1, -1, 1, 1);
  painter_.setBrush(Qt::NoBrush);
  painter_.setPen(line.pen);
  drawPolyline(painter_, inside, places);
  if (!line.symbol) return;
  for (const QPointF& place : places) {
    if (inside.contains(place))
      drawSymbol(painter_, *line.symbol, place, line.pen.color(), themeColors().panel,
                 kSymbolRadius * designScale());
  }
}

}  // namespace vitrine::ui

// Axes, colour maps, ticks and the careful reading of `meta`.
#include "ui/figures/painting.h"

#include <QFontMetricsF>
#include <QObject>
#include <QPaintEngine>
#include <QPolygonF>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/cell_text.h"
#include "core/base/text.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

Ticks niceTicks(double low, double high, int target) {
  Ticks ticks;
  // Closer than this, the next number is the same again.
  const double least = 1e-13 * std::max(std::abs(low), std::abs(high));
  if (!(high - low > least) || !std::isfinite(low) || !std::isfinite(high)) {
    ticks.values = {low};
    return ticks;
  }
  const double raw = (high - low) / std::max(1, target);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= raw * 0.999) {
      step = factor * power;
      break;
    }
  }
  const double first = std::ceil(low / step - 1e-9);
  for (double index = first; index * step <= high + step * 1e-9; index += 1)
    ticks.values.push_back(index * step);
  int decimals = 0;
  for (double scale = 1; decimals < 9; ++decimals, scale *= 10) {
    if (std::abs(step * scale - std::round(step * scale)) < 1e-6 * step * scale) break;
  }
  ticks.decimals = decimals;
  return ticks;
}

namespace {

QFont lettersOf(QFont font, int pixels) {
  font.setPixelSize(pixels);
  return font;
}

}  // namespace

QFont axisLetters() { return lettersOf(axisFont(), 11); }
QFont smallLetters() { return lettersOf(smallFont(), 12); }
QFont bodyLetters() { return lettersOf(bodyFont(), 13); }
QFont titleLetters() { return lettersOf(titleFont(), 13); }
QFont monoLetters() { return lettersOf(monoFont(), 12); }

double designScale() {
  constexpr double kFine = 1000;  // px() rounds to whole pixels
  return px(kFine) / kFine;
}

QString shortNumber(double value) {
  if (std::isnan(value)) return QStringLiteral("\u2013");
  return QString::fromStdString(formatReal(value, 4)).replace(QLatin1Char('-'), QChar(0x2212));
}

QString csvNumber(double value) {
  return std::isnan(value) ? QString() : QString::fromStdString(formatReal(value));
}

QString csvText(const QString& text) { return QString::fromStdString(csvCell(text.toStdString())); }

QStringList csvRows(const QString& csv) {
  QStringList rows;
  QString row;
  bool isQuoted = false;
  for (const QChar c : csv) {
    isQuoted = isQuoted != (c == QLatin1Char('"'));
    if (c != QLatin1Char('\n') || isQuoted) {
      row += c;
      continue;
    }
    if (!row.isEmpty()) rows << row;
    row.clear();
  }
  if (!row.isEmpty()) rows << row;
  return rows;
}

QString metaText(const Json& meta, const char* key) {
  const Json& member = stateMember(meta, key);
  return member.is_null() ? QString() : jsonText(member);
}

QStringList metaTexts(const Json& meta, std::initializer_list<const char*> keys) {
  QStringList texts;
  for (const char* key : keys) {
    for (const Json& entry : stateList(meta, key)) texts.append(jsonText(entry));
    if (!texts.isEmpty()) break;
  }
  return texts;
}

std::vector<ImageAnswer> imageAnswers(const Json& meta) {
  std::vector<ImageAnswer> answers;
  const Json& label = stateMember(meta, "label");
  // An image of the user's has the label -1.
  const bool isNumber = label.is_number_integer();
  const bool isOwn = isNumber && label.get<std::int64_t>() < 0;
  if (const QString name = metaText(meta, "label_name"); !isOwn && !name.isEmpty())
    answers.push_back({QObject::tr("true: ") + name, std::nullopt});
  const QString predicted = metaText(meta, "predicted_name");
  const Json& confidence = stateMember(meta, "confidence");
  if (predicted.isEmpty() || !confidence.is_number()) return answers;
  ImageAnswer answer;
  answer.text =
      QObject::tr("predicted: %1, %2").arg(predicted, percent(confidence.get<double>(), 1));
  if (isNumber && !isOwn) {
    answer.isRight = stateMember(meta, "predicted") == label;
    answer.text += *answer.isRight ? QStringLiteral(" \u2713") : QStringLiteral(" \u00d7");
  }
  answers.push_back(std::move(answer));
  return answers;
}

QColor answerColor(const ImageAnswer& answer, const ThemeColors& colors) {
  if (!answer.isRight) return colors.text;
  return *answer.isRight ? colors.ok : colors.bad;
}

QString metaAbout(const Json& meta) {
  QStringList parts;
  if (const QString split = metaText(meta, "split"); !split.isEmpty()) parts << split;
  auto samples = stateInteger(meta, "samples");
  if (!samples) samples = stateInteger(meta, "count");
  if (samples) parts << count(*samples) + QObject::tr(" samples");
  // The number of images, or which one it is: sample_ids tells them apart.
  if (const auto images = stateInteger(meta, "images"))
    parts << count(*images) + QObject::tr(" images");
  return parts.join(QStringLiteral(" \u00b7 "));
}

void drawCells(QPainter& painter, const QRectF& rect, int rows, int columns,
               const std::function<QColor(int row, int column)>& color) {
  if (rows <= 0 || columns <= 0 || rect.isEmpty()) return;
  const QPaintEngine* engine = painter.paintEngine();
  const auto type = engine == nullptr ? QPaintEngine::User : engine->type();
  const std::int64_t most = type == QPaintEngine::Pdf   ? 16384
                            : type == QPaintEngine::SVG ? 4096
                                                        : 0;
  if (static_cast<std::int64_t>(rows) * columns <= most) {
    // Viewers smooth each edge on its own: cells reach under the next one, or the paper shows
    // between them.
    constexpr double kUnder = 0.4;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const double top = rect.top() + rect.height() * row / rows;
        const double left = rect.left() + rect.width() * column / columns;
        painter.fillRect(
            QRectF(left, top, rect.width() / columns + (column + 1 < columns ? kUnder : 0),
                   rect.height() / rows + (row + 1 < rows ? kUnder : 0)),
            color(row, column));
      }
    }
    painter.restore();
    return;
  }
  QImage image(columns, rows, QImage::Format_RGB32);
  for (int row = 0; row < rows; ++row) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(row));
    for (int column = 0; column < columns; ++column) line[column] = color(row, column).rgb();
  }
  drawPixels(painter, rect, image);
}

void drawHeadTitles(QPainter& painter, const ThemeColors& colors, const QRectF& first, double gap,
                    int heads, int shown) {
  const QFontMetricsF metrics(painter.font());
  const double column = first.width() + gap;
  const bool hasWord = metrics.horizontalAdvance(headName(heads - 1)) <= first.width();
  const double longest = metrics.horizontalAdvance(QString::number(heads - 1)) + 2;
  const int every = std::max(1, static_cast<int>(std::ceil(longest / column)));
  for (int head = 0; head < heads; head += every) {
    painter.setPen(head == shown ? colors.text : colors.muted);
    const double middle = first.center().x() + head * column, room = every * column;
    drawLine(painter, QRectF(middle - room / 2, first.top(), room, first.height()),
             Qt::AlignHCenter | Qt::AlignTop, hasWord ? headName(head) : QString::number(head));
  }
}

void drawPixels(QPainter& painter, const QRectF& rect, const QImage& image) {
  const QPaintEngine* engine = painter.paintEngine();
  int times = 1;
  if (engine != nullptr && engine->type() == QPaintEngine::SVG) {
    // A reader of SVG smooths an image that it enlarges: with pixels of its own size nothing is
    // left to blur.
    const double shown = painter.transform().mapRect(rect).width();
    times = std::min({8, static_cast<int>(2 * shown / std::max(image.width(), 1)),
                      2048 / std::max({image.width(), image.height(), 1})});
  }
  painter.drawImage(rect, times > 1 ? image.scaled(image.size() * times) : image);
}

void appendPixels(QString& text, const QImage& image, const QString& prefix) {
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const QColor color = image.pixelColor(x, y);
      text += prefix + QStringLiteral("%1,%2,%3,%4,%5\n")
                           .arg(y)
                           .arg(x)
                           .arg(color.red())
                           .arg(color.green())
                           .arg(color.blue());
    }
  }
}

void drawPatchFrame(QPainter& painter, const QRectF& patch, double width) {
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(Qt::black, width + 1.5));
  painter.drawRect(patch);
  painter.setPen(QPen(Qt::white, width));
  painter.drawRect(patch);
}

// After Liang and Barsky, "A New Concept and Method for Line Clipping", 1984.
bool cutLine(const QRectF& box, QPointF& a, QPointF& b) {
  double from = 0, to = 1;
  const auto clip = [&](double step, double room) {
    if (step == 0) return room >= 0;
    const double at = room / step;
    (step < 0 ? from : to) = step < 0 ? std::max(from, at) : std::min(to, at);
    return from <= to;
  };
  const QPointF start = a, way = b - a;
  if (!clip(-way.x(), a.x() - box.left()) || !clip(way.x(), box.right() - a.x()) ||
      !clip(-way.y(), a.y() - box.top()) || !clip(way.y(), box.bottom() - a.y()))
    return false;
  if (from > 0) a = start + from * way;
  if (to < 1) b = start + to * way;
  return true;
}

void drawPolyline(QPainter& painter, const QRectF& box, std::span<const QPointF> points) {
  QPolygonF piece;
  const auto close = [&] {
    if (piece.size() > 1) painter.drawPolyline(piece);
    piece.clear();
  };
  const auto isGap = [&](std::size_t i) { return i >= points.size() || std::isnan(points[i].y()); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (isGap(i)) continue;
    if (i == 0 || isGap(i - 1)) {
      if (isGap(i + 1) && box.contains(points[i])) painter.drawPoint(points[i]);
      continue;
    }
    QPointF from = points[i - 1], to = points[i];
    if (!cutLine(box, from, to)) continue;
    if (piece.isEmpty() || piece.back() != from) {
      close();
      piece << from;
    }
    piece << to;
  }
  close();
}

QPointF Tiles::at(int number, double label) const {
  return {(number % across) * (size.width() + kGap),
          (number / across) * (size.height() + label + kGap)};
}

Tiles tilesIn(int count, const QSizeF& room, double aspect, double label) {
  Tiles tiles;
  double height = 1;
  for (int across = 1; across <= count; ++across) {
    const int down = (count + across - 1) / across;
    const double tall = std::min((room.width() - Tiles::kGap * (across - 1)) / across / aspect,
                                 (room.height() - Tiles::kGap * (down - 1)) / down - label);
    if (!(tall > height)) continue;
    height = tall;
    tiles.across = across;
  }
  tiles.size = {height * aspect, height};
  return tiles;
}

double tilesHeight(int count, double width, double aspect, double label) {
  constexpr double kWide = 72, kMostHigh = 260;
  const int most = std::clamp(static_cast<int>((width + Tiles::kGap) / (kWide + Tiles::kGap)), 1,
                              std::max(count, 1));
  const int down = (count + most - 1) / most, across = (count + down - 1) / down;
  const double high = (width - Tiles::kGap * (across - 1)) / across / aspect;
  return down * (std::min(high, kMostHigh) + label + Tiles::kGap) - Tiles::kGap;
}

void drawHatchLines(QPainter& painter, const QRectF& rect, const QColor& color) {
  constexpr double kApart = 6;
  painter.setPen(QPen(color, 1));
  painter.setBrush(Qt::NoBrush);
  for (double sum = std::ceil((rect.left() + rect.top()) / kApart) * kApart;
       sum < rect.right() + rect.bottom(); sum += kApart) {
    const double low = std::min(rect.bottom(), sum - rect.left());
    const double high = std::max(rect.top(), sum - rect.right());
    painter.drawLine(QPointF(sum - low, low), QPointF(sum - high, high));
  }
}

std::array<int, 2> cellAt(const QRectF& rect, int rows, int columns, const QPointF& at) {
  return {std::clamp(static_cast<int>((at.y() - rect.top()) / rect.height() * rows), 0, rows - 1),
          std::clamp(static_cast<int>((at.x() - rect.left()) / rect.width() * columns), 0,
                     columns - 1)};
}

void drawColorBar(QPainter& painter, const ThemeColors& colors, const QRectF& rect, double low,
                  double high, const QString& unit, const std::function<QColor(double t)>& color) {
  const QFont font = axisLetters();
  const QFontMetricsF metrics(font);
  const QString lowText = shortNumber(low);
  const QString highText = shortNumber(high);
  const double lowWidth = metrics.horizontalAdvance(lowText) + 2;
  const double highWidth = metrics.horizontalAdvance(highText) + 2;
  const double unitWidth = unit.isEmpty() ? 0 : metrics.horizontalAdvance(unit) + 12;
  double barWidth = rect.width() - lowWidth - highWidth - 12 - unitWidth;
  const bool showUnit = barWidth >= 48;
  if (!showUnit) barWidth += unitWidth;
  painter.setFont(font);
  painter.setPen(colors.muted);
  painter.drawText(QRectF(rect.left(), rect.top(), lowWidth, rect.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, lowText);
  const QRectF bar(rect.left() + lowWidth + 6, rect.center().y() - 4, std::max(8.0, barWidth), 8);
  constexpr int kSteps = 64;
  drawCells(painter, bar, 1, kSteps,
            [&](int, int column) { return color((column + 0.5) / kSteps); });
  painter.drawText(QRectF(bar.right() + 6, rect.top(), highWidth, rect.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, highText);
  if (showUnit && !unit.isEmpty()) {
    painter.drawText(QRectF(bar.right() + 6 + highWidth + 8, rect.top(), unitWidth, rect.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, unit);
  }
}

QColor diverging(double t) {
  const double clamped = std::clamp(t, -1.0, 1.0);
  constexpr std::array<double, 3> kBlue{33, 102, 172};
  constexpr std::array<double, 3> kOrange{203, 93, 6};
  constexpr std::array<double, 3> kMiddle{247, 247, 247};
  const std::array<double, 3>& end = clamped < 0 ? kBlue : kOrange;
  const double amount = std::abs(clamped);
  const auto mix = [&](std::size_t i) {
    return static_cast<int>(std::lround(kMiddle[i] + (end[i] - kMiddle[i]) * amount));
  };
  return {mix(0), mix(1), mix(2)};
}

QColor inkOn(const QColor& background) {
  return luminance(background) > 0.179 ? QColor(Qt::black) : QColor(Qt::white);
}

void drawLine(QPainter& painter, const QRectF& rect, int flags, const QString& text,
              Qt::TextElideMode mode) {
  const QFontMetricsF metrics(painter.font());
  painter.drawText(rect, flags | Qt::TextSingleLine,
                   metrics.elidedText(text, mode, rect.width() + 1));
}

std::vector<QRectF> namePlaces(const QStringList& names, double sign, double width) {
  constexpr double kApart = 14;
  const QFontMetricsF metrics(axisLetters());
  std::vector<QRectF> places;
  double x = 0, y = 0;
  for (const QString& name : names) {
    const double own = std::min(sign + metrics.horizontalAdvance(name) + 2, width);
    if (x > 0 && x + own > width) {
      x = 0;
      y += kNameRow;
    }
    places.emplace_back(x, y, own, kNameRow);
    x += own + kApart;
  }
  return places;
}

double unitOf(double value, double low, double high) {
  return high > low ? (value - low) / (high - low) : 0.5;
}

}  // namespace vitrine::ui

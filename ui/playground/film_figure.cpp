#include "ui/playground/film_figure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/figures/painting.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr double kWayGap = 4, kWayLine = 18, kWayTime = 16, kWayBar = 72;
constexpr double kLeastWayTile = 44, kMostWayTile = 96;
constexpr int kWayWidth = 640;

}  // namespace

QRectF patchIn(const QRectF& map, const AttentionFrame& frame, const std::array<int, 2>& patch) {
  const double width = map.width() / std::max(1, frame.columns);
  const double height = map.height() / std::max(1, frame.rows);
  return {map.left() + patch[1] * width, map.top() + patch[0] * height, width, height};
}

FilmFigure::FilmFigure(ImageWay way, FigureStyle style)
    : Figure(std::move(style)), way_(std::move(way)) {
  if (way_.attention.size() != way_.film.size()) way_.attention.clear();
  for (const AttentionFrame& frame : way_.attention) {
    maps_.push_back(frame.map(way_.layer, way_.head));
    for (const float value : maps_.back()) largest_ = std::max(largest_, double{value});
  }
}

FilmFigure::Layout FilmFigure::layout(double width) const {
  Layout at;
  const int frames = std::max(1, imageCount());
  const double each = kLeastWayTile + kWayGap;
  const int fitting = std::clamp(static_cast<int>((width + kWayGap) / each), 1, frames);
  at.bands = (frames + fitting - 1) / fitting;
  at.across = (frames + at.bands - 1) / at.bands;
  const double side = std::min(kMostWayTile, (width - kWayGap * (at.across - 1)) / at.across);
  const QSize image = way_.film.empty() ? QSize(1, 1) : way_.film.front().image.size();
  at.tile = QSizeF(side, side * image.height() / std::max(1, image.width()));
  at.head = hasMaps() ? 3 * kWayLine : kWayLine;
  at.band = (hasMaps() ? 2 : 1) * (at.tile.height() + kWayGap) + kWayTime;
  at.height = at.head + at.bands * at.band;
  return at;
}

QSize FilmFigure::sizeHint() const {
  return {kWayWidth, static_cast<int>(std::ceil(fittingHeight(kWayWidth)))};
}

double FilmFigure::fittingHeight(double width) const {
  const double inner = width - 2 * kMargin;
  return 2 * kMargin + headerHeight(inner, way_.title, way_.about) + layout(inner).height;
}

QString FilmFigure::channelName() const {
  if (way_.layer < 0 && way_.head < 0) return QObject::tr("mean of layers and heads");
  return QStringLiteral("%1, %2").arg(
      way_.layer < 0 ? QObject::tr("mean of all layers") : layerName(way_.layer),
      way_.head < 0 ? QObject::tr("mean of all heads") : headName(way_.head));
}

QString FilmFigure::summary() const {
  const QString steps =
      QObject::tr("%1: %2 of the predicted clean image")
          .arg(way_.title, counted(imageCount(), QObject::tr("step"), QObject::tr("steps")));
  if (!hasMaps()) return steps;
  return QObject::tr(
             "%1, and where the patch in row %2, column %3 reads (%4); the largest weight "
             "is %5")
      .arg(steps)
      .arg(way_.patch[0])
      .arg(way_.patch[1])
      .arg(channelName(), shortNumber(largest_));
}

std::optional<std::array<double, 2>> FilmFigure::valueRange() const {
  if (!hasMaps()) return std::nullopt;
  return std::array<double, 2>{0, largest_};
}

QString FilmFigure::csv() const {
  QString text;
  if (hasMaps()) text += QStringLiteral("step,time,layer,head,row,column,weight\n");
  for (std::size_t step = 0; step < way_.attention.size(); ++step) {
    const AttentionFrame& frame = way_.attention[step];
    std::size_t index = 0, word = 0;
    for (int layer = 0; layer < frame.layers; ++layer) {
      for (int head = 0; head < frame.heads; ++head) {
        const bool isDrawn =
            (way_.layer < 0 || way_.layer == layer) && (way_.head < 0 || way_.head == head);
        for (int cell = 0; cell < frame.rows * frame.columns; ++cell, ++index) {
          if (!isDrawn || index >= frame.weights.size()) continue;
          text += QStringLiteral("%1,%2,%3,%4,%5,%6,%7\n")
                      .arg(step + 1)
                      .arg(csvNumber(way_.film[step].time))
                      .arg(layer)
                      .arg(head)
                      .arg(cell / frame.columns)
                      .arg(cell % frame.columns)
                      .arg(csvNumber(double{frame.weights[index]}));
        }
        for (const QString& name : frame.words) {
          const float weight = frame.wordWeights[word++];
          if (!isDrawn) continue;
          text += QStringLiteral("%1,%2,%3,%4,,%5,%6\n")
                      .arg(QString::number(step + 1), csvNumber(way_.film[step].time),
                           QString::number(layer), QString::number(head), csvText(name),
                           csvNumber(double{weight}));
        }
      }
    }
  }
  if (hasMaps()) text += QLatin1Char('\n');
  text += QStringLiteral("step,time,row,column,red,green,blue\n");
  for (std::size_t step = 0; step < way_.film.size(); ++step) {
    const FilmFrame& frame = way_.film[step];
    appendPixels(text, frame.image,
                 QStringLiteral("%1,%2,").arg(step + 1).arg(csvNumber(frame.time)));
  }
  return text;
}

void FilmFigure::drawWords(QPainter& painter, const QRectF& body) {
  painter.setFont(smallLetters());
  painter.setPen(themeColors().text);
  constexpr auto kSide = static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);
  QRectF line(body.left(), body.top(), body.width(), kWayLine);
  drawLineWithTip(painter, line, kSide,
                  hasMaps() ? QObject::tr("Above: predicted clean image, by time")
                            : QObject::tr("Predicted clean image, by time"));
  if (!hasMaps()) return;
  line.translate(0, kWayLine);
  drawLineWithTip(painter, line, kSide,
                  QObject::tr("Below: attention of the patch in row %1, column %2")
                      .arg(way_.patch[0])
                      .arg(way_.patch[1]));
  const QString words = atStart(channelName());
  const QString end = shortNumber(largest_);
  const double ends = QFontMetricsF(axisLetters()).horizontalAdvance(end) + 3 * kWayGap;
  line.translate(0, kWayLine);
  const double wide = QFontMetricsF(smallLetters()).horizontalAdvance(words) + 1;
  line.setWidth(std::min(wide, std::max(1.0, body.width() - kWayBar - ends - 5 * kWayGap)));
  drawLineWithTip(painter, line, kSide, words);
  painter.setFont(axisLetters());
  painter.setPen(themeColors().muted);
  const QRectF zero(line.right() + 2 * kWayGap, line.top(), 2 * kWayGap, kWayLine);
  painter.drawText(zero, kSide, QStringLiteral("0"));
  const QRectF bar(zero.right() + kWayGap, line.center().y() - 3, kWayBar, 6);
  for (int x = 0; x < static_cast<int>(kWayBar); ++x)
    painter.fillRect(QRectF(bar.left() + x, bar.top(), 1, bar.height()), mapColor(x / kWayBar));
  painter.drawText(QRectF(bar.right() + kWayGap, line.top(), ends, kWayLine), kSide, end);
}

void FilmFigure::drawFrame(QPainter& painter, const QRectF& image, std::size_t step) {
  const FilmFrame& frame = way_.film[step];
  drawPixels(painter, image, frame.image);
  QRectF last = image;
  if (hasMaps()) {
    const AttentionFrame& attention = way_.attention[step];
    const std::vector<float>& values = maps_[step];
    last.translate(0, image.height() + kWayGap);
    drawCells(painter, last, attention.rows, attention.columns, [&](int row, int column) {
      const auto index = static_cast<std::size_t>(row * attention.columns + column);
      return mapColor(unitOf(index < values.size() ? values[index] : 0, 0, largest_));
    });
    drawPatchFrame(painter, patchIn(image, attention, way_.patch), 1.5);
    drawPatchFrame(painter, patchIn(last, attention, way_.patch), 1.5);
  }
  painter.setFont(axisLetters());
  painter.setPen(themeColors().muted);
  const QRectF words(image.left() - kWayGap / 2, last.bottom() + 1, image.width() + kWayGap,
                     kWayTime);
  painter.drawText(words, Qt::AlignHCenter | Qt::AlignTop, shortNumber(frame.time));
}

void FilmFigure::draw(QPainter& painter, const QRectF& area) {
  const QRectF body = drawHeader(painter, area, way_.title, way_.about);
  if (way_.film.empty()) return drawNothing(painter, body, QObject::tr("No steps of an image."));
  const Layout at = layout(body.width());
  drawWords(painter, body);
  // Lower than it needs: everything below the words is smaller.
  const double room = std::max(1.0, body.height() - at.head);
  const double share = std::min(1.0, room / std::max(1.0, at.height - at.head));
  const QPointF corner(body.left(), body.top() + at.head);
  painter.save();
  painter.translate(corner);
  painter.scale(share, share);
  for (std::size_t step = 0; step < way_.film.size(); ++step) {
    const int column = static_cast<int>(step) % at.across;
    const int band = static_cast<int>(step) / at.across;
    const QRectF image(QPointF(column * (at.tile.width() + kWayGap), band * at.band), at.tile);
    drawFrame(painter, image, step);
    const auto onPaper = [&](const QRectF& rect) {
      return QRectF(corner + rect.topLeft() * share, rect.size() * share);
    };
    const QString words =
        QObject::tr("step %1, time %2").arg(step + 1).arg(shortNumber(way_.film[step].time));
    addRegion(onPaper(image), [words](const QPointF&) { return words; });
    if (!hasMaps()) continue;
    const QRectF map = onPaper(image.translated(0, at.tile.height() + kWayGap));
    addRegion(map, [this, step, map, words](const QPointF& point) {
      const AttentionFrame& frame = way_.attention[step];
      const auto [row, cell] = cellAt(map, frame.rows, frame.columns, point);
      const auto index = static_cast<std::size_t>(row * frame.columns + cell);
      return QStringLiteral("%1, %2: %3")
          .arg(words, patchName(row, cell),
               shortNumber(index < maps_[step].size() ? double{maps_[step][index]} : 0));
    });
  }
  painter.restore();
}

}  // namespace vitrine::ui

// One head large, with the image and the words.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/attention/attention_figures.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

constexpr double kChipHeight = 20, kChipGap = 6, kLineHeight = 18;
constexpr std::size_t kMostWords = 96;  // more are in the table of values
constexpr double kOverlay = 0.68;       // how much of the map covers the image

/// Of two pictures of the same thing, the size that both can be enlarged to by whole numbers.
/// `sides` where there is no second one, or where that does not fit.
QSize commonSides(const QSize& sides, const QSize& other, const QRectF& room) {
  if (other.isEmpty()) return sides;
  const QSize both(std::lcm(sides.width(), other.width()),
                   std::lcm(sides.height(), other.height()));
  return both.width() <= room.width() && both.height() <= room.height() ? both : sides;
}

/// `sides` enlarged by a whole number where there is room, else to the room.
QRectF wholePlace(const QSize& sides, const QRectF& room) {
  const double most = std::min(room.width() / sides.width(), room.height() / sides.height());
  const double times = most >= 1 ? std::floor(most) : most;
  return {std::round(room.left()), std::round(room.top()), sides.width() * times,
          sides.height() * times};
}

QRectF partOf(const QRectF& rect, const QRectF& frame) {
  return {rect.left() + frame.left() * rect.width(), rect.top() + frame.top() * rect.height(),
          frame.width() * rect.width(), frame.height() * rect.height()};
}

}  // namespace

HeadFigure::HeadFigure(std::shared_ptr<const AttentionScene> scene, FigureStyle style)
    : Figure(std::move(style)), scene_(std::move(scene)) {}

QSize HeadFigure::sizeHint() const {
  return {scene_->choice().layout == AttentionChoice::Layout::Beside ? 640 : 420, 460};
}

int HeadFigure::headCount() const {
  return scene_->image() == nullptr ? 0 : scene_->image()->mostHeads();
}

QString HeadFigure::summary() const {
  if (scene_->layers() == 0) return QObject::tr("No attention");
  const ValueRange range = scene_->range(scene_->layer(), scene_->head());
  QString text = QObject::tr("%1; %2; colours from %3 to %4. %5")
                     .arg(title(), scene_->queryText(scene_->layer()), shortNumber(range.low),
                          shortNumber(range.high), statistics());
  for (const ImageAnswer& answer : imageAnswers(scene_->image()->about))
    text += QStringLiteral("; ") + answer.text;
  return text;
}

QString HeadFigure::title() const {
  const QString layer = scene_->layerAt(scene_->layer()).name();
  return scene_->isRollout() ? QObject::tr("Rollout up to %1").arg(layer)
                             : QObject::tr("%1, head %2").arg(layer).arg(scene_->head());
}

QString HeadFigure::note() const {
  if (scene_->layers() > 0 && !scene_->image()->quantity.isEmpty()) return {};
  return QObject::tr("Attention shows where a head reads, not why the model decides.");
}

std::optional<std::array<double, 2>> HeadFigure::valueRange() const {
  if (scene_->layers() == 0) return std::nullopt;
  const ValueRange range = scene_->range(scene_->layer(), scene_->head());
  return std::array{range.low, range.high};
}

QString HeadFigure::csv() const {
  QString text = attentionCsvHeader();
  if (scene_->layers() > 0) text += attentionCsv(*scene_, scene_->layer(), scene_->head());
  return text;
}

QString HeadFigure::keyText(int key) const {
  const AttentionLayer& layer = scene_->layerAt(scene_->layer());
  const AttentionScene::Row& row = scene_->row(scene_->layer(), scene_->head());
  if (key < 0 || key >= static_cast<int>(row.weights.size())) return QString();
  const float weight = row.weights[static_cast<std::size_t>(key)];
  return layer.keyGrid.name(key) + QStringLiteral(": ") +
         (std::isnan(weight) ? QObject::tr("masked") : shortNumber(static_cast<double>(weight)));
}

QString HeadFigure::statistics() const {
  const int layer = scene_->layer(), head = scene_->head();
  const AttentionScene::Row& row = scene_->row(layer, head);
  if (row.weights.empty()) return scene_->queryText(layer);
  // Entropy, distance and sums are those of attention.
  if (!scene_->image()->quantity.isEmpty()) return {};
  QStringList parts;
  const double bits = entropyBits(row.weights);
  if (std::isfinite(bits))
    parts << QObject::tr("entropy %1 bits, as of %2 equal keys")
                 .arg(number(bits, 2), number(std::exp2(bits), 1));
  if (!scene_->isRollout()) {
    const double distance = scene_->distance(layer, head);
    if (std::isfinite(distance))
      parts << QObject::tr("mean distance of the head %1 patches").arg(number(distance, 2));
  }
  const RowSums sums = sumsOf(row.weights, scene_->layerAt(layer).keyGrid);
  if (!scene_->image()->isSigned && sums.all > 0 && sums.onGrid < sums.all)
    parts << QObject::tr("%1 on patches").arg(percent(sums.onGrid / sums.all, 0));
  if (!scene_->image()->sumsToOne && !scene_->isRollout())
    parts << QObject::tr("sum %1").arg(shortNumber(sums.all));
  if (scene_->choice().share < 1) {
    const auto kept = std::count(row.kept.begin(), row.kept.end(), true);
    const auto seen = std::count_if(row.weights.begin(), row.weights.end(),
                                    [](float weight) { return !std::isnan(weight); });
    parts << QObject::tr("%1 of %2 keys hold %3")
                 .arg(kept)
                 .arg(seen)
                 .arg(percent(scene_->choice().share, 0));
  }
  return parts.join(QStringLiteral(" \u00b7 "));
}

void HeadFigure::draw(QPainter& painter, const QRectF& area) {
  if (scene_->layers() == 0) return;
  const AttentionLayer& layer = scene_->layerAt(scene_->layer());
  const QString& quantity = scene_->image()->quantity;
  QString shown = quantity.isEmpty() ? title() : quantity;
  shown[0] = shown[0].toUpper();
  QRectF body = drawHeader(painter, area, shown, scene_->queryText(scene_->layer()));
  const double below = heightBelow(painter, body);
  const QRectF room = body.adjusted(2, 2, -2, -below - 4);
  const QImage& picture = scene_->image()->picture;
  const TokenGrid& keys = layer.keyGrid;
  double bottom = room.top();
  if (keys.rows > 0) {
    using Layout = AttentionChoice::Layout;
    const Layout layout = picture.isNull() ? Layout::Map : scene_->choice().layout;
    const QSize cells(keys.columns, keys.rows);
    const std::shared_ptr<const AttentionScene> twin = scene_->twin();
    QSize otherCells, otherPicture;  // empty where there is none
    if (twin != nullptr) {
      const TokenGrid& others = twin->layerAt(twin->layer()).keyGrid;
      otherCells = QSize(others.columns, others.rows);
      otherPicture = twin->image()->picture.size();
    }
    const auto picturePlace = [&](const QRectF& place) {
      return wholePlace(commonSides(picture.size(), otherPicture, place), place);
    };
    const auto mapPlace = [&](const QRectF& place) {
      return wholePlace(commonSides(cells, otherCells, place), place);
    };
    if (layout == Layout::Overlay && keys.frame) {
      const QRectF whole = picturePlace(room);
      drawPicture(painter, whole, /*isGray=*/true);
      addQueryTarget(whole, QRectF(0, 0, 1, 1));  // a window covers a part of it
      drawMap(painter, partOf(whole, *keys.frame), /*isOver=*/true);
      drawQuery(painter, whole, QRectF(0, 0, 1, 1));
      bottom = whole.bottom();
    } else if (layout == Layout::Beside) {
      const bool isAcross = room.width() >= room.height();
      const double gap = 12;
      QRectF first = room, second = room;
      if (isAcross) {
        first.setWidth((room.width() - gap) / 2);
        second.setLeft(first.right() + gap);
      } else {
        first.setHeight((room.height() - gap) / 2);
        second.setTop(first.bottom() + gap);
      }
      const QRectF image = picturePlace(first);
      drawPicture(painter, image, /*isGray=*/false);
      drawQuery(painter, image, QRectF(0, 0, 1, 1));
      addQueryTarget(image, QRectF(0, 0, 1, 1));
      if (isAcross) second.setLeft(std::min(second.left(), image.right() + gap));
      const bool isOfAll = keys.frame == QRectF(0, 0, 1, 1);  // else of a window
      const QRectF map = isOfAll ? QRectF(QPointF(second.topLeft().toPoint()), image.size())
                                 : mapPlace(second);
      drawMap(painter, map, /*isOver=*/false);
      drawQuery(painter, map, keys.frame.value_or(QRectF(0, 0, 1, 1)));
      bottom = std::max(image.bottom(), map.bottom());
    } else {
      const QRectF map = mapPlace(room);
      drawMap(painter, map, /*isOver=*/false);
      drawQuery(painter, map, keys.frame.value_or(QRectF(0, 0, 1, 1)));
      bottom = map.bottom();
    }
  }
  drawBelow(painter, QRectF(body.left(), bottom + 6, body.width(), below), /*isMeasured=*/false);
}

void HeadFigure::drawPicture(QPainter& painter, const QRectF& rect, bool isGray) const {
  const QImage& picture = scene_->image()->picture;
  const QImage shown = isGray ? picture.convertToFormat(QImage::Format_Grayscale8) : picture;
  const bool isSmaller = rect.width() < picture.width();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, isSmaller);
  drawPixels(painter, rect, shown);
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
}

void HeadFigure::drawMap(QPainter& painter, const QRectF& rect, bool isOver) {
  const int layer = scene_->layer(), head = scene_->head();
  const QImage map = scene_->map(layer, head, themeColors());
  if (!isOver) painter.fillRect(rect, themeColors().raised);
  if (map.isNull()) {
    painter.setFont(smallLetters());
    painter.setPen(themeColors().muted);
    painter.drawText(rect.adjusted(8, 8, -8, -8), Qt::AlignCenter | Qt::TextWordWrap,
                     scene_->queryText(layer));
  } else {
    painter.setOpacity(isOver ? kOverlay : 1);
    drawPixels(painter, rect, map);
    painter.setOpacity(1);
    if (!isOver && scene_->choice().share < 1) {
      painter.setPen(themeColors().line);
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(rect);
    }
  }
  addQueryTarget(rect, scene_->layerAt(layer).keyGrid.frame.value_or(QRectF(0, 0, 1, 1)));
  addRegion(rect, [this, rect, layer](const QPointF& at) {
    const TokenGrid& grid = scene_->layerAt(layer).keyGrid;
    const auto [row, column] = cellAt(rect, grid.rows, grid.columns, at);
    return keyText(grid.at(row, column));
  });
}

void HeadFigure::drawQuery(QPainter& painter, const QRectF& rect, const QRectF& frame) const {
  const std::optional<int> query = scene_->query(scene_->layer());
  if (!query || *query == kMeanQuery) return;
  const TokenGrid& grid = scene_->layerAt(scene_->layer()).queryGrid;
  const TokenGrid::Cell& cell = grid.cells[static_cast<std::size_t>(*query)];
  if (!cell.isOnGrid()) return;
  const QRectF own = grid.frame.value_or(frame);
  const QRectF inImage(own.left() + own.width() * cell.column / grid.columns,
                       own.top() + own.height() * cell.row / grid.rows, own.width() / grid.columns,
                       own.height() / grid.rows);
  const QRectF marker =
      partOf(rect, QRectF((inImage.left() - frame.left()) / frame.width(),
                          (inImage.top() - frame.top()) / frame.height(),
                          inImage.width() / frame.width(), inImage.height() / frame.height()));
  drawPatchFrame(painter, marker, 2);
}

void HeadFigure::addQueryTarget(const QRectF& rect, const QRectF& frame) {
  addTarget(rect, [rect, frame](const QPointF& at) {
    const auto part = [](double value) { return std::clamp(value, 0.0, 0.999999); };
    FigureTarget target;
    target.queryAt = {frame.top() + frame.height() * part((at.y() - rect.top()) / rect.height()),
                      frame.left() + frame.width() * part((at.x() - rect.left()) / rect.width())};
    return target;
  });
}

double HeadFigure::heightBelow(QPainter& painter, const QRectF& area) {
  double height = drawBelow(painter, area, /*isMeasured=*/true);
  if (const auto twin = scene_->twin()) {
    HeadFigure other(twin, style());
    height = std::max(height, other.drawBelow(painter, area, /*isMeasured=*/true));
  }
  return height;
}

double HeadFigure::drawBelow(QPainter& painter, const QRectF& area, bool isMeasured) {
  const int layer = scene_->layer(), head = scene_->head();
  const AttentionScene::Row& row = scene_->row(layer, head);
  const ValueRange range = scene_->range(layer, head);
  const QFontMetricsF metrics(axisLetters());
  double y = area.top();
  if (!isMeasured) {
    const QString& quantity = scene_->image()->quantity;
    const QString unit = !quantity.isEmpty()          ? quantity
                         : range.isSigned             ? QObject::tr("weight, signed")
                         : scene_->isRollout()        ? QObject::tr("rollout")
                         : scene_->image()->sumsToOne ? QObject::tr("attention probability")
                                                      : QObject::tr("weight");
    drawColorBar(painter, themeColors(), QRectF(area.left(), y, std::min(area.width(), 420.0), 16),
                 range.low, range.high, unit,
                 [&](double t) { return range.isSigned ? diverging(2 * t - 1) : viridis(t); });
  }
  y += kLineHeight + 2;
  const bool hasMasked = std::any_of(row.weights.begin(), row.weights.end(),
                                     [](float weight) { return std::isnan(weight); });
  if (hasMasked) {
    if (!isMeasured) {
      painter.fillRect(QRectF(area.left(), y + 4, 10, 10), maskedColor(themeColors()));
      painter.setFont(axisLetters());
      painter.setPen(themeColors().muted);
      drawLine(painter, QRectF(area.left() + 16, y, area.width() - 16, kLineHeight),
               Qt::AlignLeft | Qt::AlignVCenter, QObject::tr("masked: the query cannot see it"));
    }
    y += kLineHeight;
  }
  y += drawWords(painter, QRectF(area.left(), y + 2, area.width(), area.height()), isMeasured) + 2;
  y += drawAnswers(painter, QRectF(area.left(), y, area.width(), area.height()), isMeasured);
  const QString words = statistics();
  const double height =
      metrics.boundingRect(QRectF(0, 0, area.width(), 1e4), Qt::TextWordWrap, words).height();
  if (!isMeasured) {
    painter.setFont(axisLetters());
    painter.setPen(themeColors().muted);
    painter.drawText(QRectF(area.left(), y, area.width(), height + 2),
                     Qt::AlignLeft | Qt::TextWordWrap, words);
  }
  return y + height - area.top();
}

double HeadFigure::drawAnswers(QPainter& painter, const QRectF& area, bool isMeasured) {
  const QFontMetricsF metrics(axisLetters());
  double x = area.left(), bottom = area.top();
  for (const ImageAnswer& answer : imageAnswers(scene_->image()->about)) {
    const double width = std::min(metrics.horizontalAdvance(answer.text) + 2, area.width());
    const bool isNext = bottom > area.top() && x + width <= area.right();
    if (!isNext) {
      x = area.left();
      bottom += kLineHeight;
    }
    if (!isMeasured) {
      painter.setFont(axisLetters());
      painter.setPen(answerColor(answer, themeColors()));
      drawLineWithTip(painter, QRectF(x, bottom - kLineHeight, width, kLineHeight),
                      Qt::AlignLeft | Qt::AlignVCenter, answer.text);
    }
    x += width + 2 * kChipGap;
  }
  return bottom - area.top();
}

double HeadFigure::drawWords(QPainter& painter, const QRectF& area, bool isMeasured) {
  const int layer = scene_->layer(), head = scene_->head();
  const AttentionLayer& shown = scene_->layerAt(layer);
  const AttentionScene::Row& row = scene_->row(layer, head);
  const std::optional<int> query = scene_->query(layer);
  const std::vector<int> queries = shown.queryGrid.offGrid(), keys = shown.keyGrid.offGrid();
  const bool isAlike = queries.size() == keys.size();
  const QFontMetricsF metrics(axisLetters());
  double x = area.left(), y = area.top();
  const auto chip = [&](const QString& word, int key, bool isQuery, std::optional<int> token) {
    const bool hasWeight = key >= 0 && key < static_cast<int>(row.weights.size());
    const float weight = hasWeight ? row.weights[static_cast<std::size_t>(key)] : 0.0F;
    QString text = word;
    if (hasWeight)
      text += QLatin1Char(' ') + (std::isnan(weight) ? QObject::tr("masked")
                                                     : shortNumber(static_cast<double>(weight)));
    const double width = std::min(metrics.horizontalAdvance(text) + 14, area.width());
    if (x > area.left() && x + width > area.right()) {
      x = area.left();
      y += kChipHeight + kChipGap;
    }
    const QRectF place(x, y, width, kChipHeight);
    x += width + kChipGap;
    if (isMeasured) return;
    const QColor fill = hasWeight
                            ? scene_->colorOf(weight, scene_->range(layer, head), themeColors())
                            : themeColors().raised;
    painter.setBrush(fill);
    painter.setPen(QPen(isQuery ? themeColors().accent : themeColors().line, isQuery ? 2 : 1));
    painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), 4, 4);
    painter.setFont(axisLetters());
    painter.setPen(hasWeight ? inkOn(fill) : themeColors().text);
    drawLineWithTip(painter, place.adjusted(7, 0, -5, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
    if (!token) return;
    addTarget(place, FigureTarget{.token = token});
  };
  chip(QObject::tr("mean query"), -1, query == kMeanQuery, -1);
  std::size_t left = kMostWords;
  const auto hasRoom = [&left] { return left > 0 && left-- > 0; };
  if (isAlike) {
    for (std::size_t i = 0; i < keys.size() && hasRoom(); ++i)
      chip(shown.keyGrid.words.value(keys[i]), keys[i], query == queries[i], static_cast<int>(i));
  } else {
    for (std::size_t i = 0; i < queries.size() && hasRoom(); ++i)
      chip(shown.queryGrid.words.value(queries[i]), -1, query == queries[i], static_cast<int>(i));
    for (std::size_t i = 0; i < keys.size() && hasRoom(); ++i)
      chip(shown.keyGrid.words.value(keys[i]), keys[i], false, std::nullopt);
  }
  const std::size_t words = isAlike ? keys.size() : queries.size() + keys.size();
  if (words > kMostWords)
    chip(QObject::tr("and %1 more").arg(words - kMostWords), -1, false, std::nullopt);
  return y + kChipHeight - area.top();
}

}  // namespace vitrine::ui

// The overview of all layers and heads.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/artifact/artifact.h"
#include "ui/attention/attention_figures.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr double kScaleBar = 16;
constexpr double kAboveBar = 8;

QString layerLabel(const AttentionLayer& layer) {
  return layer.window < 0 ? layer.name()
                          : QObject::tr("%1, w %2").arg(layerName(layer.number)).arg(layer.window);
}

/// The largest weight of a row, and its key; -1 where all are masked.
int strongestKey(const std::vector<float>& weights) {
  int best = -1;
  for (std::size_t key = 0; key < weights.size(); ++key) {
    if (std::isnan(weights[key])) continue;
    if (best < 0 || std::abs(weights[key]) > std::abs(weights[static_cast<std::size_t>(best)]))
      best = static_cast<int>(key);
  }
  return best;
}

}  // namespace

HeadsFigure::HeadsFigure(std::shared_ptr<const AttentionScene> scene, FigureStyle style)
    : Figure(std::move(style)), scene_(std::move(scene)) {}

int HeadsFigure::headCount() const {
  return scene_->image() == nullptr ? 0 : scene_->image()->mostHeads();
}

QSize HeadsFigure::sizeHint() const { return {420, 420}; }

HeadsFigure::Places HeadsFigure::placesIn(const QSizeF& room) const {
  Places places;
  const QFontMetricsF metrics(smallLetters());
  int layers = 1, heads = 1, largest = 1, common = 1;
  const std::shared_ptr<const AttentionScene> twin = scene_->twin();
  for (const AttentionScene* scene : {scene_.get(), twin.get()}) {
    if (scene == nullptr) continue;
    layers = std::max(layers, scene->layers());
    int own = 1;
    for (int layer = 0; layer < scene->layers(); ++layer) {
      const AttentionLayer& shown = scene->layerAt(layer);
      places.labelWidth =
          std::max(places.labelWidth, metrics.horizontalAdvance(layerLabel(shown)) + 10);
      heads = std::max(heads, scene->heads(layer));
      own = std::max({own, shown.keyGrid.rows, shown.keyGrid.columns});
    }
    largest = std::max(largest, own);
    common = std::lcm(common, own);
  }
  if (layers * heads > 60) places.gap = 3;
  const double wide = (room.width() - places.labelWidth - places.gap * (heads - 1)) / heads;
  const double tall = (room.height() - places.gap * (layers - 1)) / layers;
  const double side = std::floor(std::max(std::min(wide, tall), 8.0));
  // All maps as large as a whole number of pixels a cell makes the largest of them, of two runs the
  // largest of either.
  if (side >= common) largest = common;
  places.side = side >= largest ? std::floor(side / largest) * largest : side;
  return places;
}

double HeadsFigure::leastHeight(double /*width*/) const {
  constexpr double kLeastSide = 14;
  return 2 * kMargin + 28 + kHeadTitle + scene_->layers() * (kLeastSide + 3) + kScaleBar +
         kAboveBar;
}

QString HeadsFigure::summary() const {
  if (scene_->layers() == 0) return QObject::tr("No attention");
  const ValueRange range = scene_->wholeRange();
  return QObject::tr("Attention of %1 layers with up to %2 heads; %3; from %4 to %5")
      .arg(scene_->layers())
      .arg(headCount())
      .arg(scene_->queryText(scene_->layer()), shortNumber(range.low), shortNumber(range.high));
}

QString HeadsFigure::note() const {
  return QObject::tr("Attention shows where a head reads, not why the model decides.");
}

std::optional<std::array<double, 2>> HeadsFigure::valueRange() const {
  if (scene_->layers() == 0) return std::nullopt;
  const ValueRange range = scene_->wholeRange();
  return std::array{range.low, range.high};
}

QString attentionCsvHeader() {
  return QStringLiteral("layer,window,head,key,word,row,column,weight,state\n");
}

QString attentionCsv(const AttentionScene& scene, int layer, int head) {
  QString text;
  const AttentionLayer& shown = scene.layerAt(layer);
  const AttentionScene::Row& row = scene.row(layer, head);
  // A rollout is of all heads.
  const QString headCell = scene.isRollout() ? QString() : QString::number(head);
  for (std::size_t key = 0; key < row.weights.size(); ++key) {
    const TokenGrid::Cell& cell = shown.keyGrid.cells[key];
    const bool isMasked = std::isnan(row.weights[key]);
    text += QStringLiteral("%1,%2,%3,%4,")
                .arg(shown.number)
                .arg(shown.window < 0 ? QString() : QString::number(shown.window))
                .arg(headCell)
                .arg(key);
    text += csvText(shown.keyGrid.words.value(static_cast<int>(key))) + QLatin1Char(',');
    text += cell.isOnGrid() ? QStringLiteral("%1,%2,").arg(cell.row).arg(cell.column)
                            : QStringLiteral(",,");
    text += csvNumber(static_cast<double>(row.weights[key]));
    text += isMasked        ? QStringLiteral(",masked\n")
            : row.kept[key] ? QStringLiteral(",shown\n")
                            : QStringLiteral(",below threshold\n");
  }
  return text;
}

QString HeadsFigure::csv() const {
  QString text = attentionCsvHeader();
  for (int layer = 0; layer < scene_->layers(); ++layer) {
    for (int head = 0; head < scene_->heads(layer); ++head)
      text += attentionCsv(*scene_, layer, head);
  }
  return text;
}

void HeadsFigure::draw(QPainter& painter, const QRectF& area) {
  const QString scale =
      scene_->choice().isSameScale ? QObject::tr("same scale") : QObject::tr("each its own scale");
  const QString title =
      scene_->isRollout() ? QObject::tr("Rollout by layer") : QObject::tr("Layers \u00d7 heads");
  QRectF body = drawHeader(painter, area, title, scale);
  if (scene_->layers() == 0) return;
  const bool hasBar = scene_->choice().isSameScale;
  const Places places =
      placesIn(body.size() - QSizeF(0, kHeadTitle + (hasBar ? kScaleBar + kAboveBar : 0)));
  drawTitles(painter, body, places);
  body.setTop(body.top() + kHeadTitle);
  const QFontMetricsF metrics(smallLetters());
  for (int layer = 0; layer < scene_->layers(); ++layer) {
    const double y = std::round(body.top() + layer * (places.side + places.gap));
    const bool isShown = layer == scene_->layer();
    painter.setFont(smallLetters());
    painter.setPen(isShown ? themeColors().text : themeColors().muted);
    if (places.side + places.gap >= metrics.height() || layer % 2 == 0)
      drawLine(painter, QRectF(body.left(), y, places.labelWidth, places.side),
               Qt::AlignLeft | Qt::AlignVCenter, layerLabel(scene_->layerAt(layer)));
    for (int head = 0; head < scene_->heads(layer); ++head) {
      const QRectF place(
          std::round(body.left() + places.labelWidth + head * (places.side + places.gap)), y,
          places.side, places.side);
      drawHead(painter, place, layer, head);
    }
  }
  if (!hasBar) return;
  const double below = body.top() + scene_->layers() * (places.side + places.gap) + 2;
  const ValueRange range = scene_->range(0, 0);
  const QRectF bar(body.left() + places.labelWidth, std::min(below, body.bottom() - kScaleBar),
                   std::min(body.width() - places.labelWidth, 260.0), kScaleBar);
  drawColorBar(painter, themeColors(), bar, range.low, range.high, QString(),
               [&](double t) { return range.isSigned ? diverging(2 * t - 1) : viridis(t); });
}

void HeadsFigure::drawTitles(QPainter& painter, const QRectF& body, const Places& places) const {
  painter.setFont(smallLetters());
  const double left = body.left() + places.labelWidth;
  if (!scene_->isRollout()) {
    drawHeadTitles(painter, themeColors(), QRectF(left, body.top(), places.side, kHeadTitle),
                   places.gap, headCount(), scene_->head());
    return;
  }
  painter.setPen(themeColors().muted);
  drawLine(painter, QRectF(left, body.top(), body.right() - left, kHeadTitle),
           Qt::AlignLeft | Qt::AlignTop, QObject::tr("all heads"));
}

void HeadsFigure::drawHead(QPainter& painter, const QRectF& place, int layer, int head) {
  const AttentionLayer& shown = scene_->layerAt(layer);
  const QImage map = scene_->map(layer, head, themeColors());
  const bool isShown = layer == scene_->layer() && head == scene_->head();
  QRectF rect = place;
  if (!map.isNull()) {
    const double most = std::max(map.width(), map.height());
    const double whole = place.width() / most;
    const double times = whole >= 1 ? std::floor(whole) : whole;
    rect.setSize(QSizeF(map.width() * times, map.height() * times));
    painter.fillRect(rect, themeColors().raised);
    drawPixels(painter, rect, map);
    if (scene_->choice().share < 1) {
      // Where few cells are left, where the map ends.
      painter.setPen(themeColors().line);
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(rect);
    }
  } else {
    painter.setPen(themeColors().line);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
    if (shown.keyGrid.rows == 0 && !scene_->row(layer, head).weights.empty()) {
      // Words alone: a stripe a key.
      const AttentionScene::Row& row = scene_->row(layer, head);
      const ValueRange range = scene_->range(layer, head);
      drawCells(painter, rect.adjusted(1, 1, -1, -1), 1, static_cast<int>(row.weights.size()),
                [&](int, int key) {
                  return scene_->colorOf(row.weights[static_cast<std::size_t>(key)], range,
                                         themeColors());
                });
    }
  }
  const std::optional<int> query = scene_->query(layer);
  const TokenGrid& grid = shown.queryGrid;
  if (!map.isNull() && query && *query != kMeanQuery && grid.frame == shown.keyGrid.frame &&
      grid.cells[static_cast<std::size_t>(*query)].isOnGrid() && rect.width() / grid.columns >= 2) {
    const TokenGrid::Cell& cell = grid.cells[static_cast<std::size_t>(*query)];
    const QRectF marker(rect.left() + rect.width() * cell.column / grid.columns,
                        rect.top() + rect.height() * cell.row / grid.rows,
                        rect.width() / grid.columns, rect.height() / grid.rows);
    drawPatchFrame(painter, marker, 1);
  }
  if (isShown) drawRing(painter, rect);
  addTarget(place, FigureTarget{.layer = layer, .head = head});
  addRegion(place, [this, layer, head](const QPointF&) {
    const AttentionScene::Row& row = scene_->row(layer, head);
    const int best = strongestKey(row.weights);
    QString text = QObject::tr("%1, %2").arg(scene_->layerAt(layer).name(), headName(head));
    if (best < 0) return text + QLatin1Char('\n') + scene_->queryText(layer);
    return text + QLatin1Char('\n') +
           QObject::tr("most on %1: %2")
               .arg(scene_->layerAt(layer).keyGrid.name(best),
                    shortNumber(static_cast<double>(row.weights[static_cast<std::size_t>(best)])));
  });
}

std::unique_ptr<Figure> makeDistancesFigure(const AttentionScene& scene, FigureStyle style) {
  LineChart chart{.title = QObject::tr("Mean attention distance"),
                  .about = QObject::tr("a point a head, a line their mean")};
  chart.x.title = QObject::tr("layer");
  // There is no layer between two.
  chart.x.format = [](double value, int) {
    return value == std::round(value) ? number(value, 0) : QString();
  };
  chart.y.title = QObject::tr("patches");
  constexpr double kRoomAbove = 1.05;
  if (const auto largest = scene.commonDistance()) chart.y.range = {{0, *largest * kRoomAbove}};
  chart.legend = FigureLegend::None;
  chart.footnote = QObject::tr(
      "Distance between query and key, weighted by the attention, over all queries that are "
      "patches.");
  chart.emptyText = QObject::tr("No layer has its queries and keys on a grid.");
  ChartSeries heads, means;
  heads.name = QObject::tr("heads");
  heads.draw = ChartSeries::Draw::Points;
  means.name = QObject::tr("mean of the layer");
  for (ChartSeries* one : {&heads, &means}) one->run = std::max<std::int64_t>(style.run, 1);
  std::map<int, std::pair<double, int>> sums;  // of each layer's heads, in all windows
  for (int index = 0; index < scene.layers(); ++index) {
    const AttentionLayer& layer = scene.layerAt(index);
    for (int head = 0; head < layer.heads; ++head) {
      const double distance = scene.distance(index, head);
      if (!std::isfinite(distance)) continue;
      heads.x.push_back(layer.number);
      heads.y.push_back(distance);
      heads.labels.push_back(QObject::tr("%1, %2").arg(layer.name(), headName(head)));
      sums[layer.number].first += distance;
      ++sums[layer.number].second;
    }
  }
  for (const auto& [layer, sum] : sums) {
    means.x.push_back(layer);
    means.y.push_back(sum.first / sum.second);
  }
  if (const double alike = scene.alikeDistance(); alike > 0)
    chart.rules.push_back({Qt::Horizontal, alike, QObject::tr("all patches read alike")});
  if (!heads.x.empty()) chart.series = {std::move(heads), std::move(means)};
  return makeLineChart(std::move(chart), std::move(style));
}

std::unique_ptr<Figure> makeOverview(std::shared_ptr<const AttentionScene> scene,
                                     FigureStyle style) {
  const AttentionImage* image = scene->image();
  if (image != nullptr && image->filters)
    return makeFigure(QString::fromLatin1(artifact_kind::kImageGrid), image->filters->meta,
                      image->filters->data, std::move(style));
  if (image != nullptr && image->quantity.isEmpty() && scene->choice().isDistances)
    return makeDistancesFigure(*scene, std::move(style));
  return std::make_unique<HeadsFigure>(std::move(scene), std::move(style));
}

HeadsTable headsTable(const AttentionScene& scene) {
  HeadsTable table;
  table.columns = {QObject::tr("layer"),         QObject::tr("head"),
                   QObject::tr("most on"),       QObject::tr("weight"),
                   QObject::tr("entropy, bits"), QObject::tr("mean distance, patches")};
  for (int layer = 0; layer < scene.layers(); ++layer) {
    const AttentionLayer& shown = scene.layerAt(layer);
    for (int head = 0; head < scene.heads(layer); ++head) {
      const AttentionScene::Row& row = scene.row(layer, head);
      const int best = strongestKey(row.weights);
      const QString number = shown.window < 0
                                 ? QString::number(shown.number)
                                 : QObject::tr("%1, window %2").arg(shown.number).arg(shown.window);
      // A rollout is of all heads: it has no distance.
      const bool isRollout = scene.isRollout();
      table.rows.push_back(
          {number, isRollout ? QStringLiteral("\u2013") : QString::number(head),
           best < 0 ? scene.queryText(layer) : shown.keyGrid.name(best),
           best < 0 ? QStringLiteral("\u2013")
                    : shortNumber(static_cast<double>(row.weights[static_cast<std::size_t>(best)])),
           shortNumber(entropyBits(row.weights)),
           isRollout ? QStringLiteral("\u2013") : shortNumber(scene.distance(layer, head))});
    }
  }
  return table;
}

}  // namespace vitrine::ui

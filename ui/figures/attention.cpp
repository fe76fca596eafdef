// Attention maps: every layer and head for one query token, and one of them enlarged.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"
#include "ui/figures/token_cells.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

using Cell = TokenCell;

constexpr double kOverImage = 0.68;  // how much of the map covers the image

class AttentionFigure final : public Figure {
 public:
  AttentionFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 4)
      throw FileError("attention needs the shape [layers, heads, queries, keys]");
    const std::vector<int> sides = sidesOf(view, {1024, 1024, 65'536, 65'536});
    layers_ = sides[0];
    heads_ = sides[1];
    queries_ = sides[2];
    keys_ = sides[3];
    if (view.count() == 0) throw FileError("attention has no values");
    values_.reserve(static_cast<std::size_t>(view.count()));
    for (std::int64_t i = 0; i < view.count(); ++i)
      values_.push_back(static_cast<float>(view.at(i)));
    const auto cellsAt = [&meta](std::initializer_list<const char*> keys, int tokens) {
      for (const char* key : keys) {
        const auto found = meta.find(key);
        if (found == meta.end()) continue;
        if (const auto places = tokenPlaces(*found, tokens, key); !places.empty())
          return tokenCells(places, tokens);
      }
      return tokenCells({}, tokens);
    };
    keyCells_ = cellsAt({"key_positions", "positions"}, keys_);
    queryCells_ = queries_ == keys_ ? cellsAt({"query_positions", "positions"}, queries_)
                                    : cellsAt({"query_positions"}, queries_);
    for (const Cell& cell : keyCells_) {
      rows_ = std::max(rows_, cell.row + 1);
      columns_ = std::max(columns_, cell.column + 1);
    }
    queryRows_ = rows_;
    queryColumns_ = columns_;
    for (const Cell& cell : queryCells_) {
      queryRows_ = std::max(queryRows_, cell.row + 1);
      queryColumns_ = std::max(queryColumns_, cell.column + 1);
    }
    if (static_cast<std::int64_t>(rows_) * columns_ > 1 << 20)
      throw FileError("the patch grid is too large to draw");
    keyAt_.assign(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_), -1);
    for (int key = 0; key < keys_; ++key) {
      const Cell& cell = keyCells_[static_cast<std::size_t>(key)];
      if (cell.isOnGrid())
        keyAt_[static_cast<std::size_t>(cell.row * columns_ + cell.column)] = key;
    }
    if (const Json& layers = stateList(meta, "layers");
        layers.size() == static_cast<std::size_t>(layers_)) {
      for (const Json& layer : layers) layerNames_ << QString::fromStdString(layer.dump());
    }
    while (layerNames_.size() < layers_) layerNames_ << QString::number(layerNames_.size());
  }

  QSize sizeHint() const override { return {820, 480}; }

  QString summary() const override {
    const std::array<double, 2> range = rangeOf(-1, -1);
    QString text =
        QObject::tr(
            "Attention of %1 layers with %2 heads, %3 queries and %4 keys; %5; from %6 to %7")
            .arg(layers_)
            .arg(heads_)
            .arg(queries_)
            .arg(keys_)
            .arg(queryText(), shortNumber(range[0]), shortNumber(range[1]));
    for (const ImageAnswer& answer : imageAnswers(meta_))
      text += QStringLiteral("; ") + answer.text;
    return text;
  }

  QString note() const override {
    const QString unit = metaText(meta_, "unit");
    return unit.isEmpty() || unit == QStringLiteral("probability")
               ? QObject::tr("Attention shows where a head reads, not why the model decides.")
               : QObject::tr("Not attention: %1.").arg(unit);
  }

  QString csv() const override {
    const bool isMatrix = style().attention == FigureStyle::AttentionView::Matrix;
    QString text = QStringLiteral("layer,head,query,key,row,column,value\n");
    const int from = isMatrix ? 0 : query(), to = isMatrix ? queries_ : query() + 1;
    for (int layer = 0; layer < layers_; ++layer) {
      for (int head = 0; head < heads_; ++head) {
        for (int q = from; q < to; ++q) {
          for (int key = 0; key < keys_; ++key) {
            const Cell& cell = keyCells_[static_cast<std::size_t>(key)];
            text += csvText(layerNames_[layer]) + QLatin1Char(',');
            text += QStringLiteral("%1,%2,%3,").arg(head).arg(q).arg(key);
            text += cell.isOnGrid() ? QStringLiteral("%1,%2,").arg(cell.row).arg(cell.column)
                                   : QStringLiteral(",,");
            text += csvNumber(value(layer, head, q, key)) + QLatin1Char('\n');
          }
        }
      }
    }
    return text;
  }

  std::optional<std::array<double, 2>> valueRange() const override { return rangeOf(-1, -1); }
  int layerCount() const override { return layers_; }
  int headCount() const override { return heads_; }

 private:
  double value(int layer, int head, int q, int key) const {
    const auto index = ((static_cast<std::size_t>(layer) * static_cast<std::size_t>(heads_) +
                         static_cast<std::size_t>(head)) *
                            static_cast<std::size_t>(queries_) +
                        static_cast<std::size_t>(q)) *
                           static_cast<std::size_t>(keys_) +
                       static_cast<std::size_t>(key);
    return static_cast<double>(values_[index]);
  }

  bool isMatrix() const {
    return style().attention == FigureStyle::AttentionView::Matrix || rows_ == 0;
  }

  int query() const {
    if (style().queryAt) return queryNear(*style().queryAt);
    if (style().query >= 0) return std::min(style().query, queries_ - 1);
    for (int q = 0; q < queries_; ++q) {
      if (!queryCells_[static_cast<std::size_t>(q)].isOnGrid()) return q;
    }
    return queryNear({0.5, 0.5});
  }

  /// The query whose patch lies there, or nearest to it; `at` as in FigureStyle::queryAt.
  int queryNear(const std::array<double, 2>& at) const {
    int best = 0;
    double distance = 1e18;
    for (int q = 0; q < queries_; ++q) {
      const Cell& cell = queryCells_[static_cast<std::size_t>(q)];
      if (!cell.isOnGrid()) continue;
      const double dy = cell.row + 0.5 - at[0] * queryRows_,
                   dx = cell.column + 0.5 - at[1] * queryColumns_;
      if (dy * dy + dx * dx < distance) {
        distance = dy * dy + dx * dx;
        best = q;
      }
    }
    return best;
  }

  QString queryText() const {
    if (isMatrix()) return QObject::tr("all queries");
    const Cell& cell = queryCells_[static_cast<std::size_t>(query())];
    if (!cell.isOnGrid()) {
      const QString word = metaTexts(meta_, {"query_words"}).value(query());
      return word.isEmpty() ? QObject::tr("query: class token")
                            : QObject::tr("query: %1").arg(word);
    }
    return QObject::tr("query: row %1, column %2").arg(cell.row).arg(cell.column);
  }

  /// A window covers a part of the image only.
  bool isOverImage() const {
    return !isMatrix() && !style().picture.isNull() && !meta_.contains("window");
  }

  /// Of the map of one layer and head, or of all (-1).
  std::array<double, 2> rangeOf(int onlyLayer, int onlyHead) const {
    double high = 0, low = 0;
    const int from = isMatrix() ? 0 : query(), to = isMatrix() ? queries_ : query() + 1;
    for (int layer = onlyLayer < 0 ? 0 : onlyLayer;
         layer < (onlyLayer < 0 ? layers_ : onlyLayer + 1); ++layer) {
      for (int head = onlyHead < 0 ? 0 : onlyHead; head < (onlyHead < 0 ? heads_ : onlyHead + 1);
           ++head) {
        for (int q = from; q < to; ++q) {
          for (int key = 0; key < keys_; ++key) {
            if (!isMatrix() && !keyCells_[static_cast<std::size_t>(key)].isOnGrid()) continue;
            const double one = value(layer, head, q, key);
            if (!std::isfinite(one)) continue;
            high = std::max(high, one);
            low = std::min(low, one);
          }
        }
      }
    }
    return {low, high};
  }

  std::array<double, 2> colorRange(int layer, int head) const {
    if (style().range) return *style().range;
    return style().scale == FigureStyle::Scale::Shared ? rangeOf(-1, -1) : rangeOf(layer, head);
  }

  QColor colorOf(double one, const std::array<double, 2>& range) const {
    if (!std::isfinite(one)) return themeColors().line;
    if (range[0] < 0) return diverging(one / std::max(-range[0], range[1]));
    return mapColor(unitOf(one, range[0], range[1]));
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QString kind = metaText(meta_, "kind");
    QString title = metaText(meta_, "title");
    if (title.isEmpty()) title = QObject::tr("Layers \u00d7 heads");
    const QString scale = style().scale == FigureStyle::Scale::Shared || style().range
                              ? QObject::tr("same scale")
                              : QObject::tr("each its own scale");
    const QRectF body =
        drawHeader(painter, area, title, queryText() + QStringLiteral(" \u00b7 ") + scale);
    const double gap = 20;
    QRectF overview = body, zoom;
    if (body.width() >= 0.95 * body.height() && body.width() >= 400) {
      const double part =
          std::min((body.width() - gap) * 0.56, body.height() * heads_ / std::max(1, layers_) + 64);
      overview.setWidth(std::max(part, (body.width() - gap) * 0.3));
      zoom = QRectF(overview.right() + gap, body.top(), body.right() - overview.right() - gap,
                    body.height());
    } else if (body.height() >= 300) {
      const double wanted =
          (body.width() - 64) / heads_ * aspectInverse() * layers_ + 8 + kHeadTitle;
      overview.setHeight(std::min(wanted, body.height() * 0.56));
      zoom = QRectF(body.left(), overview.bottom() + gap, body.width(),
                    body.bottom() - overview.bottom() - gap);
    }
    if (!zoom.isNull()) {
      drawOverview(painter, overview);
      drawZoom(painter, zoom);
      return;
    }
    constexpr double kBar = 16, kAbove = 8;
    if (overview.height() > 3 * kBar) overview.setBottom(overview.bottom() - kBar - kAbove);
    const QRectF maps = drawOverview(painter, overview);
    if (style().scale == FigureStyle::Scale::Shared || style().range)
      drawBar(painter, QRectF(body.left(), maps.bottom() + kAbove, body.width(), kBar), 0, 0);
  }

  double aspectInverse() const {
    return isMatrix() ? static_cast<double>(queries_) / keys_
                      : static_cast<double>(rows_) / columns_;
  }

  /// Returns where the maps are.
  QRectF drawOverview(QPainter& painter, const QRectF& area) {
    painter.setFont(smallLetters());
    const QFontMetricsF metrics(painter.font());
    const double label = metrics.horizontalAdvance(QObject::tr("layer ") + layerNames_.last()) + 8;
    const double space = layers_ * heads_ > 60 ? 3 : 6;
    const double wide = std::max(2.0, (area.width() - label - space * (heads_ - 1)) / heads_);
    const double titles = area.height() > 4 * kHeadTitle ? kHeadTitle : 0;
    const double tall = std::max(2.0, (area.height() - titles - space * (layers_ - 1)) / layers_);
    const double width = std::min(wide, tall / aspectInverse());
    const double height = width * aspectInverse();
    if (titles > 0) {
      drawHeadTitles(painter, themeColors(), QRectF(area.left() + label, area.top(), width, titles),
                     space, heads_, shownHead());
    }
    for (int layer = 0; layer < layers_; ++layer) {
      const double y = area.top() + titles + layer * (height + space);
      painter.setPen(layer == shownLayer() ? themeColors().text : themeColors().muted);
      const bool isWritten = height + space >= metrics.height() || layer % 2 == 0;
      if (isWritten) {
        drawLine(painter, QRectF(area.left(), y, label, height), Qt::AlignLeft | Qt::AlignVCenter,
                 QObject::tr("layer ") + layerNames_[layer]);
      }
      for (int head = 0; head < heads_; ++head) {
        const QRectF rect(area.left() + label + head * (width + space), y, width, height);
        drawMap(painter, rect, layer, head, 1);
        if (layer == shownLayer() && head == shownHead()) drawRing(painter, rect);
        addTarget(rect, FigureTarget{.layer = layer, .head = head});
      }
    }
    return {area.left() + label, area.top(), heads_ * (width + space) - space,
            titles + layers_ * (height + space) - space};
  }

  void drawBar(QPainter& painter, const QRectF& bar, int layer, int head) const {
    const std::array<double, 2> range = colorRange(layer, head);
    QString unit = metaText(meta_, "unit");
    if (unit.isEmpty() || unit == QStringLiteral("probability"))
      unit = QObject::tr("attention probability");
    if (range[0] < 0) {
      const double most = std::max(-range[0], range[1]);
      drawColorBar(painter, themeColors(), bar, -most, most, unit,
                   [](double t) { return diverging(2 * t - 1); });
    } else {
      drawColorBar(painter, themeColors(), bar, range[0], range[1], unit,
                   [this](double t) { return mapColor(t); });
    }
  }

  int shownLayer() const { return std::clamp(style().layer, 0, layers_ - 1); }
  int shownHead() const { return std::clamp(style().head, 0, heads_ - 1); }

  void drawZoom(QPainter& painter, const QRectF& area) {
    const int layer = shownLayer(), head = shownHead();
    painter.setFont(smallLetters());
    painter.setPen(themeColors().text);
    drawLine(painter, QRectF(area.left(), area.top() - 4, area.width(), 18),
             Qt::AlignLeft | Qt::AlignVCenter,
             QObject::tr("layer %1, head %2").arg(layerNames_[layer], QString::number(head)));
    const double pictureHeight = style().picture.isNull() || area.height() < 220 ? 0 : 84;
    const QRectF space = area.adjusted(0, 20, 0, -44 - pictureHeight);
    const double width = std::max(8.0, std::min(space.width(), space.height() / aspectInverse()));
    const QRectF rect(space.left(), space.top(), width, width * aspectInverse());
    if (isOverImage())
      drawPixels(painter, rect, style().picture.convertToFormat(QImage::Format_Grayscale8));
    drawMap(painter, rect, layer, head, 2, isOverImage() ? kOverImage : 1);
    if (!isMatrix() && queries_ > 1) {
      addTarget(rect, [this, rect](const QPointF& at) {
        FigureTarget target;
        const auto [row, column] = cellAt(rect, queryRows_, queryColumns_, at);
        for (int q = 0; q < queries_; ++q) {
          const Cell& cell = queryCells_[static_cast<std::size_t>(q)];
          if (cell.row != row || cell.column != column) continue;
          target.queryAt = {(row + 0.5) / queryRows_, (column + 0.5) / queryColumns_};
        }
        return target;
      });
    }
    const QRectF bar(area.left(), rect.bottom() + 6, std::min(area.width(), std::max(width, 260.0)),
                     16);
    drawBar(painter, bar, layer, head);
    if (pictureHeight > 0) {
      const QImage& picture = style().picture;
      const double high = pictureHeight - 12;
      const QRectF frame(area.left(), bar.bottom() + 22, high * picture.width() / picture.height(),
                         high);
      drawPixels(painter, frame, picture);
      const Cell& cell = queryCells_[static_cast<std::size_t>(query())];
      if (!isMatrix() && cell.isOnGrid()) drawMarker(painter, frame, cell, 1);
      const std::vector<ImageAnswer> answers = imageAnswers(meta_);
      painter.setFont(smallLetters());
      const double line = QFontMetricsF(painter.font()).height() + 2;
      QRectF place(frame.right() + 10, frame.top(), area.right() - frame.right() - 10, line);
      if (answers.empty()) {
        painter.setPen(themeColors().muted);
        drawLine(painter, place, Qt::AlignLeft | Qt::AlignVCenter, QObject::tr("the image"));
      }
      for (const ImageAnswer& answer : answers) {
        painter.setPen(answerColor(answer, themeColors()));
        drawLine(painter, place, Qt::AlignLeft | Qt::AlignVCenter, answer.text);
        place.translate(0, line);
      }
    }
    if (isMatrix()) return;
    double toOthers = 0;
    int others = 0;
    for (int key = 0; key < keys_; ++key) {
      if (keyCells_[static_cast<std::size_t>(key)].isOnGrid()) continue;
      toOthers += value(layer, head, query(), key);
      ++others;
    }
    if (others == 0) return;
    painter.setFont(axisLetters());
    painter.setPen(themeColors().muted);
    drawLine(painter, QRectF(area.left(), bar.bottom() + 2, area.width(), 16),
             Qt::AlignLeft | Qt::AlignVCenter,
             others == 1
                 ? QObject::tr("%1 on the class token, not on the grid").arg(shortNumber(toOthers))
                 : QObject::tr("%1 on %2 tokens that are not on the grid")
                       .arg(shortNumber(toOthers))
                       .arg(others));
  }

  void drawMarker(QPainter& painter, const QRectF& rect, const Cell& cell, double width) const {
    const QRectF marker(rect.left() + rect.width() * cell.column / queryColumns_,
                        rect.top() + rect.height() * cell.row / queryRows_,
                        rect.width() / queryColumns_, rect.height() / queryRows_);
    drawPatchFrame(painter, marker, width);
  }

  void drawMap(QPainter& painter, const QRectF& rect, int layer, int head, double markerWidth,
               double opacity = 1) {
    const std::array<double, 2> range = colorRange(layer, head);
    if (isMatrix()) {
      drawCells(painter, rect, queries_, keys_,
                [&](int q, int key) { return colorOf(value(layer, head, q, key), range); });
      addRegion(rect, [this, rect, layer, head](const QPointF& at) {
        const auto [q, key] = cellAt(rect, queries_, keys_, at);
        return QObject::tr("layer %1, head %2\nquery %3, key %4: %5")
            .arg(layerNames_[layer], QString::number(head), QString::number(q),
                 QString::number(key), shortNumber(value(layer, head, q, key)));
      });
      return;
    }
    const int q = query();
    painter.setOpacity(opacity);
    drawCells(painter, rect, rows_, columns_, [&](int row, int column) {
      const int key = keyAt_[static_cast<std::size_t>(row * columns_ + column)];
      return key < 0 ? themeColors().line : colorOf(value(layer, head, q, key), range);
    });
    painter.setOpacity(1);
    const Cell& cell = queryCells_[static_cast<std::size_t>(q)];
    if (cell.isOnGrid()) drawMarker(painter, rect, cell, markerWidth);
    addRegion(rect, [this, rect, layer, head, q](const QPointF& at) {
      const auto [row, column] = cellAt(rect, rows_, columns_, at);
      const int key = keyAt_[static_cast<std::size_t>(row * columns_ + column)];
      return QObject::tr("layer %1, head %2\nrow %3, column %4: %5")
          .arg(layerNames_[layer], QString::number(head), QString::number(row),
               QString::number(column),
               key < 0 ? QStringLiteral("\u2013") : shortNumber(value(layer, head, q, key)));
    });
  }

  Json meta_;
  int layers_ = 0, heads_ = 0, queries_ = 0, keys_ = 0;
  int rows_ = 0, columns_ = 0;            ///< of the grid of the keys
  int queryRows_ = 0, queryColumns_ = 0;  ///< of the queries: finer where keys are sub-sampled
  std::vector<float> values_;
  std::vector<Cell> keyCells_, queryCells_;
  std::vector<int> keyAt_;  ///< [rows * columns] token index, -1 where there is none
  QStringList layerNames_;
};

}  // namespace

std::unique_ptr<Figure> makeAttention(const Json& meta, std::vector<std::byte> data,
                                      FigureStyle style) {
  return std::make_unique<AttentionFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui

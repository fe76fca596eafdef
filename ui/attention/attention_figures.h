// The two pictures of a run's attention: all layers and heads for one query, and one head with the
// image that the model looked at.
#pragma once

#include <memory>
#include <vector>

#include "ui/attention/attention_scene.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

/// Maps of whole-number size, a row a layer. A click chooses layer and head.
class HeadsFigure final : public Figure {
 public:
  HeadsFigure(std::shared_ptr<const AttentionScene> scene, FigureStyle style);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] double leastHeight(double width) const override;
  [[nodiscard]] QString summary() const override;
  /// Every weight of the query, as attentionCsv() has it.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString note() const override;
  [[nodiscard]] std::optional<std::array<double, 2>> valueRange() const override;
  [[nodiscard]] int layerCount() const override { return scene_->layers(); }
  [[nodiscard]] int headCount() const override;

 private:
  /// Where the maps are: each in a place of `side`, enlarged by a whole number. The same of a twin.
  struct Places {
    double labelWidth = 0, side = 0, gap = 6;
  };
  [[nodiscard]] Places placesIn(const QSizeF& room) const;
  void draw(QPainter& painter, const QRectF& area) override;
  void drawTitles(QPainter& painter, const QRectF& body, const Places& places) const;
  void drawHead(QPainter& painter, const QRectF& place, int layer, int head);

  std::shared_ptr<const AttentionScene> scene_;
};

/// How far each head reads: a point a head over the layers, and the mean of each layer. Only for
/// attention: other quantities have no distance.
[[nodiscard]] std::unique_ptr<Figure> makeDistancesFigure(const AttentionScene& scene,
                                                          FigureStyle style);

/// What stands next to the chosen head: all heads, how far they read, or the small pictures that
/// the artifact brought.
[[nodiscard]] std::unique_ptr<Figure> makeOverview(std::shared_ptr<const AttentionScene> scene,
                                                   FigureStyle style);

/// The chosen head large, over or next to the image; tokens that are on no grid as words below. A
/// click chooses the query.
class HeadFigure final : public Figure {
 public:
  HeadFigure(std::shared_ptr<const AttentionScene> scene, FigureStyle style);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QString summary() const override;
  /// Every weight of the query in this head.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString note() const override;
  [[nodiscard]] std::optional<std::array<double, 2>> valueRange() const override;
  [[nodiscard]] int layerCount() const override { return scene_->layers(); }
  [[nodiscard]] int headCount() const override;
  /// Entropy, distance, mass: what stands below the map.
  [[nodiscard]] QString statistics() const;

 private:
  void draw(QPainter& painter, const QRectF& area) override;
  /// "layer 3, head 1", "Rollout up to layer 3".
  [[nodiscard]] QString title() const;
  /// The true class and the model's answer, in one line where there is room. Returns their height.
  double drawAnswers(QPainter& painter, const QRectF& area, bool isMeasured);
  /// Returns the height that the words take.
  double drawWords(QPainter& painter, const QRectF& area, bool isMeasured);
  void drawMap(QPainter& painter, const QRectF& rect, bool isOver);
  void drawPicture(QPainter& painter, const QRectF& rect, bool isGray) const;
  /// Outlines the query. \param frame  the part of the image that `rect` shows
  void drawQuery(QPainter& painter, const QRectF& rect, const QRectF& frame) const;
  void addQueryTarget(const QRectF& rect, const QRectF& frame);
  double drawBelow(QPainter& painter, const QRectF& area, bool isMeasured);
  /// The height of what stands below the map, of a twin's where that is larger.
  [[nodiscard]] double heightBelow(QPainter& painter, const QRectF& area);
  [[nodiscard]] QString keyText(int key) const;

  std::shared_ptr<const AttentionScene> scene_;
};

/// The weights of the query in one head. Columns: layer, window, head (none of a rollout), key,
/// word, row, column, weight, and whether it is shown, masked or below the threshold.
[[nodiscard]] QString attentionCsvHeader();
[[nodiscard]] QString attentionCsv(const AttentionScene& scene, int layer, int head);

/// Layers, heads and the measures of each: the table behind the overview.
struct HeadsTable {
  QStringList columns;
  std::vector<QStringList> rows;
};
[[nodiscard]] HeadsTable headsTable(const AttentionScene& scene);

}  // namespace vitrine::ui

// The steps of one image as a figure: what the network took it for, and where one patch read.
#pragma once

#include <array>
#include <vector>

#include "ui/figures/figure.h"
#include "ui/playground/drawing.h"

namespace vitrine::ui {

/// The way of one image as a strip shows it.
struct ImageWay {
  std::vector<FilmFrame> film;
  std::vector<AttentionFrame> attention;  ///< of `patch`, one for each frame; empty: of none
  std::array<int, 2> patch{};             ///< row and column
  int layer = -1, head = -1;              ///< -1: the mean over all
  QString title, about;
};

/// Where `map` has a patch of a frame. \param patch  row and column
[[nodiscard]] QRectF patchIn(const QRectF& map, const AttentionFrame& frame,
                             const std::array<int, 2>& patch);

class FilmFigure final : public Figure {
 public:
  FilmFigure(ImageWay way, FigureStyle style);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] double fittingHeight(double width) const override;
  [[nodiscard]] QString summary() const override;
  /// Every weight of the layers and heads that are drawn, or averaged, by step; a word has no row,
  /// and its letters as column. Below an empty line the pixels of the predicted images.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] std::optional<std::array<double, 2>> valueRange() const override;
  [[nodiscard]] int imageCount() const override { return static_cast<int>(way_.film.size()); }

 private:
  struct Layout {
    int across = 1, bands = 1;  ///< frames in a band
    QSizeF tile;
    double head = 0, band = 0, height = 0;
  };
  void draw(QPainter& painter, const QRectF& area) override;
  void drawWords(QPainter& painter, const QRectF& body);
  void drawFrame(QPainter& painter, const QRectF& image, std::size_t step);
  [[nodiscard]] Layout layout(double width) const;
  [[nodiscard]] bool hasMaps() const { return !maps_.empty(); }
  [[nodiscard]] QString channelName() const;

  ImageWay way_;
  std::vector<std::vector<float>> maps_;  ///< of the attention, in the chosen channel
  double largest_ = 0;
};

}  // namespace vitrine::ui

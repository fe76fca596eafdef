// Several figures in one picture, for exports: what stands side by side on the page stands so in
// the file.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ui/figures/figure.h"

namespace vitrine::ui {

class SideBySide final : public Figure {
 public:
  /// \param figures  each with the name that its rows carry in the CSV
  /// \param columns  figures in a row, where there is room
  SideBySide(std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures, int columns,
             FigureStyle style);
  ~SideBySide() override;

  [[nodiscard]] int count() const { return static_cast<int>(figures_.size()); }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] double leastHeight(double width) const override;
  [[nodiscard]] double fittingHeight(double width) const override;
  [[nodiscard]] bool breaksWords(double width) const override;
  void setStyle(const FigureStyle& style) override;
  [[nodiscard]] QString summary() const override;
  /// The figures' tables one below the other, with a first column `run`; those of other columns
  /// follow an empty line, with titles of their own.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString note() const override;

 private:
  void lend();
  void draw(QPainter& painter, const QRectF& area) override;

  std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures_;
  int columns_;
};

/// How small figures stand next to each other: few in a row where there is little room.
struct FigureGrid {
  static constexpr double kLeastWidth = 220, kLeastHeight = 150;  ///< of one figure
  int across = 1, down = 1;
};
/// \param width  of all, logical pixels
[[nodiscard]] FigureGrid figureGrid(int count, int columns, double width);

}  // namespace vitrine::ui

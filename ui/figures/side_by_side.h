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
  /// \param figures  not owned, each with the name that its rows carry in the CSV; they must
  /// outlive this
  SideBySide(std::vector<std::pair<QString, Figure*>> figures, int columns, FigureStyle style);
  /// The same, owning them.
  SideBySide(std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures, int columns,
             FigureStyle style);
  ~SideBySide() override;

  [[nodiscard]] int count() const { return static_cast<int>(figures_.size()); }
  /// Figures in a row, where there is room.
  [[nodiscard]] int columns() const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QString summary() const override;
  /// The figures' tables one below the other, with a first column `run`.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString note() const override;

 private:
  void draw(QPainter& painter, const QRectF& area) override;

  std::vector<std::unique_ptr<Figure>> owned_;
  std::vector<std::pair<QString, Figure*>> figures_;
  int columns_;
};

}  // namespace vitrine::ui

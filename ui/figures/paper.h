// How large a figure is on paper and how large its letters.
#pragma once

#include <QSizeF>
#include <optional>

#include "core/base/json.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

struct FigurePaper {
  static constexpr double kSingleColumn = 85, kDoubleColumn = 175;  ///< millimetres
  double width = kSingleColumn;                                     ///< millimetres, 20 to 2000
  double ratio = 0.66;                                              ///< height / width, 0.1 to 5
  double fontPoints = 8;                                            ///< of axis numbers, 3 to 48
  double dotsPerInch = 300;                                         ///< of PNG, 50 to 1200
  bool hasAxisTitles = true;
  std::optional<FigureLegend> legend;  ///< none: the figure's own

  [[nodiscard]] QSizeF millimetres() const { return {width, width * ratio}; }
  /// The size to paint at so that axis numbers, on paper, have `fontPoints`.
  [[nodiscard]] QSizeF logical() const;
  /// `style` in the light theme, with legend and axis titles as chosen.
  [[nodiscard]] FigureStyle styled(FigureStyle style) const;
};

[[nodiscard]] Json toJson(const FigurePaper& paper);
/// Every value that is missing, of another type or out of range becomes the default's.
[[nodiscard]] FigurePaper paperFromJson(const Json& json);

}  // namespace vitrine::ui

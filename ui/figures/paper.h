// Sizes of a figure and of its letters on paper.
#pragma once

#include <QSizeF>
#include <QString>
#include <QStringList>
#include <optional>

#include "core/base/json.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

struct FigurePaper {
  static constexpr double kSingleColumn = 85, kDoubleColumn = 175;  ///< millimetres
  static constexpr double kLeastPoints = 6;                         ///< of letters that are read
  double width = kSingleColumn;                                     ///< millimetres, 20 to 2000
  double ratio = 0.66;                                              ///< height / width, 0.1 to 5
  double fontPoints = 8;                                            ///< of axis numbers, 3 to 48
  double dotsPerInch = 300;                                         ///< of PNG, 50 to 1200
  bool hasAxisTitles = true;
  std::optional<FigureLegend> legend;  ///< none: the figure's own
  static constexpr int kMostMarked = 100'000, kMostNames = 500, kLongestName = 200;
  bool hasTitle = true;
  int markerEvery = 0;      ///< symbols at each such point of a line; 0: as the chart has them
  QString xTitle, yTitle;   ///< instead of those of the chart; "": its own
  QStringList seriesNames;  ///< likewise, in the order of the series

  [[nodiscard]] QSizeF millimetres() const { return {width, width * ratio}; }
  /// The size to paint at so that axis numbers, on paper, have `fontPoints`.
  [[nodiscard]] QSizeF logical() const;
  /// Without the words that belong to one figure.
  [[nodiscard]] FigurePaper withoutWords() const;
  /// `style` in the light theme, with legend, titles, markers and letters as chosen.
  [[nodiscard]] FigureStyle styled(FigureStyle style) const;
};

/// `paper` for a figure that has a shape of its own: a square diagram, a table, charts next to each
/// other. It has the ratio of the figure, and the wide column where a narrow one is too small.
/// Charts take any paper.
[[nodiscard]] FigurePaper paperFor(Figure& figure, FigurePaper paper);
/// `paper`, as high as the figure needs at that width.
[[nodiscard]] FigurePaper highEnough(Figure& figure, FigurePaper paper);
/// The loss at this width and the width to take instead, one sentence; "" for none.
[[nodiscard]] QString paperProblem(Figure& figure, const FigurePaper& paper);

[[nodiscard]] Json toJson(const FigurePaper& paper);
/// Every value that is missing, of another type or out of range becomes the default's.
[[nodiscard]] FigurePaper paperFromJson(const Json& json);

}  // namespace vitrine::ui

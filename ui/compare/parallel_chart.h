// Parallel coordinates: a line a run through one vertical axis for each quantity; brushes on the
// axes keep a part of the runs.
#pragma once

#include <QStringList>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/compare/compare_data.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

struct ParallelAxis {
  Quantity quantity;
  ParallelAxisChoice choice;
  double low = 0, high = 1;  ///< what the axis spans
  QStringList words;         ///< of a quantity that is not a number: its values are their places
  QStringList names;         ///< of the words, short
  std::vector<double> settings;  ///< of a number in the configuration: the values that occur
  [[nodiscard]] QString valueText(double value) const;
  /// 0 at the lower end of the axis, 1 at the upper; what lies below a logarithm is 0.
  [[nodiscard]] double share(double value) const;
  [[nodiscard]] double valueAt(double share) const;
  /// Where the axis has its numbers: round ones, about `most` of them, or the few settings.
  [[nodiscard]] std::vector<double> ticks(int most) const;
  /// The texts of such numbers: on a linear axis with as many decimals each.
  [[nodiscard]] QStringList tickTexts(const std::vector<double>& ticks) const;
};

struct ParallelLine {
  std::int64_t run = 0;
  QString name;
  std::int64_t series = 1;
  std::vector<std::optional<double>> values;  ///< per axis
};

struct ParallelChart {
  std::vector<ParallelAxis> axes;
  std::vector<ParallelLine> lines;
  QString title, about;

  /// Whether the line goes through every brush; one without a value there does not.
  [[nodiscard]] bool isKept(const ParallelLine& line) const;
  [[nodiscard]] std::vector<std::int64_t> keptRuns() const;
  [[nodiscard]] bool isBrushed() const;
};

/// Axes as chosen, else what differs between the variants and the metrics of the table.
[[nodiscard]] std::vector<ParallelAxisChoice> parallelAxes(const CompareData& data,
                                                           const CompareChoice& choice);
[[nodiscard]] ParallelChart parallelChart(const CompareData& data, const CompareChoice& choice);

class ParallelFigure final : public Figure {
 public:
  ParallelFigure(ParallelChart chart, FigureStyle style);

  [[nodiscard]] const ParallelChart& chart() const { return chart_; }
  [[nodiscard]] QSize sizeHint() const override {
    return {std::max(720, 128 + 88 * (static_cast<int>(chart_.axes.size()) - 1)), 360};
  }
  [[nodiscard]] double leastWidth() const override { return sizeHint().width(); }
  [[nodiscard]] double leastHeight(double width) const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QString csv() const override;

  /// Where the axes stand in an area: x of each, and from top to bottom.
  struct Layout {
    std::vector<double> x;
    double top = 0, bottom = 1;
  };
  [[nodiscard]] Layout layout(const QRectF& area) const;
  /// The axis that has the keys; -1: none.
  void setFocusAxis(int axis) { focusAxis_ = axis; }

 private:
  void draw(QPainter& painter, const QRectF& area) override;
  [[nodiscard]] QPointF pointOf(const Layout& layout, std::size_t axis, double value) const;
  /// Between two axes no title fits: titles are slanted.
  [[nodiscard]] bool isTight(double width) const;

  ParallelChart chart_;
  int focusAxis_ = -1;
};

}  // namespace vitrine::ui

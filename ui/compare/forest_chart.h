// A forest plot. Each variant is a row with the mean of its seeds, what lies around it and the
// seeds as points. The baseline is a line over all rows. What a metric with one value has in place
// of a curve.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ui/compare/ablation_table.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

struct ForestRow {
  QString name;
  std::int64_t series = 1;
  bool isBaseline = false;
  ShownNumber number;
  QString text;                                   ///< the number, as the table writes it
  std::vector<std::pair<QString, double>> seeds;  ///< "seed 1, run 4"; finite
};

struct ForestChart {
  QString title, about, axis;
  QString centre;  ///< "mean"
  std::vector<ForestRow> rows;
  std::optional<double> rule;  ///< of the baseline
  QString ruleText;
  QString emptyText;
};

/// Whether the drawn metric has one value a run.
[[nodiscard]] bool isSingleValued(const CompareData& data);
/// Of the first metric. \param variants  the rows, from top to bottom
[[nodiscard]] ForestChart forestChart(const CompareData& data, const AblationTable& table,
                                      const std::vector<std::size_t>& variants);
/// Paired differences to the baseline, with half of their interval.
[[nodiscard]] ForestChart forestDifferences(const CompareData& data, const AblationTable& table,
                                            const std::vector<std::size_t>& variants);

class ForestFigure final : public Figure {
 public:
  explicit ForestFigure(ForestChart chart, FigureStyle style = {});

  [[nodiscard]] const ForestChart& chart() const { return chart_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] double leastHeight(double width) const override;
  [[nodiscard]] double leastWidth() const override { return 320; }
  [[nodiscard]] QString summary() const override;
  /// One row for each mean and each seed.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString note() const override;
  /// What the axis spans: every seed and the baseline; of an interval that is much longer, a part.
  [[nodiscard]] std::array<double, 2> range() const { return range_; }

 private:
  void draw(QPainter& painter, const QRectF& area) override;
  void drawRow(QPainter& painter, const QRectF& plot, double y, const ForestRow& row) const;
  [[nodiscard]] double pixelOf(const QRectF& plot, double value) const;
  [[nodiscard]] bool isCut() const;

  ForestChart chart_;
  std::array<double, 2> range_{0, 1};
};

}  // namespace vitrine::ui

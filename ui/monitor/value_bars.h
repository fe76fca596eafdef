// A metric that runs have measured once: a bar for each run.
#pragma once

#include <QString>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/store/metrics/metric_format.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

struct ValueBar {
  QString name;
  std::int64_t run = 0;                              ///< whose colour it has
  double value = 0;                                  ///< not finite: said in words
  std::optional<std::array<double, 2>> around = {};  ///< of a mean: its ends
};

/// Rows from the top, bars from zero.
class ValueBars final : public Figure {
 public:
  /// \param title  "": no first line
  ValueBars(QString title, QString about, std::vector<ValueBar> bars,
            const store::MetricFormat& format, FigureStyle style = {});
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] double leastHeight(double width) const override;
  [[nodiscard]] double fittingHeight(double width) const override { return leastHeight(width); }

 private:
  void draw(QPainter& painter, const QRectF& area) override;

  /// "0.42 [0.40, 0.45]"
  [[nodiscard]] QString textOf(const ValueBar& bar) const;

  QString title_, about_;
  std::vector<ValueBar> bars_;
  store::MetricFormat format_;
};

}  // namespace vitrine::ui

// A plot with its title left and what it is right, in a card.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QToolButton>
#include <string>

#include "ui/monitor/curve_plot.h"
#include "ui/monitor/metric_card.h"

namespace vitrine::ui {

/// Width of a card: a quarter of the page at best, a column, or the whole page.
enum class PlotSize { Small, Medium, Full };

class PlotCard : public QFrame {
  Q_OBJECT
 public:
  PlotCard(std::string metric, const MetricCard& card, QWidget* parent = nullptr);

  [[nodiscard]] const std::string& metric() const { return metric_; }
  [[nodiscard]] const MetricCard& card() const { return card_; }
  [[nodiscard]] CurvePlot& plot() { return *plot_; }
  /// What the metric is called and what it is.
  void setMeaning(const MetricCard& card);
  /// Some part of it is on the screen.
  [[nodiscard]] bool isOnScreen() const;
  /// Sentence in place of the curves while there are none; "" shows the curves.
  void setHint(const QString& sentence);
  void setLegend(const std::vector<PlottedCurve>& curves, bool isShown);
  void applyTheme();
  /// The settings of the page, without smoothing where there is no noise.
  void setSettings(PlotSettings settings);

  void setPinned(bool isPinned);
  [[nodiscard]] QToolButton& pin() { return *pin_; }
  /// Whether the metric is watched.
  void setWatched(bool isWatched);

  bool isStale = false;  ///< has not been drawn since its curves or what they are changed

 Q_SIGNALS:
  void pinRequested();
  void bellRequested();

 protected:
  /// The menu of the plot, asked for by a key at it or at one of its buttons.
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void fillSubtitle();
  void drawIcons();

  std::string metric_;
  MetricCard card_;
  QLabel* title_;
  QLabel* subtitle_;
  QLabel* legend_;
  QLabel* hint_;
  CurvePlot* plot_;
  QToolButton *pin_, *bell_;
  bool isPinned_ = false, isWatched_ = false;
};

}  // namespace vitrine::ui

// Curves of the selected runs, live: a grid of cards with one cursor.
#pragma once

#include <QElapsedTimer>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTimer>
#include <map>
#include <string>
#include <vector>

#include "ui/monitor/curve_cache.h"
#include "ui/monitor/plot_card.h"
#include "ui/shell/page.h"

namespace vitrine::ui {

/// The line of ui/shell/pages.cpp.
[[nodiscard]] PageFactory monitorPageFactory();

class MonitorPage : public Page {
  Q_OBJECT
 public:
  /// Least time between two drawings of new data.
  static constexpr int kRefreshMs = 250;

  explicit MonitorPage(Workbench& workbench, QWidget* parent = nullptr);

  void settle() override;
  QList<QAction*> tools() override;

  [[nodiscard]] const std::vector<PlotCard*>& cards() const { return cards_; }
  [[nodiscard]] const PlotSettings& settings() const { return settings_; }
  void setSettings(const PlotSettings& settings);
  /// Names of the metrics that have a card, in order; stored for the next start.
  void setMetrics(const std::vector<std::string>& metrics);
  [[nodiscard]] std::vector<std::string> metrics() const;
  void setFollowing(bool isFollowing);
  /// Fits all cards to the data.
  void fitAll();
  /// What somebody asks for who wants to see everything: also what is still to come.
  void fitAndFollow();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void makeTools();
  PlotCard* makeCard(const std::string& metric);
  void removeCard(const std::string& metric);
  void arrange();
  void showRuns();
  void giveCurves(PlotCard& card);
  void later();
  void refreshNow();
  void refreshCard(PlotCard& card);
  bool readNew(bool isAll);
  void fillMetricMenu();
  void fillEmpty();
  void showCardMenu(PlotCard& card, const QPoint& place);
  void savePicture(PlotCard& card);
  void saveValues(PlotCard& card);
  void moveCursor(std::optional<double> x, const CurvePlot* under);
  void stepCursor(int direction);
  [[nodiscard]] bool extent(double& from, double& to) const;

  Workbench& workbench_;
  CurveCache cache_;
  PlotSettings settings_;
  bool isFollowing_ = true;
  std::vector<PlotCard*> cards_;
  std::map<std::int64_t, std::int64_t>
      seen_;  ///< run -> changeSequence at the last read while it was not alive
  std::optional<double> cursor_;

  QStackedWidget* stack_;
  QScrollArea* scroll_;
  QWidget* canvas_;
  QGridLayout* grid_;
  QLabel* emptyText_;
  QPushButton* emptyAction_;
  QTimer timer_;
  QElapsedTimer sinceRefresh_;
  QAction *xAction_, *smoothAction_, *logYAction_, *logXAction_, *followAction_, *fitAction_,
      *metricsAction_;
  QMenu* metricMenu_;
};

}  // namespace vitrine::ui

// What the menu of a plot does is done to that plot; and where the plots stand on their page.
#include <QScrollArea>
#include <QScrollBar>
#include <cmath>

#include "tests/ui/monitor/card_menu.h"
#include "tests/ui/monitor/open_monitor.h"
#include "ui/figures/chart_axis.h"

namespace vitrine::ui {
namespace {

TEST(PlotMenu, ClipsThePlotThatItIsOpenedOn) {
  OpenMonitor open({0, 4000});
  PlotCard* loss = open.page->card("train/loss");
  ASSERT_NE(loss, nullptr);
  PlotCard* other = nullptr;
  for (PlotCard* card : open.page->cards())
    if (card != loss) other = card;
  ASSERT_NE(other, nullptr);
  const double whole = loss->plot().yAxis().span();
  const QStringList clip{QStringLiteral("Clip outliers of this plot")};
  chooseInMenu(*loss, clip);
  (void)loss->grab();
  EXPECT_TRUE(loss->plot().settings().isClipped);
  EXPECT_LT(loss->plot().yAxis().span(), whole);
  EXPECT_FALSE(other->plot().settings().isClipped);
  EXPECT_FALSE(open.page->settings().isClipped);

  MonitorPage later(open.studio.workbench);
  OpenMonitor::open(later);
  later.setViewState(open.page->viewState());
  later.waitUntilIdle();
  EXPECT_TRUE(later.card("train/loss")->plot().settings().isClipped);
  EXPECT_FALSE(later.settings().isClipped);

  PlotSettings all = open.page->settings();
  chooseInMenu(*loss, clip);
  EXPECT_FALSE(loss->plot().settings().isClipped);
  all.isClipped = true;
  open.page->setSettings(all);
  EXPECT_FALSE(loss->plot().settings().isClipped) << "a choice of its own";
}

TEST(PlotMenu, IsOpenedByTheMenuKeyAtAPartOfTheCard) {
  OpenMonitor open;
  ASSERT_GT(open.page->cards().size(), 1U);
  PlotCard* card = open.page->cards().front();
  chooseInMenu(*card, {QStringLiteral("Enlarge")}, MenuAsked::ByKey);
  EXPECT_EQ(open.page->viewState().value("enlarged", ""), card->metric());
}

TEST(PlotMenu, FitsThePlotThatItIsOpenedOn) {
  OpenMonitor open;
  ASSERT_GT(open.page->cards().size(), 1U);
  CurvePlot& plot = open.page->cards()[0]->plot();
  CurvePlot& other = open.page->cards()[1]->plot();
  const PlotAxis whole = plot.xAxis();
  QTest::keyClick(&plot, Qt::Key_Plus);  // the zoom is shared
  ASSERT_GT(plot.xAxis().lower, whole.lower);
  ASSERT_DOUBLE_EQ(other.xAxis().lower, plot.xAxis().lower);
  const double zoomed = other.xAxis().lower;
  chooseInMenu(*open.page->cards()[0], {QStringLiteral("Fit this plot")});
  EXPECT_NEAR(plot.xAxis().lower, whole.lower, 1e-9);
  EXPECT_NEAR(plot.xAxis().upper, whole.upper, 1e-9);
  EXPECT_DOUBLE_EQ(other.xAxis().lower, zoomed);
}

TEST(PlotGrid, HasColumnsOfOneWidth) {
  OpenMonitor open;
  for (const QString& group : open.page->groups()) open.page->setGroupOpen(group, true);
  for (const int width : {700, 1000, 1001, 1367, 1600}) {
    open.page->resize(width, 900);
    open.page->waitUntilIdle();
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
    int least = 1 << 20, most = 0;
    const QWidget* pinned = open.page->cards().front()->parentWidget();
    int number = 0;
    for (const PlotCard* card : open.page->cards()) {
      if (card->parentWidget() != pinned) continue;
      least = std::min(least, card->width());
      most = std::max(most, card->width());
      ++number;
    }
    EXPECT_GT(number, 1);
    EXPECT_LE(most - least, 1) << "of a page " << width << " wide";
  }
}

TEST(MonitorPage, OpensAtItsTop) {
  OpenMonitor open;
  for (const QString& group : open.page->groups()) open.page->setGroupOpen(group, true);
  open.page->resize(900, 400);
  open.page->waitUntilIdle();
  const Json view = open.page->viewState();
  MonitorPage later(open.studio.workbench);
  later.resize(900, 400);
  later.show();
  later.setViewState(view);
  later.waitUntilIdle();
  for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  const auto* bar = later.findChild<QScrollArea*>()->verticalScrollBar();
  ASSERT_GT(bar->maximum(), 200);
  EXPECT_EQ(bar->value(), 0);
}

TEST(LogAxis, HasItsNumbersAtOneTwoAndFiveOfADecade) {
  ChartAxis axis{.scale = AxisScale::Log};
  for (const double low : {1e-5, 0.0031, 0.016, 0.3, 1.0, 7.0}) {
    for (const double factor : {90.0, 1500.0, 1e7}) {
      const ChartTicks ticks = chartTicks(axis, {low, low * factor}, 5);
      EXPECT_GE(ticks.values.size(), 3U) << low << ' ' << factor;
      for (const double value : ticks.values) {
        const double part = value / std::pow(10.0, std::floor(std::log10(value) + 1e-9));
        EXPECT_TRUE(std::abs(part - 1) < 1e-6 || std::abs(part - 2) < 1e-6 ||
                    std::abs(part - 5) < 1e-6)
            << value << " of " << low << " to " << low * factor;
      }
    }
  }
}

}  // namespace
}  // namespace vitrine::ui

// The width of a plot, chosen in its menu and kept for each database.
#include <QTemporaryDir>

#include "tests/ui/monitor/card_menu.h"
#include "tests/ui/monitor/open_monitor.h"
#include "ui/kit/settings.h"

namespace vitrine::ui {
namespace {

struct PlotSizes : ::testing::Test {
  void SetUp() override { useSettings(folder_.filePath(QStringLiteral("studio.ini"))); }
  void TearDown() override { forgetSettings(); }
  static void choose(OpenMonitor& open, const std::string& metric, const char* size) {
    chooseInMenu(*open.page->card(metric), {QStringLiteral("Size"), QLatin1String(size)});
    open.page->waitUntilIdle();
  }

 private:
  QTemporaryDir folder_;
};

TEST_F(PlotSizes, AreChosenInTheMenuOfAPlot) {
  OpenMonitor open;
  ASSERT_GT(open.page->cards().size(), 1U);
  PlotCard* first = open.page->cards()[0];
  PlotCard* second = open.page->cards()[1];
  const int medium = first->width();
  ASSERT_EQ(first->y(), second->y());
  choose(open, first->metric(), "Full width");
  EXPECT_GT(first->width(), 2 * medium);
  EXPECT_GT(second->y(), first->y()) << "the next one is in a row of its own";
  choose(open, first->metric(), "Small");
  EXPECT_LT(first->width(), medium);
  EXPECT_EQ(second->y(), first->y());
  EXPECT_NEAR(second->width(), medium, 12);
  choose(open, first->metric(), "Medium");
  EXPECT_EQ(first->width(), medium);
}

TEST_F(PlotSizes, ASmallPlotIsEnlargedAsAnyOther) {
  OpenMonitor open;
  PlotCard* first = open.page->cards()[0];
  const int medium = first->width();
  choose(open, first->metric(), "Small");
  open.page->enlarge(first->metric());
  open.page->waitUntilIdle();
  EXPECT_GT(first->width(), 2 * medium);
}

TEST_F(PlotSizes, AreKeptForTheDatabase) {
  OpenMonitor open;
  const std::string metric = open.page->cards()[0]->metric();
  choose(open, metric, "Full width");
  MonitorPage later(open.studio.workbench);
  OpenMonitor::open(later);
  EXPECT_EQ(later.size(metric), PlotSize::Full);
  EXPECT_EQ(later.card(metric)->width(), open.page->card(metric)->width());
  const OpenMonitor other;
  EXPECT_EQ(other.page->size(metric), PlotSize::Medium);
}

}  // namespace
}  // namespace vitrine::ui

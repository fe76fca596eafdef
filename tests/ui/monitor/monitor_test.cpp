#include <QElapsedTimer>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ui/monitor/metric_point.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/monitor/curve_cache.h"
#include "ui/monitor/monitor_page.h"
#include "ui/monitor/monitor_parts.h"

namespace vitrine::ui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(CompactNumber, WritesFewDigitsAndNoLocale) {
  EXPECT_EQ(compactNumber(4000, 3).toStdString(), "4,000");
  EXPECT_EQ(compactNumber(0.5, 3).toStdString(), "0.5");
  EXPECT_EQ(compactNumber(2.5e-5, 3).toStdString(), "2.5e-5");
  EXPECT_EQ(compactNumber(0, 3).toStdString(), "0");
}

// A page in a window of its own, with three runs selected.
struct OpenPage {
  explicit OpenPage(const SampleOptions& options = {0, 400})
      : studio(options), page(studio.workbench) {
    page.resize(1000, 700);
    if (!studio.runs.empty()) {
      studio.workbench.selection().setRuns({studio.runs[6], studio.runs[7], studio.runs[8]},
                                           studio.runs[8]);
    }
    page.show();
    page.waitUntilIdle();
    QCoreApplication::processEvents();
  }
  std::int64_t drawings() const {
    std::int64_t sum = 0;
    for (PlotCard* card : page.cards()) sum += Probe::drawings(card->plot());
    return sum;
  }
  SampleStudio studio;
  MonitorPage page;
};

TEST(MonitorPage, ShowsFourCardsOfTheSelectedRuns) {
  OpenPage open;
  ASSERT_EQ(open.page.cards().size(), 4U);
  for (PlotCard* card : open.page.cards())
    EXPECT_EQ(card->plot().curves().size(), 3U) << card->metric();
}

TEST(MonitorPage, TellsSeedsOfOneNameAndColourApart) {
  OpenPage open;
  // The first selected run with another seed.
  const store::RunRow first = *open.studio.workbench.run(open.studio.runs[6]);
  store::NewRun seed;
  seed.name = first.name;
  seed.variant = first.variant;
  seed.config = open.studio.writer.config(first.id);
  seed.seed = 5;
  seed.config["train"]["seed"] = 5;
  const std::int64_t other = open.studio.writer.addRuns(first.experimentId, {seed}).front();
  open.studio.writer.append(
      other, open.studio.writer.openSegment(other, 0, store::thisWorker(), Json::object()),
      {.metrics = {{24, 1, 1, {{"train/loss", 0.5}}}, {48, 2, 1, {{"train/loss", 0.4}}}}});
  open.studio.workbench.watcher().poll();
  setRunSeries({{first.id, 5}, {other, 5}});
  open.studio.workbench.selection().setRuns({first.id, other}, first.id);
  open.page.waitUntilIdle();
  Q_EMIT open.studio.workbench.themeChanged();
  PlotCard& card = *open.page.cards().front();
  QLabel* legend = nullptr;
  for (QLabel* one : card.findChildren<QLabel*>())
    if (one->text().contains(QChar(0x25a0))) legend = one;
  ASSERT_NE(legend, nullptr);
  EXPECT_EQ(legend->text().count(seriesColor(5).name()), 2);
  const QString name = QString::fromStdString(first.name);
  const DescribedPlot::Table read = card.plot().plotTable();
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[0].front(), name + QStringLiteral(", seed 0"));
  EXPECT_EQ(read.rows[1].front(), name + QStringLiteral(", seed 5"));
  for (const QStringList& row : read.rows)
    EXPECT_TRUE(legend->text().contains(row.front().toHtmlEscaped()));
  setRunSeries({});
}

TEST(MonitorPage, HeadsItsGroupsInSentenceCase) {
  EXPECT_EQ(groupTitle(groupOf("system/cpu")).toStdString(), "System");
  OpenPage open;
  int headings = 0;
  for (const QToolButton* one : open.page.findChildren<QToolButton*>()) {
    if (!one->accessibleName().startsWith(QLatin1String("Plots of "))) continue;
    ++headings;
    EXPECT_TRUE(one->text().front().isUpper()) << one->text().toStdString();
  }
  EXPECT_GT(headings, 0);
}

TEST(MonitorPage, DrawsNoMoreThanFourPointsPerPixelColumn) {
  OpenPage open({0, 8'000});
  CurvePlot& loss = open.page.cards().front()->plot();
  (void)loss.grab();
  const auto columns = static_cast<std::size_t>(loss.plotRect().width());
  ASSERT_FALSE(loss.lines().empty());
  for (const DrawnLine& line : loss.lines()) EXPECT_LE(line.points.size(), 4 * (columns + 3));
  EXPECT_GT(loss.curves().front().series->size(), 8 * columns);
}

TEST(CurvePlot, DrawsABarForEachRunOfAMetricWithOneValue) {
  CurveSeries one, other, more;
  ASSERT_TRUE(one.append({point(600, 0.5)}));
  ASSERT_TRUE(other.append({point(900, 0.25)}));
  ASSERT_TRUE(more.append({point(0, 1), point(300, 2)}));
  CurvePlot plot;
  plot.resize(400, 300);
  plot.setCurves({{1, "long", &one}, {2, "short", &other}});
  ASSERT_TRUE(plot.hasOneValue());
  const QImage picture = plot.grab().toImage();
  // Along a line through each bar: how many pixels have the run's colour.
  const auto widthOf = [&picture](std::int64_t run) {
    int widest = 0;
    for (int y = 0; y < picture.height(); ++y) {
      int wide = 0;
      for (int x = 0; x < picture.width(); ++x)
        wide += picture.pixelColor(x, y).rgb() == seriesColor(run).rgb() ? 1 : 0;
      widest = std::max(widest, wide);
    }
    return widest;
  };
  EXPECT_GT(widthOf(2), 20);
  EXPECT_NEAR(widthOf(1), 2 * widthOf(2), 2);
  EXPECT_EQ(plot.bars("Accuracy", "")->csv(), "run,name,value\n1,long,0.5\n2,short,0.25\n");
  plot.setCurves({{1, "long", &one}, {3, "curve", &more}});
  EXPECT_FALSE(plot.hasOneValue());
}

TEST(CurveSeries, IsSmoothedAsChosenHoweverShortItIs) {
  CurveSeries series;
  ASSERT_TRUE(series.append({point(0, 1), point(300, 2), point(600, 4)}));
  EXPECT_FALSE(series.isSmoothed(kAutomaticSmoothing));
  EXPECT_TRUE(series.isSmoothed({Smoothing::Kind::Ema, 0.9}));
  EXPECT_LT(series.smoothed({Smoothing::Kind::Ema, 0.9}).back(), 4);
}

TEST(CurvePlot, ShowsTheLineBetweenTwoPointsWhenZoomedInBetweenThem) {
  CurveSeries series;
  ASSERT_TRUE(series.append({point(0, 1), point(300, 2), point(600, 4)}));
  CurvePlot plot;
  plot.resize(400, 300);
  plot.setCurves({{1, "a run", &series}});
  plot.show();
  plot.fit(330, 360);
  const PlotAxis y = plot.yAxis();
  EXPECT_NEAR(y.lower, 2.2 - 0.2 * 0.04, 1e-9);
  EXPECT_NEAR(y.upper, 2.4 + 0.2 * 0.04, 1e-9);
  (void)plot.grab();
  ASSERT_EQ(plot.lines().size(), 1U);
  EXPECT_EQ(plot.lines()[0].points.size(), 2U);
  plot.fit(500, 900);  // one point inside, the line comes in from the left
  EXPECT_NEAR(plot.yAxis().lower, 10.0 / 3 - (4 - 10.0 / 3) * 0.04, 1e-9);
  plot.fit(700, 900);  // past the end there is no line
  EXPECT_DOUBLE_EQ(plot.yAxis().upper, 1.04);
}

TEST(CurveSeries, EntersAWindowWhereItIsDrawnOnLogarithmicScales) {
  CurveSeries series;
  ASSERT_TRUE(series.append({point(1, 10), point(100, 1000)}));
  double low = 0, high = 0;
  ASSERT_TRUE(series.edges(XAxis::Step, 10, 200, AxisScale::Log, AxisScale::Log, low, high));
  EXPECT_NEAR(low, 100, 1e-9);
  EXPECT_NEAR(high, 100, 1e-9);
  EXPECT_FALSE(series.edges(XAxis::Step, 200, 300, AxisScale::Log, AxisScale::Log, low, high));
  ASSERT_TRUE(series.append({point(200, kNaN)}));
  EXPECT_FALSE(series.edges(XAxis::Step, 120, 180, AxisScale::Log, AxisScale::Log, low, high));
}

TEST(MonitorPage, OnlyLinesOfFewPointsAreWiderThanAPixel) {
  OpenPage open({0, 8'000});
  CurvePlot& loss = open.page.cards().front()->plot();
  (void)loss.grab();
  const auto columns = static_cast<std::size_t>(loss.plotRect().width());
  int wide = 0, thin = 0;
  for (const DrawnLine& line : loss.lines()) {
    const bool isWide = line.pen.widthF() > 1;
    wide += isWide;
    thin += !isWide;
    if (isWide) {
      EXPECT_LE(line.points.size(), 2 * columns + 16);
    }
  }
  EXPECT_EQ(wide, 3) << "the smoothed lines";
  EXPECT_EQ(thin, 3) << "the raw ones behind them";
}

TEST(MonitorPage, NewPointsOfARunningRunAppearWithinAHalfSecond) {
  OpenPage open;
  const CurveSeries& series = *open.page.cards().front()->plot().curves().back().series;
  const std::size_t before = series.size();
  open.studio.workbench.start();
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188, 196, 400);
  EXPECT_TRUE(soon([&] { return series.size() == before + 8; }));
}

TEST(MonitorPage, DrawsAtMostFourTimesASecond) {
  OpenPage open;
  const std::int64_t before = open.drawings();
  QElapsedTimer clock;
  clock.start();
  int commits = 0;
  while (clock.elapsed() < 1000) {
    appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188 + commits, 189 + commits,
                       400);
    ++commits;
    open.studio.workbench.watcher().poll();
    QCoreApplication::processEvents();
  }
  EXPECT_GT(commits, 8);
  EXPECT_GT(open.drawings(), before);
  // Five looks fit into a second and its ends; four cards each.
  EXPECT_LE(open.drawings() - before, 5 * 4);
}

TEST(MonitorPage, CardsOutOfSightAreNotDrawn) {
  OpenPage open;
  open.page.resize(340, 300);  // one column: the last cards are below the edge
  QCoreApplication::processEvents();
  PlotCard* last = open.page.cards().back();
  ASSERT_FALSE(last->isOnScreen());
  const std::int64_t before = Probe::drawings(last->plot());
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188, 240, 400);
  open.studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return last->isStale; }));
  EXPECT_EQ(Probe::drawings(last->plot()), before);
}

TEST(MonitorPage, ZoomingEndsFollowingAndHomeFitsAgain) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const PlotAxis all = plot.xAxis();
  const QPointF center = plot.plotRect().center();
  QWheelEvent wheel(center, plot.mapToGlobal(center), QPoint(), QPoint(0, 120), Qt::NoButton,
                    Qt::ControlModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&plot, &wheel);
  EXPECT_LT(plot.xAxis().span(), all.span());
  EXPECT_DOUBLE_EQ(open.page.cards().back()->plot().xAxis().lower, plot.xAxis().lower)
      << "all cards share the horizontal range";
  const PlotAxis zoomed = plot.xAxis();
  const CurveSeries& series = *plot.curves().back().series;
  const std::size_t before = series.size();
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 188, 900, 1200);
  open.studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return series.size() > before; }));
  EXPECT_DOUBLE_EQ(plot.xAxis().upper, zoomed.upper) << "the picture must not jump";
  QTest::keyClick(&plot, Qt::Key_Home);
  EXPECT_GT(plot.xAxis().upper, 890) << "also what came meanwhile";
  // Who wants to see everything wants to see what is still to come.
  appendSamplePoints(open.studio.writer, open.studio.runs[8], 1, 8, 900, 960, 1200);
  open.studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return plot.xAxis().upper > 950; }));
}

TEST(MonitorPage, TheWheelAloneScrollsThePage) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const PlotAxis x = plot.xAxis(), y = plot.yAxis();
  const QPointF center = plot.plotRect().center();
  QWheelEvent wheel(center, plot.mapToGlobal(center), QPoint(), QPoint(0, -120), Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  wheel.accept();
  QCoreApplication::sendEvent(&plot, &wheel);
  EXPECT_FALSE(wheel.isAccepted()) << "left to the area that scrolls";
  EXPECT_DOUBLE_EQ(plot.xAxis().lower, x.lower);
  EXPECT_DOUBLE_EQ(plot.yAxis().upper, y.upper);
}

TEST(MonitorPage, ADoubleClickEnlargesAPlotAndEscapeShowsAllOfThemAgain) {
  OpenPage open;
  ASSERT_GT(open.page.cards().size(), 1U);
  PlotCard* first = open.page.cards().front();
  PlotCard* second = open.page.cards().back();
  const int height = first->height();
  QTest::mouseDClick(&first->plot(), Qt::LeftButton, Qt::NoModifier,
                     first->plot().plotRect().center());
  EXPECT_TRUE(soon([&] { return first->height() > height; }));
  EXPECT_FALSE(second->isVisible());
  const Json view = open.page.viewState();
  EXPECT_EQ(view.value("enlarged", ""), first->metric());
  QTest::keyClick(&first->plot(), Qt::Key_Escape);
  EXPECT_FALSE(open.page.viewState().contains("enlarged"));
  EXPECT_TRUE(second->isVisible());
  open.page.setViewState(view);
  EXPECT_EQ(open.page.viewState().value("enlarged", ""), view.value("enlarged", ""));
}

TEST(MonitorPage, ReturnEnlargesThePlotWithTheFocusAndMakesItSmallAgain) {
  OpenPage open;
  ASSERT_GT(open.page.cards().size(), 1U);
  PlotCard* first = open.page.cards().front();
  QTest::keyClick(&first->plot(), Qt::Key_Return);
  EXPECT_EQ(open.page.viewState().value("enlarged", ""), first->metric());
  QTest::keyClick(&first->plot(), Qt::Key_Enter, Qt::KeypadModifier);
  EXPECT_FALSE(open.page.viewState().contains("enlarged"));
}

TEST(MonitorPage, AxesArePerPlotUntilTheyAreChosenForAll) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  CurvePlot& other = open.page.cards().back()->plot();
  QTest::keyClick(&plot, Qt::Key_Y);
  EXPECT_TRUE(plot.settings().isLogY);
  EXPECT_FALSE(other.settings().isLogY);
  EXPECT_FALSE(open.page.settings().isLogY);
  const Json view = open.page.viewState();
  PlotSettings all = open.page.settings();
  all.isLogY = true;
  open.page.setSettings(all);
  EXPECT_TRUE(other.settings().isLogY);
  open.page.setViewState(view);
  EXPECT_TRUE(open.page.cards().front()->plot().settings().isLogY);
  EXPECT_FALSE(open.page.cards().back()->plot().settings().isLogY);
}

TEST(MonitorPage, XAndYPressedAloneChangeTheScaleOfTheirAxis) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  QTest::keyClick(&plot, Qt::Key_Y);
  EXPECT_EQ(plot.yAxis().scale, AxisScale::Log);
  EXPECT_FALSE(plot.settings().isLogX);
  QTest::keyClick(&plot, Qt::Key_X);
  EXPECT_EQ(plot.xAxis().scale, AxisScale::Log);
  QTest::keyClick(&plot, Qt::Key_Y);
  EXPECT_EQ(plot.yAxis().scale, AxisScale::Linear);
  QTest::keyClick(&plot, Qt::Key_X, Qt::ControlModifier);  // means something else everywhere
  EXPECT_EQ(plot.xAxis().scale, AxisScale::Log);
}

TEST(MonitorPage, XHeldZoomsOneAxisOnly) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const PlotAxis y = plot.yAxis();
  QTest::keyPress(&plot, Qt::Key_X);
  const QPointF center = plot.plotRect().center();
  QWheelEvent wheel(center, plot.mapToGlobal(center), QPoint(), QPoint(0, -120), Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&plot, &wheel);
  QTest::keyRelease(&plot, Qt::Key_X);
  EXPECT_DOUBLE_EQ(plot.yAxis().lower, y.lower);
  EXPECT_FALSE(plot.settings().isLogX) << "held for the wheel, not pressed alone";
}

TEST(MonitorPage, MiddleDragMovesThePointUnderTheMouseWithIt) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const QPoint from = plot.plotRect().center(), to = from + QPoint(60, -25);
  const double x = plot.xAxis().valueAt(from.x()), y = plot.yAxis().valueAt(from.y());
  const double span = plot.xAxis().span();
  QTest::mousePress(&plot, Qt::MiddleButton, Qt::NoModifier, from);
  QTest::mouseMove(&plot, to);
  QTest::mouseRelease(&plot, Qt::MiddleButton, Qt::NoModifier, to);
  EXPECT_NEAR(plot.xAxis().pixelOf(x), to.x(), 0.5);
  EXPECT_NEAR(plot.yAxis().pixelOf(y), to.y(), 0.5);
  EXPECT_NEAR(plot.xAxis().span(), span, span * 1e-9);
}

TEST(MonitorPage, MiddleDragWithXOrYHeldLeavesTheOtherAxisAsItWas) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const auto drag = [&plot](Qt::Key held, const QPoint& by) {
    const QPoint from = plot.plotRect().center();
    QTest::keyPress(&plot, held);
    QTest::mousePress(&plot, Qt::MiddleButton, Qt::NoModifier, from);
    QTest::mouseMove(&plot, from + by);
    QTest::mouseRelease(&plot, Qt::MiddleButton, Qt::NoModifier, from + by);
    QTest::keyRelease(&plot, held);
  };
  QSignalSpy chosen(&plot, &CurvePlot::rangeChosen);
  const PlotAxis x = plot.xAxis();
  drag(Qt::Key_Y, {60, -25});
  EXPECT_TRUE(plot.isYChosen());
  EXPECT_DOUBLE_EQ(plot.xAxis().lower, x.lower);
  EXPECT_EQ(chosen.count(), 0) << "new points are still followed";
  plot.fit(x.lower, x.upper);
  drag(Qt::Key_X, {50, -20});
  EXPECT_LT(plot.xAxis().lower, x.lower);
  EXPECT_FALSE(plot.isYChosen()) << "it fits the values in sight";
}

TEST(MonitorPage, ZoomsMovesAndFitsFromTheKeyboard) {
  OpenPage open;
  CurvePlot& plot = open.page.cards().front()->plot();
  const PlotAxis all = plot.xAxis(), wholeY = plot.yAxis();
  QTest::keyClick(&plot, Qt::Key_Plus);
  const PlotAxis zoomed = plot.xAxis();
  EXPECT_LT(zoomed.span(), all.span());
  EXPECT_NEAR(zoomed.center(), all.center(), all.span() * 0.01);
  QTest::keyClick(&plot, Qt::Key_Right);
  EXPECT_GT(plot.xAxis().lower, zoomed.lower);
  EXPECT_NEAR(plot.xAxis().span(), zoomed.span(), all.span() * 0.01);
  EXPECT_DOUBLE_EQ(open.page.cards().back()->plot().xAxis().lower, plot.xAxis().lower);
  const PlotAxis y = plot.yAxis();
  QTest::keyClick(&plot, Qt::Key_Up);
  EXPECT_GT(plot.yAxis().lower, y.lower);
  QTest::keyClick(&plot, Qt::Key_Home);
  EXPECT_NEAR(plot.xAxis().span(), all.span(), 1);
  EXPECT_DOUBLE_EQ(plot.yAxis().lower, wholeY.lower);
}

TEST(MonitorPage, MovingTheCursorRedrawsNoCurve) {
  OpenPage open;
  const std::int64_t before = open.drawings();
  CurvePlot& plot = open.page.cards().front()->plot();
  for (int x = 100; x < 200; x += 10) QTest::mouseMove(&plot, QPoint(x, 100));
  QCoreApplication::processEvents();
  EXPECT_EQ(open.drawings(), before);
}

TEST(MonitorPage, DrawsAnEmptyPageWithOneAction) {
  OpenPage open({0, 0});
  const QImage picture = open.page.snapshot(QSize(800, 600), 1);
  EXPECT_EQ(picture.size(), QSize(800, 600));
  EXPECT_NE(open.page.findChild<QPushButton*>(), nullptr);
}

TEST(MonitorPage, TheSnapshotAtScaleTwoIsTheSamePictureWithTwiceThePixels) {
  OpenPage open;
  const QImage once = open.page.snapshot(QSize(900, 600), 1);
  const QImage twice = open.page.snapshot(QSize(900, 600), 2);
  EXPECT_EQ(twice.size(), QSize(1800, 1200));
  const QImage small = twice.scaled(once.size(), Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
  // Lines are one device pixel, so only the layout is compared: mean difference per channel.
  double difference = 0;
  for (int y = 0; y < once.height(); ++y) {
    for (int x = 0; x < once.width(); ++x)
      difference += std::abs(qGray(once.pixel(x, y)) - qGray(small.pixel(x, y)));
  }
  EXPECT_LT(difference / (once.width() * once.height()), 4);
}

TEST(CurvePlot, NumbersOnTheAxesAreNotCutOff) {
  OpenPage open;
  for (PlotCard* card : open.page.cards()) {
    const CurvePlot& plot = card->plot();
    const QFontMetrics metrics(axisFont());
    const double last = plot.xAxis().upper;
    const double reach =
        plot.xAxis().pixelOf(last) + metrics.horizontalAdvance(number(last, 0)) / 2.0;
    EXPECT_LE(reach, plot.width()) << card->metric();
    EXPECT_GE(plot.plotRect().top(), metrics.height() / 2 - 1);
  }
}

}  // namespace
}  // namespace vitrine::ui

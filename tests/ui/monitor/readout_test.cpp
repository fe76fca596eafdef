// What the plot under the mouse says of its curves.
#include <QAction>
#include <QImage>
#include <QMouseEvent>
#include <QTest>
#include <cmath>

#include "tests/ui/monitor/metric_point.h"
#include "tests/ui/monitor/open_monitor.h"
#include "tests/ui/support/probe.h"

namespace vitrine::ui {
namespace {

/// Curves of these constant values, in a plot of its own.
struct Read {
  explicit Read(const std::vector<double>& values) : series(values.size()) {
    std::vector<PlottedCurve> curves;
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(series[i].append({point(0, values[i]), point(100, values[i])}));
      curves.push_back(
          {static_cast<std::int64_t>(i) + 1, QStringLiteral("run %1").arg(values[i]), &series[i]});
    }
    plot.resize(600, 400);
    plot.setCurves(curves);
    plot.show();
    plot.fit(0, 100);
    (void)plot.grab();
  }
  /// Moves the mouse to the height of a value.
  void pointAt(double value) {
    const QPoint place(plot.plotRect().center().x(), qRound(plot.yAxis().pixelOf(value)));
    QMouseEvent move(QEvent::MouseMove, place, plot.mapToGlobal(place), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(&plot, &move);
    plot.setCursor(50, true);
  }
  [[nodiscard]] QStringList names() const {
    QStringList names;
    for (const CurvePlot::ReadoutRow& row : plot.readout()) names << row.name;
    return names;
  }
  std::vector<CurveSeries> series;
  CurvePlot plot;
};

TEST(Readout, HasTheGreatestValueFirstAndThoseWithoutOneLast) {
  Read read({2, std::nan(""), 5, 3});
  read.pointAt(3);
  EXPECT_EQ(read.names(), QStringList({"run 5", "run 3", "run 2", "run nan"}));
}

TEST(Readout, OfManyCurvesHasThoseNextToTheMouse) {
  std::vector<double> values;
  for (int i = 1; i <= 40; ++i) values.push_back(i);
  Read read(values);
  read.pointAt(30);
  ASSERT_EQ(read.names().size(), 12);
  EXPECT_TRUE(read.names().contains(QStringLiteral("run 30")));
  EXPECT_FALSE(read.names().contains(QStringLiteral("run 1")));
  EXPECT_FALSE(read.names().contains(QStringLiteral("run 40")));
  EXPECT_EQ(read.names().front(), read.names().contains(QStringLiteral("run 36"))
                                      ? QStringLiteral("run 36")
                                      : QStringLiteral("run 35"));
  read.pointAt(2);
  EXPECT_TRUE(read.names().contains(QStringLiteral("run 1")));
  EXPECT_FALSE(read.names().contains(QStringLiteral("run 30")));
}

TEST(Readout, OfManyCurvesHasRoomInASmallPlot) {
  std::vector<double> values;
  for (int i = 1; i <= 21; ++i) values.push_back(i);
  Read read(values);
  for (const int height : {120, 200, 260}) {
    read.plot.resize(400, height);
    (void)read.plot.grab();
    read.pointAt(12);
    const qsizetype rows = read.names().size();
    EXPECT_GE(rows, 1) << height;
    EXPECT_TRUE(read.names().contains(QStringLiteral("run 12"))) << height;
    // With the title and the number of the others it ends inside of the plot.
    const qsizetype least = (rows + 2) * read.plot.fontMetrics().height();
    EXPECT_LE(least, height - read.plot.plotRect().top()) << height;
    const QImage image = read.plot.grab().toImage();
    for (int x = 0; x < image.width(); ++x)
      ASSERT_NE(image.pixel(x, height - 1), themeColors().raised.rgb()) << height;
  }
}

TEST(Readout, OfALongNameLeavesTheLineInSight) {
  Read read({2, 5});
  std::vector<PlottedCurve> curves = read.plot.curves();
  for (PlottedCurve& curve : curves) curve.name += QStringLiteral(" of a sweep").repeated(20);
  read.plot.setCurves(curves);
  read.plot.resize(360, 200);
  (void)read.plot.grab();
  read.pointAt(3);
  const QImage image = read.plot.grab().toImage();
  const int line = qRound(read.plot.xAxis().pixelOf(50));
  const QRgb box = themeColors().raised.rgb();
  int covered = 0, drawn = 0;
  for (int y = 0; y < image.height(); ++y) {
    covered += image.pixel(line, y) == box ? 1 : 0;
    for (int x = 0; x < image.width(); ++x) drawn += image.pixel(x, y) == box ? 1 : 0;
  }
  EXPECT_GT(drawn, 500) << "the read-out is there";
  EXPECT_EQ(covered, 0);
}

TEST(Readout, WritesTheRunningTimeInHoursMinutesAndSeconds) {
  Read read({1});
  PlotSettings settings{.x = XAxis::Time};
  read.plot.setSettings(settings);
  read.plot.setCursor(3725, true);
  EXPECT_EQ(read.plot.readoutTitle(), QStringLiteral("1:02:05"));
  settings.x = XAxis::Step;
  read.plot.setSettings(settings);
  EXPECT_EQ(read.plot.readoutTitle(), QStringLiteral("step 3,725"));
}

TEST(Readout, SaysThatItsValuesAreNotThoseOfASmoothedLine) {
  Read read({1});
  PlotSettings settings{.smoothing = {Smoothing::Kind::Ema, 0.9, false}};
  read.plot.setSettings(settings);
  read.plot.setCursor(50, true);
  EXPECT_EQ(read.plot.readoutNote(), QStringLiteral("not smoothed"));
  settings.smoothing = {};
  read.plot.setSettings(settings);
  EXPECT_EQ(read.plot.readoutNote(), QString());
}

TEST(Readout, FollowsTheMouseWhenTheRangeChangesUnderIt) {
  OpenMonitor open;
  CurvePlot& plot = open.page->cards().front()->plot();
  const QPoint place(plot.plotRect().left() + plot.plotRect().width() / 4,
                     plot.plotRect().center().y());
  const auto stepThere = [&] {
    return QStringLiteral("step %1").arg(count(std::llround(plot.xAxis().valueAt(place.x()))));
  };
  QMouseEvent move(QEvent::MouseMove, place, plot.mapToGlobal(place), Qt::NoButton, Qt::NoButton,
                   Qt::NoModifier);
  QCoreApplication::sendEvent(&plot, &move);
  const QString whole = plot.readoutTitle();
  EXPECT_EQ(whole, stepThere());
  for (int i = 0; i < 3; ++i) QTest::keyClick(&plot, Qt::Key_Plus);
  EXPECT_NE(plot.readoutTitle(), whole);
  EXPECT_EQ(plot.readoutTitle(), stepThere()) << "zoomed";
  QTest::keyClick(&plot, Qt::Key_Home);
  EXPECT_EQ(plot.readoutTitle(), whole) << "fitted again";
  // A cursor that keys have moved stays at its point.
  for (QAction* action : open.page->actions())
    if (action->text() == QStringLiteral("Cursor to the next point")) action->trigger();
  const QString chosen = plot.readoutTitle();
  EXPECT_NE(chosen, whole);
  QTest::keyClick(&plot, Qt::Key_Plus);
  EXPECT_EQ(plot.readoutTitle(), chosen);
}

TEST(Readout, StepsFromBetweenTwoPointsToTheNextOne) {
  OpenMonitor open;
  CurvePlot& plot = open.page->cards().front()->plot();
  const auto trigger = [&](const char* title) {
    for (QAction* action : open.page->actions())
      if (action->text() == QLatin1String(title)) action->trigger();
  };
  const auto titleAt = [](double step) {
    return QStringLiteral("step %1").arg(count(std::llround(step)));
  };
  const auto steps = plot.curves().front().series->x(XAxis::Step);
  ASSERT_GT(steps.size(), 20U);
  ASSERT_GT(steps[11] - steps[10], 1);
  const double between = steps[10] + 1;
  Q_EMIT plot.cursorMoved(between);
  ASSERT_EQ(plot.readoutTitle(), titleAt(between));
  trigger("Cursor to the next point");
  EXPECT_EQ(plot.readoutTitle(), titleAt(steps[11]));
  trigger("Cursor to the next point");
  EXPECT_EQ(plot.readoutTitle(), titleAt(steps[12]));
  trigger("Cursor to the previous point");
  EXPECT_EQ(plot.readoutTitle(), titleAt(steps[11]));
  Q_EMIT plot.cursorMoved(between);
  trigger("Cursor to the previous point");
  EXPECT_EQ(plot.readoutTitle(), titleAt(steps[10]));
}

TEST(Readout, GoesWhenTheMouseLeavesAndWhenThePlotIsHidden) {
  OpenMonitor open;
  CurvePlot& plot = open.page->cards().front()->plot();
  const auto enter = [&plot] {
    const QPoint place = plot.plotRect().center();
    QMouseEvent move(QEvent::MouseMove, place, plot.mapToGlobal(place), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(&plot, &move);
  };
  enter();
  ASSERT_TRUE(Probe::hasReadout(plot));
  ASSERT_FALSE(plot.readout().empty());
  QEvent leave(QEvent::Leave);
  QCoreApplication::sendEvent(&plot, &leave);
  EXPECT_FALSE(Probe::hasReadout(plot));
  enter();
  ASSERT_TRUE(Probe::hasReadout(plot));
  open.page->hide();
  open.page->show();
  EXPECT_FALSE(Probe::hasReadout(plot));
}

}  // namespace
}  // namespace vitrine::ui

// What the tool bar of the Monitor and the menu of a plot do, chosen as a user does.
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include "tests/ui/monitor/card_menu.h"
#include "tests/ui/monitor/open_monitor.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/kit/settings.h"
#include "ui/monitor/alert_dialog.h"
#include "ui/monitor/alert_service.h"

namespace vitrine::ui {
namespace {

struct MonitorTools : ::testing::Test {
  void SetUp() override { useSettings(folder_.filePath(QStringLiteral("studio.ini"))); }
  void TearDown() override { forgetSettings(); }
  /// Chooses an entry in the menu of a tool of the bar.
  static void choose(MonitorPage& page, const QString& tool, const QString& entry) {
    for (QAction* one : page.tools()) {
      if (!one->text().startsWith(tool) || one->menu() == nullptr) continue;
      Q_EMIT one->menu()->aboutToShow();
      for (QAction* choice : one->menu()->actions()) {
        if (choice->text().remove(QLatin1Char('&')) != entry) continue;
        choice->trigger();
        return page.waitUntilIdle();
      }
    }
    ADD_FAILURE() << "no entry " << entry.toStdString() << " in " << tool.toStdString();
  }

 private:
  QTemporaryDir folder_;
};

TEST_F(MonitorTools, AChosenSmoothingActsOnCurvesOfFourPoints) {
  OpenMonitor open({0, 4});
  CurvePlot& plot = open.page->card("train/loss")->plot();
  ASSERT_EQ(plot.curves().front().series->size(), 4U);
  const QImage before = plot.grab().toImage();
  choose(*open.page, QStringLiteral("Smoothing"), QStringLiteral("EMA 0.9"));
  EXPECT_NE(plot.grab().toImage(), before);
  choose(*open.page, QStringLiteral("Smoothing"), QStringLiteral("none"));
  EXPECT_EQ(plot.grab().toImage(), before) << "automatic smoothing leaves them as they are";
}

TEST_F(MonitorTools, TheButtonOfTheHorizontalAxisHasTheWordsOfItsMenu) {
  OpenMonitor open({0, 4});
  QAction* tool = open.page->tools().front();
  for (const char* axis : {"epoch", "running time", "local time", "step"}) {
    choose(*open.page, QStringLiteral("x: "), QLatin1String(axis));
    EXPECT_EQ(tool->text().toStdString(), std::string("x: ") + axis);
  }
}

TEST_F(MonitorTools, PlotsOfOtherScalesBeginWhereTheirPointsDo) {
  OpenMonitor open;
  store::RunStore& writer = open.studio.writer;
  const store::RunRow first = *open.studio.workbench.run(open.studio.runs[6]);
  store::NewRun run{.name = "from zero", .config = writer.config(first.id)};
  const std::int64_t fromZero = writer.addRuns(first.experimentId, {run}).front();
  store::RunStore::Batch batch;
  for (const std::int64_t step : {0, 1, 1000})
    batch.metrics.push_back({step, 1, 1, {{"train/loss", 0.5}, {"test/top1", 0.5}}});
  writer.append(fromZero, writer.openSegment(fromZero, 0, store::thisWorker(), Json::object()),
                batch);
  open.studio.workbench.watcher().poll();
  open.studio.workbench.selection().setRuns({fromZero}, fromZero);
  open.page->waitUntilIdle();
  MonitorPage& page = *open.page;
  CurvePlot& loss = page.card("train/loss")->plot();
  CurvePlot& top1 = page.card("test/top1")->plot();
  QTest::keyClick(&loss, Qt::Key_X);
  ASSERT_EQ(loss.xAxis().scale, AxisScale::Log);
  EXPECT_GT(loss.xAxis().lower, 0.9) << "the room below step 0 of the others is not shown";
  EXPECT_LT(top1.xAxis().lower, 0.0);
  page.fitAndFollow();
  EXPECT_GT(loss.xAxis().lower, 0.9);
  // The other way round: one plot is linear.
  choose(page, QStringLiteral("Axes"), QStringLiteral("Log x"));
  QTest::keyClick(&loss, Qt::Key_X);
  ASSERT_EQ(loss.xAxis().scale, AxisScale::Linear);
  page.fitAndFollow();
  EXPECT_LT(loss.xAxis().lower, 0.0);
  EXPECT_NEAR(loss.xAxis().upper, 1008, 1);
  EXPECT_GT(top1.xAxis().lower, 0.9);
  EXPECT_NEAR(top1.xAxis().upper, 1057, 2);
  // A zoom of the linear plot that all plots share.
  Q_EMIT loss.rangeChosen(-10, 500);
  EXPECT_DOUBLE_EQ(top1.xAxis().lower, 1);
  EXPECT_DOUBLE_EQ(top1.xAxis().upper, 500);
}

TEST_F(MonitorTools, LogAxesOfAllPlotsAreChosenInTheBarAndThoseOfOneByItsMenuAndL) {
  OpenMonitor open;
  ASSERT_GT(open.page->cards().size(), 1U);
  CurvePlot& first = open.page->cards().front()->plot();
  CurvePlot& last = open.page->cards().back()->plot();
  choose(*open.page, QStringLiteral("Axes"), QStringLiteral("Log y"));
  EXPECT_TRUE(first.settings().isLogY);
  EXPECT_TRUE(last.settings().isLogY);
  chooseInMenu(*open.page->cards().front(), {QStringLiteral("Log y of this plot")});
  EXPECT_FALSE(first.settings().isLogY);
  EXPECT_TRUE(last.settings().isLogY);
  bringUp(*open.page);
  last.setFocus();
  QTest::keyClick(&last, Qt::Key_L);
  EXPECT_FALSE(last.settings().isLogY);
  EXPECT_TRUE(open.page->settings().isLogY) << "of the other plots";
  choose(*open.page, QStringLiteral("Axes"), QStringLiteral("Log y"));
  choose(*open.page, QStringLiteral("Axes"), QStringLiteral("Log y"));
  EXPECT_TRUE(first.settings().isLogY) << "chosen for all again";
  EXPECT_TRUE(last.settings().isLogY);
}

TEST_F(MonitorTools, APinnedPlotIsUnpinnedInItsMenu) {
  OpenMonitor open;
  const std::vector<std::string> before = open.page->metrics();
  ASSERT_GT(before.size(), 1U);
  chooseInMenu(*open.page->card(before.front()), {QStringLiteral("Unpin")});
  EXPECT_TRUE(soon([&] { return open.page->metrics().size() == before.size() - 1; }));
  EXPECT_NE(open.page->metrics().front(), before.front());
}

// As a run that begins to record other metrics does to the page.
TEST_F(MonitorTools, TheBellHasTheFocusAfterItsDialogAlsoWhereThePlotsChangedMeanwhile) {
  OpenMonitor open;
  bringUp(*open.page);
  QToolButton* bell = nullptr;
  for (auto* one : open.page->card("train/loss")->findChildren<QToolButton*>())
    if (one->toolTip() == QLatin1String("Alerts on this metric")) bell = one;
  ASSERT_NE(bell, nullptr);
  const QStringList before = open.page->groups();
  QTimer hand;
  QObject::connect(&hand, &QTimer::timeout, &hand, [&] {
    auto* dialog = qobject_cast<AlertDialog*>(QApplication::activeModalWidget());
    // Before it is active, Escape is a shortcut of the page and the dialog would stay open.
    if (dialog == nullptr || !dialog->isActiveWindow()) return;
    hand.stop();
    open.page->search(QStringLiteral("loss"));
    QTest::keyClick(dialog, Qt::Key_Escape);
  });
  hand.start(5);
  bell->setFocus();
  QTest::keyClick(bell, Qt::Key_Space);
  ASSERT_NE(open.page->groups(), before);
  bringUp(*open.page);
  EXPECT_EQ(QApplication::focusWidget(), bell);
}

TEST_F(MonitorTools, TheMenuOfAPlotExportsTheDataOfAllItsRuns) {
  OpenMonitor open;
  PlotCard& card = *open.page->card("train/loss");
  std::size_t points = 0;
  for (const auto& curve : card.plot().curves()) points += curve.series->size();
  const QString file = open.studio.folder.filePath(QStringLiteral("loss.csv"));
  QTimer hand;
  QObject::connect(&hand, &QTimer::timeout, &hand, [&hand, &file] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (dialog == nullptr) return;
    hand.stop();
    dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(file);
    QMetaObject::invokeMethod(dialog, "accept");
  });
  hand.start(10);
  chooseInMenu(card, {QStringLiteral("Export data\u2026")});
  const QList<QByteArray> lines = bytesOf(file).trimmed().split('\n');
  EXPECT_EQ(lines.front().trimmed(), "run,name,step,epoch,time,value");
  EXPECT_EQ(static_cast<std::size_t>(lines.size()), points + 1);
}

TEST_F(MonitorTools, AnAlertHasTheColourOfTheThemeInUse) {
  OpenMonitor open({0, 4});
  Q_EMIT AlertService::of(open.studio.workbench).raised(QStringLiteral("too high"), 1);
  const QLabel* sentence = nullptr;
  for (const QLabel* one : open.page->findChildren<QLabel*>())
    if (one->text() == QLatin1String("too high")) sentence = one;
  ASSERT_NE(sentence, nullptr);
  for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
    applyTheme(kind);
    sentence->ensurePolished();
    EXPECT_EQ(sentence->palette().color(QPalette::WindowText), themeColors().warn);
  }
}

TEST_F(MonitorTools, AnExportWithoutAnEndingReplacesAFileOnlyAfterAQuestion) {
  OpenMonitor open;
  const QString name = open.studio.folder.filePath(QStringLiteral("loss"));
  const QString file = makeFile(name + QStringLiteral(".csv"), "mine");
  for (const bool isReplaced : {false, true}) {
    QTimer hand;
    bool isAsked = false;
    QObject::connect(&hand, &QTimer::timeout, &hand, [&] {
      QWidget* modal = QApplication::activeModalWidget();
      if (auto* dialog = qobject_cast<QFileDialog*>(modal)) {
        dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(name);
        QMetaObject::invokeMethod(dialog, "accept");
      } else if (auto* question = qobject_cast<QMessageBox*>(modal)) {
        hand.stop();
        isAsked = question->text().contains(QStringLiteral("loss.csv"));
        for (const QAbstractButton* one : question->buttons()) {
          const bool isRed = one->palette().color(QPalette::ButtonText) == themeColors().bad;
          EXPECT_EQ(isRed, one->text() == QLatin1String("Replace")) << one->text().toStdString();
        }
        for (QAbstractButton* one : question->buttons())
          if ((question->buttonRole(one) == QMessageBox::DestructiveRole) == isReplaced)
            return one->click();
      }
    });
    hand.start(10);
    chooseInMenu(*open.page->card("train/loss"), {QStringLiteral("Export data\u2026")});
    EXPECT_TRUE(isAsked);
    EXPECT_EQ(bytesOf(file) == "mine", !isReplaced);
  }
}

}  // namespace
}  // namespace vitrine::ui

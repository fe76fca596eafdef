// Text that is not of the window's own font grows with it, and so do the docks.
#include <QDockWidget>
#include <QPlainTextEdit>
#include <QTemporaryDir>
#include <QTest>
#include <QWindow>
#include <utility>

#include "tests/ui/support/studio_window.h"
#include "ui/kit/log_tail.h"
#include "ui/kit/settings.h"

namespace vitrine::ui {
namespace {

TEST(Zoom, MonospacedTextGrowsWithTheWindow) {
  SampleStudio studio(SampleOptions{0, 50});
  studio.workbench.selection().setRuns({studio.runs[0]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  int found = 0;
  for (const char* page : {"monitor", "configure", "compare", "sql", "playground"}) {
    window.showPage(QString::fromUtf8(page));
    window.waitUntilIdle();
    for (QWidget* one : window.currentPage()->findChildren<QWidget*>()) {
      if (!one->property("mono").toBool()) continue;
      ++found;
      one->ensurePolished();  // the log is hidden until it is asked for
      const QString name = one->accessibleName();
      for (const double zoom : {1.5, 1.0}) {
        window.setZoom(zoom);
        EXPECT_EQ(one->font().pixelSize(), px(12)) << page << ": " << name.toStdString();
        EXPECT_EQ(one->font().family(), monoFont().family()) << page << ": " << name.toStdString();
        if (const auto* text = qobject_cast<QPlainTextEdit*>(one)) {
          EXPECT_EQ(text->document()->defaultFont().pixelSize(), px(12)) << name.toStdString();
        }
      }
    }
  }
  EXPECT_GE(found, 5);
}

class ZoomedDocks : public ::testing::Test {
 protected:
  ZoomedDocks() {
    window_.resize(2400, 900);
    window_.show();
  }
  ~ZoomedDocks() override { window_.setZoom(1); }
  QDockWidget& runs() { return *window_.findChild<QDockWidget*>(QStringLiteral("runsDock")); }
  /// Of the runs and of the inspector.
  std::pair<int, int> widths() {
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
    return {runs().width(), inspectorDock(window_).width()};
  }
  int runsAt(double zoom) {
    window_.setZoom(zoom);
    return widths().first;
  }

  SampleStudio studio_{SampleOptions{0, 50}};
  MainWindow window_{studio_.workbench};
};

TEST_F(ZoomedDocks, GrowWithTheZoomAndHaveTheirWidthsAgainAfterIt) {
  const auto before = widths();
  EXPECT_NEAR(runsAt(1.5), 1.5 * before.first, 1);
  EXPECT_NEAR(runsAt(2), 2 * before.first, 1);
  EXPECT_NEAR(runsAt(1.2), 1.2 * before.first, 1);
  window_.setZoom(1);
  EXPECT_EQ(widths(), before);
  window_.resize(1440, 900);  // too narrow for both at twice their widths
  ASSERT_EQ(widths().first, before.first);
  EXPECT_LT(runsAt(2), 2 * before.first);
  EXPECT_EQ(runsAt(1), before.first);
}

TEST_F(ZoomedDocks, HaveTheirWidthsAgainAfterTheTableOfRuns) {
  const int before = widths().first;
  EXPECT_GT(runsAt(2), before);
  window_.showRunTable(true);
  window_.setZoom(1);
  widths();
  window_.showRunTable(false);
  EXPECT_EQ(widths().first, before);
}

TEST_F(ZoomedDocks, OfALayoutHaveItsWidthsAtTheZoomInUse) {
  const auto before = widths();
  const QTemporaryDir folder;
  useSettings(folder.filePath(QStringLiteral("studio.ini")));
  const QString name = QStringLiteral("small");
  storeLayout(name, window_.layoutNow());
  const auto layout = storedLayout(name);
  forgetSettings();
  ASSERT_TRUE(layout.has_value());
  window_.setZoom(1.5);
  window_.showLayout(*layout);
  const auto shown = widths();
  EXPECT_NEAR(shown.first, 1.5 * before.first, 1);
  EXPECT_NEAR(shown.second, 1.5 * before.second, 1);
  window_.setZoom(1);
  EXPECT_EQ(widths(), before);
  window_.showLayout(*layout);
  EXPECT_EQ(widths(), before);
}

TEST_F(ZoomedDocks, KeepTheWidthThatTheUserDragsThemTo) {
  (void)widths();
  const int before = runsAt(1.5);
  QWindow* handle = window_.windowHandle();
  const QPoint border(runs().geometry().right() + 1, runs().geometry().center().y());
  QTest::mousePress(handle, Qt::LeftButton, Qt::NoModifier, border);
  for (const int by : {10, 30, 60}) {
    QTest::mouseMove(handle, border + QPoint(by, 0));
    (void)widths();
  }
  QTest::mouseRelease(handle, Qt::LeftButton, Qt::NoModifier, border + QPoint(60, 0));
  const int dragged = widths().first;
  ASSERT_GT(dragged, before + 30);
  EXPECT_NEAR(runsAt(1), dragged / 1.5, 1);
  EXPECT_NEAR(runsAt(1.5), dragged, 1);
}

TEST(Zoom, TheLettersOfTheLogAreDrawnLarger) {
  LogTail log;
  log.appendPlainText(QStringLiteral("step 20"));
  log.show();
  const int before = log.fontMetrics().height();
  setUiZoom(1.5);
  applyTheme(currentTheme());
  EXPECT_EQ(log.font().pixelSize(), 18);
  EXPECT_GE(log.fontMetrics().height(), before * 5 / 4);
  setUiZoom(1);
  applyTheme(currentTheme());
  EXPECT_EQ(log.font().pixelSize(), 12);
}

}  // namespace
}  // namespace vitrine::ui

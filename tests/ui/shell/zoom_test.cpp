// Text that is not of the window's own font grows with it.
#include <QPlainTextEdit>
#include <QTest>

#include "tests/ui/support/qt_test.h"
#include "ui/kit/log_tail.h"
#include "ui/shell/main_window.h"

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

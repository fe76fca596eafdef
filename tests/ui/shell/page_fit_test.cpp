// Every page at small sizes and large letters: nothing lies on anything else, and what does not fit
// can be scrolled to. And the bar above them.
#include <QScrollBar>
#include <QTest>
#include <QToolBar>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/long_tier.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"

namespace vitrine::ui {
namespace {

class PageFit : public ::testing::TestWithParam<std::string> {
 protected:
  /// Over such a database.
  static std::unique_ptr<SampleStudio> studioWith(const SampleOptions& options) {
    auto studio = std::make_unique<SampleStudio>(options);
    studio->workbench.selection().setRuns({studio->runs[0], studio->runs[1], studio->runs[2]},
                                          studio->runs[0]);
    return studio;
  }
  /// What does not fit of the page at that zoom.
  static std::string notFitting(SampleStudio& studio, double zoom) {
    const auto& all = pages();
    const auto page = std::find_if(all.begin(), all.end(), [](const PageFactory& one) {
      return one.id.toStdString() == GetParam();
    });
    if (page == all.end()) return "there is no such page";
    const Zoomed zoomed(zoom);
    QWidget place;
    place.resize(1400, 1000);
    place.show();
    Page* shown = page->make(studio.workbench, &place);
    shown->show();
    return whatDoesNotFitAnywhere(*shown);
  }
};

TEST_P(PageFit, NothingLiesOnAnythingElse) {
  const auto studio = studioWith({0, 60});
  for (const double zoom : {1.0, 2.4}) EXPECT_EQ(notFitting(*studio, zoom), "");
  if (isLong()) {
    EXPECT_EQ(notFitting(*studio, 1.6), "");
  }
}

// With spectra, attention, answers and images, which two of the three runs have.
TEST_P(PageFit, NothingLiesOnAnythingElseOnAFullPage) {
  const auto studio = studioWith({0, 60, true});
  EXPECT_EQ(notFitting(*studio, 1.6), "");
  if (isLong()) {
    EXPECT_EQ(notFitting(*studio, 1.0), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, PageFit,
                         ::testing::Values("start", "configure", "queue", "monitor", "compare",
                                           "attention", "spectra", "calibration", "playground",
                                           "gallery", "live", "artifacts", "sql", "plugins"),
                         [](const auto& one) { return one.param; });

TEST(FitArea, ScrollsWhereItsContentNeedsMoreAndNotWhereItFits) {
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  auto* bar = new FlowBar(content);
  for (int i = 0; i < 4; ++i) {
    auto* part = new QWidget;
    part->setMinimumSize(100, 40);
    part->setFixedSize(100, 40);
    bar->row().addWidget(part);
  }
  auto* below = new QWidget;
  below->setMinimumHeight(100);
  column->addWidget(bar);
  column->addWidget(below, 1);
  const std::unique_ptr<QScrollArea> area(makeFitArea(content));
  const auto showAt = [&](int width, int height) {
    area->resize(width, height);
    area->show();
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
  };
  showAt(600, 300);
  EXPECT_FALSE(area->verticalScrollBar()->isVisible());
  EXPECT_LT(bar->height(), 80) << "one line";
  showAt(280, 180);
  EXPECT_TRUE(area->verticalScrollBar()->isVisible());
  EXPECT_GE(bar->height(), 2 * 40) << "two lines";
  EXPECT_EQ(below->height(), 100);
  EXPECT_GE(below->y(), bar->geometry().bottom());
}

TEST(FitArea, BringsWhatGetsTheFocusIntoView) {
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  std::vector<QPushButton*> buttons;
  for (int i = 0; i < 12; ++i) {
    buttons.push_back(new QPushButton(QString::number(i)));
    column->addWidget(buttons.back());
  }
  const std::unique_ptr<QScrollArea> area(makeFitArea(content));
  area->resize(200, 120);
  bringUp(*area);
  buttons.front()->setFocus();
  for (int i = 0; i < 11; ++i) QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
  EXPECT_EQ(QApplication::focusWidget(), buttons.back());
  EXPECT_FALSE(buttons.back()->visibleRegion().isEmpty());
}

TEST(FitArea, TheWheelChangesOnlyTheFieldThatHasTheFocus) {
  QWidget place;
  auto* combo = new QComboBox(&place);
  combo->addItems({QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")});
  keepWheelForFocus(place);
  bringUp(place);
  combo->clearFocus();
  const auto turn = [&] {
    const QPointF at(5, 5);
    QWheelEvent wheel(at, combo->mapToGlobal(at), QPoint(), QPoint(0, -120), Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(combo, &wheel);
  };
  turn();
  EXPECT_EQ(combo->currentIndex(), 0);
  combo->setFocus();
  turn();
  EXPECT_EQ(combo->currentIndex(), 1);
}

TEST(MainWindow, NothingOfAFullPageIsCutInUsualWindows) {
  SampleStudio studio(SampleOptions{0, 60, true});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[4]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  std::vector<std::pair<QSize, double>> kinds{
      {QSize(1366, 768), 1.0}, {QSize(1920, 1080), 1.0}, {QSize(1920, 1080), 1.5}};
  if (isLong()) kinds.push_back({QSize(1440, 900), 1.0});  // between the first two
  for (const auto& [size, zoom] : kinds) {
    window.setZoom(zoom);
    window.resize(size);
    for (const PageFactory& page : pages()) {
      const std::string where = page.id.toStdString() + " at " + std::to_string(size.width()) +
                                ", zoom " + std::to_string(zoom);
      ASSERT_TRUE(window.showPage(page.id)) << where;
      window.waitUntilIdle();
      layOutNow();
      EXPECT_EQ(window.size(), size) << where;
      EXPECT_EQ(whatDoesNotFit(*window.currentPage()), "") << where;
    }
  }
  window.setZoom(1.0);
}

TEST(MainWindow, TheBarStaysWhereItIsWhenStartBecomesResume) {
  SampleStudio studio(SampleOptions{1, 50});
  MainWindow window(studio.workbench);
  window.resize(1600, 900);
  window.show();
  const auto* bar = window.findChild<QToolBar*>(QStringLiteral("tools"));
  ASSERT_NE(bar, nullptr);
  std::map<std::string, int> places;  // of Stop, by what stands before it
  for (const std::int64_t run : studio.runs) {
    studio.workbench.selection().setRuns({run}, run);
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
    std::string before;
    for (QAction* action : bar->actions()) {
      const std::string text = action->text().remove(QLatin1Char('&')).toStdString();
      if (text == "Start" || text == "Resume") before = text;
      if (text == "Stop") places[before] = bar->widgetForAction(action)->x();
    }
  }
  ASSERT_EQ(places.size(), 2U) << "the sample has runs of both kinds";
  EXPECT_EQ(places["Start"], places["Resume"]);
}

// Qt sends the news of a style to a list of widgets that it made before: a page that deletes one of
// them meanwhile, for instance in a resize that the new style causes, ends the window.
TEST(MainWindow, NoWidgetIsDeletedWhileTheStyleIsSet) {
  SampleStudio studio(SampleOptions{0, 60});
  for (const PageFactory& page : pages()) {
    // A window of its own: a style takes a second for a window that has all pages.
    MainWindow window(studio.workbench);
    window.resize(1440, 900);
    window.show();
    window.showPage(page.id);
    for (const double zoom : {1.6, 1.0}) {
      for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
      QStringList deleted;
      const QObject meanwhile;
      for (QWidget* widget : QApplication::allWidgets()) {
        const QString what = QString::fromLatin1(widget->metaObject()->className());
        QObject::connect(widget, &QObject::destroyed, &meanwhile,
                         [&deleted, what] { deleted << what; });
      }
      window.setZoom(zoom);
      EXPECT_EQ(deleted.join(QStringLiteral(", ")).toStdString(), "")
          << page.id.toStdString() << " at zoom " << zoom;
    }
  }
}

}  // namespace
}  // namespace vitrine::ui

// Archive, baseline and colour of runs: through their menu, with Undo, as the list, its filter and
// the charts show them.
#include <QMenu>
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <memory>

#include "core/store/tables/run_marks.h"
#include "tests/support/wait_until.h"
#include "tests/ui/support/qt_test.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

class RunMarking : public ::testing::Test {
 protected:
  RunMarking() {
    useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
    panel = std::make_unique<RunsPanel>(studio.workbench);
    panel->resize(320, 2400);
    panel->show();
    QObject::connect(&studio.workbench, &StudioWorkbench::offered, panel.get(),
                     [this](const QString& said, const QString&, const std::function<void()>& act) {
                       sentence = said;
                       undo = act;
                     });
  }
  ~RunMarking() override {
    panel.reset();
    setRunSeries({});
    forgetSettings();
  }
  /// The entry with that text, of the menu of runs or of one in it.
  QAction* entry(const QString& text) {
    menu = std::make_unique<QMenu>();
    panel->fillMenu(*menu);
    for (QAction* one : menu->actions()) {
      if (one->text().remove(QLatin1Char('&')) == text) return one;
      if (one->menu() == nullptr) continue;
      for (QAction* inside : one->menu()->actions()) {
        if (inside->text().remove(QLatin1Char('&')) == text) return inside;
      }
    }
    return nullptr;
  }
  void choose(const QString& text) {
    QAction* one = entry(text);
    ASSERT_NE(one, nullptr) << text.toStdString();
    ASSERT_TRUE(one->isEnabled()) << text.toStdString();
    one->trigger();
  }
  bool becomes(const std::function<bool()>& isSo) {
    return waitUntil([&] {
      QCoreApplication::processEvents();
      return isSo();
    });
  }
  bool isListed(std::int64_t run) {
    const auto& proxy = static_cast<QAbstractProxyModel&>(*panel->view().model());
    return proxy.mapFromSource(panel->model().indexOf(run)).isValid();
  }
  QString detailOf(std::int64_t run) {
    return panel->model().indexOf(run).data(RunsModel::DetailRole).toString();
  }
  std::string mark(std::int64_t run, store::RunField field) {
    return studio.writer.mark(run, field);
  }

  SampleStudio studio{SampleOptions{0, 50}};
  std::unique_ptr<RunsPanel> panel;
  std::unique_ptr<QMenu> menu;
  QString sentence;
  std::function<void()> undo;
};

TEST_F(RunMarking, ArchivedRunsLeaveTheListTheirSelectionAndComeBackWithUndo) {
  const std::int64_t a = studio.runs[0], b = studio.runs[1], c = studio.runs[2];
  const auto listed = [&] { return panel->summary().section(QLatin1Char(' '), 0, 0).toInt(); };
  const int before = listed();
  ASSERT_EQ(before, std::ssize(studio.runs));
  panel->select({a, b}, a);
  choose(QStringLiteral("Archive"));
  EXPECT_EQ(mark(a, store::RunField::Archived), "yes");
  EXPECT_EQ(mark(b, store::RunField::Archived), "yes");
  EXPECT_TRUE(sentence.startsWith(QStringLiteral("Archived "))) << sentence.toStdString();
  ASSERT_TRUE(becomes([&] { return !isListed(a) && !isListed(b); }));
  EXPECT_TRUE(isListed(c));
  EXPECT_TRUE(studio.workbench.selection().runs().empty());
  EXPECT_EQ(listed(), before - 2);
  EXPECT_NE(studio.workbench.run(a), nullptr) << "it keeps its data";
  ASSERT_TRUE(undo);
  undo();
  EXPECT_EQ(mark(a, store::RunField::Archived), "");
  EXPECT_TRUE(becomes([&] { return isListed(a) && isListed(b); }));
  EXPECT_EQ(listed(), before);
}

TEST_F(RunMarking, UndoOfAnArchiveBringsTheSelectionBackUnlessOthersWereSelectedSince) {
  const std::int64_t a = studio.runs[0], b = studio.runs[1], c = studio.runs[2];
  const Selection& selection = studio.workbench.selection();
  using Runs = std::vector<std::int64_t>;
  const auto archive = [&] {
    panel->select({a, b}, b);
    choose(QStringLiteral("Archive"));
    ASSERT_TRUE(becomes([&] { return selection.runs().empty(); }));
  };
  archive();
  undo();
  EXPECT_TRUE(becomes([&] { return selection.runs() == Runs{a, b}; }));
  EXPECT_EQ(selection.current(), b);
  archive();
  panel->select({c}, c);
  undo();
  EXPECT_TRUE(becomes([&] { return isListed(a) && isListed(b); }));
  EXPECT_EQ(selection.runs(), Runs{c});
}

TEST_F(RunMarking, ArchivedRunsAreShownByTheFilterAndByTheSwitch) {
  const std::int64_t a = studio.runs[0], b = studio.runs[1];
  studio.writer.setMark(a, store::RunField::Archived, "yes");  // by another process
  studio.workbench.watcher().poll();
  ASSERT_TRUE(becomes([&] { return !isListed(a); }));
  panel->filter().setText(QStringLiteral("is:archived"));
  EXPECT_TRUE(isListed(a));
  EXPECT_FALSE(isListed(b));
  EXPECT_TRUE(detailOf(a).contains(QStringLiteral("archived")));
  panel->filter().setText(QStringLiteral("is!=archived"));
  EXPECT_FALSE(isListed(a));
  EXPECT_TRUE(isListed(b));
  panel->filter().clear();
  EXPECT_FALSE(isListed(a));
  panel->select({b}, b);
  choose(QStringLiteral("Show archived runs"));
  EXPECT_TRUE(isListed(a));
  EXPECT_TRUE(isListed(b));
  panel->select({a}, a);
  EXPECT_EQ(entry(QStringLiteral("Archive")), nullptr);
  choose(QStringLiteral("Unarchive"));
  EXPECT_EQ(mark(a, store::RunField::Archived), "");
  ASSERT_TRUE(becomes([&] { return !detailOf(a).contains(QStringLiteral("archived")); }));
  panel->showArchivedAction().setChecked(false);
  EXPECT_TRUE(isListed(a));
}

TEST_F(RunMarking, AListOfArchivedRunsSaysHowToSeeThem) {
  for (const std::int64_t run : studio.runs)
    studio.writer.setMark(run, store::RunField::Archived, "yes");
  studio.workbench.watcher().poll();
  ASSERT_TRUE(becomes([&] { return !isListed(studio.runs[0]); }));
  EXPECT_EQ(panel->view().model()->rowCount(), 0);
  bool isSaid = false;
  for (const QLabel* label : panel->findChildren<QLabel*>())
    isSaid = isSaid || label->text().contains(QStringLiteral("All runs are archived"));
  EXPECT_TRUE(isSaid);
}

TEST_F(RunMarking, AListOfArchivedRunsHasAButtonThatShowsThem) {
  for (const std::int64_t run : studio.runs)
    studio.writer.setMark(run, store::RunField::Archived, "yes");
  studio.workbench.watcher().poll();
  ASSERT_TRUE(becomes([&] { return !panel->view().isVisible(); }));
  QPushButton* button = nullptr;
  for (auto* one : panel->findChildren<QPushButton*>())
    if (one->isVisible()) button = one;
  ASSERT_NE(button, nullptr);
  EXPECT_EQ(button->text(), QStringLiteral("Show archived runs"));
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_TRUE(panel->view().isVisible());
  EXPECT_TRUE(isListed(studio.runs[0]));
}

TEST_F(RunMarking, TheOutlineStaysInTheListWhenAWholeExperimentIsArchived) {
  const std::int64_t a = studio.runs[4], b = studio.runs[5];
  const QTreeView& view = panel->view();
  panel->select({a, b}, a);
  const int group = view.currentIndex().parent().row();
  ASSERT_EQ(view.model()->rowCount(view.currentIndex().parent()), 2) << "the whole experiment";
  choose(QStringLiteral("Archive"));
  ASSERT_TRUE(becomes([&] { return !isListed(a) && !isListed(b); }));
  ASSERT_TRUE(view.currentIndex().isValid());
  EXPECT_EQ(view.currentIndex().parent().row(), std::min(group, view.model()->rowCount() - 1));
  EXPECT_TRUE(studio.workbench.selection().runs().empty()) << "the charts draw nothing unasked";
}

TEST_F(RunMarking, TheBaselineIsMarkedInTheListAndMovesAndComesBackWithUndo) {
  const std::int64_t a = studio.runs[0], b = studio.runs[1];
  ASSERT_EQ(studio.workbench.run(a)->experimentId, studio.workbench.run(b)->experimentId);
  panel->select({a, b}, a);
  EXPECT_FALSE(entry(QStringLiteral("Use as baseline"))->isEnabled()) << "one run is one";
  panel->select({a}, a);
  choose(QStringLiteral("Use as baseline"));
  EXPECT_EQ(mark(a, store::RunField::Baseline), "yes");
  ASSERT_TRUE(becomes([&] { return detailOf(a).contains(QStringLiteral("baseline")); }));
  EXPECT_TRUE(entry(QStringLiteral("Use as baseline"))->isChecked());
  panel->select({b}, b);
  choose(QStringLiteral("Use as baseline"));
  EXPECT_EQ(mark(a, store::RunField::Baseline), "") << "an experiment has one";
  EXPECT_EQ(mark(b, store::RunField::Baseline), "yes");
  ASSERT_TRUE(becomes([&] { return !detailOf(a).contains(QStringLiteral("baseline")); }));
  undo();
  EXPECT_EQ(mark(a, store::RunField::Baseline), "yes");
  EXPECT_EQ(mark(b, store::RunField::Baseline), "");
  panel->select({a}, a);
  ASSERT_TRUE(becomes([&] { return entry(QStringLiteral("Use as baseline"))->isChecked(); }));
  choose(QStringLiteral("Use as baseline"));
  EXPECT_EQ(mark(a, store::RunField::Baseline), "");
}

TEST_F(RunMarking, AColourOfItsOwnWinsOverThatOfTheVariantAndIsTakenBack) {
  const std::int64_t a = studio.runs[0], b = studio.runs[1], c = studio.runs[2];
  panel->select({a, b}, a);
  choose(QStringLiteral("Green"));
  EXPECT_EQ(mark(a, store::RunField::Colour), "3");
  ASSERT_TRUE(becomes([&] { return seriesOf(a) == 3 && seriesOf(b) == 3; }));
  EXPECT_EQ(seriesOf(c), c);
  EXPECT_FALSE(isSeriesShared()) << "other runs keep theirs";
  EXPECT_TRUE(entry(QStringLiteral("Green"))->isChecked());
  EXPECT_FALSE(entry(QStringLiteral("Automatic"))->isChecked());
  choose(QStringLiteral("Colour runs by variant"));
  EXPECT_TRUE(isSeriesShared());
  EXPECT_EQ(seriesOf(a), 3);
  choose(QStringLiteral("Colour runs by variant"));
  choose(QStringLiteral("Automatic"));
  ASSERT_TRUE(becomes([&] { return seriesOf(a) == a && seriesOf(b) == b; }));
  EXPECT_FALSE(hasOwnSeries(a));
  undo();
  EXPECT_EQ(mark(b, store::RunField::Colour), "3");
  EXPECT_TRUE(becomes([&] { return seriesOf(b) == 3; }));
  RunsPanel again(studio.workbench);
  EXPECT_EQ(seriesOf(a), 3) << "it is kept in the database";
  EXPECT_EQ(seriesDash(store::kMarkColours), Qt::SolidLine);
  EXPECT_NE(seriesDash(store::kMarkColours + 1), Qt::SolidLine) << "the palette has no more";
}

}  // namespace
}  // namespace vitrine::ui

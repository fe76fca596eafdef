// One colour for the seeds of a variant: the entry of the menu, the marks of the list, new runs.
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <map>
#include <memory>
#include <set>

#include "core/store/comparison.h"
#include "tests/ui/support/qt_test.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

class VariantColoursInTheList : public ::testing::Test {
 protected:
  VariantColoursInTheList() {
    useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
    open();
  }
  ~VariantColoursInTheList() override {
    panel.reset();
    setRunSeries({});
    forgetSettings();
  }
  void open() {
    panel.reset();
    panel = std::make_unique<RunsPanel>(studio.workbench);
    panel->resize(320, 2400);
    panel->show();
  }
  /// The entry of the menu of runs.
  void choose() {
    QMenu menu;
    panel->fillMenu(menu);
    for (QAction* one : menu.actions()) {
      if (one->text().remove(QLatin1Char('&')) != QLatin1String("Colour runs by variant")) continue;
      EXPECT_EQ(one->isChecked(), panel->colours().isOn());
      return one->trigger();
    }
    ADD_FAILURE() << "the menu has no such entry";
  }
  /// By variant of Compare, its runs.
  std::vector<std::vector<std::int64_t>> variants() {
    std::vector<store::RunRow> rows;
    for (const auto& [id, row] : studio.workbench.runs()) rows.push_back(row);
    const auto runs = comparedRuns(
        [this](const std::string& sql) { return studio.workbench.store().query(sql); }, rows);
    std::vector<std::vector<std::int64_t>> all;
    for (const store::VariantGroup& variant : variantsOf(runs)) {
      all.emplace_back();
      for (const std::size_t run : variant.runs) all.back().push_back(runs[run].row.id);
    }
    return all;
  }
  /// The left edge of the mark before the name of a run: its middle may be hollow.
  QColor markOf(std::int64_t run) {
    QTreeView& view = panel->view();
    const auto& proxy = static_cast<QAbstractProxyModel&>(*view.model());
    const QRect row = view.visualRect(proxy.mapFromSource(panel->model().indexOf(run)));
    return view.viewport()->grab().toImage().pixelColor(row.left() + px(12), row.top() + px(13));
  }

  SampleStudio studio{SampleOptions{0, 50}};
  std::unique_ptr<RunsPanel> panel;
};

TEST_F(VariantColoursInTheList, TheMenuGivesTheSeedsOfAVariantOneColourAndEachItsOwnAgain) {
  const auto all = variants();
  std::vector<std::int64_t> seeds;
  for (const auto& runs : all) {
    if (runs.size() > 1 && seeds.empty()) seeds = runs;
  }
  ASSERT_GT(seeds.size(), 1U) << "the sample has no variant of several seeds";
  EXPECT_NE(markOf(seeds[0]), markOf(seeds[1]));
  QSignalSpy redrawn(&studio.workbench, &Workbench::themeChanged);
  choose();
  EXPECT_EQ(redrawn.count(), 1);
  std::set<std::int64_t> numbers;
  for (const auto& runs : all) {
    EXPECT_TRUE(numbers.insert(seriesOf(runs.front())).second) << "two variants share a number";
    for (const std::int64_t run : runs) EXPECT_EQ(seriesOf(run), seriesOf(runs.front()));
  }
  EXPECT_EQ(*numbers.begin(), 1);
  EXPECT_EQ(*numbers.rbegin(), std::ssize(all)) << "the first variants have different colours";
  EXPECT_EQ(markOf(seeds[0]), seriesColor(seriesOf(seeds[0])));
  EXPECT_EQ(markOf(seeds[1]), markOf(seeds[0]));
  choose();
  EXPECT_EQ(redrawn.count(), 2);
  EXPECT_FALSE(isSeriesShared());
  EXPECT_EQ(markOf(seeds[1]), seriesColor(seeds[1]));
}

TEST_F(VariantColoursInTheList, IsKeptForTheDatabase) {
  choose();
  ASSERT_TRUE(isSeriesShared());
  setRunSeries({});  // as another start of the program
  open();
  EXPECT_TRUE(panel->colours().isOn());
  EXPECT_TRUE(isSeriesShared());
  SampleStudio other{SampleOptions{0, 50}};
  RunsPanel second(other.workbench);
  EXPECT_FALSE(second.colours().isOn()) << "another database has not chosen it";
  EXPECT_FALSE(isSeriesShared());
}

TEST_F(VariantColoursInTheList, ANewSeedHasTheColourOfItsVariantAndChangesNoOther) {
  choose();
  std::map<std::int64_t, std::int64_t> before;
  for (const auto& [id, row] : studio.workbench.runs()) before[id] = seriesOf(id);
  store::RunRow first;
  for (const auto& runs : variants()) {
    if (runs.size() > 1) first = *studio.workbench.run(runs.front());
  }
  store::NewRun seed;
  seed.name = first.name;
  seed.variant = first.variant;
  seed.stage = first.stage;
  seed.config = studio.writer.config(first.id);
  seed.config["train"]["seed"] = 77;
  const std::int64_t added = studio.writer.addRuns(first.experimentId, {seed}).front();
  studio.workbench.watcher().poll();
  ASSERT_TRUE(QTest::qWaitFor([&] { return seriesOf(added) != added; }));
  EXPECT_EQ(seriesOf(added), before[first.id]);
  for (const auto& [id, number] : before) EXPECT_EQ(seriesOf(id), number);
}

}  // namespace
}  // namespace vitrine::ui

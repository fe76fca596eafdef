// Groups of the table of runs: their order, their means, and what stays while runs train.
#include <QAbstractItemModelTester>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "tests/ui/runs/run_table_fixture.h"
#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

TEST_F(RunTables, TheMenuOfAColumnGroupsRunsByItWithTheirCountAndTheMeanOfAMetric) {
  const QStringList experiments = groups();
  panel.table().setColumns({"seed", "metric:test/top1"});
  QMenu menu;
  panel.table().fillMenu(menu, 1);
  choose(menu, QStringLiteral("Group by this column"));
  ASSERT_EQ(groups(), (QStringList{QStringLiteral("Seed: 0"), QStringLiteral("Seed: 1")}));
  EXPECT_EQ(order()[0].size() + order()[1].size(), runs.size());
  const QModelIndex first = shown().index(0, 0);
  EXPECT_EQ(first.data(RunsModel::CountRole).toInt(), static_cast<int>(order()[0].size()));
  EXPECT_FALSE(panel.view().isFirstColumnSpanned(0, {}));
  const auto words = [this](double mean) {
    return QStringLiteral("mean ") + panel.model().columns()[1].meanText(mean);
  };
  const double all = meanOf("test/top1", [](const store::RunRow& run) { return run.seed == 0; });
  EXPECT_EQ(first.siblingAtColumn(2).data().toString(), words(all));
  const QString tip = first.siblingAtColumn(2).data(Qt::ToolTipRole).toString();
  EXPECT_TRUE(tip.startsWith(words(all) + QStringLiteral(" of "))) << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral(" to "))) << tip.toStdString();
  EXPECT_FALSE(first.siblingAtColumn(1).data().isValid()) << "the mean of seeds says nothing";
  EXPECT_FALSE(shown().index(1, 2).data().isValid()) << "its run has not begun";

  panel.filter().setText(QStringLiteral("state=done"));
  const double done = meanOf("test/top1", [](const store::RunRow& run) {
    return run.seed == 0 && run.state == store::RunState::Done;
  });
  ASSERT_NE(words(done), words(all));
  ASSERT_EQ(groups(), QStringList{QStringLiteral("Seed: 0")});
  EXPECT_EQ(shown().index(0, 2).data().toString(), words(done)) << "of the runs that are shown";
  panel.filter().clear();

  QMenu second;
  panel.table().fillMenu(second);
  choose(second, QStringLiteral("No groups"));
  EXPECT_EQ(groups(), experiments);
  EXPECT_TRUE(panel.view().isFirstColumnSpanned(0, {}));
}

TEST_F(RunTables, GroupsAreClosedByKeyAndClickSortedAndLeftWithTheTable) {
  const QStringList experiments = groups();
  panel.table().setColumns({"seed", "id"});
  panel.select({runs[0], runs[9]}, runs[0]);
  panel.table().groupBy("seed");
  ASSERT_EQ(groups().size(), 2);
  EXPECT_EQ(studio.workbench.selection().runs(), (Ids{runs[0], runs[9]}));
  EXPECT_TRUE(panel.view().selectionModel()->isSelected(cell(runs[9], 0)));
  Ids down = order()[0];
  std::reverse(down.begin(), down.end());
  panel.view().sortByColumn(2, Qt::DescendingOrder);
  EXPECT_EQ(order()[0], down);
  EXPECT_EQ(groups().front(), QStringLiteral("Seed: 0")) << "groups keep their place";
  panel.view().sortByColumn(1, Qt::DescendingOrder);
  EXPECT_EQ(groups().front(), QStringLiteral("Seed: 1")) << "but in the order of their column";

  panel.view().setCurrentIndex(shown().index(0, 0));
  ASSERT_TRUE(panel.view().isExpanded(shown().index(0, 0)));
  QTest::keyClick(&panel.view(), Qt::Key_Left);
  EXPECT_FALSE(panel.view().isExpanded(shown().index(0, 0)));
  QTest::keyClick(&panel.view(), Qt::Key_Right);
  EXPECT_TRUE(panel.view().isExpanded(shown().index(0, 0)));
  QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {},
                    panel.view().visualRect(shown().index(0, 0)).center());
  EXPECT_FALSE(panel.view().isExpanded(shown().index(0, 0)));

  panel.setTable(false);
  EXPECT_EQ(groups(), experiments);
  panel.setTable(true);
  EXPECT_EQ(groups().size(), 2) << "the table is as it was left";
}

TEST_F(RunTables, AMetricSortsGroupsByTheirMeansOtherColumnsLeaveThemInTheOrderOfTheirValues) {
  panel.table().setColumns({"id", "metric:test/top1"});
  panel.table().groupBy("config:model.mask.kind");
  const QStringList byValue = groups();
  ASSERT_EQ(byValue.size(), 3);
  clickHeader(2);
  const QStringList up = groups();
  std::vector<double> shown = means("test/top1");
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  EXPECT_NE(up, byValue);
  clickHeader(2);
  shown = means("test/top1");
  EXPECT_TRUE(std::is_sorted(shown.rbegin(), shown.rend()));
  clickHeader(1);
  EXPECT_EQ(groups(), byValue);

  clickHeader(2);
  ASSERT_EQ(groups(), up);
  panel.filter().setText(QStringLiteral("test/top1 < 0.824"));
  shown = means("test/top1");
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end())) << "of the runs that are shown";
  EXPECT_NE(groups(), up);
}

TEST_F(RunTables, ItsNameForScreenReadersSaysWhatGroupsIt) {
  EXPECT_EQ(panel.view().accessibleName(), QStringLiteral("Table of runs by experiment"));
  panel.table().setColumns({"seed"});
  QMenu menu;
  panel.table().fillMenu(menu, 1);
  choose(menu, QStringLiteral("Group by this column"));
  EXPECT_EQ(panel.view().accessibleName(), QStringLiteral("Table of runs by Seed"));
  QMenu second;
  panel.table().fillMenu(second);
  choose(second, QStringLiteral("No groups"));
  EXPECT_EQ(panel.view().accessibleName(), QStringLiteral("Table of runs by experiment"));
  panel.setTable(false);
  EXPECT_EQ(panel.view().accessibleName(), QStringLiteral("Runs by experiment"));
}

TEST_F(RunTables, GroupsByAMetricStayClosedAndInPlaceWhileARunTrains) {
  panel.resize(1200, 300);
  panel.table().setColumns({"seed", "metric:test/top1"});
  panel.table().groupBy("metric:test/top1");
  panel.select({runs[8], runs[0]}, runs[8]);
  QScrollBar& bar = *panel.view().verticalScrollBar();
  ASSERT_TRUE(soon([&bar] { return bar.maximum() > 50; }));
  const auto groupOf = [this](std::int64_t run) { return cell(run, 0).parent(); };
  panel.view().setExpanded(groupOf(runs[0]), false);
  panel.view().setExpanded(groupOf(runs[8]), false);
  ASSERT_TRUE(soon([&bar] { return bar.maximum() > 50; }));
  bar.setValue(40);
  const QString before = groupOf(runs[8]).data().toString();

  const QString words = panel.model().columns()[1].meanText(0.9);
  store::RunStore::Batch batch{.metrics = {{1'000'000, 0, 0, {{"test/top1", 0.9}}}}};
  const std::int64_t segment = studio.writer.segments(runs[8]).back().number;
  studio.writer.append(runs[8], segment, batch);
  studio.workbench.watcher().poll();
  ASSERT_TRUE(soon([&] { return text(runs[8], "metric:test/top1") == words; }));
  EXPECT_TRUE(groupOf(runs[8]).data().toString().endsWith(words));
  EXPECT_NE(groupOf(runs[8]).data().toString(), before);
  QCoreApplication::processEvents();
  EXPECT_EQ(bar.value(), 40);
  EXPECT_FALSE(panel.view().isExpanded(groupOf(runs[8]))) << "the group of another value now";
  EXPECT_FALSE(panel.view().isExpanded(groupOf(runs[0])));
  EXPECT_TRUE(panel.view().isExpanded(groupOf(runs[1])));
  EXPECT_EQ(studio.workbench.selection().runs(), (Ids{runs[8], runs[0]}));
  EXPECT_TRUE(panel.view().selectionModel()->isSelected(cell(runs[8], 0)));
}

TEST_F(RunTables, TheMenuOfAGroupSelectsItsRunsThatTheFilterShows) {
  panel.table().setColumns({"seed"});
  panel.table().groupBy("seed");
  panel.filter().setText(QStringLiteral("state=queued"));
  ASSERT_EQ(groups().size(), 2);
  QMenu menu;
  panel.fillGroupMenu(menu, shown().index(0, 0));
  choose(menu, QStringLiteral("Select these runs"));
  const Ids selected = studio.workbench.selection().runs();
  EXPECT_EQ(selected, order()[0]);
  EXPECT_GT(selected.size(), 1U);
  for (const std::int64_t run : selected)
    EXPECT_EQ(studio.workbench.run(run)->state, store::RunState::Queued);
}

TEST_F(RunTables, TheMenuOfAGroupClosesAndOpensAllOfThem) {
  const auto open = [this] {
    int number = 0;
    for (int row = 0; row < shown().rowCount(); ++row)
      number += panel.view().isExpanded(shown().index(row, 0)) ? 1 : 0;
    return number;
  };
  ASSERT_EQ(open(), shown().rowCount());
  QMenu menu;
  panel.fillGroupMenu(menu, shown().index(0, 0));
  choose(menu, QStringLiteral("Close all"));
  EXPECT_EQ(open(), 0);
  panel.view().sortByColumn(1, Qt::DescendingOrder);
  EXPECT_EQ(open(), 0) << "also when the rows are sorted";
  choose(menu, QStringLiteral("Open all"));
  EXPECT_EQ(open(), shown().rowCount());
}

TEST_F(RunTables, ARunGoesToTheGroupOfItsNewTag) {
  panel.table().setColumns({"state"});
  panel.table().groupBy("tags");
  const QString paper = QStringLiteral("Tags: paper, soft mask"),
                none = QStringLiteral("Tags: no value");
  ASSERT_EQ(groups(), (QStringList{paper, none}));
  studio.writer.setTags(runs[0], {"best"});
  studio.workbench.watcher().poll();
  ASSERT_TRUE(soon([this] { return groups().size() == 3; }));
  EXPECT_EQ(groups(), (QStringList{QStringLiteral("Tags: best"), paper, none}));
  EXPECT_EQ(order()[0], Ids{runs[0]});
  EXPECT_EQ(panel.table().columns(), Names{"state"}) << "the column needs not be shown";
}

TEST(RunTableMemory, KeepsTheGroupsForEachDatabase) {
  const QTemporaryDir folder;
  useSettings(folder.filePath(QStringLiteral("studio.ini")));
  SampleStudio studio(SampleOptions{0, 50}), other(SampleOptions{0, 50});
  {
    RunsPanel panel(studio.workbench);
    panel.setTable(true);
    panel.table().groupBy("state");
  }
  RunsPanel again(studio.workbench), elsewhere(other.workbench);
  again.setTable(true);
  elsewhere.setTable(true);
  EXPECT_EQ(again.table().groupedBy(), "state");
  EXPECT_TRUE(
      again.view().model()->index(0, 0).data().toString().startsWith(QStringLiteral("State: ")));
  EXPECT_EQ(elsewhere.table().groupedBy(), "");
  forgetSettings();
}

TEST(RunsModel, GroupsByTheValuesOfAColumnInTheirOrder) {
  RunsModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Warning);
  const auto rowOf = [](std::int64_t id, std::int64_t experiment) {
    return store::RunRow{
        .id = id, .experiment = "E" + std::to_string(experiment), .experimentId = experiment};
  };
  const auto groups = [&model] {
    QStringList titles;
    for (int row = 0; row < model.rowCount({}); ++row)
      titles << model.index(row, 0, {}).data().toString();
    return titles;
  };
  model.upsert({rowOf(1, 1), rowOf(2, 1), rowOf(3, 2)});
  const RunsModel::Column width{"config:width",
                                QStringLiteral("Width"),
                                {},
                                {{1, {QStringLiteral("128"), 128.0}},
                                 {2, {QStringLiteral("64"), 64.0}},
                                 {3, {QStringLiteral("128"), 128.0}}}};
  const QString narrow = QStringLiteral("Width: 64"), wide = QStringLiteral("Width: 128"),
                none = QStringLiteral("Width: no value");
  model.groupBy(width);
  EXPECT_EQ(groups(), (QStringList{narrow, wide})) << "as numbers";
  EXPECT_EQ(model.indexOf(3).parent(), model.indexOf(1).parent()) << "of two experiments";
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  model.groupBy(width);
  EXPECT_EQ(resets.count(), 0) << "nothing has changed";
  const QPersistentModelIndex third(model.indexOf(3)), both(model.indexOf(1).parent());
  RunsModel::Column wider = width;
  wider.cells[3] = {QStringLiteral("256"), 256.0};
  model.groupBy(wider);
  EXPECT_EQ(groups(), (QStringList{narrow, wide, QStringLiteral("Width: 256")}));
  EXPECT_EQ(QModelIndex(third), model.indexOf(3));
  EXPECT_EQ(QModelIndex(both), model.indexOf(1).parent());
  const auto groupOf3 = model.indexOf(3).parent().data(RunsModel::GroupRole);
  wider.cells[3] = {QStringLiteral("32"), 32.0};
  model.groupBy(wider);
  EXPECT_EQ(groups(), (QStringList{QStringLiteral("Width: 32"), narrow, wide}));
  EXPECT_EQ(model.indexOf(3).parent().data(RunsModel::GroupRole), groupOf3);
  EXPECT_EQ(QModelIndex(third), model.indexOf(3));
  EXPECT_EQ(QModelIndex(both), model.indexOf(1).parent());
  model.groupBy(width);
  EXPECT_EQ(resets.count(), 0) << "rows move";
  model.upsert({rowOf(4, 2)});
  EXPECT_EQ(groups(), (QStringList{narrow, wide, none}));
  model.remove({2});
  EXPECT_EQ(groups(), (QStringList{wide, none}));
  model.groupBy({});
  EXPECT_EQ(groups(), (QStringList{QStringLiteral("E2"), QStringLiteral("E1")}));
}

// Eight times the runs: eight times the work, and 64 times where each run looks through all groups.
TEST(RunsModel, GroupsOfOneRunEachCostTheSameForEachRun) {
  const auto secondsOf = [](std::int64_t runs) {
    RunsModel::Column id{"id", QStringLiteral("Id"), {}, {}};
    std::vector<store::RunRow> rows(static_cast<std::size_t>(runs));
    for (std::int64_t i = 0; i < runs; ++i) {
      rows[static_cast<std::size_t>(i)].id = i + 1;
      rows[static_cast<std::size_t>(i)].experimentId = 1;
      id.cells[i + 1] = {QString::number(i + 1), static_cast<double>(i + 1)};
    }
    RunsModel model;
    model.upsert(rows);
    const std::clock_t start = std::clock();
    model.groupBy(id);
    int seen = 0;
    for (std::int64_t i = 1; i <= runs; ++i)
      seen += model.indexOf(i).parent().row() == i - 1 && model.run(model.indexOf(i))->id == i;
    const std::clock_t end = std::clock();
    EXPECT_EQ(seen, runs);
    return static_cast<double>(end - start) / CLOCKS_PER_SEC;
  };
  const auto leastOf = [&secondsOf](std::int64_t runs) {
    return std::min({secondsOf(runs), secondsOf(runs), secondsOf(runs)});
  };
  EXPECT_LT(leastOf(8'000), 24 * leastOf(1'000));
}

TEST(RunsFilter, GroupsStandInTheOrderOfTheirMeansWhenAllOfThemChange) {
  SampleStudio studio(SampleOptions{0, 0});
  RunsModel model;
  std::vector<store::RunRow> rows(4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = static_cast<std::int64_t>(i) + 1;
    rows[i].experimentId = 1;
  }
  model.upsert(rows);
  RunsFilter shown(studio.writer, nullptr);
  shown.setSourceModel(&model);
  const auto column = [](const char* id, const std::vector<double>& values) {
    RunsModel::Column made{id, QString::fromLatin1(id), {}, {}};
    for (std::size_t i = 0; i < values.size(); ++i)
      made.cells[static_cast<std::int64_t>(i) + 1] = {QString::number(values[i]), values[i]};
    made.meanText = [](double mean) { return QString::number(mean); };
    return made;
  };
  const auto means = [&shown] {
    QStringList texts;
    for (int row = 0; row < shown.rowCount(); ++row) texts << shown.index(row, 1).data().toString();
    return texts.join(QLatin1Char(' ')).toStdString();
  };
  model.setColumns({column("score", {0, 1, 2, 3})});
  model.groupBy(column("width", {0, 1, 2, 3}));
  shown.sort(1, Qt::AscendingOrder);
  ASSERT_EQ(means(), "mean 0 mean 1 mean 2 mean 3");
  model.setColumns({column("score", {2, 3, 1, 0})});
  EXPECT_EQ(means(), "mean 0 mean 1 mean 2 mean 3");
}

}  // namespace
}  // namespace vitrine::ui

// The list of runs as a table: its columns, their order, what sorting does, what it asks the
// database.
#include <QAbstractItemModelTester>
#include <QDialog>
#include <QHeaderView>
#include <QListWidget>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <algorithm>

#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

using Ids = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

class RunTables : public ::testing::Test {
 protected:
  RunTables() : panel(studio.workbench), runs(studio.runs) {
    panel.resize(1200, 900);
    panel.show();
    panel.setTable(true);
  }
  QHeaderView& header() { return *panel.view().header(); }
  QAbstractItemModel& shown() { return *panel.view().model(); }
  int columnOf(const std::string& id) {
    const Names& ids = panel.table().columns();
    const auto found = std::find(ids.begin(), ids.end(), id);
    return found == ids.end() ? -1 : static_cast<int>(found - ids.begin()) + 1;
  }
  QModelIndex cell(std::int64_t run, int column) {
    const auto& proxy = static_cast<QAbstractProxyModel&>(shown());
    return proxy.mapFromSource(panel.model().indexOf(run)).siblingAtColumn(column);
  }
  QString text(std::int64_t run, const std::string& id) {
    return cell(run, columnOf(id)).data().toString();
  }
  void clickHeader(int column) {
    const int x = header().sectionViewportPosition(column) + 20;
    QTest::mouseClick(header().viewport(), Qt::LeftButton, {}, {x, header().height() / 2});
  }
  /// Runs of the experiments from top to bottom.
  std::vector<Ids> order() {
    std::vector<Ids> all;
    for (int group = 0; group < shown().rowCount(); ++group) {
      Ids ids;
      const QModelIndex parent = shown().index(group, 0);
      for (int row = 0; row < shown().rowCount(parent); ++row)
        ids.push_back(shown().index(row, 0, parent).data(RunsModel::IdRole).toLongLong());
      all.push_back(ids);
    }
    return all;
  }
  /// Chooses the entry of a menu whose text is so, submenus included.
  void choose(QMenu& menu, const QString& text) {
    for (QAction* one : menu.findChildren<QAction*>()) {
      if (one->text().remove(QLatin1Char('&')) == text) return one->trigger();
    }
    ADD_FAILURE() << "no entry " << text.toStdString();
  }
  /// "Seed: 0" and so on, from top to bottom.
  QStringList groups() {
    QStringList titles;
    for (int row = 0; row < shown().rowCount(); ++row)
      titles << shown().index(row, 0).data().toString();
    return titles;
  }
  /// Mean of the last values of a metric, as the database has them, over runs that are counted.
  template <typename IsCounted>
  double meanOf(const std::string& metric, IsCounted isCounted) {
    double sum = 0;
    int number = 0;
    for (const auto& [run, value] : studio.writer.lastValues(metric)) {
      if (!isCounted(*studio.workbench.run(run))) continue;
      sum += value;
      ++number;
    }
    return sum / number;
  }

  SampleStudio studio{SampleOptions{0, 50}};
  RunsPanel panel;
  const Ids& runs;
};

TEST_F(RunTables, ShowsWhatTellsTheRunsApartAndTheirMainMetric) {
  EXPECT_TRUE(header().isVisible());
  const Names& ids = panel.table().columns();
  ASSERT_GE(ids.size(), 4U);
  EXPECT_EQ(ids[0], "state");
  EXPECT_EQ(ids[1], "seed");
  EXPECT_EQ(ids.back(), "duration");
  EXPECT_TRUE(std::any_of(ids.begin(), ids.end(),
                          [](const std::string& id) { return id.starts_with("metric:"); }));
  const store::RunRow* first = studio.workbench.run(runs[0]);
  EXPECT_EQ(text(runs[0], "state").toStdString(), toString(first->state));
  EXPECT_EQ(text(runs[0], "seed").toStdString(), std::to_string(first->seed));
  EXPECT_EQ(cell(runs[0], 0).data().toString().toStdString(), first->name);
  panel.setTable(false);
  EXPECT_FALSE(header().isVisible());
  EXPECT_EQ(shown().columnCount(), 1) << "a list has its names alone";
}

TEST_F(RunTables, TheHeaderSortsTheRunsOfAnExperimentAndTheThirdClickTheList) {
  panel.table().setColumns({"seed", "id"});
  const std::vector<Ids> list = order();
  std::vector<Ids> down = list;
  for (Ids& ids : down) std::reverse(ids.begin(), ids.end());
  ASSERT_NE(list, down);
  clickHeader(2);
  EXPECT_EQ(order(), list) << "by id it stands already";
  clickHeader(2);
  EXPECT_EQ(order(), down) << "experiments keep their place";
  clickHeader(2);
  EXPECT_EQ(order(), list);
  clickHeader(2);
  clickHeader(2);
  panel.setTable(false);
  EXPECT_EQ(order(), list) << "the list has its own order";
  panel.setTable(true);
  EXPECT_EQ(order(), down) << "the table is as it was left";
  panel.table().setColumns({"id", "state"});
  EXPECT_EQ(order(), down) << "the column is the sorted one wherever it stands";
  panel.table().setColumns({"state"});
  EXPECT_EQ(order(), list);
}

TEST_F(RunTables, RunsWithoutAValueComeLastInBothOrders) {
  std::string metric;
  for (const std::string& id : panel.table().columns()) {
    if (id.starts_with("metric:")) metric = id;
  }
  ASSERT_NE(metric, "");
  const int column = columnOf(metric);
  const auto areMissingLast = [&] {
    bool hasBoth = false;
    for (const Ids& ids : order()) {
      bool isMissing = false;
      for (const std::int64_t id : ids) {
        const bool isHere = cell(id, column).data(RunsModel::OrderRole).isValid();
        if (isHere && isMissing) return false;
        hasBoth = hasBoth || (!isHere && id != ids.front());
        isMissing = !isHere;
      }
    }
    return hasBoth;
  };
  clickHeader(column);
  EXPECT_TRUE(areMissingLast());
  const std::vector<Ids> up = order();
  clickHeader(column);
  EXPECT_TRUE(areMissingLast());
  EXPECT_NE(order(), up);
}

TEST_F(RunTables, AClickOnAnyCellSelectsTheRunAndTheMenuIsThatOfTheList) {
  panel.select({runs[0]}, runs[0]);
  const QRect place = panel.view().visualRect(cell(runs[1], 2));
  QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {}, place.center());
  EXPECT_EQ(studio.workbench.selection().runs(), Ids{runs[1]});
  QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, Qt::ControlModifier,
                    panel.view().visualRect(cell(runs[0], 1)).center());
  EXPECT_EQ(studio.workbench.selection().runs(), (Ids{runs[0], runs[1]}));
  QMenu menu;
  panel.fillMenu(menu);
  choose(menu, QStringLiteral("Hide from charts"));
  EXPECT_EQ(studio.workbench.selection().hidden(), (std::set<std::int64_t>{runs[0], runs[1]}));
  QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {},
                    eyeRect(panel.view().visualRect(cell(runs[0], 0))).center());
  EXPECT_EQ(studio.workbench.selection().hidden(), std::set<std::int64_t>{runs[1]});
  panel.setTable(false);
  EXPECT_EQ(studio.workbench.selection().runs(), (Ids{runs[0], runs[1]}));
  EXPECT_TRUE(panel.view().selectionModel()->isSelected(cell(runs[1], 0)));
}

TEST_F(RunTables, ColumnsAreChosenHiddenAndTheUsualOnesComeBack) {
  const Names usual = panel.table().columns();
  QTimer::singleShot(0, &panel, [] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    auto* list = dialog->findChild<QListWidget*>();
    for (int i = 0; i < list->count(); ++i) {
      const QString id = list->item(i)->data(Qt::UserRole).toString();
      list->item(i)->setCheckState(id == QLatin1String("created") || id == QLatin1String("seed")
                                       ? Qt::Checked
                                       : Qt::Unchecked);
    }
    dialog->accept();
  });
  QMenu menu;
  panel.table().fillMenu(menu, 1);
  choose(menu, QStringLiteral("Columns\u2026"));
  EXPECT_EQ(panel.table().columns(), (Names{"seed", "created"})) << "those it had come first";
  EXPECT_EQ(shown().columnCount(), 3);
  QMenu second;
  panel.table().fillMenu(second, 1);
  choose(second, QStringLiteral("Hide this column"));
  EXPECT_EQ(panel.table().columns(), Names{"created"});
  choose(second, QStringLiteral("Default columns"));
  EXPECT_EQ(panel.table().columns(), usual);
}

TEST_F(RunTables, AnExperimentThatWasClosedStaysClosedWhenColumnsChange) {
  const QModelIndex first = shown().index(0, 0);
  panel.view().setExpanded(first, false);
  panel.table().setColumns({"id"});
  EXPECT_FALSE(panel.view().isExpanded(shown().index(0, 0)));
  EXPECT_TRUE(panel.view().isExpanded(shown().index(1, 0)));
}

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

TEST(RunTableMemory, KeepsTheChosenColumnsForEachDatabase) {
  const QTemporaryDir folder;
  useSettings(folder.filePath(QStringLiteral("studio.ini")));
  SampleStudio studio(SampleOptions{0, 50}), other(SampleOptions{0, 50});
  {
    RunsPanel panel(studio.workbench);
    panel.setTable(true);
    panel.table().setColumns({"id", "tags"});
  }
  RunsPanel again(studio.workbench), elsewhere(other.workbench);
  again.setTable(true);
  elsewhere.setTable(true);
  EXPECT_EQ(again.table().columns(), (Names{"id", "tags"}));
  EXPECT_NE(elsewhere.table().columns(), (Names{"id", "tags"}));
  forgetSettings();
}

TEST(RunTableMemory, KeepsWidthsAndSortingForEachDatabase) {
  const QTemporaryDir folder;
  useSettings(folder.filePath(QStringLiteral("studio.ini")));
  SampleStudio studio(SampleOptions{0, 50}), other(SampleOptions{0, 50});
  const auto open = [](RunsPanel& panel) {
    panel.resize(1200, 900);
    panel.show();
    panel.setTable(true);
    return panel.view().header();
  };
  const auto drag = [](QHeaderView& header, int section, int by) {
    const QPoint edge(header.sectionViewportPosition(section) + header.sectionSize(section) - 1,
                      header.height() / 2);
    QTest::mousePress(header.viewport(), Qt::LeftButton, {}, edge);
    QTest::mouseMove(header.viewport(), edge + QPoint(by / 2, 0));
    QTest::mouseMove(header.viewport(), edge + QPoint(by, 0));
    QTest::mouseRelease(header.viewport(), Qt::LeftButton, {}, edge + QPoint(by, 0));
  };
  int name = 0, seed = 0;
  {
    RunsPanel panel(studio.workbench);
    QHeaderView* header = open(panel);
    panel.table().setColumns({"id", "seed"});
    name = header->sectionSize(0);
    seed = header->sectionSize(2);
    drag(*header, 0, 60);
    drag(*header, 2, 40);
    EXPECT_EQ(header->sectionSize(0), name + 60);
    panel.view().sortByColumn(2, Qt::DescendingOrder);
    panel.table().setColumns({"seed", "id"});
    EXPECT_EQ(header->sectionSize(1), seed + 40) << "the width is that of the column";
    panel.setTable(false);
  }
  RunsPanel again(studio.workbench), elsewhere(other.workbench);
  QHeaderView* header = open(again);
  EXPECT_EQ(header->sectionSize(0), name + 60);
  EXPECT_EQ(header->sectionSize(1), seed + 40);
  EXPECT_EQ(header->sortIndicatorSection(), 1);
  EXPECT_EQ(header->sortIndicatorOrder(), Qt::DescendingOrder);
  QHeaderView* fresh = open(elsewhere);
  EXPECT_EQ(fresh->sectionSize(0), name);
  EXPECT_EQ(fresh->sortIndicatorSection(), -1);
  forgetSettings();
}

TEST(RunColumns, AThousandRunsAreReadWithOneQueryForAllMetrics) {
  const SampleStudio studio(SampleOptions{1000, 50});
  auto& store = const_cast<SampleStudio&>(studio).workbench.store();
  const auto& runs = studio.workbench.runs();
  ASSERT_GT(runs.size(), 1000U);
  RunConfigs configs(store);
  const RunsModel model;
  int queries = 0;
  RunColumns columns(runs, model, configs, [&](const std::string& sql) {
    ++queries;
    return store.query(sql);
  });
  Names ids;
  for (const RunsModel::Column& column : columns.offered()) ids.push_back(column.id);
  ASSERT_GT(std::count_if(ids.begin(), ids.end(),
                          [](const std::string& id) { return id.starts_with("metric:"); }),
            2);
  queries = 0;
  const int before = configs.queries();
  const std::vector<RunsModel::Column> read = columns.read(ids);
  EXPECT_EQ(queries, 1);
  EXPECT_EQ(configs.queries(), before) << "configurations were read once, for the names";
  EXPECT_LE(before, 2);
  EXPECT_EQ(read.size(), ids.size());
}

TEST(RunsModel, GroupsByTheValuesOfAColumnInTheirOrder) {
  RunsModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Warning);
  const auto rowOf = [](std::int64_t id, std::int64_t experiment) {
    store::RunRow row;
    row.id = id;
    row.experimentId = experiment;
    row.experiment = "E" + std::to_string(experiment);
    return row;
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
  model.upsert({rowOf(4, 2)});
  EXPECT_EQ(groups(), (QStringList{narrow, wide, none}));
  model.remove({2});
  EXPECT_EQ(groups(), (QStringList{wide, none}));
  model.groupBy({});
  EXPECT_EQ(groups(), (QStringList{QStringLiteral("E2"), QStringLiteral("E1")}));
}

TEST(RunColumns, AValueThatWasNotRecordedIsNoNumber) {
  RunsModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Warning);
  store::RunRow row;
  row.id = 1;
  row.experimentId = 1;
  model.upsert({row});
  model.setColumns({{"seed", QStringLiteral("Seed"), {}, {{1, {QStringLiteral("3"), 3.0}}}},
                    {"metric:test/top1", QStringLiteral("Accuracy"), {}, {}}});
  const QModelIndex run = model.indexOf(1);
  EXPECT_EQ(run.siblingAtColumn(1).data(RunsModel::OrderRole), QVariant(3.0));
  EXPECT_FALSE(run.siblingAtColumn(2).data(RunsModel::OrderRole).isValid());
  EXPECT_EQ(run.siblingAtColumn(2).data().toString(), QStringLiteral("\u2013"));
  EXPECT_EQ(run.siblingAtColumn(2).data(Qt::AccessibleTextRole).toString(),
            QStringLiteral("Accuracy: no value"));
  EXPECT_FALSE(model.flags(run.siblingAtColumn(1)).testFlag(Qt::ItemIsEditable));
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
  model.setColumns(
      {{"seed", QStringLiteral("Seed"), {}, {{1, {QStringLiteral("3"), 3.0}}}},
       {"metric:test/top1", QStringLiteral("Accuracy"), {}, {{1, {QStringLiteral("50 %"), 0.5}}}}});
  EXPECT_EQ(resets.count(), 0) << "values come cell by cell";
  EXPECT_EQ(changes.count(), 1);
}

}  // namespace
}  // namespace vitrine::ui

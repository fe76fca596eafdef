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

#include "core/store/declared_metrics.h"
#include "tests/ui/runs/run_table_fixture.h"
#include "tests/ui/support/probe.h"

namespace vitrine::ui {
namespace {

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

TEST_F(RunTables, TheListIsAsWideAsItsPlaceWhenTheTableCloses) {
  panel.resize(280, 900);
  panel.setTable(false);
  QCoreApplication::processEvents();
  EXPECT_EQ(header().length(), panel.view().viewport()->width());
  panel.resize(360, 900);
  QCoreApplication::processEvents();
  EXPECT_EQ(header().length(), panel.view().viewport()->width());
}

TEST_F(RunTables, AColumnHasRoomForTheRowsThatAClearedFilterBringsBack) {
  const int all = header().sectionSize(columnOf("state"));
  panel.setTable(false);
  panel.filter().setText(QStringLiteral("state=done"));
  panel.setTable(true);
  ASSERT_LT(header().sectionSize(columnOf("state")), all) << "no row has a longer word";
  panel.filter().clear();
  EXPECT_EQ(header().sectionSize(columnOf("state")), all);
}

TEST(RunColumns, ListsOfObjectsAreNotUsualColumns) {
  SampleStudio studio(SampleOptions{0, 0});
  const std::int64_t experiment = studio.writer.experiment("Transforms", "");
  std::vector<store::NewRun> added(2);
  for (std::size_t i = 0; i < added.size(); ++i) {
    added[i].name = "run " + std::to_string(i);
    const Json crop = {{"name", "crop"}, {"size", 8 + i}};
    added[i].config["data"]["train"] = Json::array({crop});
    added[i].config["model"]["width"] = 8 + i;
  }
  (void)studio.writer.addRuns(experiment, added);
  studio.workbench.watcher().poll();
  RunConfigs configs(studio.workbench.store());
  const RunsModel model;
  RunColumns columns(studio.workbench.runs(), model, configs,
                     [&](const std::string& sql) { return studio.workbench.store().query(sql); });
  EXPECT_EQ(columns.usual(experiment, ""),
            (Names{"state", "seed", "config:model.width", "duration"}));
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

TEST_F(RunTables, TheArrowOfASortedColumnLeavesTheWholeHeadingToBeRead) {
  panel.table().setColumns({"seed", "id"});
  const auto heading = [this] {
    header().resizeSection(1, header().sectionSizeHint(1));
    const QRect whole(header().sectionViewportPosition(1), 0, header().sectionSize(1),
                      header().height());
    return std::pair(header().grab(whole).toImage(),
                     header().grab(whole.adjusted(0, 0, -px(8), 0)).toImage());
  };
  const int alignment =
      shown().headerData(1, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight;
  ASSERT_NE(alignment, 0);
  const auto before = heading();
  int lastInk = 0;
  for (int x = 0; x < before.first.width(); ++x)
    for (int y = 0; y < before.first.height() - 2; ++y)
      if (before.first.pixel(x, y) != before.first.pixel(1, 1)) lastInk = x;
  EXPECT_NEAR(lastInk, before.first.width() - px(8), 3) << "where its numbers end";
  for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
    panel.view().sortByColumn(1, order);
    const auto sorted = heading();
    EXPECT_NE(sorted.first, before.first) << "there is an arrow";
    EXPECT_EQ(sorted.second, before.second) << "next to the words";
  }
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
  const int before = Probe::queries(configs);
  const std::vector<RunsModel::Column> read = columns.read(ids);
  EXPECT_EQ(queries, 5) << "what metrics mean, last values, best values, notes, checkpoints";
  EXPECT_EQ(Probe::queries(configs), before) << "configurations were read once, for the names";
  EXPECT_LE(before, 2);
  EXPECT_EQ(read.size(), ids.size());
}

TEST_F(RunTables, AMetricThatIsDeclaredLaterHasItsTitleAndItsFormat) {
  const std::string column = "metric:extra/score";
  panel.table().setColumns({column});
  store::declareMetrics(studio.writer, {{"extra/score", "Cloud cover", "fraction", "higher", ""}});
  const std::int64_t segment = studio.writer.segments(runs[8]).back().number;
  studio.writer.append(runs[8], segment, {.metrics = {{1'000'000, 0, 0, {{"extra/score", 0.75}}}}});
  panel.table().read();
  const QString value = text(runs[8], column);
  EXPECT_TRUE(value.contains(QLatin1Char('%'))) << value.toStdString();
  EXPECT_TRUE(shown()
                  .headerData(1, Qt::Horizontal)
                  .toString()
                  .startsWith(QStringLiteral("Cloud cover")));
}

TEST(RunColumns, AValueThatWasNotRecordedIsNoNumber) {
  RunsModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Warning);
  model.upsert({{.id = 1, .experimentId = 1}});
  model.setColumns({{"seed", QStringLiteral("Seed"), {}, {{1, {QStringLiteral("3"), 3.0}}}},
                    {"metric:test/top1", QStringLiteral("Accuracy"), {}, {}}});
  const QModelIndex run = model.indexOf(1);
  EXPECT_EQ(run.siblingAtColumn(1).data(RunsModel::OrderRole), QVariant(3.0));
  EXPECT_FALSE(run.siblingAtColumn(2).data(RunsModel::OrderRole).isValid());
  EXPECT_EQ(run.siblingAtColumn(2).data().toString(), QStringLiteral("\u2013"));
  EXPECT_EQ(run.siblingAtColumn(2).data(Qt::AccessibleTextRole).toString(),
            QStringLiteral("Accuracy: no value"));
  EXPECT_FALSE(model.flags(run.siblingAtColumn(1)).testFlag(Qt::ItemIsEditable));
  const auto side = [&model](int column) {
    return model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
  };
  EXPECT_EQ(side(1).toInt(), static_cast<int>(Qt::AlignRight | Qt::AlignVCenter));
  EXPECT_FALSE(side(2).isValid()) << "a column without numbers stands to the left";
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

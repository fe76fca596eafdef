// The SQL page through its real widgets, on a sample database.
#include "ui/sql/sql_page.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/figures/figure.h"
#include "ui/kit/settings.h"
#include "ui/sql/sql_docs.h"
#include "ui/sql/sql_editor.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {
namespace {

class SqlConsole : public ::testing::Test {
 protected:
  SqlConsole() : studio_(SampleOptions{0, 60}), page_(studio_.workbench) {
    page_.resize(1000, 700);
    page_.waitUntilIdle();
  }
  void ask(const QString& sql) {
    page_.editor().setPlainText(sql);
    page_.runRequested();
    page_.waitUntilIdle();
  }
  SqlChartChoice chart() { return sqlChartFromJson(page_.viewState()["chart"]); }
  QTreeWidgetItem* schemaItem(const QString& name) {
    const auto found = page_.side()
                           .tree(SqlSide::Shelf::Schema)
                           .findItems(name, Qt::MatchExactly | Qt::MatchRecursive);
    return found.isEmpty() ? nullptr : found.front();
  }

  SampleStudio studio_;
  SqlPage page_;
};

TEST_F(SqlConsole, ShowsTheRowsOfAStatement) {
  ask(QStringLiteral("SELECT id, name FROM runs ORDER BY id"));
  EXPECT_EQ(page_.error().toStdString(), "");
  EXPECT_EQ(page_.model().rowCount(), static_cast<int>(studio_.runs.size()));
  EXPECT_TRUE(page_.summary().contains(QStringLiteral("2 columns")))
      << page_.summary().toStdString();
}

TEST_F(SqlConsole, RunsTheStatementUnderTheCursorOnCtrlReturn) {
  bringUp(page_);
  page_.editor().setPlainText(QStringLiteral("SELECT 1 AS a;\nSELECT 2 AS b;"));
  QTextCursor cursor = page_.editor().textCursor();
  cursor.setPosition(18);
  page_.editor().setTextCursor(cursor);
  page_.editor().setFocus();
  QTest::keyClick(&page_.editor(), Qt::Key_Return, Qt::ControlModifier);
  page_.waitUntilIdle();
  ASSERT_EQ(page_.model().columnCount(), 1);
  EXPECT_EQ(page_.model().table().columns[0], "b");
  EXPECT_EQ(page_.editor().toPlainText().count(QLatin1Char('\n')), 1) << "no line was added";
}

TEST_F(SqlConsole, RefusesToWriteInOneSentence) {
  ask(QStringLiteral("DELETE FROM run"));
  EXPECT_TRUE(page_.error().contains(QStringLiteral("nothing was changed")))
      << page_.error().toStdString();
  EXPECT_TRUE(page_.error().front().isUpper()) << page_.error().toStdString();
  EXPECT_EQ(studio_.writer.runs().size(), studio_.runs.size());
}

TEST_F(SqlConsole, MarksTheMistakeWhereItStands) {
  page_.editor().setPlainText(QStringLiteral("SELECT 1;\nSELECT id,\n  nope FROM runs"));
  QTextCursor cursor = page_.editor().textCursor();
  cursor.movePosition(QTextCursor::End);
  page_.editor().setTextCursor(cursor);
  page_.runRequested();
  page_.waitUntilIdle();
  const auto marks = page_.editor().extraSelections();
  ASSERT_FALSE(marks.isEmpty());
  EXPECT_EQ(marks.back().cursor.selectedText().toStdString(), "nope");
  EXPECT_TRUE(page_.error().contains(QStringLiteral("line 2, column 3")))
      << page_.error().toStdString();
}

TEST_F(SqlConsole, SaysThatAResultIsEarlierThanTheStatementThatFailed) {
  ask(QStringLiteral("SELECT 1 AS a"));
  const QString counts = page_.summary();
  ask(QStringLiteral("SELECT nope"));
  EXPECT_EQ(page_.summary().toStdString(), "failed");
  page_.showChart(true);
  EXPECT_EQ(page_.summary(), QStringLiteral("earlier result: ") + counts);
  ask(QStringLiteral("SELECT 1 AS a"));
  EXPECT_FALSE(page_.summary().contains(QStringLiteral("earlier")))
      << page_.summary().toStdString();
}

TEST_F(SqlConsole, CutsAtTheLimitAndSaysSo) {
  named<QComboBox>(page_, "Most rows")->setCurrentIndex(0);
  ask(
      QStringLiteral("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                     "SELECT i FROM n LIMIT 5000"));
  EXPECT_EQ(page_.model().rowCount(), 1000);
  QStringList notices;
  for (const QLabel* label : page_.findChildren<QLabel*>()) {
    if (!label->isHidden()) notices << label->text();
  }
  EXPECT_TRUE(notices.contains(QStringLiteral("Cut after 1,000 rows")));
}

TEST_F(SqlConsole, StopsAStatementThatWouldNotEnd) {
  page_.editor().setPlainText(QStringLiteral(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"));
  page_.runRequested();
  page_.stop();
  EXPECT_EQ(page_.error().toStdString(), "The statement was stopped.");
  ask(QStringLiteral("SELECT 5 AS five"));
  EXPECT_EQ(page_.model().rowCount(), 1) << "the next one runs";
}

TEST_F(SqlConsole, SelectsTheRunOfAChosenRow) {
  ask(
      QStringLiteral("SELECT run_id, name, last FROM metric_summaries WHERE name = 'train/loss' "
                     "ORDER BY run_id DESC"));
  ASSERT_GT(page_.model().rowCount(), 1);
  page_.table().selectRow(1);
  EXPECT_EQ(studio_.workbench.selection().current(), page_.model().runOf(1));
}

TEST_F(SqlConsole, AsksForASelectedRunOnlyWhereTheStatementDoes) {
  const QString sql = QStringLiteral("SELECT :run AS r");
  studio_.workbench.selection().setRuns({}, 0);
  ask(sql);
  EXPECT_TRUE(page_.error().contains(QStringLiteral("select one"))) << page_.error().toStdString();
  studio_.workbench.selection().setRuns({studio_.runs[2]}, studio_.runs[2]);
  ask(sql);
  EXPECT_EQ(page_.model().value(page_.model().index(0, 0)), Json(studio_.runs[2]));
}

TEST_F(SqlConsole, EveryShippedQueryHolds) {
  studio_.workbench.selection().setRuns({studio_.runs[0], studio_.runs[1]}, studio_.runs[0]);
  for (const SqlSample& sample : sqlSamples()) {
    ask(sample.sql);
    EXPECT_EQ(page_.error().toStdString(), "") << sample.name.toStdString();
  }
}

TEST_F(SqlConsole, ListsEveryDocumentedViewWithItsColumns) {
  for (const SqlViewDoc& view : sqlViewDocs()) {
    QTreeWidgetItem* item = schemaItem(view.name);
    ASSERT_NE(item, nullptr) << view.name.toStdString();
    ASSERT_EQ(item->childCount(), static_cast<int>(view.columns.size())) << view.name.toStdString();
    for (int i = 0; i < item->childCount(); ++i) {
      EXPECT_EQ(item->child(i)->text(0), view.columns[static_cast<std::size_t>(i)].name);
      EXPECT_TRUE(item->child(i)->toolTip(0).contains(QLatin1Char('\n')))
          << "no definition: " << item->child(i)->text(0).toStdString();
    }
  }
  QTreeWidgetItem* tables = schemaItem(QStringLiteral("Tables"));
  ASSERT_NE(tables, nullptr);
  EXPECT_FALSE(tables->isExpanded());
  for (int i = 0; i < tables->childCount(); ++i)
    EXPECT_TRUE(tables->child(i)->toolTip(0).contains(QLatin1Char('\n')))
        << "no meaning: " << tables->child(i)->text(0).toStdString();
}

TEST_F(SqlConsole, InsertsANameByDoubleClick) {
  page_.show();
  page_.editor().setPlainText(QStringLiteral("SELECT"));
  QTextCursor cursor = page_.editor().textCursor();
  cursor.movePosition(QTextCursor::End);
  page_.editor().setTextCursor(cursor);
  QTreeWidget& tree = page_.side().tree(SqlSide::Shelf::Schema);
  const QPoint place = tree.visualItemRect(schemaItem(QStringLiteral("runs"))).center();
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, place);
  QTest::mouseDClick(tree.viewport(), Qt::LeftButton, {}, place);
  EXPECT_EQ(page_.editor().toPlainText().toStdString(), "SELECT runs");
}

TEST_F(SqlConsole, SearchesViewsByColumnAndByMeaning) {
  page_.side().search().setText(QStringLiteral("reliability diagram"));
  EXPECT_FALSE(schemaItem(QStringLiteral("calibration_bins"))->isHidden());
  EXPECT_TRUE(schemaItem(QStringLiteral("queue"))->isHidden());
}

TEST_F(SqlConsole, OffersTheColumnsOfAnAlias) {
  page_.editor().setPlainText(QStringLiteral("SELECT r. FROM runs r"));
  QTextCursor cursor = page_.editor().textCursor();
  cursor.setPosition(9);
  page_.editor().setTextCursor(cursor);
  EXPECT_TRUE(page_.editor().offers().contains(QStringLiteral("experiment")));
  EXPECT_FALSE(page_.editor().offers().contains(QStringLiteral("SELECT")));
  page_.editor().setPlainText(QStringLiteral("SELECT * FROM spec"));
  cursor.movePosition(QTextCursor::End);
  page_.editor().setTextCursor(cursor);
  EXPECT_EQ(page_.editor().offers(), QStringList{QStringLiteral("spectra")});
}

TEST_F(SqlConsole, OffersViewsAndMetricsFirstAndTablesLast) {
  page_.show();
  page_.waitUntilIdle();
  const auto offered = [this](const QString& text, int back = 0) {
    page_.editor().setPlainText(text);
    QTextCursor cursor = page_.editor().textCursor();
    cursor.setPosition(static_cast<int>(text.size()) - back);
    page_.editor().setTextCursor(cursor);
    return page_.editor().offers();
  };
  const QStringList from = offered(QStringLiteral("SELECT * FROM "));
  ASSERT_TRUE(from.contains(QStringLiteral("metrics")) && from.contains(QStringLiteral("run")));
  EXPECT_LT(from.indexOf(QStringLiteral("runs")), from.indexOf(QStringLiteral("run")))
      << "the view before the table";
  EXPECT_LT(from.indexOf(QStringLiteral("spectra")), from.indexOf(QStringLiteral("artifact")));
  const QStringList all = offered(QStringLiteral("SELECT "));
  EXPECT_LT(all.indexOf(QStringLiteral("spectra")), all.indexOf(QStringLiteral("'train/loss'")));
  EXPECT_LT(all.indexOf(QStringLiteral("'train/loss'")), all.indexOf(QStringLiteral("WHERE")));
  EXPECT_LT(all.indexOf(QStringLiteral("WHERE")), all.indexOf(QStringLiteral("artifact")));
  EXPECT_EQ(offered(QStringLiteral("SELECT * FROM metrics WHERE name = 'train/l")),
            QStringList{QStringLiteral("train/loss")});
  EXPECT_EQ(
      offered(QStringLiteral("SELECT * FROM metrics WHERE name = 'train/l' AND step = 1"), 14),
      QStringList{QStringLiteral("train/loss")});
}

TEST_F(SqlConsole, CompletesTheNameOfAMetricWithinItsQuotes) {
  bringUp(page_);
  page_.waitUntilIdle();
  page_.editor().setFocus();
  page_.editor().setPlainText(QStringLiteral("SELECT * FROM metrics WHERE name = "));
  page_.editor().moveCursor(QTextCursor::End);
  QTest::keyClicks(&page_.editor(), QStringLiteral("'train/lo"));
  QWidget* popup = QApplication::activePopupWidget();
  ASSERT_NE(popup, nullptr);
  QTest::keyClick(popup, Qt::Key_Return);
  EXPECT_EQ(page_.editor().toPlainText().toStdString(),
            "SELECT * FROM metrics WHERE name = 'train/loss");
}

TEST_F(SqlConsole, LongCellsWrapAndShortRowsStayLow) {
  page_.show();
  ask(
      QStringLiteral("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, "
                     "'{\"model\":{\"width\":64,\"depth\":4},\"data\":{\"dataset\":\"tiny\","
                     "\"batch_size\":128,\"augmentation\":\"none\"},\"train\":{\"epochs\":6}}'"));
  QTableView& table = page_.table();
  ASSERT_EQ(page_.model().rowCount(), 2);
  table.setColumnWidth(1, px(160));
  EXPECT_TRUE(soon([&] { return table.rowHeight(1) > 3 * table.rowHeight(0); }));
  EXPECT_EQ(table.rowHeight(0), table.verticalHeader()->defaultSectionSize());
  const int narrow = table.rowHeight(1);
  table.setColumnWidth(1, px(500));
  EXPECT_TRUE(soon([&] { return table.rowHeight(1) < narrow; }));
  page_.table().selectAll();
  page_.copySelection();
  EXPECT_FALSE(QGuiApplication::clipboard()->text().contains(QChar(0x200b)));
}

TEST_F(SqlConsole, AnotherResultIsDrawnByRunAgain) {
  ask(QStringLiteral("SELECT 1 AS a, 2 AS b UNION ALL SELECT 2, 3"));
  page_.showChart(true);
  EXPECT_EQ(chart().group.toStdString(), "");
  ask(
      QStringLiteral("SELECT run_id AS run, step, value, value AS b FROM metrics WHERE "
                     "name = 'train/loss'"));
  EXPECT_EQ(chart().group.toStdString(), "run");
  SqlChartChoice own = chart();
  own.group.clear();
  page_.setChartChoice(own);
  page_.runRequested();
  page_.waitUntilIdle();
  EXPECT_EQ(chart().group.toStdString(), "") << "what was chosen stays";
}

TEST_F(SqlConsole, KeepsWhatWasAskedAndOpensItAgain) {
  ask(QStringLiteral("SELECT 41 AS a"));
  ask(QStringLiteral("SELECT nope"));
  page_.side().showShelf(SqlSide::Shelf::History);
  QTreeWidget& history = page_.side().tree(SqlSide::Shelf::History);
  ASSERT_EQ(history.topLevelItemCount(), 2);
  EXPECT_EQ(history.topLevelItem(0)->text(1).toStdString(), "failed");
  page_.side().search().setText(QStringLiteral("41"));
  EXPECT_TRUE(history.topLevelItem(0)->isHidden());
  Q_EMIT history.itemActivated(history.topLevelItem(1), 0);
  EXPECT_EQ(page_.editor().toPlainText().toStdString(), "SELECT 41 AS a");
  page_.editor().undo();
  EXPECT_EQ(page_.editor().toPlainText().toStdString(), "SELECT nope") << "can be taken back";
}

TEST_F(SqlConsole, SavesRenamesAndDeletesAQuery) {
  useSettings(studio_.folder.filePath(QStringLiteral("studio.ini")));
  page_.editor().setPlainText(QStringLiteral("SELECT 7 AS seven"));
  page_.saveQuery(QStringLiteral("Seven"));
  QTreeWidget& saved = page_.side().tree(SqlSide::Shelf::Saved);
  ASSERT_EQ(saved.topLevelItem(0)->text(0).toStdString(), "Seven");
  saved.topLevelItem(0)->setText(0, QStringLiteral("Eight"));
  const auto kept = [] {
    return SqlBook::fromText(setting(QStringLiteral("sql/book")).toString()).saved();
  };
  EXPECT_TRUE(soon([&] { return kept()[0].name == QStringLiteral("Eight"); }));
  QCoreApplication::processEvents();
  Q_EMIT page_.side().removeRequested(QStringLiteral("Eight"));
  EXPECT_TRUE(kept()[0].isShipped);
  forgetSettings();
}

TEST_F(SqlConsole, DrawsTheResultAsAChartWithARecipe) {
  studio_.workbench.selection().setRuns({studio_.runs[0], studio_.runs[1]}, studio_.runs[0]);
  ask(
      QStringLiteral("SELECT run_id, step, value FROM metrics WHERE run_id IN :runs "
                     "AND name = 'train/loss'"));
  saying<QToolButton>(page_, "Chart")->click();
  ASSERT_EQ(page_.viewState()["show"], "chart");
  EXPECT_EQ(chart().group.toStdString(), "run_id");
  const auto figure = page_.figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->csv().contains(QStringLiteral("run 1")))
      << figure->csv().left(200).toStdString();
  const Json state = page_.viewState();
  SqlPage other(studio_.workbench);
  other.setViewState(state);
  other.waitUntilIdle();
  EXPECT_EQ(other.viewState()["show"], "chart");
  EXPECT_EQ(other.viewState(), state);
  other.setViewState(Json{{"statement", 3}, {"chart", "x"}, {"more", {}}});
}

TEST_F(SqlConsole, TheExportMenuOffersTheChartAsAFigure) {
  ask(QStringLiteral("SELECT 1 AS a, 2 AS b UNION ALL SELECT 2, 3"));
  page_.showChart(true);
  page_.waitUntilIdle();
  QString offered;
  QTimer::singleShot(0, &page_, [&offered] {
    auto* dialog = qobject_cast<ExportDialog*>(QApplication::activeModalWidget());
    if (dialog == nullptr) return;
    offered = dialog->windowTitle();
    dialog->reject();
  });
  const QList<QAction*> actions = page_.tools().back()->menu()->actions();
  const auto figure = std::find_if(actions.begin(), actions.end(), [](const QAction* one) {
    return one->text() == QStringLiteral("Export &figure\u2026");
  });
  ASSERT_NE(figure, actions.end());
  (*figure)->trigger();
  EXPECT_EQ(offered.toStdString(), "Export figure");
}

TEST_F(SqlConsole, CopiesCellsAndWritesFiles) {
  ask(QStringLiteral("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'"));
  page_.table().selectAll();
  page_.copySelection();
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(), "a\tb\n1\tx\n2\ty\n");
  page_.table().clearSelection();
  page_.table().selectionModel()->select(page_.model().index(1, 1),
                                         QItemSelectionModel::ClearAndSelect);
  page_.copySelection();
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(), "y");
  const QString file = studio_.folder.filePath(QStringLiteral("rows.jsonl"));
  page_.exportTo(file);
  page_.waitUntilIdle();
  EXPECT_EQ(bytesOf(file).toStdString(), "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n");
}

TEST_F(SqlConsole, WhyAFileWasNotWrittenStaysUntilItIsRead) {
  ask(QStringLiteral("SELECT 1 AS a"));
  QSignalSpy failed(&studio_.workbench, &StudioWorkbench::errorSent);
  page_.exportTo(studio_.folder.filePath(QStringLiteral("nowhere/rows.csv")));
  page_.waitUntilIdle();
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed.front().front().toString().contains(QStringLiteral("nowhere/rows.csv")));
}

TEST_F(SqlConsole, SortsByAHeaderAndBack) {
  ask(QStringLiteral("SELECT 2 AS a UNION ALL SELECT 10 UNION ALL SELECT 1"));
  page_.table().horizontalHeader()->setSortIndicator(0, Qt::DescendingOrder);
  page_.waitUntilIdle();
  EXPECT_EQ(page_.model().value(page_.model().index(0, 0)), Json(10));
}

TEST_F(SqlConsole, NeverPutsRowsIntoOrderInTheWindowsThread) {
  ask(
      QStringLiteral("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                     "5000) SELECT (i * 7919) % 5000 AS a, i AS b FROM n"));
  page_.table().selectRow(17);
  const Json chosen = page_.model().value(page_.model().index(17, 1));
  QHeaderView* header = page_.table().horizontalHeader();
  const std::vector<int> before = page_.model().order();
  for (int i = 0; i < 20; ++i)
    header->setSortIndicator(0, i % 2 == 0 ? Qt::DescendingOrder : Qt::AscendingOrder);
  // Nothing has moved when the clicks come back, however many there were: it is asked for.
  EXPECT_EQ(page_.model().order(), before);
  EXPECT_TRUE(page_.summary().contains(QStringLiteral("sorting"))) << page_.summary().toStdString();
  page_.waitUntilIdle();
  EXPECT_FALSE(page_.summary().contains(QStringLiteral("sorting")));
  EXPECT_EQ(page_.model().value(page_.model().index(0, 0)), Json(0));
  EXPECT_EQ(page_.model().value(page_.model().index(4999, 0)), Json(4999));
  const QModelIndexList rows = page_.table().selectionModel()->selectedRows(1);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(page_.model().value(rows.front()), chosen);
}

TEST_F(SqlConsole, DropsAnOrderOfRowsThatAreShownNoMore) {
  ask(QStringLiteral("SELECT 2 AS a UNION ALL SELECT 10 UNION ALL SELECT 1"));
  page_.table().horizontalHeader()->setSortIndicator(0, Qt::AscendingOrder);
  ask(QStringLiteral("SELECT 5 AS a UNION ALL SELECT 4 UNION ALL SELECT 3"));
  page_.waitUntilIdle();
  EXPECT_EQ(page_.model().order(), (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace vitrine::ui

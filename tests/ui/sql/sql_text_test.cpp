// SQL as text, results as text and as charts, and what the console remembers.
#include "ui/sql/sql_text.h"

#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QItemSelectionModel>
#include <algorithm>
#include <memory>

#include "tests/ui/support/test_files.h"
#include "ui/sql/sql_book.h"
#include "ui/sql/sql_chart.h"
#include "ui/sql/sql_docs.h"
#include "ui/sql/sql_result.h"

namespace vitrine::ui {
namespace {

std::string statementAt(const QString& text, int position) {
  const auto range = sqlStatementAt(text, position);
  return range ? text.mid(range->start, range->length).toStdString() : "none";
}

/// \param word  that SQLite points at
std::string mistakeIn(const QString& statement, const char* word) {
  const QString sent = withRuns(statement, 7, {3, 7}).value_or(QString());
  const SqlRange place =
      sqlErrorPlace(statement, sent, static_cast<int>(sent.indexOf(QLatin1String(word))));
  return statement.mid(place.start, place.length).toStdString();
}

store::RunStore::Table curves() {
  store::RunStore::Table table{.columns = {"run_id", "step", "value"}};
  for (int run = 1; run <= 2; ++run) {
    for (int step = 3; step > 0; --step) table.rows.push_back({run, step * 10, run + step * 0.1});
  }
  return table;
}

TEST(SqlText, SplitsStatementsAtSemicolonsOutsideTexts) {
  const QString text =
      QStringLiteral("SELECT ';' ; -- one; two\nSELECT \"a;b\" /* ; */ FROM runs;\n-- end");
  const auto all = sqlStatements(text);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(text.mid(all[0].start, all[0].length).toStdString(), "SELECT ';'");
  EXPECT_TRUE(text.mid(all[1].start, all[1].length).endsWith(QLatin1String("FROM runs")));
}

TEST(SqlText, FindsTheStatementUnderTheCursor) {
  const QString text = QStringLiteral("SELECT 1;\n\nSELECT 2;\nSELECT 3");
  EXPECT_EQ(statementAt(text, 0), "SELECT 1");
  EXPECT_EQ(statementAt(text, 9), "SELECT 1") << "behind its semicolon";
  EXPECT_EQ(statementAt(text, 10), "SELECT 2") << "on the empty line before it";
  EXPECT_EQ(statementAt(text, 13), "SELECT 2");
  EXPECT_EQ(statementAt(text, static_cast<int>(text.size())), "SELECT 3");
  EXPECT_EQ(statementAt(QStringLiteral("-- nothing\n"), 3), "none");
}

TEST(SqlText, PutsTheSelectedRunsInPlaceOfParameters) {
  const QString statement = QStringLiteral("SELECT ':run' WHERE a = :run AND b IN :runs");
  EXPECT_EQ(withRuns(statement, 7, {3, 7}).value_or(QString()).toStdString(),
            "SELECT ':run' WHERE a = 7 AND b IN (3, 7)");
  EXPECT_FALSE(withRuns(statement, 0, {}).has_value());
  EXPECT_EQ(withRuns(QStringLiteral("SELECT 1"), 0, {}).value_or(QString()).toStdString(),
            "SELECT 1");
}

TEST(SqlText, PointsAtTheWordThatAnErrorIsAbout) {
  EXPECT_EQ(mistakeIn(QStringLiteral("SELECT nope FROM runs"), "nope"), "nope");
  EXPECT_EQ(mistakeIn(QStringLiteral("SELECT r.nope FROM runs r"), "r.nope"), "r.nope");
  EXPECT_EQ(mistakeIn(QStringLiteral("SELECT 'FRM' FRM FRM runs"), "FRM runs"), "FRM");
  EXPECT_EQ(mistakeIn(QStringLiteral("SELECT 'abc FROM"), "'abc"), "'abc FROM");
}

TEST(SqlText, PointsBehindParametersThatBecameRuns) {
  EXPECT_EQ(mistakeIn(QStringLiteral("SELECT 1 WHERE a IN :runs AND b = :run AND nope"), "nope"),
            "nope");
  EXPECT_EQ(mistakeIn(QStringLiteral("SELECT 1 WHERE a IN :runs"), "(3"), ":runs");
}

TEST(SqlText, PointsAtTheLastSignWhereAStatementEndsTooEarly) {
  const QString statement = QStringLiteral("SELECT (1 +");
  const SqlRange place = sqlErrorPlace(statement, statement, static_cast<int>(statement.size()));
  EXPECT_EQ(place.start, 10);
  EXPECT_EQ(place.length, 1);
}

TEST(SqlText, KeepsACommentOpenFromLineToLine) {
  SqlOpen open = SqlOpen::Nothing;
  (void)sqlTokens(QStringLiteral("SELECT 1 /* begun"), open);
  EXPECT_EQ(open, SqlOpen::Comment);
  const auto tokens = sqlTokens(QStringLiteral("still */ FROM"), open);
  EXPECT_EQ(open, SqlOpen::Nothing);
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[1].kind, SqlToken::Kind::Keyword);
}

TEST(SqlDocs, DocumentEveryColumnThatTheDatabasePageLists) {
  const QString page =
      QString::fromUtf8(bytesOf(QStringLiteral(VITRINE_SOURCE_DIR "/resources/docs/database.md")));
  for (const SqlViewDoc& view : sqlViewDocs()) {
    const auto at = page.indexOf(QStringLiteral("\n| `%1` |").arg(view.name));
    ASSERT_GE(at, 0) << view.name.toStdString();
    const QString line = page.mid(at + 1, page.indexOf(QLatin1Char('\n'), at + 1) - at - 1);
    for (const SqlColumnDoc& column : view.columns)
      EXPECT_TRUE(line.contains(QStringLiteral("`%1`").arg(column.name)))
          << view.name.toStdString() << "." << column.name.toStdString();
  }
}

TEST(SqlBook, KeepsHistoryAndQueriesAsText) {
  SqlBook book;
  for (int i = 0; i < static_cast<int>(SqlBook::kMostPast) + 5; ++i)
    book.add({QStringLiteral("SELECT %1").arg(i), QStringLiteral("2026-11-21T10:00:00Z"), 1, 0.1});
  book.add({QStringLiteral("SELECT 300"), {}, 2, 0.1});
  book.save(QStringLiteral("mine"), QStringLiteral("SELECT 'é\n'"));
  const SqlBook read = SqlBook::fromText(book.toText());
  ASSERT_EQ(read.past().size(), SqlBook::kMostPast) << "bounded";
  EXPECT_EQ(read.past()[0].sql.toStdString(), "SELECT 300") << "asked again: to the front";
  EXPECT_EQ(read.past()[0].rows, 2);
  EXPECT_EQ(read.saved()[0].sql.toStdString(), "SELECT 'é\n'");
  EXPECT_EQ(SqlBook::fromText(QStringLiteral("{\"past\": 3")).past().size(), 0U);
}

TEST(SqlBook, RenamesOnlyToAFreeName) {
  SqlBook book;
  book.save(QStringLiteral("a"), QStringLiteral("SELECT 1"));
  book.save(QStringLiteral("b"), QStringLiteral("SELECT 2"));
  EXPECT_FALSE(book.rename(QStringLiteral("a"), QStringLiteral("b")));
  EXPECT_TRUE(book.rename(QStringLiteral("a"), QStringLiteral("c")));
  EXPECT_EQ(book.saved()[1].name.toStdString(), "c");
}

TEST(SqlResult, WritesRowsAsCsvTsvAndJsonLines) {
  store::RunStore::Table table;
  table.columns = {"a", "a", "b"};
  table.rows = {{1, "x,\"y\"\tz", nullptr}, {0.1, "\n", Json{{"bytes", 12}}}};
  EXPECT_EQ(sqlCsv(table, {}).toStdString(),
            "a,a,b\n1,\"x,\"\"y\"\"\tz\",\n0.1,\"\n\",[12 bytes]\n");
  EXPECT_EQ(sqlTsv(table, {1}, SqlHeader::None).toStdString(), "0.1\t \t[12 bytes]\n");
  EXPECT_EQ(sqlJsonLines(table, {0}).toStdString(),
            "{\"a\":1,\"a_2\":\"x,\\\"y\\\"\\tz\",\"b\":null}\n");
}

TEST(SqlResult, SortsNumbersAsNumbersAndNullFirst) {
  store::RunStore::Table table{.columns = {"v"}, .rows = {{10}, {9.5}, {nullptr}, {"text"}, {-1}}};
  SqlResultModel model;
  model.setTable(std::make_shared<const store::RunStore::Table>(table),
                 QStringLiteral("SELECT v FROM x"));
  model.setOrder(sqlOrder(table, 0, Qt::AscendingOrder));
  EXPECT_EQ(model.order(), (std::vector<int>{2, 4, 1, 0, 3}));
  model.setOrder(sqlOrder(table, -1, Qt::AscendingOrder));
  EXPECT_EQ(model.order(), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(SqlResult, KeepsWhatIsSelectedOverAnotherOrder) {
  auto table = std::make_shared<store::RunStore::Table>();
  table->columns = {"v", "w"};
  for (int i = 0; i < 100; ++i) table->rows.push_back({(i * 37) % 100, i});
  SqlResultModel model;
  model.setTable(table, QString());
  QItemSelectionModel selection(&model);
  selection.select(QItemSelection(model.index(10, 0), model.index(12, 1)),
                   QItemSelectionModel::Select);
  selection.setCurrentIndex(model.index(11, 1), QItemSelectionModel::NoUpdate);
  model.setOrder(sqlOrder(*table, 0, Qt::DescendingOrder));
  std::vector<Json> kept;
  for (const QModelIndex& index : selection.selectedIndexes()) {
    if (index.column() == 1) kept.push_back(model.value(index));
  }
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (std::vector<Json>{10, 11, 12}));
  EXPECT_EQ(model.value(selection.currentIndex()), Json(11));
  EXPECT_EQ(model.value(model.index(0, 0)), Json(99));
}

TEST(SqlResult, KnowsWhichColumnNamesARun) {
  store::RunStore::Table table{.columns = {"id", "name"}, .rows = {{4, "a"}}};
  SqlResultModel model;
  model.setTable(std::make_shared<const store::RunStore::Table>(table),
                 QStringLiteral("SELECT id, name FROM runs"));
  EXPECT_EQ(model.runOf(0), 4);
  model.setTable(std::make_shared<const store::RunStore::Table>(table),
                 QStringLiteral("SELECT id, name FROM artifacts"));
  EXPECT_EQ(model.runOf(0), 0);
}

TEST(SqlResult, ShowsBlobsAsTheirSizeAndNullAsADash) {
  store::RunStore::Table table{.columns = {"data", "none"},
                               .rows = {{Json{{"bytes", 1'234'000}}, nullptr}}};
  SqlResultModel model;
  model.setTable(std::make_shared<const store::RunStore::Table>(table), QString());
  EXPECT_EQ(model.index(0, 0).data().toString(), QStringLiteral("1.2\u202fMB"));
  EXPECT_EQ(model.index(0, 1).data().toString(), QStringLiteral("\u2013"));
}

TEST(SqlChart, GuessesOneLinePerRunOverSteps) {
  const SqlChartChoice choice = guessSqlChart(curves());
  EXPECT_EQ(choice.x.toStdString(), "step");
  EXPECT_EQ(choice.y, QStringList{QStringLiteral("value")});
  EXPECT_EQ(choice.group.toStdString(), "run_id");
  const LineChart chart = sqlChart(curves(), choice);
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_EQ(chart.series[1].run, 2) << "the colour that the run has everywhere";
  EXPECT_EQ(chart.series[0].x, (std::vector<double>{10, 20, 30})) << "a line needs ascending x";
  EXPECT_DOUBLE_EQ(chart.series[0].y[0], 1.1);
}

TEST(SqlChart, SplitsByRunAndByMetricWhereOneRunHasSeveral) {
  store::RunReader::Table table{.columns = {"run", "name", "step", "value"}};
  for (const int run : {3, 4}) {
    for (const char* name : {"train/loss", "test/loss"}) {
      for (const int step : {10, 20}) table.rows.push_back({run, name, step, 0.5 * run});
    }
  }
  const SqlChartChoice choice = guessSqlChart(table);
  EXPECT_EQ(choice.group.toStdString(), "run, name");
  const LineChart chart = sqlChart(table, fitSqlChart(choice, table));
  ASSERT_EQ(chart.series.size(), 4U);
  EXPECT_EQ(chart.series[0].name.toStdString(), "run 3, train/loss");
  EXPECT_EQ(chart.series[3].name.toStdString(), "run 4, test/loss");
  EXPECT_EQ(chart.series[0].x, (std::vector<double>{10, 20}));
  table.rows.erase(table.rows.begin() + 2, table.rows.begin() + 4);
  table.rows.erase(table.rows.end() - 2, table.rows.end());
  EXPECT_EQ(guessSqlChart(table).group.toStdString(), "run") << "one metric a run";
}

TEST(SqlChart, LeavesOutColumnsThatAreGone) {
  SqlChartChoice choice;
  choice.x = QStringLiteral("gone");
  choice.y = {QStringLiteral("value"), QStringLiteral("lost")};
  choice.group = QStringLiteral("unknown");
  choice.isPoints = true;
  const SqlChartChoice fit = fitSqlChart(choice, curves());
  EXPECT_EQ(fit.y, QStringList{QStringLiteral("value")});
  EXPECT_TRUE(fit.x.isEmpty());
  EXPECT_TRUE(fit.group.isEmpty());
  EXPECT_TRUE(fit.isPoints);
}

TEST(SqlChart, SaysHowManyLinesItLeftOut) {
  store::RunStore::Table table{.columns = {"run_id", "step", "value"}};
  for (int run = 1; run <= kMostSqlSeries + 3; ++run) table.rows.push_back({run, 1, 0.5});
  const LineChart chart = sqlChart(table, guessSqlChart(table));
  EXPECT_EQ(chart.series.size(), static_cast<std::size_t>(kMostSqlSeries));
  EXPECT_TRUE(chart.footnote.contains(QStringLiteral("40 of 43")));
}

TEST(SqlChart, CountsTheLinesOfAHundredThousandGroupsAtOnce) {
  constexpr int kRuns = 100'000;
  store::RunStore::Table table{.columns = {"run_id", "step", "value"}};
  for (int run = 1; run <= kRuns; ++run) table.rows.push_back({run, 1, 0.5});
  QElapsedTimer clock;
  clock.start();
  const LineChart chart = sqlChart(table, guessSqlChart(table));
  EXPECT_LT(clock.elapsed(), 5'000) << "ms; each line was compared with all before it";
  EXPECT_TRUE(chart.footnote.contains(QStringLiteral("40 of 100000")));
}

TEST(SqlChart, IsTheSameAfterAWayThroughJson) {
  SqlChartChoice choice{QStringLiteral("step"),   {QStringLiteral("a"), QStringLiteral("b")},
                        QStringLiteral("run_id"), true,
                        AxisScale::Log,           AxisScale::Linear};
  EXPECT_EQ(sqlChartFromJson(toJson(choice)), choice);
  EXPECT_EQ(sqlChartFromJson(Json(3)), SqlChartChoice{});
}

}  // namespace
}  // namespace vitrine::ui

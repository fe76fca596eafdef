// The split whose answers choose the temperature.
#include <gmock/gmock.h>

#include <QCoreApplication>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <algorithm>
#include <cmath>

#include "tests/ui/calibration/answers.h"
#include "tests/ui/support/line_chart_probe.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/soon.h"
#include "ui/calibration/calibration_page.h"
#include "ui/kit/fit_area.h"

namespace vitrine::ui {
namespace {

class CalibrationFit : public PageTest<CalibrationPage> {};

TEST_F(CalibrationFit, OfMoreRunsThanItDrawsThoseWithAnswersAreDrawn) {
  std::vector<std::int64_t> runs;
  for (int i = 0; i < 6; ++i) runs.push_back(runWith("a", {}));
  for (int i = 0; i < 2; ++i)
    runs.push_back(runWith("b", {samples::predictions(samples::overconfident())}));
  const auto shown = page(runs);
  EXPECT_EQ(shown->shown().size(), 2U);
}

// In the room that a window of 1366 x 768 leaves for the page.
TEST_F(CalibrationFit, NamesOfOtherRunsAreReadWholeAboveTheirScores) {
  std::vector<std::int64_t> runs;
  const std::vector<std::string> names{"ViT, seed 0", "iLLaMA, soft mask", "ViT, cosine, seed 1"};
  for (const std::string& name : names)
    runs.push_back(runWith(name, {samples::predictions(samples::overconfident())}));
  const auto shown = page(runs);
  shown->resize(1050, 610);
  const auto& table = *shown->findChild<QTableWidget*>();
  ASSERT_EQ(table.columnCount(), 4) << "1, fitted, other runs";
  const QHeaderView& header = *table.horizontalHeader();
  const auto linesOf = [&table](int column) {
    return table.horizontalHeaderItem(column)->text().split(QLatin1Char('\n'));
  };
  for (int column = 2; column < 4; ++column) {
    const QString name = QString::fromStdString(names[static_cast<std::size_t>(column) - 1]);
    EXPECT_TRUE(soon([&] {
      return linesOf(column).join(QString()).remove(QLatin1Char(' ')) ==
                 QString(name).remove(QLatin1Char(' ')) &&
             header.height() >= linesOf(column).size() * header.fontMetrics().height() &&
             std::ranges::all_of(linesOf(column), [&](const QString& line) {
               return header.fontMetrics().horizontalAdvance(line) <= header.sectionSize(column);
             });
    })) << linesOf(column).join(QLatin1Char('|')).toStdString();
    EXPECT_EQ(table.horizontalHeaderItem(column)->toolTip(), name);
  }
  EXPECT_LE(table.visualItemRect(table.item(table.rowCount() - 1, 0)).bottom(),
            table.viewport()->height());
}

TEST_F(CalibrationFit, ChoosesTheTemperatureOnTheValidationSplitWhereThereIsOne) {
  std::vector<samples::Answer> sure(50, {{std::log(9), 0}, 0});
  sure[0].label = 1;  // right about 98 %: T below 1
  const auto shown =
      page({runWith("a", {samples::predictions(samples::overconfident(), 100, "test"),
                          samples::predictions(sure, 100, "validation")})});
  EXPECT_EQ(shown->current()->fittedOn, "validation");
  EXPECT_LT(shown->current()->fitted.temperature, 1);
  EXPECT_THAT(labels(*shown), ::testing::HasSubstr("fitted on the validation split"));
}

TEST_F(CalibrationFit, FitsTheTemperatureAgainOnceTheValidationSplitIsEvaluated) {
  const std::int64_t run =
      runWith("a", {samples::predictions(samples::overconfident(), 100, "test")});
  const auto shown = page({run});
  EXPECT_EQ(shown->current()->fittedOn, "test");
  std::vector<samples::Answer> sure(50, {{std::log(9), 0}, 0});
  sure[0].label = 1;
  store::RunStore other(workbench_.store().file());
  other.addArtifact(run, samples::predictions(sure, 100, "validation"));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->current()->fittedOn == "validation"; }));
  EXPECT_LT(shown->current()->fitted.temperature, 1);
}

TEST_F(CalibrationFit, ANameOverTheScoresKeepsItsEndsAndIsNeverCut) {
  const QString name = QStringLiteral("a variant with a very long name, seed 12");
  const auto shown = page(
      {runWith("a", {samples::predictions(samples::overconfident(), 100, "test")}),
       runWith(name.toStdString(), {samples::predictions(samples::overconfident(), 100, "test")})});
  const auto* table = shown->findChild<QTableWidget*>();
  for (const int width : {1900, 1000}) {
    shown->resize(width, 800);
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
    const int last = table->columnCount() - 1;
    const QHeaderView& header = *table->horizontalHeader();
    const QTableWidgetItem& title = *table->horizontalHeaderItem(last);
    EXPECT_TRUE(title.text().startsWith(QLatin1Char('a'))) << title.text().toStdString();
    EXPECT_TRUE(title.text().endsWith(QLatin1Char('2'))) << title.text().toStdString();
    for (const QString& line : title.text().split(QLatin1Char('\n')))
      EXPECT_LE(header.fontMetrics().horizontalAdvance(line), header.sectionSize(last) - 16);
    EXPECT_EQ(title.toolTip(), name);
  }
}

TEST_F(CalibrationFit, TheTitleOfTheTemperatureIsNeverCut) {
  const auto shown = page({runWith("a run with a very long name that its card has no room for",
                                   {samples::predictions(samples::overconfident(), 100, "test")})});
  shown->resize(1000, 800);
  for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  const auto* title = saying<QLabel>(*shown, "Temperature");
  EXPECT_GE(title->width(), title->sizeHint().width());
}

TEST_F(CalibrationFit, UsesTheFittedTemperatureAndTakesItBack) {
  const auto shown = page({runWith("a", {samples::predictions(samples::overconfident())})});
  EXPECT_NEAR(shown->current()->now.scores.ece, 0.15, 1e-6);
  press(*shown, "Use fitted T");
  EXPECT_TRUE(soon([&] { return std::abs(shown->current()->temperature - 2) < 0.01; }));
  EXPECT_NEAR(shown->current()->now.scores.ece, 0, 1e-3);
  press(*shown, "Reset");
  EXPECT_TRUE(soon([&] { return shown->current()->temperature == 1; }));
}

TEST_F(CalibrationFit, OneFittedTemperatureOfTwoRunsIsWrittenOnce) {
  const std::int64_t a = runWith("a", {samples::predictions(samples::overconfident())});
  const std::int64_t b = runWith("b", {samples::predictions(samples::overconfident())});
  const auto shown = page({a, b});
  ASSERT_EQ(shown->shown().size(), 2u);
  const auto& chart = static_cast<const LineChartFigure&>(
      *figure(*shown, "Calibration error over the temperature").figure());
  EXPECT_EQ(LineChartProbe::commands(chart, 400).count(QLatin1String("note \"fitted ")), 1);
}

TEST_F(CalibrationFit, NoNumberOfManyRunsIsCut) {
  std::vector<std::int64_t> runs;
  for (int i = 0; i < 4; ++i)
    runs.push_back(
        runWith("a run with quite a long name", {samples::predictions(samples::overconfident())}));
  const auto shown = page(runs);
  shown->resize(900, 610);
  layOutNow();
  const auto& scores = *named<QTableWidget>(*shown, "Scores");
  const QAbstractItemView& table = scores;  // it hides what its columns need
  ASSERT_EQ(scores.columnCount(), 5);
  for (int column = 0; column < scores.columnCount(); ++column)
    EXPECT_LE(table.sizeHintForColumn(column), scores.columnWidth(column)) << column;
}

}  // namespace
}  // namespace vitrine::ui

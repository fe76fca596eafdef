// What the table and the charts of the Compare page make of the spread over seeds, and of metrics
// with one value a run.
#include <gmock/gmock.h>

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPlainTextEdit>

#include "tests/support/has_texts.h"
#include "tests/ui/compare/compare_page_fixture.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/soon.h"
#include "ui/compare/forest_chart.h"
#include "ui/compare/latex_dialog.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr, ::testing::Not;

class CompareForest : public ComparePageTest {
 protected:
  /// Two variants of three seeds with one value each, and one of two seeds.
  void fillSingle() {
    const auto add = [this](const std::string& name, int width, std::vector<double> values) {
      for (std::uint64_t seed = 0; seed < values.size(); ++seed)
        addAblationRun(studio_.writer, {name, {{"width", width}}, seed, {values[seed]}});
    };
    add("base", 48, {0.80, 0.84, 0.82});
    add("+ wide", 64, {0.82, 0.861, 0.839});
    add("+ narrow", 8, {0.70, 0.74});
  }
  const ForestFigure* forest(FigureView& view) {
    return dynamic_cast<const ForestFigure*>(view.figure());
  }
};

TEST_F(CompareForest, TheTableHasTheSpreadThatIsChosen) {
  showFilled();
  const QString difference = cells(1)[3];
  pick(QStringLiteral("Band"), QStringLiteral("standard deviation"));
  EXPECT_EQ(cells(0)[2].toStdString(), "82.0 \u00b1 2.0");
  EXPECT_EQ(cells(1)[3], difference) << "the verdict is that of the interval";
  EXPECT_THAT(page_->tableText(ComparePage::TableFormat::Markdown).toStdString(),
              HasSubstr("+- standard deviation"));
  pick(QStringLiteral("Band"), QStringLiteral("minimum"));
  EXPECT_EQ(cells(0)[2].toStdString(), "82.0 [80.0; 84.0]");
  pick(QStringLiteral("Aggregate"), QStringLiteral("median"));
  pick(QStringLiteral("Band"), QStringLiteral("quartiles"));
  EXPECT_EQ(cells(0)[2].toStdString(), "82.0 [81.0; 83.0]");
}

TEST_F(CompareForest, TheTableShowsAllRowsThatFitThePage) {
  for (int variant = 0; variant < 12; ++variant)
    addAblationRun(studio_.writer, {"v" + std::to_string(variant), {{"width", variant}}, 0, {0.5}});
  show();
  page_->resize(1100, 1000);
  page_->waitUntilIdle();
  QTableView& table = only<QTableView>(*page_);
  EXPECT_GE(table.viewport()->height(), table.verticalHeader()->length());
  EXPECT_GE(curves().height(), px(180)) << "the charts stay readable";
  const int before = table.height();
  page_->resize(1100, 640);
  page_->waitUntilIdle();
  EXPECT_LT(table.height(), before);
  EXPECT_GE(curves().height(), px(180));
}

TEST_F(CompareForest, AMetricWithOneValueHasARowForEachVariant) {
  fillSingle();
  show();
  const ForestFigure* values = forest(curves());
  ASSERT_NE(values, nullptr);
  ASSERT_EQ(values->chart().rows.size(), 3U);
  EXPECT_TRUE(values->chart().rows[0].isBaseline);
  EXPECT_NEAR(values->chart().rule.value_or(0), 82, 1e-9) << "the baseline's mean";
  EXPECT_EQ(values->chart().rows[0].seeds.size(), 3U);
  EXPECT_EQ(values->chart().rows[0].text.toStdString(), "82.0 \u00b1 5.0");
  const ForestFigure* differences = forest(difference());
  ASSERT_NE(differences, nullptr);
  ASSERT_EQ(differences->chart().rows.size(), 2U) << "the baseline has no difference";
  EXPECT_NEAR(differences->chart().rows[0].number.centre, 2, 1e-9);
  EXPECT_EQ(differences->chart().rule.value_or(1), 0);
  EXPECT_FALSE(named<QComboBox>(*page_, "Panel")->isEnabled());
}

TEST_F(CompareForest, FollowsTheChoiceOfSpreadOrderAndRows) {
  fillSingle();
  show();
  pick(QStringLiteral("Band"), QStringLiteral("standard deviation"));
  EXPECT_NEAR(forest(curves())->chart().rows[0].number.lower, 80, 1e-9);
  only<QTableView>(*page_).selectRow(1);
  page_->waitUntilIdle();
  ASSERT_EQ(forest(curves())->chart().rows.size(), 1U);
  EXPECT_EQ(forest(curves())->chart().rows[0].name.toStdString(), "+ wide");
}

TEST_F(CompareForest, AnIntervalOfTwoSeedsDoesNotSqueezeTheOthers) {
  fillSingle();
  show();
  const ForestFigure* values = forest(curves());
  ASSERT_NE(values, nullptr);
  const ForestRow& narrow = values->chart().rows[2];
  EXPECT_LT(narrow.number.lower, values->range()[0]) << "72 \u00b1 25";
  EXPECT_EQ(values->note().toStdString(), "arrow: the interval continues beyond the axis");
  EXPECT_LT(values->range()[0], 70);
  EXPECT_GT(values->range()[1], 86.1);
}

TEST_F(CompareForest, IsExportedWithEveryMeanAndEverySeed) {
  fillSingle();
  show();
  bringUp(*page_);
  curves().setFocus();
  const auto figure = page_->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->csv().count(QLatin1Char('\n')), 1 + 3 + 8);
  EXPECT_THAT(figure->csv().toStdString(), test::HasLine("+ wide,\"seed 1, run 5\",86.1,,\n"));
  EXPECT_FALSE(figure->image({540, 220}, 1).isNull());
  EXPECT_THAT(figure->describeAt({60, 100}).toStdString(), HasSubstr("seed "));
  difference().setFocus();
  EXPECT_THAT(page_->figure()->csv().toStdString(), Not(test::HasLine("base,")));
  EXPECT_EQ(page_->viewState().at("picture"), "difference");
}

TEST_F(CompareForest, TheLatexTableHasTheColumnsThatAreChosen) {
  showFilled();
  saying<QAction>(*page_, "Save table as LaTeX\u2026")->trigger();
  auto* dialog = page_->findChild<LatexDialog*>();
  ASSERT_NE(dialog, nullptr);
  auto* text = dialog->findChild<QPlainTextEdit*>();
  EXPECT_EQ(text->font().family(), monoFont().family()) << "columns stand below each other";
  EXPECT_THAT(text->toPlainText().toStdString(), test::HasLine("+ better & mlp = swiglu & "));
  dialog->findChild<QComboBox*>()->setCurrentIndex(1);
  EXPECT_THAT(text->toPlainText().toStdString(), test::HasLine("+ better & swiglu & "));
  for (auto* box : dialog->findChildren<QCheckBox*>()) {
    if (box->text() != QStringLiteral("Best in bold"))
      QTest::mouseClick(box, Qt::LeftButton, {}, {8, box->height() / 2});
  }
  ui::press(*dialog, "Copy");
  const std::string copied = QGuiApplication::clipboard()->text().toStdString();
  EXPECT_THAT(copied, test::HasTexts("\\begin{tabular}{llr}",
                                     "+ better & swiglu & $\\mathbf{84.0} \\pm 5.1$ \\\\"));
  EXPECT_EQ(page_->viewState().at("latex").at("differs"), "short");
  EXPECT_EQ(page_->viewState().at("latex").at("count"), false);
}

}  // namespace
}  // namespace vitrine::ui

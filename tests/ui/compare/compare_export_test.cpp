// The table of variants as LaTeX, CSV and Markdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/has_texts.h"
#include "tests/ui/compare/ablation.h"
#include "tests/ui/compare/compare_fixture.h"
#include "ui/compare/latex_table.h"

namespace vitrine::ui {
namespace {


TEST_F(CompareValues, LatexIsEscapedAndSaysWhereItComesFrom) {
  addAblationRun(store_, {"50% & more_$^{}~\\#", {{"mask_kind", "a&b"}}, 0, {0.5}});
  addAblationRun(store_, {"<b>", {{"mask_kind", "[c]"}}, 0, {0.625}});
  const auto data = read();
  const AblationTable table = makeAblationTable(*data, {});
  const std::string text = toLatex(table, originOf(*data, "/x/experiments.sqlite")).toStdString();
  EXPECT_THAT(text, test::HasTexts("50\\% \\& more\\_\\$\\textasciicircum{}\\{\\}\\textasciitilde{}"
                                   "\\textbackslash{}\\#",
                                   "\\textless{}b\\textgreater{} & mask\\_kind = {[}c{]}", "$50.0$",
                                   "$\\mathbf{62.5}$", "\\toprule"));
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_THAT(first, ::testing::StartsWith("% Vitrine: Roadmap"));
  EXPECT_THAT(first, test::HasTexts("experiments.sqlite", "runs 1, 2", "test/top1"));
}

TEST_F(CompareValues, LatexPutsPlusMinusInMathMode) {
  fillAblation(store_);
  const auto data = read();
  const AblationTable table = makeAblationTable(*data, {});
  const std::string text = toLatex(table, {}).toStdString();
  EXPECT_THAT(
      text, test::HasTexts("base & baseline & $82.0 \\pm 5.0$ & -- & 3 \\\\", "$+2.00 \\pm 0.25$"));
  EXPECT_EQ(text.find("\u00b1"), std::string::npos) << text;
  EXPECT_EQ(text.find("\u2212"), std::string::npos) << text;
}

TEST_F(CompareValues, LatexColumnsHaveOneNumberOfDecimals) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const double shift = 0.001 * static_cast<double>(seed);
    addAblationRun(store_, {"a", {{"width", 1}}, seed, {0.5 + shift}});
    addAblationRun(store_, {"b", {{"width", 2}}, seed, {0.6 + 10 * shift}});
    addAblationRun(store_, {"c", {{"width", 3}}, seed, {0.3 + 9 * shift}});
  }
  const auto data = read();
  const AblationTable table = makeAblationTable(*data, {});
  EXPECT_EQ(
      meanText(table.rows[0].cells[0].sample.statistics, table.metrics[0].format).toStdString(),
      "50.10 \u00b1 0.25");
  const std::string text = toLatex(table, {}).toStdString();
  EXPECT_THAT(text, test::HasTexts("a & baseline & $50.1 \\pm 0.2$ & -- & 3",
                                   "b & width = 2 & $\\mathbf{61.0} \\pm 2.5$",
                                   "c & width = 3 & $30.9 \\pm 2.2$"));
}

TEST_F(CompareValues, SingleSeedsSayNothingOfTheDecimalsOfALatexColumn) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    addAblationRun(store_, {"a", {{"width", 1}}, seed, {0.5 + 0.0001 * static_cast<double>(seed)}});
  addAblationRun(store_, {"b", {{"width", 2}}, 0, {0.6}});
  addAblationRun(store_, {"c", {{"width", 3}}, 0, {0.4}});
  const auto data = read();
  const std::string text = toLatex(makeAblationTable(*data, {}), {}).toStdString();
  EXPECT_THAT(text, test::HasTexts("$50.010 \\pm 0.025$",
                                   "b & width = 2 & $\\mathbf{60.000}$ & $+10.0$ & 1"));
}

TEST_F(CompareValues, LatexHasWhatIsAskedFor) {
  fillAblation(store_);
  CompareChoice columns{.metrics = {"test/top1", "test/loss"}};
  const auto data = read(columns);
  const AblationTable table = makeAblationTable(*data, columns);
  LatexChoice choice{.differs = LatexChoice::Differs::None};
  choice.hasDifference = choice.hasCount = choice.isBestBold = false;
  choice.withoutMetrics = {"test/top1"};
  const std::string text = toLatex(table, {}, choice).toStdString();
  EXPECT_THAT(text, test::HasLine("\\begin{tabular}{lr}\n"));
  EXPECT_THAT(text, test::HasLine("base & $1."));
  for (const char* left : {"mathbf", "swiglu"})
    EXPECT_EQ(text.find(left), std::string::npos) << text;
}

TEST_F(CompareValues, CsvHasFullPrecision) {
  fillAblation(store_);
  const auto data = read();
  const QStringList lines =
      toCsv(makeAblationTable(*data, {}), {}).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 6);
  EXPECT_EQ(lines[1].toStdString(),
            "variant,differs,runs,test/top1 mean,test/top1 lower,test/top1 upper,test/top1 sd,"
            "test/top1 n,test/top1 seeds,test/top1 difference,test/top1 difference_lower,"
            "test/top1 difference_upper,test/top1 pairs,test/top1 outcome");
  EXPECT_THAT(lines[2].toStdString(), ::testing::EndsWith(",0 1 2,,,,0,"))
      << "the baseline has no difference";
  EXPECT_THAT(lines[3].toStdString(), test::HasTexts("0 1 2", ",better"));
}

TEST_F(CompareValues, MarkdownKeepsItsColumns) {
  addAblationRun(store_, {"a|b", {{"width", 1}}, 0, {0.5}});
  addAblationRun(store_, {"c", {{"width", 2}}, 0, {0.5}});
  const auto data = read();
  const QString text = toMarkdown(makeAblationTable(*data, {}), {});
  EXPECT_THAT(text.toStdString(), test::HasLine("| a\\|b | baseline | 50.0 | \u2013 | 1 |\n"));
}

}  // namespace
}  // namespace vitrine::ui

// The Compare page through its controls.
#include "ui/compare/compare_page.h"

#include <gmock/gmock.h>

#include <QAccessible>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/support/has_texts.h"
#include "tests/ui/compare/compare_page_fixture.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/compare/parallel_view.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;
using test::HasLine;
using ::testing::Not;

TEST_F(ComparePageTest, SaysWhatWillBeHereAndHowToGetThere) {
  show();
  QSignalSpy asked(&studio_.workbench, &StudioWorkbench::pageRequested);
  const QList<QPushButton*> buttons = page_->findChildren<QPushButton*>();
  const auto shown = std::find_if(buttons.begin(), buttons.end(),
                                  [](const QPushButton* each) { return each->isVisible(); });
  ASSERT_NE(shown, buttons.end());
  QTest::mouseClick(*shown, Qt::LeftButton);
  ASSERT_EQ(asked.count(), 1);
  EXPECT_EQ(asked.front().front().toString(), QStringLiteral("configure"));
  EXPECT_EQ(page_->figure(), nullptr);
}

TEST_F(ComparePageTest, ShowsTheNewestExperimentAsAnAblationTable) {
  showFilled();
  EXPECT_THAT(cells(0), ElementsAre(QStringLiteral("base"), QStringLiteral("baseline"),
                                    QStringLiteral("82.0 \u00b1 5.0"), QStringLiteral("\u2013"),
                                    QStringLiteral("3"), QStringLiteral("3 done")));
  EXPECT_THAT(cells(1), ElementsAre(QStringLiteral("+ better"), QStringLiteral("swiglu"),
                                    QStringLiteral("84.0 \u00b1 5.1"),
                                    QStringLiteral("+2.00 \u00b1 0.25  \u2713 better"),
                                    QStringLiteral("3"), QStringLiteral("3 done")));
  EXPECT_THAT(cells(2)[3].toStdString(), ::testing::EndsWith("  \u2248 no clear difference"));
  EXPECT_EQ(cells(3)[5].toStdString(), "2 done, 1 failed");
  EXPECT_NE(curves().figure(), nullptr);
  EXPECT_TRUE(difference().figure()->summary().contains(QLatin1String("Difference to base")));
}

TEST_F(ComparePageTest, ComparesWithTheBaselineThatIsChosen) {
  showFilled();
  QSignalSpy changed(page_.get(), &Page::viewChanged);
  pick(QStringLiteral("Baseline"), QStringLiteral("+ better"));
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(cells(1)[1], QStringLiteral("baseline"));
  EXPECT_THAT(cells(0)[3].toStdString(), ::testing::EndsWith(" worse"));
}

TEST_F(ComparePageTest, ShowsAVariantInTheColourThatItsRunsShareInTheList) {
  showFilled();
  const auto hasColour = [](const QImage& picture, std::int64_t number) {
    const QColor wanted = seriesColor(number);
    for (int y = 0; y < picture.height(); ++y) {
      for (int x = 0; x < picture.width(); ++x) {
        const QColor one = picture.pixelColor(x, y);
        if (one.alpha() > 200 && std::abs(one.red() - wanted.red()) +
                                         std::abs(one.green() - wanted.green()) +
                                         std::abs(one.blue() - wanted.blue()) <
                                     12)
          return true;
      }
    }
    return false;
  };
  const auto swatch = [this](int row) {
    return only<QTableView>(*page_)
        .model()
        ->index(row, 0)
        .data(Qt::DecorationRole)
        .value<QPixmap>()
        .toImage();
  };
  ASSERT_TRUE(hasColour(swatch(0), 1));
  ASSERT_FALSE(hasColour(curves().grab().toImage(), 5));
  std::map<std::int64_t, std::int64_t> numbers;  // the first three runs are seeds of the first
  for (const std::int64_t run : ids_) numbers[run] = run <= ids_[2] ? 5 : 3;
  setRunSeries(numbers);
  Q_EMIT studio_.workbench.themeChanged();
  page_->waitUntilIdle();
  EXPECT_TRUE(hasColour(swatch(0), 5));
  EXPECT_TRUE(hasColour(swatch(1), 3));
  EXPECT_TRUE(hasColour(curves().grab().toImage(), 5)) << "the curves are drawn again";
  setRunSeries({});
}

TEST_F(ComparePageTest, TakesTheValueThatIsChosen) {
  showFilled();
  pick(QStringLiteral("Value of a run"), QStringLiteral("At step"));
  auto* step = named<QSpinBox>(*page_, "Step");
  EXPECT_TRUE(step->isVisible());
  EXPECT_EQ(step->value(), 30) << "as far as all have come";
  EXPECT_EQ(cells(3)[4], QStringLiteral("3")) << "the failed run came so far";
  step->setValue(15);
  page_->waitUntilIdle();
  EXPECT_EQ(cells(0)[2], QStringLiteral("52.0 \u00b1 5.0"));
}

TEST_F(ComparePageTest, ABaselineChosenWhileAMetricIsReadLosesNeither) {
  showFilled();
  CompareChoice choice = page_->choice();
  choice.metrics = {"test/loss"};
  page_->choose(choice);
  choice.baseline = "+ better";
  page_->choose(choice);
  page_->waitUntilIdle();
  EXPECT_EQ(cells(1)[1], QStringLiteral("baseline"));
  EXPECT_EQ(cells(0)[2].left(4), QStringLiteral("1.18")) << "the mean of 2 - top1";
}

TEST_F(ComparePageTest, CountsUnfinishedRunsWhenAsked) {
  showFilled();
  EXPECT_EQ(cells(3)[4], QStringLiteral("2"));
  saying<QCheckBox>(*page_, "Count unfinished runs")->click();
  page_->waitUntilIdle();
  EXPECT_EQ(cells(3)[4], QStringLiteral("3"));
}

TEST_F(ComparePageTest, SortsUpDownAndBack) {
  showFilled();
  QHeaderView* header = only<QTableView>(*page_).horizontalHeader();
  const auto click = [&] {
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                      {header->sectionViewportPosition(3) + 8, header->height() / 2});
  };
  click();
  EXPECT_EQ(variants().first(), QStringLiteral("+ worse"));
  click();
  EXPECT_EQ(variants().first(), QStringLiteral("+ better"));
  click();
  EXPECT_EQ(variants().first(), QStringLiteral("base"));
}

TEST_F(ComparePageTest, FiltersByWordsOfVariantAndKey) {
  showFilled();
  named<QLineEdit>(*page_, "Filter variants")->setText(QStringLiteral("width"));
  EXPECT_THAT(variants(), ElementsAre(QStringLiteral("+ noise"), QStringLiteral("+ worse")));
  EXPECT_FALSE(
      page_->tableText(ComparePage::TableFormat::Csv).contains(QLatin1String("swiglu")));
}

TEST_F(ComparePageTest, ComparesTheRunsThatAreSelected) {
  fill();
  studio_.workbench.selection().setRuns({1, 2, 4, 5}, 1);
  show();
  EXPECT_THAT(variants(), ElementsAre(QStringLiteral("base"), QStringLiteral("+ better")));
  EXPECT_EQ(cells(1)[4], QStringLiteral("2"));
  studio_.workbench.selection().setRuns({1}, 1);
  page_->waitUntilIdle();
  EXPECT_EQ(variants().size(), 4);
}

TEST_F(ComparePageTest, ShowsRunsThatEndWhileOneLooks) {
  showFilled();
  addAblationRun(studio_.writer,
                 {"late", {{"width", 48}, {"mlp", "late"}, {"preset", nullptr}}, 0, {0.9}});
  studio_.workbench.watcher().poll();
  page_->waitUntilIdle();
  EXPECT_EQ(variants().size(), 5);
}

TEST_F(ComparePageTest, ColumnsGrowWithWhatComesInButForThoseSizedByHand) {
  showFilled();
  const QHeaderView& header = *only<QTableView>(*page_).horizontalHeader();
  const int before = header.sectionSize(0);
  only<QTableView>(*page_).setColumnWidth(1, 77);
  addAblationRun(studio_.writer,
                 {"a name that is longer", {{"width", 48}, {"mlp", "late"}}, 0, {0.9}});
  studio_.workbench.watcher().poll();
  page_->waitUntilIdle();
  EXPECT_GT(header.sectionSize(0), before);
  EXPECT_EQ(header.sectionSize(1), 77);
}

TEST_F(ComparePageTest, PutsTheTableOnTheClipboardInThreeForms) {
  showFilled();
  const auto trigger = [&](const QString& text) {
    saying<QAction>(*page_, text)->trigger();
    return QGuiApplication::clipboard()->text().toStdString();
  };
  EXPECT_THAT(
      trigger(QStringLiteral("Copy table as Markdown")),
      HasLine("| + better | mlp = swiglu | 84.0 \u00b1 5.1 | +2.00 \u00b1 0.25, better | 3 |\n"));
  EXPECT_THAT(trigger(QStringLiteral("Copy table as LaTeX")), HasLine("\\midrule\n"));
  EXPECT_THAT(trigger(QStringLiteral("Copy table as CSV")), HasLine("variant,differs,runs,"));
  const QString file = studio_.folder.filePath(QStringLiteral("table.tex"));
  page_->exportTable(file);
  EXPECT_THAT(bytesOf(file).toStdString(), HasLine("\\bottomrule\n"));
  page_->exportTable(QStringLiteral("/nowhere/at/all.md"));  // says so, and continues
}

TEST_F(ComparePageTest, BrushedRunsStaySelectedAndTheOthersStayVisible) {
  showFilled();
  press(QStringLiteral("Parallel"));
  ParallelView& view = only<ParallelView>(*page_);
  ASSERT_GE(view.chart().axes.size(), 3u);
  int width = 0;
  while (view.chart().axes[static_cast<std::size_t>(width)].quantity.name !=
         QStringLiteral("width"))
    ++width;
  // 48 of 8 to 64 lies at 0.71.
  QTest::mousePress(&view, Qt::LeftButton, {}, view.placeOf(width, 0.6).toPoint());
  QTest::mouseMove(&view, view.placeOf(width, 0.8).toPoint());
  QTest::mouseRelease(&view, Qt::LeftButton, {}, view.placeOf(width, 0.8).toPoint());
  EXPECT_EQ(studio_.workbench.selection().runs(), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(view.chart().lines.size(), 12u);
  press(QStringLiteral("Clear brushes"));
  EXPECT_TRUE(studio_.workbench.selection().runs().empty());
}

TEST_F(ComparePageTest, ParallelCoordinatesWorkByKeysAlone) {
  showFilled();
  press(QStringLiteral("Parallel"));
  ParallelView& view = only<ParallelView>(*page_);
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Right);
  QTest::keyClick(&view, Qt::Key_F);
  EXPECT_TRUE(view.chart().axes[1].choice.isFlipped);
  QTest::keyClick(&view, Qt::Key_L);
  QTest::keyClick(&view, Qt::Key_B);
  EXPECT_TRUE(view.chart().axes[1].choice.brush.has_value());
  QTest::keyClick(&view, Qt::Key_Delete);
  EXPECT_FALSE(view.chart().isBrushed());
  EXPECT_EQ(view.plotTable().rows.size(), view.chart().lines.size())
      << "what a screen reader walks";
}

TEST_F(ComparePageTest, EveryViewHasAPicture) {
  showFilled();
  QStringList pictures;
  for (const char* name : {"Table", "Parallel", "Scatter", "Differences"}) {
    press(QString::fromLatin1(name));
    page_->waitUntilIdle();
    const auto figure = page_->figure();
    ASSERT_NE(figure, nullptr) << name;
    EXPECT_FALSE(figure->summary().isEmpty());
    EXPECT_FALSE(figure->image({500, 300}, 1).isNull());
    EXPECT_FALSE(pictures.contains(figure->csv())) << name << " is a picture of its own";
    pictures << figure->csv();
  }
  press(QStringLiteral("Published"));
  page_->waitUntilIdle();
  EXPECT_EQ(page_->figure(), nullptr) << "this experiment has no published numbers";
}

TEST_F(ComparePageTest, TheDifferencesAreExportedAsTheyAreShown) {
  showFilled();
  press(QStringLiteral("Differences"));
  const auto keys = [&] { return page_->figure()->csv().split(QLatin1Char('\n')); };
  EXPECT_EQ(keys().front().toStdString().substr(0, 12), "section,key,");
  EXPECT_EQ(keys().filter(QStringLiteral("train.epochs")).size(), 0);
  EXPECT_EQ(keys().filter(QStringLiteral("model.mlp")).size(), 1);
  saying<QCheckBox>(*page_, "Only differences")->click();
  EXPECT_EQ(keys().filter(QStringLiteral("train.epochs")).size(), 1);
}

// What was exported opens again: the chart that was meant and the rows that were picked.
TEST_F(ComparePageTest, ARecipeTellsWhichPartOfTheTableWasMeant) {
  showFilled();
  bringUp(*page_);
  only<QTableView>(*page_).selectRow(1);
  page_->waitUntilIdle();
  curves().setFocus();
  const QString drawn = page_->figure()->csv();
  EXPECT_THAT(drawn.toStdString(), HasLine("+ better (n = 3),"));
  EXPECT_THAT(drawn.toStdString(), Not(HasLine("+ noise (n = 3),")));
  const Json view = page_->viewState();
  EXPECT_EQ(view.at("picture"), "curves");
  EXPECT_EQ(view.at("picked"), Json({"+ better"}));
  ComparePage again(studio_.workbench);
  again.resize(900, 600);
  again.show();
  again.waitUntilIdle();
  again.setViewState(view);
  again.waitUntilIdle();
  ASSERT_NE(again.figure(), nullptr);
  EXPECT_EQ(again.figure()->csv().toStdString(), drawn.toStdString());
  again.setViewState(Json::object());
  again.waitUntilIdle();
  EXPECT_THAT(again.figure()->csv().toStdString(), HasLine("+ noise,"))
      << "the table, all of it";
}

TEST_F(ComparePageTest, ControlsGoOnInASecondLineWhereOneIsTooShort) {
  showFilled();
  const auto inside = [&](int width) {
    page_->resize(width, 760);
    page_->waitUntilIdle();
    QCoreApplication::processEvents();
    int lines = 0, last = -1;
    for (const char* name : {"Horizontal axis", "Aggregate", "Band", "Colour", "Dash", "Panel"}) {
      const auto* box = named<QComboBox>(*page_, name);
      EXPECT_GE(box->width(), box->sizeHint().width()) << name << " at " << width;
      const QPoint right = box->mapTo(page_.get(), QPoint(box->width(), 0));
      EXPECT_LE(right.x(), page_->width()) << name << " at " << width;
      lines += right.y() != last;
      last = right.y();
    }
    return lines;
  };
  EXPECT_EQ(inside(1400), 1);
  EXPECT_GE(inside(620), 2);
}

TEST_F(ComparePageTest, LongReadingCanBeCancelled) {
  fill();
  studio_.workbench.watcher().poll();
  page_ = std::make_unique<ComparePage>(studio_.workbench);
  page_->resize(900, 600);
  page_->show();  // reads
  QPushButton* cancel = nullptr;
  for (auto* button : page_->findChildren<QPushButton*>()) {
    if (button->text() == QStringLiteral("Cancel")) cancel = button;
  }
  ASSERT_NE(cancel, nullptr);
  EXPECT_FALSE(cancel->isVisible()) << "not before a second";
  cancel->click();
  QCoreApplication::processEvents();
  EXPECT_EQ(page_->data(), nullptr) << "what comes after that is dropped";
  const auto says = [&](const char* words) {
    for (auto* label : page_->findChildren<QLabel*>()) {
      if (label->isVisible() && label->text().contains(QString::fromLatin1(words))) return true;
    }
    return false;
  };
  EXPECT_TRUE(says("Reading was cancelled"));
  saying<QPushButton>(*page_, "Read the runs")->click();
  page_->waitUntilIdle();
  EXPECT_NE(page_->data(), nullptr);
}

TEST_F(ComparePageTest, ViewsAreTakenBackAsTheyWere) {
  showFilled();
  const Json before = page_->viewState();
  pick(QStringLiteral("Band"), QStringLiteral("standard error"));
  pick(QStringLiteral("Colour"), QStringLiteral("mlp"));
  press(QStringLiteral("Scatter"));
  const Json after = page_->viewState();
  EXPECT_NE(before, after);
  QSignalSpy changed(page_.get(), &Page::viewChanged);
  page_->setViewState(before);
  EXPECT_EQ(page_->viewState(), before);
  page_->setViewState(after);
  EXPECT_EQ(page_->viewState(), after);
  EXPECT_EQ(changed.count(), 0) << "only what the user does is said";
  page_->setViewState(Json::parse("[1, {\"view\": true}]"));  // nothing that it knows: the default
  EXPECT_EQ(page_->choice(), CompareChoice());
}

TEST_F(ComparePageTest, TheMedianHasBandsOfItsOwn) {
  showFilled();
  pick(QStringLiteral("Aggregate"), QStringLiteral("median"));
  EXPECT_EQ(page_->choice().spread, Spread::Quartiles);
  EXPECT_EQ(named<QComboBox>(*page_, "Band")
                ->findText(QStringLiteral("standard deviation"), Qt::MatchContains),
            -1);
}

TEST_F(ComparePageTest, CopiesADifferenceAsOverrides) {
  fill();
  studio_.workbench.selection().setRuns({1, 4}, 1);
  show();
  press(QStringLiteral("Differences"));
  auto* tree = named<QTreeWidget>(*page_, "Differences between the runs");
  EXPECT_EQ(tree->topLevelItem(0)->childCount(), 1);
  press(QStringLiteral("Copy as overrides"));
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(), "'model.mlp=\"swiglu\"'");
}

TEST_F(ComparePageTest, DifferencesHaveTheColoursOfTheThemeInUse) {
  fill();
  studio_.workbench.selection().setRuns({1, 4}, 1);
  show();
  press(QStringLiteral("Differences"));
  auto* tree = named<QTreeWidget>(*page_, "Differences between the runs");
  const ThemeKind before = currentTheme();
  applyTheme(before == ThemeKind::Light ? ThemeKind::Dark : ThemeKind::Light);
  Q_EMIT studio_.workbench.themeChanged();
  EXPECT_EQ(tree->topLevelItem(0)->child(0)->foreground(1).color(), themeColors().text);
  applyTheme(before);
}

TEST_F(ComparePageTest, SaysThatNoPaperBelongsToTheExperiment) {
  showFilled();
  press(QStringLiteral("Published"));
  page_->waitUntilIdle();
  QString all;
  for (const QLabel* label : page_->findChildren<QLabel*>()) all += label->text();
  EXPECT_THAT(all.toStdString(), HasSubstr("No published numbers belong to"));
}

TEST_F(ComparePageTest, PublishedSaysThatItCountsTheSelectedRunsOnly) {
  fill();
  studio_.workbench.selection().setRuns({1, 2, 4, 5}, 1);
  show();
  press(QStringLiteral("Published"));
  page_->waitUntilIdle();
  const auto* paper = named<QLabel>(*page_, "Paper");
  ASSERT_NE(paper, nullptr);
  EXPECT_THAT(paper->text().toStdString(), HasSubstr("Counts only the selected runs: 4."));
  studio_.workbench.selection().setRuns({1}, 1);
  page_->waitUntilIdle();
  EXPECT_FALSE(paper->text().contains(QStringLiteral("selected runs"))) << "all are counted";
}

TEST_F(ComparePageTest, EveryControlHasAName) {
  showFilled();
  for (QWidget* widget : page_->findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || widget->focusProxy() != nullptr) continue;
    if (qobject_cast<QLineEdit*>(widget) != nullptr &&
        (qobject_cast<QComboBox*>(widget->parentWidget()) != nullptr ||
         qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) != nullptr))
      continue;
    if (widget->inherits("QComboBoxListView") || widget->inherits("QHeaderView")) continue;
    const QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(widget);
    ASSERT_NE(seen, nullptr);
    EXPECT_FALSE(seen->text(QAccessible::Name).isEmpty())
        << widget->metaObject()->className() << " " << widget->objectName().toStdString();
  }
  EXPECT_FALSE(page_->howToRead().isEmpty());
}

TEST_F(ComparePageTest, CurvesAreDrawnInTheBackgroundAndReadOnce) {
  showFilled();
  CompareChoice choice = page_->choice();
  choice.isLogY = true;
  const Figure* before = curves().figure();
  page_->choose(choice);
  EXPECT_EQ(curves().figure(), before) << "until the new one is there";
  EXPECT_TRUE(soon([&] { return curves().figure() != before; }));
  choice.isLogY = false;
  page_->choose(choice);
  for (auto* button : page_->findChildren<QToolButton*>()) {
    if (button->text() == QLatin1String("Cancel")) button->click();
  }
  EXPECT_EQ(curves().figure(), nullptr);
  EXPECT_TRUE(curves().accessibleDescription().contains(QStringLiteral("cancelled")));
  choice.isLogX = true;
  page_->choose(choice);
  EXPECT_TRUE(soon([&] { return curves().figure() != nullptr; }));
}

TEST_F(ComparePageTest, PartsAreMadeWhereTheyStay) {
  const StyleCount styled;
  const ComparePage page(studio_.workbench);
  EXPECT_LT(styled.count(), 3 * page.findChildren<QWidget*>().size());
}

TEST_F(ComparePageTest, NothingLiesOnAnythingElseAtAnySizeAndZoom) {
  fill();
  studio_.workbench.watcher().poll();
  for (const double zoom : {1.0, 2.4}) {
    const PageAtZoom<ComparePage> shown(studio_.workbench, zoom);
    ComparePage& page = *shown.page;
    for (const CompareView view :
         {CompareView::Table, CompareView::Parallel, CompareView::Scatter, CompareView::Differences,
          CompareView::Published, CompareView::Artifacts}) {
      CompareChoice choice = page.choice();
      choice.view = view;
      page.choose(choice);
      EXPECT_EQ(whatDoesNotFitAnywhere(page), "") << static_cast<int>(view);
    }
  }
}

}  // namespace
}  // namespace vitrine::ui

#include "ui/artifacts/artifacts_page.h"

#include <sqlite3.h>

#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>
#include <atomic>
#include <thread>

#include "core/base/error.h"
#include "tests/ui/figures/samples.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/artifacts/meta_line.h"
#include "ui/figures/figure_view.h"
#include "ui/workbench/drawn_runs.h"
#include "ui/workbench/export_dialog.h"
#include "ui/workbench/figure_file.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {
namespace {

void exportTo(const QString& file, ArtifactsPage& page, Workbench& workbench) {
  const std::unique_ptr<Figure> figure = page.figure();
  ASSERT_NE(figure, nullptr);
  Recipe recipe = recipeOf(workbench, QStringLiteral("artifacts"), page);
  recipe.paper = paperFor(*figure, storedPaper());
  saveFigure(*figure, file, recipe);
}

class Artifacts : public PageTest<ArtifactsPage> {
 protected:
  static Artifact at(Artifact artifact, std::int64_t step) {
    artifact.step = step;
    return artifact;
  }
  std::unique_ptr<ArtifactsPage> page(const std::vector<std::int64_t>& runs) {
    auto made = std::make_unique<ArtifactsPage>(workbench_);
    made->resize(900, 700);
    workbench_.selection().setRuns(runs, runs.empty() ? 0 : runs.front());
    made->waitUntilIdle();
    return made;
  }
  static QString labels(const QWidget& widget) {
    QStringList texts;
    for (const QLabel* label : widget.findChildren<QLabel*>()) {
      if (!label->isHidden()) texts << label->text();
    }
    return texts.join(QLatin1Char('\n'));
  }
};

TEST_F(Artifacts, ShowsTheNewestSpectrumFirst) {
  const std::int64_t run =
      runWith("a", {at(samples::table(), 300), at(samples::spectrum(), 100),
                    at(samples::spectrum(), 200), at(samples::confusion(), 300)});
  const auto shown = page({run});
  EXPECT_EQ(shown->analysis().toStdString(), "attention_rank");
  EXPECT_EQ(shown->findChild<StepBar*>()->steps(), (std::vector<std::int64_t>{100, 200}));
  EXPECT_EQ(shown->shownStep(), 200);
  ASSERT_EQ(shown->views().size(), 1U);
  EXPECT_TRUE(
      shown->views()[0]->figure()->summary().contains(QStringLiteral("Singular value spectra")));
}

TEST_F(Artifacts, ShowsReliabilityWhereThereIsNoSpectrum) {
  const auto same = [](double m) { return m; };
  const auto shown = page({runWith("a", {samples::table(), samples::reliability(same, same)})});
  EXPECT_EQ(shown->analysis().toStdString(), "calibration");
}

TEST_F(Artifacts, ListsNamesUnderTheirAnalysis) {
  const auto shown =
      page({runWith("a", {samples::table(), samples::confusion(), samples::spectrum()})});
  const auto* tree = shown->findChild<QTreeWidget*>();
  ASSERT_EQ(tree->topLevelItemCount(), 2);
  EXPECT_EQ(tree->topLevelItem(0)->text(0).toStdString(), "attention rank");
  EXPECT_EQ(tree->topLevelItem(1)->childCount(), 2);
  EXPECT_EQ(tree->topLevelItem(1)->child(1)->text(0).toStdString(), "per class");
}

TEST_F(Artifacts, LongNamesThatDifferAtTheirEndDifferInTheList) {
  Artifact early = samples::table(), late = samples::table();
  early.name = "attention of seed 8754 at time 0.125";
  late.name = "attention of seed 8754 at time 0.875";
  const auto shown = page({runWith("a", {early, late})});
  const auto* tree = shown->findChild<QTreeWidget*>();
  ASSERT_EQ(tree->topLevelItem(0)->childCount(), 2);
  const auto drawn = [tree](int row) {
    return tree->fontMetrics().elidedText(tree->topLevelItem(0)->child(row)->text(0),
                                          tree->textElideMode(), 140);
  };
  EXPECT_NE(drawn(0), drawn(1));
}

TEST_F(Artifacts, StaysAtAnOlderStepWhileNewerOnesCome) {
  const std::int64_t run =
      runWith("a", {at(samples::spectrum(), 100), at(samples::spectrum(), 200)});
  const auto shown = page({run});
  shown->findChild<StepBar*>()->move(-1);
  EXPECT_EQ(shown->shownStep(), 100);
  workbench_.store().addArtifact(run, at(samples::spectrum(), 300));
  shown->waitUntilIdle();
  EXPECT_EQ(shown->findChild<StepBar*>()->steps().size(), 3U);
  EXPECT_EQ(shown->shownStep(), 100);
}

TEST_F(Artifacts, FollowsWhileTheNewestIsShown) {
  const std::int64_t run = runWith("a", {at(samples::spectrum(), 100)});
  const auto shown = page({run});
  workbench_.store().addArtifact(run, at(samples::spectrum(), 300));
  shown->waitUntilIdle();
  EXPECT_EQ(shown->shownStep(), 300);
}

TEST_F(Artifacts, SeesWhatAnotherProcessWrote) {
  const std::int64_t run = runWith("a", {at(samples::spectrum(), 100)});
  const auto shown = page({run});
  shown->show();
  store::RunStore other(workbench_.store().file());
  other.addArtifact(run, at(samples::spectrum(), 300));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->shownStep() == 300; }));
}

TEST_F(Artifacts, GoesToAStepByKeyboard) {
  const auto shown =
      page({runWith("a", {at(samples::spectrum(), 100), at(samples::spectrum(), 200)})});
  bringUp(*shown);
  QTest::keyClick(shown.get(), Qt::Key_Left, Qt::ControlModifier);
  EXPECT_EQ(shown->shownStep(), 100);
  EXPECT_EQ(workbench_.selection().step(), 100);
  QTest::keyClick(shown.get(), Qt::Key_Right, Qt::ControlModifier);
  EXPECT_EQ(shown->shownStep(), 200);
}

TEST_F(Artifacts, MovesThroughLayersAndImagesByKeyboard) {
  Artifact second = samples::attention();
  second.name = "image 1";
  const auto shown = page({runWith("a", {samples::attention(), second, samples::spectrum()})});
  shown->showArtifact(QStringLiteral("attention_map"), QStringLiteral("image 0"));
  shown->waitUntilIdle();
  bringUp(*shown);
  QTest::keyClick(shown.get(), Qt::Key_BracketRight);
  EXPECT_EQ(shown->name().toStdString(), "image 1");
  QTest::keyClick(shown.get(), Qt::Key_BracketLeft);
  EXPECT_EQ(shown->name().toStdString(), "image 0");
  shown->showArtifact(QStringLiteral("attention_rank"), QString());
  shown->waitUntilIdle();
  QTest::keyClick(shown.get(), Qt::Key_Period);
  EXPECT_EQ(workbench_.selection().layer(), 1);
  QTest::keyClick(shown.get(), Qt::Key_Period);
  EXPECT_EQ(workbench_.selection().layer(), 1);  // there are two
  QTest::keyClick(shown.get(), Qt::Key_Comma);
  EXPECT_EQ(workbench_.selection().layer(), 0);
}

TEST_F(Artifacts, ShowsWhatIsAskedForByName) {
  const std::int64_t run = runWith("a", {samples::spectrum(), at(samples::confusion(), 10),
                                         at(samples::confusion(), 20), samples::table()});
  const auto shown = page({run});
  shown->showArtifact(QStringLiteral("classification"), QStringLiteral("confusion"), 10);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->name().toStdString(), "confusion");
  EXPECT_EQ(shown->shownStep(), 10);
  EXPECT_TRUE(shown->views()[0]->figure()->summary().contains(QStringLiteral("on the diagonal")));
  shown->showArtifact(QStringLiteral("nothing"), QStringLiteral("here"));
  shown->waitUntilIdle();
  EXPECT_TRUE(workbench_.said.back().contains(QStringLiteral("no artifact nothing/here")));
}

TEST_F(Artifacts, PutsRunsSideBySideOnOneScale) {
  Artifact larger = samples::heatmap();
  setFloat32(larger, std::vector<float>{0, 2, 4, 6, 8, 10}, {2, 3}, {"row", "column"});
  const auto shown = page({runWith("first", {samples::heatmap()}), runWith("second", {larger})});
  ASSERT_EQ(shown->views().size(), 2U);
  for (const FigureView* view : shown->views()) {
    ASSERT_TRUE(view->figure()->style().range);
    EXPECT_EQ(*view->figure()->style().range, (std::array{0.0, 10.0}));
  }
  EXPECT_EQ(shown->views()[0]->figure()->style().title.toStdString(), "first");
  EXPECT_EQ(shown->views()[1]->figure()->style().run, 2);
  saying<QCheckBox>(*shown, "Same scale")->setChecked(false);
  EXPECT_FALSE(shown->views()[0]->figure()->style().range);
}

TEST_F(Artifacts, SaysWhichRunLacksTheArtifact) {
  const auto shown =
      page({runWith("full", {samples::spectrum()}), runWith("bare", {samples::table()})});
  ASSERT_EQ(shown->views().size(), 2U);
  EXPECT_NE(shown->views()[0]->figure(), nullptr);
  EXPECT_EQ(shown->views()[1]->figure(), nullptr);
  EXPECT_TRUE(shown->views()[1]->accessibleDescription().contains(QStringLiteral("bare has no")));
}

TEST_F(Artifacts, SaysWhatToDoWhenThereIsNothing) {
  const auto shown = page({});
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("Select a run")));
  workbench_.selection().setRuns({workbench_.addRun("empty", Json::object())}, 1);
  shown->waitUntilIdle();
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("No results yet")));
  saying<QPushButton>(*shown, "New experiment")->click();
  ASSERT_EQ(workbench_.pages.size(), 1U);
  EXPECT_EQ(workbench_.pages[0].toStdString(), "configure");
}

TEST_F(Artifacts, PutsTheNoteUnderAttention) {
  const auto shown = page({runWith("a", {samples::attention()})});
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("not why the model decides")));
  shown->showArtifact(QStringLiteral("attention_map"), QString());
  shown->waitUntilIdle();
  EXPECT_EQ(shown->name().toStdString(), "image 0");
}

TEST_F(Artifacts, OffersCopyAndExportAtEveryFigure) {
  const auto shown = page({runWith("first", {samples::confusion()})});
  const FigureView* view = shown->findChild<FigureView*>();
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->contextMenuPolicy(), Qt::ActionsContextMenu);
  ASSERT_EQ(view->actions().size(), 2);
  view->actions().first()->trigger();
  EXPECT_TRUE(workbench_.said.back().contains(QStringLiteral("clipboard")));
}

TEST_F(Artifacts, ExportsWhatIsShown) {
  const auto shown =
      page({runWith("first", {samples::confusion()}), runWith("second", {samples::confusion()})});
  for (const char* ending : {"png", "svg", "pdf", "csv"}) {
    const QString file = workbench_.path(QStringLiteral("out.") + QString::fromLatin1(ending));
    exportTo(file, *shown, workbench_);
    EXPECT_TRUE(QFile::exists(file)) << ending;
  }
  const QString text = QString::fromUtf8(bytesOf(workbench_.path(QStringLiteral("out.csv"))));
  EXPECT_TRUE(text.contains(QStringLiteral("\nrun,,coat,shirt,bag\nfirst,coat,8,2,0\n")))
      << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("second,bag,0,0,10\n")));
}

// An exported figure opens as what it was: for everything that an analysis finds.
TEST_F(Artifacts, AnExportedFigureOfAnyKindOpensAsWhatItWas) {
  std::vector<Artifact> artifacts;
  for (Artifact& one : samples::all()) {
    artifacts.push_back(at(one, 10));
    artifacts.push_back(at(one, 20));
  }
  const auto shown = page({runWith("a", artifacts), runWith("b", artifacts)});
  const QString drawn = workbench_.path(QStringLiteral("drawn.svg"));
  const QString redrawn = workbench_.path(QStringLiteral("redrawn.svg"));
  for (const Artifact& artifact : samples::all()) {
    shown->showArtifact(QString::fromStdString(artifact.analysis),
                        QString::fromStdString(artifact.name), 10);
    shown->waitUntilIdle();
    exportTo(drawn, *shown, workbench_);
    const auto recipe = readRecipe(drawn);
    ASSERT_TRUE(recipe) << artifact.kind;
    EXPECT_EQ(recipe->page, "artifacts");
    EXPECT_EQ(recipe->runs.size(), 2U);

    ArtifactsPage again(workbench_);
    again.resize(500, 400);
    selectRunsOf(*recipe, workbench_);
    again.waitUntilIdle();
    again.setViewState(recipe->view);
    again.waitUntilIdle();
    EXPECT_EQ(again.shownStep(), 10) << artifact.kind;
    EXPECT_EQ(again.viewState(), shown->viewState());
    const auto figure = again.figure();
    ASSERT_NE(figure, nullptr) << artifact.kind;
    saveFigure(*figure, redrawn, *recipe);
    EXPECT_EQ(bytesOf(drawn), bytesOf(redrawn)) << artifact.kind;
    EXPECT_GT(bytesOf(drawn).size(), 1000) << artifact.kind;
  }
}

TEST_F(Artifacts, TheViewIsTakenBackAsItWas) {
  const auto shown = page({runWith(
      "a", {at(samples::attention(), 10), at(samples::attention(), 20), samples::confusion()})});
  shown->showArtifact(QStringLiteral("attention_map"), QStringLiteral("image 0"));
  shown->waitUntilIdle();
  const Json before = shown->viewState();
  QSignalSpy changed(shown.get(), &Page::viewChanged);
  shown->findChild<StepBar*>()->move(-1);
  for (QCheckBox* box : shown->findChildren<QCheckBox*>()) box->toggle();
  Q_EMIT shown->views()[0]->clicked({-1, 0, 1, std::array<double, 2>{0.75, 0.25}, {}, {}});
  EXPECT_EQ(changed.count(), 4);
  const Json after = shown->viewState();
  EXPECT_EQ(after.at("step"), 10);
  EXPECT_EQ(after.at("query_at"), Json::array({0.75, 0.25}));
  shown->setViewState(before);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState(), before);
  EXPECT_EQ(shown->shownStep(), 20);
  EXPECT_EQ(shown->views()[0]->figure()->style().head, 0);
  shown->setViewState(after);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState(), after);
  EXPECT_EQ(shown->views()[0]->figure()->style().queryAt, (std::array<double, 2>{0.75, 0.25}));
  EXPECT_EQ(changed.count(), 4) << "only what the user does is said";
  shown->setViewState(Json::parse(
      R"({"analysis": 3, "step": -7, "layer": 1e99, "query": "x", "query_at": [2, 0]})"));
  EXPECT_EQ(shown->analysis().toStdString(), "attention_map") << "what makes no sense is left out";
}

TEST_F(Artifacts, AFileIsInTheColoursOfPaperWhateverTheWindowHas) {
  const auto shown = page({runWith("a", {samples::histogram()})});
  const auto figure = shown->figure();
  ASSERT_NE(figure, nullptr);
  const QImage picture = paperPicture(*figure, {}, 6);
  int dark = 0, light = 0;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      dark += picture.pixelColor(x, y) == seriesColor(1, ThemeKind::Dark);
      light += picture.pixelColor(x, y) == seriesColor(1, ThemeKind::Light);
    }
  }
  EXPECT_EQ(dark, 0);
  EXPECT_GT(light, 100);
}

TEST_F(Artifacts, APageWithoutAFigureHandsOutNone) {
  const auto shown = page({});
  EXPECT_EQ(shown->figure(), nullptr);
  shown->exportShown();
  EXPECT_TRUE(workbench_.said.back().contains(QStringLiteral("no figure to export")));
}

TEST_F(Artifacts, AFigureThatCannotBeWrittenIsAnError) {
  const auto shown = page({runWith("a", {samples::confusion()})});
  EXPECT_THROW(exportTo(QStringLiteral("/no/such/folder/a.pdf"), *shown, workbench_), Error);
}

// Counted with SQLite's own trace, by the thread that asks.
std::thread::id windowThread;
std::atomic<int> windowStatements{0}, readerStatements{0};

// The stand-in of the window asks for the rows of runs, which the window has at hand: what a page
// reads of its own is told by the tables.
int onArtifactStatement(unsigned /*kind*/, void* /*context*/, void* /*statement*/, void* text) {
  const std::string sql = static_cast<const char*>(text);
  const bool isOurs =
      sql.find("artifact") != std::string::npos || sql.find("meta") != std::string::npos;
  if (isOurs) ++(std::this_thread::get_id() == windowThread ? windowStatements : readerStatements);
  return 0;
}

int traceArtifacts(sqlite3* database, char** /*error*/, const sqlite3_api_routines* /*api*/) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, onArtifactStatement, nullptr);
}

TEST(ArtifactsReading, AsksNothingOnTheConnectionOfTheWindow) {
  windowThread = std::this_thread::get_id();
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(traceArtifacts));
  FakeWorkbench workbench;
  std::vector<std::int64_t> runs;
  for (const char* name : {"a", "b"}) {
    runs.push_back(workbench.addRun(name, Json::object()));
    for (Artifact artifact : samples::all()) {
      for (const std::int64_t step : {10, 20}) {
        artifact.step = step;
        workbench.store().addArtifact(runs.back(), artifact);
      }
    }
  }
  EXPECT_GT(windowStatements.exchange(0), 0) << "filling is counted";
  workbench.selection().setRuns(runs, runs.front());
  ArtifactsPage page(workbench);
  page.resize(900, 700);
  page.show();
  const auto isDrawn = [&] {
    return !Probe::isLoading(page) && page.views().size() == 2 &&
           page.views()[0]->figure() != nullptr;
  };
  EXPECT_TRUE(soon(isDrawn));
  EXPECT_EQ(windowStatements, 0) << "of the list and the first figure";
  EXPECT_GT(readerStatements, 0);
  for (const Artifact& artifact : samples::all()) {
    page.showArtifact(QString::fromStdString(artifact.analysis),
                      QString::fromStdString(artifact.name));
    EXPECT_TRUE(soon(isDrawn)) << artifact.name;
    page.findChild<StepBar*>()->move(-1);
    EXPECT_TRUE(soon(isDrawn)) << artifact.name;
    EXPECT_EQ(page.shownStep(), 10);
  }
  const QString file = workbench.path(QStringLiteral("out.pdf"));
  exportTo(file, page, workbench);
  EXPECT_TRUE(QFile::exists(file));
  page.copyImage();
  EXPECT_NE(page.figure(), nullptr);
  page.setViewState(page.viewState());
  page.waitUntilIdle();
  EXPECT_EQ(windowStatements, 0) << "of steps, names, a file and the clipboard";
  sqlite3_reset_auto_extension();
}

TEST_F(Artifacts, ShowsTheNewestChoiceHoweverFastItChanges) {
  Artifact second = samples::spectrum();
  second.name = "other";
  const std::int64_t run = runWith("a", {at(samples::spectrum(), 100), at(samples::spectrum(), 200),
                                         at(samples::confusion(), 100), at(second, 100)});
  const auto shown = page({run});
  for (int turn = 0; turn < 10; ++turn) {
    shown->showArtifact(QStringLiteral("attention_rank"), QString(), turn % 2 == 0 ? 100 : 200);
    shown->showArtifact(QStringLiteral("classification"), QStringLiteral("confusion"));
  }
  EXPECT_TRUE(Probe::isLoading(*shown));
  EXPECT_EQ(shown->figure(), nullptr) << "nothing is written that is not what is chosen";
  EXPECT_TRUE(soon([&] { return !Probe::isLoading(*shown); }));
  ASSERT_NE(shown->views()[0]->figure(), nullptr);
  EXPECT_TRUE(shown->views()[0]->figure()->summary().contains(QStringLiteral("on the diagonal")));
}

TEST_F(Artifacts, ReadingThatIsCancelledStaysCancelledUntilAnotherChoice) {
  const std::int64_t run =
      runWith("a", {at(samples::spectrum(), 100), at(samples::spectrum(), 200)});
  const auto shown = page({run});
  shown->findChild<StepBar*>()->move(-1);
  ASSERT_TRUE(Probe::isLoading(*shown));
  saying<QToolButton>(*shown, "Cancel")->click();
  EXPECT_FALSE(Probe::isLoading(*shown));
  EXPECT_EQ(shown->views()[0]->figure(), nullptr);
  EXPECT_TRUE(shown->views()[0]->accessibleDescription().contains(QStringLiteral("cancelled")));
  shown->waitUntilIdle();  // as a run that writes asks again
  EXPECT_EQ(shown->views()[0]->figure(), nullptr);
  shown->findChild<StepBar*>()->move(1);
  shown->waitUntilIdle();
  EXPECT_NE(shown->views()[0]->figure(), nullptr);
}

TEST_F(Artifacts, NothingLiesOnAnythingElseAtAnySizeAndZoom) {
  const std::int64_t first = runWith("a", samples::all()), second = runWith("b", samples::all());
  workbench_.selection().setRuns({first, second}, first);
  for (const double zoom : {1.0, 2.4}) {
    const PageAtZoom<ArtifactsPage> shown(workbench_, zoom);
    ArtifactsPage& page = *shown.page;
    for (const Artifact& artifact : {samples::attention(), samples::table()}) {
      page.showArtifact(QString::fromStdString(artifact.analysis),
                        QString::fromStdString(artifact.name));
      EXPECT_EQ(whatDoesNotFitAnywhere(page), "") << artifact.name;
    }
  }
}

TEST_F(Artifacts, DescribesAnArtifactInOneLine) {
  store::ArtifactRow row;
  row.kind = "image_grid";
  row.step = 2000;
  row.bytes = 1234;
  row.meta = {{"split", "test"},       {"samples", 10000}, {"weights", "ema"},
              {"unit", "probability"}, {"shape", {2, 3}},  {"time", 62.0}};
  const QString line = metaLine(row);
  for (const char* part : {"image grid", "test", "10,000 samples", "weights: ema",
                           "unit: probability", "step 2,000"}) {
    EXPECT_TRUE(line.contains(QString::fromLatin1(part))) << part << " in " << line.toStdString();
  }
  row.meta = {{"images", 2}, {"sample_ids", {4, 9}}};
  EXPECT_FALSE(metaLine(row).contains(QStringLiteral("samples"))) << "they are counted once";
  row.meta = Json();
  EXPECT_FALSE(metaLine(row).isEmpty());
}

TEST_F(Artifacts, DrawsItselfOffScreenAtScaleTwo) {
  const auto shown = page({runWith("a", {samples::spectrum()})});
  const QImage image = shown->snapshot(QSize(800, 600), 2);
  EXPECT_EQ(image.size(), QSize(1600, 1200));
}

}  // namespace
}  // namespace vitrine::ui

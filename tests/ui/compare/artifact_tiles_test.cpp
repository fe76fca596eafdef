// Artifacts of the variants side by side, through the controls of the Compare page.
#include "ui/compare/artifact_tiles.h"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTest>
#include <QToolButton>

#include "core/artifact/predictions.h"
#include "tests/support/has_texts.h"
#include "tests/ui/attention/catalog.h"
#include "tests/ui/compare/compare_page_fixture.h"
#include "tests/ui/figures/samples.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/compare/compare_page.h"
#include "ui/figures/figure_view.h"

namespace vitrine::ui {
namespace {

using ::testing::EndsWith, ::testing::HasSubstr, ::testing::SizeIs;

class Tiles : public ComparePageTest {
 protected:
  void SetUp() override { fill(); }
  void add(std::int64_t run, Artifact artifact, std::int64_t step) {
    artifact.step = step;
    studio_.writer.addArtifact(run, artifact);
  }
  void addImages(std::int64_t run, std::int64_t step, int count,
                 const Json& recipe = {{"class", 3}}) {
    for (int i = 0; i < count; ++i) {
      GeneratedImage image = generatedImage(
          std::vector<std::uint8_t>(16, static_cast<std::uint8_t>(40 * i + run)), 4, 4, 1);
      image.step = step;
      image.seed = static_cast<std::uint64_t>(count - i);
      image.recipe = recipe;
      studio_.writer.addImage(run, image);
    }
  }
  /// Two runs of two variants.
  void show() {
    studio_.workbench.watcher().poll();
    page_ = std::make_unique<ComparePage>(studio_.workbench);
    page_->resize(1100, 760);
    page_->show();
    studio_.workbench.selection().setRuns({first(), second()}, first());
    page_->waitUntilIdle();
    press(QStringLiteral("Artifacts"));
    page_->waitUntilIdle();
  }
  [[nodiscard]] std::int64_t first() const { return ids_.front(); }
  [[nodiscard]] std::int64_t second() const { return ids_.back(); }
  ArtifactTiles& tiles() { return only<ArtifactTiles>(*page_); }
};

TEST_F(Tiles, ShowTheNewestOfWhatTheVariantsShareOnOneScale) {
  add(first(), samples::spectrum(), 100);
  add(first(), samples::spectrum(), 300);
  add(second(), samples::spectrum(), 200);
  add(first(), samples::table(), 100);
  show();
  ASSERT_THAT(tiles().kinds(), SizeIs(1)) << "the table has one run alone";
  ASSERT_THAT(tiles().views(), SizeIs(2));
  EXPECT_THAT(tiles().views()[0]->figure()->style().title.toStdString(), EndsWith(", step 300"));
  EXPECT_THAT(tiles().views()[1]->figure()->style().title.toStdString(), EndsWith(", step 200"));
  EXPECT_EQ(tiles().views()[0]->figure()->style().range,
            tiles().views()[1]->figure()->style().range);
}

TEST_F(Tiles, CompareTrainedWeightsWithTheRunsOwnSettings) {
  Artifact averaged = samples::spectrum();
  averaged.meta["weights"] = "ema";
  Artifact changed = samples::spectrum();
  changed.meta["overrides"] = {{"batch", 2}};
  add(first(), samples::spectrum(), 100);
  add(first(), averaged, 300);
  add(first(), changed, 400);
  add(second(), averaged, 200);
  show();
  ASSERT_THAT(tiles().views(), SizeIs(2));
  EXPECT_THAT(tiles().views()[0]->figure()->style().title.toStdString(), EndsWith("step 100"));
  EXPECT_THAT(tiles().views()[1]->figure()->style().title.toStdString(),
              EndsWith("step 200, averaged weights"));
}

TEST_F(Tiles, ShowGeneratedImagesOfTheSameSeedAtTheSamePlace) {
  addImages(first(), 100, 2);
  addImages(first(), 200, 3);
  addImages(second(), 200, 3);
  show();
  EXPECT_EQ(tiles().shown(), ArtifactTiles::kGenerated);
  ASSERT_THAT(tiles().views(), SizeIs(2));
  for (const FigureView* view : tiles().views()) {
    EXPECT_EQ(view->figure()->imageCount(), 3);
    EXPECT_TRUE(view->figure()->csv().startsWith(QLatin1String("image,row,column,")));
  }
  const auto newest = comparableImages(studio_.writer.generatedImages(first()), {}, 2);
  ASSERT_THAT(newest, SizeIs(2));
  EXPECT_EQ(newest[0].seed, 1u);
  EXPECT_EQ(newest[0].step, 200);
}

TEST_F(Tiles, ShowGeneratedImagesOfTheOwnSettingsAndNameOthers) {
  const Json guided = {{"class", 3}, {"settings", {{"guidance", 3}}}};
  addImages(first(), 100, 2);
  addImages(first(), 100, 4, guided);
  addImages(first(), 300, 3, {{"class", 3}, {"weights", "ema"}});
  addImages(second(), 200, 3, guided);
  show();
  ASSERT_THAT(tiles().views(), SizeIs(2));
  const Figure& own = *tiles().views()[0]->figure();
  EXPECT_EQ(own.imageCount(), 2);
  EXPECT_THAT(own.style().title.toStdString(), EndsWith("step 100"));
  EXPECT_THAT(tiles().views()[1]->figure()->style().title.toStdString(),
              EndsWith("step 200, guidance 3"));
}

TEST(ChangesOf, AreWhatTheSamplerDoesNotHaveByItself) {
  const Catalog catalog{{withFields(cardWith(ItemKind::Sampler, "flow", {}),
                                    {realField("guidance", 1.0, "scale")})}};
  Json recipe = {{"sampler", "flow"}, {"settings", {{"guidance", 1.0}, {"class", 2}}}};
  EXPECT_TRUE(changesOf(recipe, catalog).isEmpty());
  recipe["settings"]["guidance"] = 2.5;
  recipe["weights"] = "ema";
  EXPECT_EQ(changesOf(recipe, catalog),
            (QStringList{QStringLiteral("averaged weights"), QStringLiteral("guidance 2.5")}));
}

TEST_F(Tiles, ChangeWithTheKindThatIsChosenAndKeepItInTheView) {
  for (const std::int64_t run : {first(), second()}) {
    add(run, samples::spectrum(), 100);
    add(run, samples::table(), 100);
  }
  show();
  ASSERT_THAT(tiles().kinds(), SizeIs(2));
  EXPECT_TRUE(tiles().shown().starts_with("attention_rank/")) << "spectra before tables";
  auto* kind = tiles().findChild<QComboBox*>();
  kind->setCurrentIndex(1);
  Q_EMIT kind->activated(1);
  page_->waitUntilIdle();
  EXPECT_EQ(tiles().shown(), tiles().kinds()[1].id);
  EXPECT_EQ(page_->viewState().at("artifact"), tiles().kinds()[1].id);
  ComparePage other(studio_.workbench);
  other.setViewState(page_->viewState());
  other.waitUntilIdle();
  EXPECT_EQ(only<ArtifactTiles>(other).shown(), tiles().kinds()[1].id);
}

TEST_F(Tiles, ShowWhichCueDecides) {
  for (const std::int64_t run : {first(), second()}) add(run, samples::cueDecisions(), 100);
  show();
  ASSERT_THAT(tiles().views(), SizeIs(2));
  EXPECT_THAT(tiles().views()[1]->figure()->summary().toStdString(), HasSubstr("% by shape"));
  EXPECT_THAT(page_->figure()->csv().toStdString(),
              test::HasLine("\"base, step 100\",circle,10,2,6,0.25\n"));
}

TEST_F(Tiles, AreOneFigureWithTheNameOfEachVariant) {
  add(first(), samples::spectrum(), 100);
  add(second(), samples::spectrum(), 100);
  show();
  const auto figure = page_->figure();
  ASSERT_NE(figure, nullptr);
  const std::string csv = figure->csv().toStdString();
  EXPECT_THAT(csv, test::HasLine("\"base, step 100\","));
  EXPECT_THAT(csv, test::HasLine("\"+ worse, step 100\","));
}

TEST_F(Tiles, SayWhatToDoWhereTheVariantsShareNothing) {
  show();
  EXPECT_THAT(tiles().kinds(), SizeIs(0));
  QString said;
  for (const QLabel* label : tiles().findChildren<QLabel*>())
    if (label->isVisible()) said += label->text();
  EXPECT_THAT(said.toStdString(),
              HasSubstr("Artifacts shared by two or more variants appear here."));
  EXPECT_EQ(page_->figure(), nullptr);
}

TEST_F(Tiles, ShowWhatARunAddsWhileTheyAreOpen) {
  add(first(), samples::spectrum(), 100);
  add(second(), samples::spectrum(), 100);
  show();
  add(second(), samples::spectrum(), 500);
  page_->waitUntilIdle();
  EXPECT_THAT(tiles().views()[1]->figure()->style().title.toStdString(), EndsWith(", step 500"));
}

/// An architecture that shows its attention, and an analysis of it.
Catalog seeing() {
  return {{cardWith(ItemKind::Architecture, "seer", {"attention"}),
           cardWith(ItemKind::Analysis, "attention_rank", {}, {"attention"})}};
}

TEST(TilesCompute, AMissingAnalysisIsComputedOfEachVariantAndShown) {
  const FakeAnalyses program;
  FakeWorkbench workbench(seeing());
  workbench.serve();
  std::vector<std::int64_t> runs;
  for (const int width : {16, 32}) {
    runs.push_back(workbench.addRun("width " + std::to_string(width),
                                    {{"model", {{"architecture", "seer"}, {"width", width}}}}));
    workbench.row(runs.back()).state = store::RunState::Done;
    workbench.row(runs.back()).latestCheckpoint = 40;
  }
  ComparePage page(workbench);
  page.resize(1100, 760);
  page.show();
  CompareChoice choice = page.choice();
  choice.view = CompareView::Artifacts;
  page.choose(choice);
  page.waitUntilIdle();
  auto* compute = button<QPushButton>(only<ArtifactTiles>(page), "Compute\u2026");
  ASSERT_NE(compute, nullptr) << "variants without artifacts offer it in the middle";
  QTest::mouseClick(compute, Qt::LeftButton);
  auto* menu = only<ArtifactTiles>(page).findChild<QMenu*>();
  ASSERT_TRUE(menu->isVisible());
  ASSERT_EQ(menu->actions().size(), 1);
  EXPECT_THAT(menu->actions().front()->text().toStdString(),
              HasSubstr("attention_rank. Cost: loading 2 checkpoints"));
  Artifact spectrum = samples::spectrum();
  spectrum.step = 40;
  for (const std::int64_t run : runs) workbench.store().addArtifact(run, spectrum);
  menu->actions().front()->trigger();
  menu->close();
  EXPECT_TRUE(
      soon([&] { return only<ArtifactTiles>(page).shown().starts_with("attention_rank/"); }));
  EXPECT_EQ(only<ArtifactTiles>(page).views().size(), 2u);
  EXPECT_TRUE(soon([&] { return program.asked().size() == 2; })) << "one of each variant";
  for (const Json& request : program.asked()) EXPECT_EQ(request["item"], "attention_rank");
}

TEST(SharedKinds, AreThoseOfAtLeastTwoRunsTheMostSharedFirst) {
  const auto row = [](const char* name, const char* kind) {
    return store::ArtifactRow{.analysis = "a", .name = name, .kind = kind};
  };
  const auto kinds = sharedKinds({{row("x", "table"), row("s", "spectrum"), row("s", "spectrum"),
                                   row("p", artifact_kind::kPredictions)},
                                  {row("x", "table"), row("s", "spectrum"),
                                   row("p", artifact_kind::kPredictions)},
                                  {row("x", "table"), row("alone", "table")}},
                                 {{}, {}, {}});
  ASSERT_THAT(kinds, SizeIs(2)) << "answers are not a picture";
  EXPECT_EQ(kinds[0].id, "a/x");
  EXPECT_EQ(kinds[0].runs, 3);
  EXPECT_EQ(kinds[1].runs, 2);
}

}  // namespace
}  // namespace vitrine::ui

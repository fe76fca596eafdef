// What the Artifacts page computes, and where it leads.
#include <gmock/gmock.h>

#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include "core/artifact/predictions.h"
#include "tests/ui/attention/catalog.h"
#include "tests/ui/figures/samples.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/artifacts/artifacts_page.h"
#include "ui/figures/figure_view.h"
#include "ui/workbench/analyses/analysis_menu.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr;

Catalog analyses() {
  return {{cardWith(ItemKind::Architecture, "seer", {"attention"}),
           cardWith(ItemKind::Architecture, "blind", {}),
           cardWith(ItemKind::Analysis, "attention_rank", {}, {"attention"}),
           cardWith(ItemKind::Analysis, "other", {}, {"language"})}};
}

class ArtifactsCompute : public ::testing::Test {
 protected:
  std::int64_t trained(const char* architecture, std::int64_t checkpoint = 40) {
    const std::int64_t run = workbench_.addRun("a", {{"model", {{"architecture", architecture}}}});
    workbench_.row(run).state = store::RunState::Done;
    workbench_.row(run).latestCheckpoint = checkpoint;
    return run;
  }
  void show(std::int64_t run) {
    page_ = std::make_unique<ArtifactsPage>(workbench_);
    page_->resize(900, 700);
    workbench_.selection().setRuns({run}, run);
    page_->show();
    page_->waitUntilIdle();
  }
  QToolButton* button(const QString& text) { return saying<QToolButton>(*page_, text); }
  /// The entries as they are when the menu is opened.
  QList<QAction*> entries() {
    QMenu* menu = button(QStringLiteral("Compute\u2026"))->menu();
    Q_EMIT menu->aboutToShow();
    return menu->actions();
  }

  FakeWorkbench workbench_{analyses()};
  std::unique_ptr<ArtifactsPage> page_;
};

TEST_F(ArtifactsCompute, AFinishedRunIsAnalysedAndTheResultIsShown) {
  const FakeAnalyses program;
  workbench_.serve();
  const std::int64_t run = trained("seer");
  Artifact table = samples::table();
  table.step = 40;
  workbench_.store().addArtifact(run, table);
  show(run);
  const QList<QAction*> all = entries();
  ASSERT_EQ(all.size(), 1) << "what the architecture cannot give is not offered";
  EXPECT_TRUE(all[0]->isEnabled());
  EXPECT_THAT(all[0]->text().toStdString(),
              HasSubstr("attention_rank. Cost: loading 1 checkpoint"));
  all[0]->trigger();
  EXPECT_TRUE(button(QStringLiteral("Cancel computing"))->isVisible());
  Artifact spectrum = samples::spectrum();
  spectrum.step = 40;
  workbench_.store().addArtifact(run, spectrum);
  EXPECT_TRUE(soon([&] { return page_->analysis() == QStringLiteral("attention_rank"); }));
  EXPECT_FALSE(button(QStringLiteral("Cancel computing"))->isVisible());
  ASSERT_EQ(program.asked().size(), 1u);
  EXPECT_EQ(program.asked()[0]["item"], "attention_rank");
  EXPECT_EQ(program.asked()[0]["store"], true);
  page_->waitUntilIdle();
  ASSERT_EQ(entries().size(), 1);
  EXPECT_FALSE(entries()[0]->isEnabled()) << "what is stored is not computed again";
  EXPECT_EQ(entries()[0]->text().toStdString(), "attention_rank: already stored");
}

TEST_F(ArtifactsCompute, AttentionOfImagesIsOfferedWhereTheModelReadsThem) {
  Catalog catalog = attentionCatalog();
  catalog.items.push_back(cardWith(ItemKind::Task, "captioning", {}, {"text_image_model"}));
  catalog.items.push_back(cardWith(ItemKind::Task, "writing", {}, {"language_model"}));
  const ItemCard* map = catalog.find(ItemKind::Analysis, "attention_map");
  ASSERT_NE(map, nullptr);
  const auto canMap = [&](const char* architecture, const char* task) {
    const Json config{{"model", {{"architecture", architecture}}}, {"task", {{"name", task}}}};
    return canAnalyse(catalog, {1, &config}, *map);
  };
  EXPECT_TRUE(canMap("patches", "sorting"));
  EXPECT_FALSE(canMap("noise", "drawing")) << "a generator reads no image";
  EXPECT_TRUE(canMap("captions", "captioning"));
  EXPECT_FALSE(canMap("captions", "writing"));
}

TEST_F(ArtifactsCompute, TheCostIsTimeWhereTheSamplesOfAllRunsAreKnown) {
  const std::int64_t a = trained("seer"), b = trained("seer");
  workbench_.row(a).imagesPerSecond = 100;
  workbench_.row(b).imagesPerSecond = 50;
  EXPECT_EQ(analysisCost(workbench_, {{a, 500}, {b, 1000}}),
            QStringLiteral("Cost: loading 2 checkpoints, and at most 1,500 samples in about ") +
                duration(25));
  EXPECT_EQ(analysisCost(workbench_, {{a, 500}, {b, 0}}),
            QStringLiteral("Cost: loading 2 checkpoints, at most one evaluation of each"));
}

TEST_F(ArtifactsCompute, AProblemIsASentenceAndThePageContinues) {
  const FakeServe program(R"(
def analyse(request):
    return {"error": {"kind": "failed", "message": "no memory for it"}}
)");
  workbench_.serve();
  const std::int64_t run = trained("seer");
  show(run);
  auto* compute = ui::button<QPushButton>(*page_, "Compute\u2026");
  ASSERT_NE(compute, nullptr) << "a run without artifacts offers it in the middle of the page";
  QTest::mouseClick(compute, Qt::LeftButton);
  QMenu* menu = button(QStringLiteral("Compute\u2026"))->menu();
  ASSERT_TRUE(menu->isVisible());
  menu->actions().front()->trigger();
  menu->close();
  ASSERT_TRUE(soon([&] { return !workbench_.said.empty(); }));
  EXPECT_THAT(workbench_.said.back().toStdString(), HasSubstr("attention_rank of"));
  EXPECT_TRUE(soon(
      [&] { return compute->isVisible() && compute->text() == QStringLiteral("Compute\u2026"); }));
}

TEST_F(ArtifactsCompute, SaysWhatStandsInTheWay) {
  workbench_.serve();
  const std::int64_t blind = trained("blind");
  workbench_.store().addArtifact(blind, samples::table());
  show(blind);
  EXPECT_EQ(entries()[0]->text().toStdString(), "No analysis fits the selected runs");
  const std::int64_t none = trained("seer", -1);
  workbench_.store().addArtifact(none, samples::table());
  show(none);
  EXPECT_FALSE(entries()[0]->isEnabled());
  EXPECT_EQ(entries()[0]->text().toStdString(), "attention_rank: no checkpoint");
  workbench_.row(none).state = store::RunState::Running;
  EXPECT_EQ(entries()[0]->text().toStdString(), "attention_rank: in progress");
}

TEST_F(ArtifactsCompute, ThePixelsBelowAMapAreNoEntryOfTheirOwn) {
  const std::int64_t run = trained("seer");
  Artifact pixels = samples::image();
  pixels.analysis = samples::attention().analysis;
  pixels.name = samples::attention().name + " pixels";
  workbench_.store().addArtifact(run, samples::attention());
  workbench_.store().addArtifact(run, pixels);
  Artifact map = samples::attention();
  map.name = "image 7, layers 0, 1";
  workbench_.store().addArtifact(run, map);
  for (const char* name : {"alone pixels", "image 7 pixels", "image 70 pixels"}) {
    pixels.name = name;
    workbench_.store().addArtifact(run, pixels);
  }
  show(run);
  const auto* tree = page_->findChild<QTreeWidget*>();
  ASSERT_EQ(tree->topLevelItemCount(), 1);
  QStringList names;
  for (int i = 0; i < tree->topLevelItem(0)->childCount(); ++i)
    names << tree->topLevelItem(0)->child(i)->text(0);
  EXPECT_EQ(names.join(QLatin1Char(';')).toStdString(),
            "alone pixels;image 0;image 7, layers 0, 1;image 70 pixels");
  page_->showArtifact(QString::fromStdString(map.analysis), QString::fromStdString(map.name));
  page_->waitUntilIdle();
  ASSERT_EQ(page_->views().size(), 1u);
  ASSERT_NE(page_->views()[0]->figure(), nullptr);
  EXPECT_FALSE(page_->views()[0]->figure()->style().picture.isNull()) << "below the map";
}

TEST_F(ArtifactsCompute, LeadsToThePageThatHasTheImages) {
  const std::int64_t run = trained("seer");
  workbench_.store().addArtifact(run, samples::table());
  workbench_.store().addArtifact(run, samples::confusion());
  workbench_.store().addArtifact(run, samples::spectrum());
  show(run);
  QTest::mouseClick(button(QStringLiteral("Open in Spectra")), Qt::LeftButton);
  EXPECT_EQ(workbench_.pages.back().toStdString(), "spectra");
  const Artifact confusion = samples::confusion();
  page_->showArtifact(QString::fromStdString(confusion.analysis),
                      QString::fromStdString(confusion.name));
  page_->waitUntilIdle();
  QTest::mouseClick(button(QStringLiteral("Open in Calibration")), Qt::LeftButton);
  EXPECT_EQ(workbench_.pages.back().toStdString(), "calibration");
  Artifact answers = samples::table();
  answers.kind = artifact_kind::kPredictions;
  answers.name = "predictions";
  workbench_.store().addArtifact(run, answers);
  page_->waitUntilIdle();
  page_->showArtifact(QString::fromStdString(answers.analysis), QStringLiteral("predictions"));
  page_->waitUntilIdle();
  EXPECT_EQ(page_->name().toStdString(), "predictions");
  EXPECT_TRUE(button(QStringLiteral("Open in Calibration"))->isVisible());
}

TEST_F(ArtifactsCompute, OpensThePageOfAnArtifactAtWhatIsShown) {
  Artifact map = samples::attention();
  map.meta.update({{"image", 7}, {"attention", "softmax"}, {"weights", "ema"}});
  const std::int64_t run = trained("seer");
  workbench_.store().addArtifact(run, map);
  workbench_.store().addArtifact(run, samples::cueDecisions());
  show(run);
  QTest::mouseClick(button(QStringLiteral("Open in Attention")), Qt::LeftButton);
  EXPECT_EQ(workbench_.pages.back().toStdString(), "attention");
  EXPECT_EQ(workbench_.views.back(), Json({{"split", "test"},
                                           {"weights", "ema"},
                                           {"analysis", "attention_map"},
                                           {"matrix", "softmax"},
                                           {"image", 7}}));
  page_->showArtifact(QStringLiteral("shape_bias"), QStringLiteral("decisions"));
  page_->waitUntilIdle();
  EXPECT_THAT(page_->views()[0]->figure()->summary().toStdString(),
              HasSubstr("50.0\u2009% by shape"));
  QTest::mouseClick(button(QStringLiteral("Open in Calibration")), Qt::LeftButton);
  EXPECT_EQ(workbench_.views.back()["cues"], true);
}

TEST_F(ArtifactsCompute, TheImageOfAGridIsNotTheSampleOfOtherPages) {
  const std::int64_t run = trained("seer");
  workbench_.store().addArtifact(run, samples::imageGrid());
  show(run);
  bringUp(*page_);
  for (int i = 0; i < 2; ++i) QTest::keyClick(page_.get(), Qt::Key_BracketRight);
  EXPECT_EQ(page_->viewState()["image"], 2);
  EXPECT_EQ(workbench_.selection().image(), 0);
}

TEST_F(ArtifactsCompute, ACellOfAConfusionMatrixOpensItsImages) {
  Artifact confusion = samples::confusion();
  confusion.meta["split"] = "validation";
  const std::int64_t run = trained("seer"), other = trained("seer");
  for (const std::int64_t each : {run, other}) workbench_.store().addArtifact(each, confusion);
  show(run);
  workbench_.selection().setRuns({run, other}, run);
  page_->showArtifact(QString::fromStdString(confusion.analysis),
                      QString::fromStdString(confusion.name));
  page_->waitUntilIdle();
  ASSERT_EQ(page_->views().size(), 2u);
  FigureView& view = *page_->views()[1];
  (void)view.grab();  // painted, so that it knows its places
  QPoint place;
  for (int y = 0; y < view.height() && place.isNull(); y += 2) {
    for (int x = 0; x < view.width() && place.isNull(); x += 2) {
      if (view.figure()->targetAt(QPointF(x, y)).cell == std::array{1, 2}) place = {x, y};
    }
  }
  ASSERT_FALSE(place.isNull());
  QTest::mouseClick(&view, Qt::LeftButton, Qt::NoModifier, place);
  EXPECT_EQ(workbench_.pages.back().toStdString(), "calibration");
  EXPECT_EQ(workbench_.views.back()["cell"], Json({1, 2}));
  EXPECT_EQ(workbench_.views.back()["split"], "validation");
  EXPECT_EQ(workbench_.selection().current(), other);
  EXPECT_EQ(workbench_.selection().runs(), (std::vector<std::int64_t>{run, other}));
}

TEST_F(ArtifactsCompute, KeysReachTheCellsAndTheMisclassifiedExamples) {
  const Artifact confusion = samples::confusion();
  const std::int64_t run = trained("seer");
  workbench_.store().addArtifact(run, confusion);
  workbench_.store().addArtifact(run, samples::spectrum());
  show(run);
  QToolButton* misclassified = button(QStringLiteral("Misclassified examples"));
  EXPECT_FALSE(misclassified->isVisible());
  page_->showArtifact(QString::fromStdString(confusion.analysis),
                      QString::fromStdString(confusion.name));
  page_->waitUntilIdle();
  FigureView& view = *page_->views()[0];
  EXPECT_TRUE((view.focusPolicy() & Qt::TabFocus) != 0);
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Return);
  EXPECT_TRUE(workbench_.views.empty()) << "no cell is chosen yet";
  for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Down, Qt::Key_Down, Qt::Key_Up})
    QTest::keyClick(&view, key);
  QStringList words;
  for (const QLabel* label : page_->findChildren<QLabel*>()) words << label->text();
  EXPECT_THAT(words.join(QLatin1Char('\n')).toStdString(),
              HasSubstr("true shirt, predicted shirt: 5"));
  QTest::keyClick(&view, Qt::Key_Return);
  ASSERT_EQ(workbench_.views.size(), 1u);
  EXPECT_EQ(workbench_.views.back()["cell"], Json({1, 1}));
  ASSERT_TRUE(misclassified->isVisible());
  QTest::mouseClick(misclassified, Qt::LeftButton);
  EXPECT_EQ(workbench_.views.back()["all_errors"], true);
  EXPECT_EQ(workbench_.views.back()["cell"], Json({-1, -1}));
  EXPECT_EQ(workbench_.pages.back().toStdString(), "calibration");
}

}  // namespace
}  // namespace vitrine::ui

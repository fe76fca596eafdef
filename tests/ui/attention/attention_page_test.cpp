#include "ui/attention/attention_page.h"

#include <gmock/gmock.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "tests/support/has_texts.h"
#include "tests/ui/attention/catalog.h"
#include "tests/ui/attention/maps.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/attention/attention_panel.h"
#include "ui/attention/attention_view.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr;

/// Answers `load`, and `analyse` with a map of 2 x 2 patches and a class token, as
/// samples::attentionMap() has it.
constexpr const char* kServe = R"(
import struct

def load(request):
    log("load %d %s" % (request["run"], request["checkpoint"]))
    return {"model": "model"}

def analyse(request):
    settings = request["settings"]
    number = settings["ids"][0] if "ids" in settings else -1
    log("analyse %s %s %s" % (request["item"], number, "store" if request.get("store") else "keep"))
    if "image" in request:
        log("image %s" % request["image"]["shape"])
    values = [0.2] * 50
    places = [[-1, -1], [0, 0], [0, 1], [1, 0], [1, 1]]
    meta = {"version": 1, "dtype": "float32", "shape": [1, 2, 5, 5], "layers": [0], "image": number,
            "attention": settings.get("attention", "weights"), "weights": "model",
            "query_positions": places, "key_positions": places}
    yield {"artifact": whole({"name": "image %d" % number, "kind": "attention", "meta": meta}, struct.pack("<50f", *values))}
    return {"model": "model", "run": 1, "step": STEP, "artifacts": 1}
)";

class AttentionPageTest : public PageTest<AttentionPage> {
 protected:
  AttentionPageTest() { workbench_.become(attentionCatalog()); }

  std::int64_t runWith(const std::string& name, const std::vector<Artifact>& artifacts,
                       const char* architecture = "patches") {
    return PageTest::runWith(name, artifacts, configOf(architecture));
  }
  std::unique_ptr<AttentionPage> page(const std::vector<std::int64_t>& runs) {
    auto made = std::make_unique<AttentionPage>(workbench_);
    made->resize(1100, 760);
    workbench_.selection().setRuns(runs, runs.empty() ? 0 : runs.front());
    made->waitUntilIdle();
    return made;
  }
  /// Clicks where a target of this kind lies in the view.
  template <class Matches>
  static bool click(AttentionView& view, Matches&& matches) {
    (void)view.grab();
    for (int y = 0; y < view.height(); y += 3) {
      for (int x = 0; x < view.width(); x += 3) {
        if (!matches(view.figure()->targetAt(QPointF(x, y)))) continue;
        QTest::mouseClick(&view, Qt::LeftButton, Qt::NoModifier, QPoint(x, y));
        return true;
      }
    }
    return false;
  }
  static const AttentionScene& scene(const AttentionPage& page, std::size_t panel = 0) {
    return page.panels().at(panel)->scene();
  }
};

using Attention = AttentionPageTest;

TEST_F(Attention, ShowsEveryHeadOfTheFirstStoredImage) {
  const auto shown = page({runWith("a", {samples::attentionMap(3), samples::pixels(3)})});
  ASSERT_EQ(shown->panels().size(), 1U);
  ASSERT_TRUE(shown->panels()[0]->hasImage());
  EXPECT_EQ(shown->viewState()["image"], 3);
  EXPECT_EQ(scene(*shown).layers(), 2);
  EXPECT_FALSE(scene(*shown).image()->picture.isNull());
  EXPECT_TRUE(shown->panels()[0]->headsView().plotSummary().startsWith(
      QLatin1String("Attention of 2 layers")));
  EXPECT_EQ(shown->panels()[0]->headsView().plotTable().rows.size(), 4U);
}

TEST_F(Attention, ChoosesLayerAndHeadByClick) {
  const auto shown = page({runWith("a", {samples::attentionMap(0)})});
  ASSERT_TRUE(click(shown->panels()[0]->headsView(), [](const FigureTarget& target) {
    return target.layer == 1 && target.head == 1;
  }));
  EXPECT_EQ(shown->viewState()["layer"], 1);
  EXPECT_EQ(shown->viewState()["head"], 1);
  EXPECT_EQ(workbench_.selection().layer(), 1);
  EXPECT_EQ(workbench_.selection().head(), 1);
}

TEST_F(Attention, ChoosesThePatchThatIsClicked) {
  const auto shown = page({runWith("a", {samples::attentionMap(0), samples::pixels(0)})});
  EXPECT_EQ(scene(*shown).query(0), 0);  // the class token
  ASSERT_TRUE(click(shown->panels()[0]->headView(), [](const FigureTarget& target) {
    return target.queryAt && (*target.queryAt)[0] > 0.5 && (*target.queryAt)[1] < 0.5;
  }));
  EXPECT_EQ(scene(*shown).query(0), 3);
  ASSERT_TRUE(click(shown->panels()[0]->headView(),
                    [](const FigureTarget& target) { return target.token == -1; }));
  EXPECT_EQ(scene(*shown).query(0), kMeanQuery);
  ASSERT_TRUE(click(shown->panels()[0]->headView(),
                    [](const FigureTarget& target) { return target.token == 0; }));
  EXPECT_EQ(scene(*shown).query(0), 0);
}

TEST_F(Attention, FollowsThePointerWhenAsked) {
  const auto shown = page({runWith("a", {samples::attentionMap(0)})});
  bringUp(*shown);
  AttentionView& view = shown->panels()[0]->headView();
  (void)view.grab();
  QPoint at;
  for (int y = 0; y < view.height() && at.isNull(); y += 3) {
    for (int x = 0; x < view.width() && at.isNull(); x += 3) {
      const FigureTarget target = view.figure()->targetAt(QPointF(x, y));
      if (target.queryAt && (*target.queryAt)[0] > 0.5) at = {x, y};
    }
  }
  QTest::mouseMove(&view, at);
  EXPECT_EQ(scene(*shown).query(0), 0);
  auto* box = saying<QCheckBox>(*shown, "Follow pointer");
  QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
  QTest::mouseMove(&view, at + QPoint(1, 0));
  EXPECT_TRUE(soon([&] { return scene(*shown).query(0) == 3; }));
}

TEST_F(Attention, MovesByKeyboard) {
  const auto shown = page({runWith("a", {samples::attentionMap(0), samples::attentionMap(7),
                                         samples::atStep(samples::attentionMap(0), 100)})});
  bringUp(*shown);
  AttentionView& view = shown->panels()[0]->headView();
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Right);  // from the class token onto the grid
  EXPECT_EQ(scene(*shown).query(0), 4);
  QTest::keyClick(&view, Qt::Key_Up);
  EXPECT_EQ(scene(*shown).query(0), 2);
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(scene(*shown).query(0), 1);
  QTest::keyClick(&view, Qt::Key_Left);  // there is no patch further left
  EXPECT_EQ(scene(*shown).query(0), 1);
  QTest::keyClick(&view, Qt::Key_End);
  EXPECT_EQ(scene(*shown).query(0), kMeanQuery);
  QTest::keyClick(&view, Qt::Key_Home);
  EXPECT_EQ(scene(*shown).query(0), 0);
  QTest::keyClick(&view, Qt::Key_Period);
  EXPECT_EQ(scene(*shown).layer(), 1);
  QTest::keyClick(&view, Qt::Key_Comma);
  EXPECT_EQ(scene(*shown).layer(), 0);
  QTest::keyClick(&view, Qt::Key_Greater);
  EXPECT_EQ(scene(*shown).head(), 1);
  QTest::keyClick(&view, Qt::Key_Less);
  EXPECT_EQ(scene(*shown).head(), 0);
  EXPECT_EQ(shown->shownStep(), 100);
  QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier);
  EXPECT_EQ(shown->shownStep(), 0);
  QTest::keyClick(&view, Qt::Key_BracketRight);
  EXPECT_EQ(shown->viewState()["image"], 7);
  QTest::keyClick(&view, Qt::Key_BracketLeft);
  EXPECT_EQ(shown->viewState()["image"], 0);
}

TEST_F(Attention, MovesThroughHeadsByArrowsInTheOverview) {
  const auto shown = page({runWith("a", {samples::attentionMap(0)})});
  bringUp(*shown);
  AttentionView& view = shown->panels()[0]->headsView();
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Down);
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(shown->viewState()["layer"], 1);
  EXPECT_EQ(shown->viewState()["head"], 1);
}

TEST_F(Attention, PaintsEachPictureOnceForAQueryAndReadsNothing) {
  const auto shown = page({runWith("a", {samples::attentionMap(0)})});
  bringUp(*shown);
  AttentionView& view = shown->panels()[0]->headView();
  view.setFocus();
  QCoreApplication::processEvents();
  const PaintCount heads(shown->panels()[0]->headsView()), head(view);
  const int rows = Probe::rowsMade(scene(*shown)), asked = workbench_.storeRequests;
  QTest::keyClick(&view, Qt::Key_Right);
  QCoreApplication::processEvents();
  EXPECT_EQ(heads.count(), 1);
  EXPECT_EQ(head.count(), 1);
  EXPECT_EQ(Probe::rowsMade(scene(*shown)), rows + 4);  // two layers of two heads
  EXPECT_EQ(workbench_.storeRequests, asked);
}

TEST_F(Attention, KeepsTheFewestKeysThatHoldTheMass) {
  const auto shown = page({runWith("a", {samples::attentionMap(0)})});
  // The class token reads 0.6 from itself.
  named<QSlider>(*shown, "Mass that is shown, in percent")->setValue(60);
  const AttentionScene::Row& row = scene(*shown).row(0, 0);
  EXPECT_EQ(std::count(row.kept.begin(), row.kept.end(), true), 1);
  EXPECT_DOUBLE_EQ(shown->viewState()["mass"].get<double>(), 0.6);
}

TEST_F(Attention, LocksTwoRunsToTheSameImagePatchAndStep) {
  const std::int64_t a = runWith("a", {samples::atStep(samples::attentionMap(3), 100),
                                       samples::atStep(samples::attentionMap(3), 200)});
  const std::int64_t b = runWith("b", {samples::atStep(samples::attentionMap(3, 1), 100),
                                       samples::atStep(samples::attentionMap(3, 1), 200)});
  const auto shown = page({a, b});
  bringUp(*shown);
  ASSERT_EQ(shown->panels().size(), 2U);
  ASSERT_TRUE(shown->panels()[1]->hasImage());
  AttentionView& view = shown->panels()[1]->headView();
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Down);
  QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier);
  EXPECT_EQ(shown->shownStep(), 100);
  shown->waitUntilIdle();
  EXPECT_EQ(scene(*shown, 0).query(0), scene(*shown, 1).query(0));
  EXPECT_EQ(scene(*shown, 0).query(0), 4);
  QTest::keyClick(&view, Qt::Key_Period);
  EXPECT_EQ(scene(*shown, 0).layer(), 1);
  EXPECT_EQ(scene(*shown, 1).layer(), 0);  // has one
  EXPECT_EQ(scene(*shown, 0).range(0, 0), scene(*shown, 1).range(0, 0));
  EXPECT_EQ(scene(*shown, 0).twin().get(), &scene(*shown, 1));
  EXPECT_EQ(scene(*shown, 1).twin().get(), &scene(*shown, 0));
}

TEST_F(Attention, GivesEachMapItsOwnColoursUntilOneScaleIsAskedFor) {
  const auto shown = page({runWith("a", {samples::attentionMap(0)})});
  // The class token reads 0.1 of a patch in head 0, and 0.05 in head 1.
  EXPECT_NEAR(scene(*shown).range(0, 1).high, 0.05, 1e-6);
  EXPECT_EQ(shown->viewState().at("same_scale"), false);
  saying<QCheckBox>(*shown, "Same scale")->click();
  EXPECT_NEAR(scene(*shown).range(0, 1).high, 0.1, 1e-6);
  EXPECT_EQ(shown->viewState().at("same_scale"), true);
}

TEST_F(Attention, TakesTheStepOfTheOtherPages) {
  const auto shown = page({runWith("a", {samples::atStep(samples::attentionMap(0), 100),
                                         samples::atStep(samples::attentionMap(0), 200)})});
  shown->show();
  workbench_.selection().setStep(100);
  EXPECT_EQ(shown->shownStep(), 100);
}

TEST_F(Attention, ShowsTheImageThatIsChosenOnAnotherPage) {
  const auto shown = page({runWith("a", {samples::attentionMap(0), samples::attentionMap(7)})});
  EXPECT_EQ(shown->viewState()["image"], 0);
  workbench_.selection().setFocus(7, 1, 1);
  EXPECT_EQ(shown->viewState()["image"], 7);
  EXPECT_EQ(shown->viewState()["layer"], 1);
}

TEST_F(Attention, AsksTheModelForWhatIsNotStored) {
  const FakeServe serve(QByteArray(kServe).replace("STEP", "400"));
  workbench_.serve();
  const std::int64_t run = runWith("a", {samples::atStep(samples::attentionMap(3), 100)});
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  bringUp(*shown);
  EXPECT_EQ(shown->findChild<StepBar*>()->steps(), (std::vector<std::int64_t>{100, 400}));
  EXPECT_EQ(shown->shownStep(), 100);  // what is there to see
  auto* number = shown->findChild<QSpinBox*>();
  number->setValue(12);
  EXPECT_EQ(shown->shownStep(), 400);
  EXPECT_FALSE(shown->panels()[0]->hasImage());
  EXPECT_THAT(shown->panels()[0]->sentence().toStdString(), HasSubstr("image 12"));
  QPushButton* compute = button(*shown->panels()[0], "Compute");
  ASSERT_NE(compute, nullptr);
  QTest::mouseClick(compute, Qt::LeftButton);
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->hasImage(); }));
  EXPECT_EQ(serve.read(QStringLiteral("log")).toStdString(),
            "load 1 400\nanalyse attention_map 12 store\n");
  EXPECT_EQ(scene(*shown).layers(), 1);
  // Back and forth: it stays in memory.
  number->setValue(3);
  shown->waitUntilIdle();
  number->setValue(12);
  EXPECT_TRUE(shown->panels()[0]->hasImage());
  EXPECT_EQ(serve.read(QStringLiteral("log")).count("analyse"), 1);
}

TEST_F(Attention, SaysWhyTheModelCannotBeAsked) {
  const FakeServe serve(R"(
def load(request): return {"error": {"kind": "refused", "message": "memory is short: 8 GB wanted"}}
)");
  workbench_.serve();
  const std::int64_t run = runWith("a", {});
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  shown->computeMissing();
  ASSERT_TRUE(soon([&] {
    return shown->panels()[0]->sentence().contains(QStringLiteral("memory is short: 8 GB wanted"));
  }));
  EXPECT_NE(button(*shown->panels()[0], "Try again"), nullptr);
}

TEST_F(Attention, CancelsWhatIsBeingComputed) {
  const FakeServe serve(R"(
import time
def analyse(request):
    while True:
        yield {"done": 1, "total": 9}
        time.sleep(0.02)
)");
  workbench_.serve();
  const std::int64_t run = runWith("a", {});
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  shown->show();
  shown->computeMissing();
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->sentence().contains(percent(1.0 / 9, 0)); }));
  QTest::mouseClick(button(*shown->panels()[0], "Cancel"), Qt::LeftButton);
  EXPECT_TRUE(
      soon([&] { return shown->panels()[0]->sentence().contains(QStringLiteral("cancelled")); }));
}

TEST_F(Attention, AsksAboutAnImageThatIsDropped) {
  const FakeServe serve(QByteArray(kServe).replace("STEP", "400"));
  workbench_.serve();
  const std::int64_t run = runWith("a", {samples::atStep(samples::attentionMap(3), 400)});
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  shown->setViewState({{"image", 3}});  // chosen by the user
  shown->show();
  QTemporaryDir folder;
  const QString file = folder.filePath(QStringLiteral("cat.png"));
  QImage picture(6, 5, QImage::Format_RGB32);
  picture.fill(Qt::green);
  ASSERT_TRUE(picture.save(file));
  dropFile(file, *shown);
  ASSERT_TRUE(soon([&] {
    return shown->viewState()["image"] == -1 && shown->panels()[0]->hasImage();
  }));
  EXPECT_THAT(serve.read(QStringLiteral("log")).toStdString(), test::HasLine("image [5, 6, 3]\n"));
  press<QToolButton>(*shown, "Back to samples");
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState()["image"], 3);
  EXPECT_TRUE(shown->panels()[0]->hasImage());
}

TEST_F(Attention, HasOneActionWhereNothingIsShown) {
  const auto nothing = page({});
  EXPECT_NE(button(*nothing, "New experiment"), nullptr);
  workbench_.serve();
  const std::int64_t run = runWith("blind", {}, "blind");
  const auto blind = page({run});
  const auto* mass = named<QSlider>(*blind, "Mass that is shown, in percent");
  EXPECT_FALSE(mass->isVisibleTo(blind.get())) << "nothing to choose from";
  EXPECT_THAT(labels(*blind), HasSubstr("blind, offers no attention"));
  EXPECT_THAT(labels(*page({runWith("b", {}, "unknown")})), HasSubstr("Install its plugin"));
  EXPECT_EQ(button(*blind->panels()[0], "Compute"), nullptr);
  workbench_.selection().setRuns({run, runWith("a", {})}, run);
  blind->waitUntilIdle();
  EXPECT_TRUE(mass->isVisibleTo(blind.get())) << "the other run has attention";
}

TEST_F(Attention, SaysThatAnArtifactCannotBeRead) {
  Artifact cut = samples::attentionMap(0);
  cut.data.resize(12);
  const auto shown = page({runWith("a", {cut})});
  EXPECT_THAT(shown->panels()[0]->sentence().toStdString(), HasSubstr("cannot be read"));
}

TEST_F(Attention, ComesBackToItsView) {
  const std::int64_t run = runWith("a", {samples::attentionMap(0), samples::attentionMap(7),
                                         samples::atStep(samples::attentionMap(7), 100)});
  const auto shown = page({run});
  shown->setViewState({{"image", 7},
                       {"step", 0},
                       {"layer", 1},
                       {"head", 1},
                       {"query", "patch"},
                       {"place", {0.75, 0.25}},
                       {"mass", 0.5},
                       {"same_scale", false},
                       {"layout", "overlay"}});
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState()["image"], 7);
  EXPECT_EQ(shown->shownStep(), 0);
  EXPECT_EQ(scene(*shown).query(1), 3);
  const Json state = shown->viewState();
  const auto other = page({run});
  other->setViewState(state);
  other->waitUntilIdle();
  EXPECT_EQ(other->viewState(), state);
  for (const Json& odd :
       {Json(3), Json{{"image", "x"}, {"layer", -4}, {"mass", 7}, {"place", {1}}}})
    other->setViewState(odd);
  EXPECT_EQ(other->viewState(), state);
}

TEST_F(Attention, TellsThatTheViewChanged) {
  const auto shown = page({runWith("a", {samples::attentionMap(0)})});
  QSignalSpy changes(shown.get(), &Page::viewChanged);
  auto* layout = shown->findChild<QComboBox*>(QString(), Qt::FindChildrenRecursively);
  ASSERT_NE(layout, nullptr);
  bringUp(*shown);
  shown->panels()[0]->headView().setFocus();
  QTest::keyClick(&shown->panels()[0]->headView(), Qt::Key_End);
  EXPECT_EQ(changes.count(), 1);
}

TEST_F(Attention, GivesItsPicturesToExports) {
  const std::int64_t a = runWith("a", {samples::attentionMap(0), samples::pixels(0)});
  const std::int64_t b = runWith("b", {samples::attentionMap(0, 1)});
  const auto shown = page({a, b});
  const std::unique_ptr<Figure> figure = shown->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_THAT(figure->csv().toStdString(),
              test::HasLine("\"a, chosen head\",0,,0,0,class token"));
  EXPECT_THAT(figure->note().toStdString(), HasSubstr("not why the model decides"));
  EXPECT_FALSE(figure->image(figure->sizeHint(), 1).isNull());
  EXPECT_EQ(page({})->figure(), nullptr);
}

TEST_F(Attention, SaysTheClassOfTheImageAndTheModelsAnswer) {
  Artifact map = samples::attentionMap(3);
  map.meta.update({{"label", 1}, {"label_name", "Trouser"}});
  map.meta.update({{"predicted", 3}, {"predicted_name", "Dress"}, {"confidence", 0.834}});
  const auto shown = page({runWith("a", {map})});
  const AttentionView& head = shown->panels()[0]->headView();
  EXPECT_THAT(head.figure()->summary().toStdString(),
              test::HasTexts("; true: Trouser", "; predicted: Dress, 83.4"));
}

TEST_F(Attention, FitsIntoEveryWindow) {
  const std::int64_t a = runWith("a", {samples::attentionMap(0), samples::pixels(0)});
  const std::int64_t b = runWith("b", {samples::attentionMap(0)});
  for (const double zoom : {1.0, 1.6}) {
    const Zoomed zoomed(zoom);
    for (const std::vector<std::int64_t>& runs : {std::vector{a}, std::vector{a, b}}) {
      QWidget window;
      window.resize(1200, 800);
      workbench_.selection().setRuns(runs, runs.front());
      auto* shown = new AttentionPage(workbench_, &window);
      window.show();
      EXPECT_EQ(whatDoesNotFitAnywhere(*shown), "");
    }
  }
}

}  // namespace
}  // namespace vitrine::ui

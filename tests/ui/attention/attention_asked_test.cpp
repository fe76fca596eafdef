// What the Attention page asks the model for, what of it is stored, and which image that is.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QSpinBox>

#include "core/base/text.h"
#include "tests/support/has_texts.h"
#include "tests/ui/attention/catalog.h"
#include "tests/ui/attention/maps.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/attention/attention_view.h"

namespace vitrine::ui {
namespace {

using test::HasLine;
using ::testing::HasSubstr;

/// A layer of 4 windows of 2 x 2 patches where a place is asked for, else 2 x 2 patches and a class
/// token. Writes down what it was asked for.
constexpr const char* kWindows = R"(
import struct

def analyse(request):
    settings = request["settings"]
    number = settings["ids"][0]
    place = settings.get("place")
    log("analyse %s %s %s" % (request["item"], number, "store" if request.get("store") else "keep"))
    if "split" in request: log("split %s" % request["split"])
    if place: log("place %s" % place)
    meta = {"version": 1, "dtype": "float32", "layers": [0], "image": number,
            "attention": settings.get("attention", "weights"), "weights": "model",
            "split": request.get("split", "test")}
    if "place" in settings or request["item"] == "windows":
        down, right = [int(2 * one) for one in place or [0.5, 0.5]]
        own = [[0, 0], [0, 1], [1, 0], [1, 1]]
        meta.update(window=2 * down + right, grid=[4, 4], shape=[1, 1, 4, 4], query_positions=own, key_positions=own,
                    key_places=[[row + 2 * down, column + 2 * right] for row, column in own])
    else:
        own = [[-1, -1], [0, 0], [0, 1], [1, 0], [1, 1]]
        meta.update(shape=[1, 2, 5, 5], query_positions=own, key_positions=own)
    count = 1
    for side in meta["shape"]: count *= side
    yield {"artifact": whole({"name": "image %d" % number, "kind": "attention", "meta": meta},
                             struct.pack("<%df" % count, *[0.25] * count))}
    return {"model": "model", "run": 1, "step": 400, "artifacts": 1}
)";

class AskedAttention : public PageTest<AttentionPage> {
 protected:
  AskedAttention() : serve_(kWindows) {
    Catalog catalog = attentionCatalog();
    catalog.items.push_back(
        cardWith(ItemKind::Architecture, "pyramid", {"image_classifier", "windowed"}));
    catalog.items.push_back(
        cardWith(ItemKind::Analysis, "windows", {"attention:weights"}, {"windowed"}));
    catalog.items.back().schema.fields = {
        listField("place", FieldType::Real, Json::array(), "where")};
    workbench_.become(catalog);
    workbench_.serve();
  }
  static const AttentionScene& scene(const AttentionPage& page) {
    return page.panels().at(0)->scene();
  }
  QString log() const { return QString::fromUtf8(serve_.read(QStringLiteral("log"))); }

  FakeServe serve_;
};

TEST_F(AskedAttention, KeysGoThroughTheImagesThatAnotherPageListed) {
  const auto shown = page({runWith(
      "a", {samples::attentionMap(3), samples::attentionMap(5), samples::attentionMap(8)})});
  shown->setViewState({{"image", 8}, {"listed", {8, 3, 5}}});
  shown->waitUntilIdle();
  AttentionView& view = shown->panels()[0]->headView();
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_BracketRight);
  EXPECT_EQ(shown->viewState()["image"], 3) << "not the next number";
  EXPECT_THAT(labels(*shown), HasLine("2 of 3 listed\n"));
  EXPECT_EQ(shown->viewState()["listed"], Json({8, 3, 5}));
  for (int i = 0; i < 2; ++i) QTest::keyClick(&view, Qt::Key_BracketRight);
  EXPECT_EQ(shown->viewState()["image"], 5) << "the list ends there";
  QTest::keyClick(&view, Qt::Key_BracketLeft);
  EXPECT_EQ(shown->viewState()["image"], 3);
  shown->setViewState({{"image", 5}});
  shown->waitUntilIdle();
  QTest::keyClick(&view, Qt::Key_BracketRight);
  EXPECT_EQ(shown->viewState()["image"], 8) << "without a list through the stored ones";
}

TEST_F(AskedAttention, SaysThatTwoOfMoreRunsAreDrawn) {
  std::vector<std::int64_t> runs;
  for (const char* name : {"a", "b", "c"})
    runs.push_back(runWith(name, {samples::attentionMap(3)}, configOf("patches")));
  const auto shown = page(runs);
  EXPECT_EQ(shown->panels().size(), 2u);
  EXPECT_THAT(labels(*shown), HasSubstr("2 of 3 selected runs are drawn."));
  EXPECT_EQ(labels(*page({runs[0], runs[1]})).find("selected runs"), std::string::npos);
}

TEST_F(AskedAttention, SaysOfWhichOfTwoRunsNoRolloutIsDrawn) {
  Artifact masked = samples::attentionMap(3);
  setFloat32(masked, std::vector<float>(100, 0.1F), {2, 2, 5, 5},
             {"layer", "head", "query", "key"});
  const auto shown = page({runWith("a", {samples::attentionMap(3)}, configOf("patches")),
                           runWith("b", {masked}, configOf("patches"))});
  shown->setViewState({{"rollout", true}});
  shown->waitUntilIdle();
  EXPECT_THAT(labels(*shown), HasSubstr("b: Rollout is not defined here"));
}

TEST_F(AskedAttention, AnImageThatAnotherPageOpensReplacesTheUsersOwn) {
  const auto shown = page({runWith("a", {samples::attentionMap(3)}, configOf("patches"))});
  QImage own(4, 4, QImage::Format_RGB32);
  own.fill(Qt::red);
  shown->setOwnImage(own, QStringLiteral("mine.png"));
  const Json state = shown->viewState();
  EXPECT_THAT(labels(*shown), HasLine("mine.png\n"));
  shown->setViewState({{"image", 3}});
  EXPECT_TRUE(soon([&] { return shown->panels()[0]->hasImage(); }));
  EXPECT_EQ(shown->viewState()["image"], 3);
  EXPECT_EQ(labels(*shown).find("mine.png"), std::string::npos);
  EXPECT_TRUE(shown->findChild<QSpinBox*>()->isEnabled());
  EXPECT_TRUE(workbench_.said.empty());
  shown->setViewState(state);
  ASSERT_FALSE(workbench_.said.empty());
  EXPECT_EQ(workbench_.said.back().toStdString(),
            "This view is of an image that the database does not have: open the image again.");
  EXPECT_EQ(shown->viewState()["image"], 3);
}

TEST_F(AskedAttention, AnImageOfAnotherSplitIsAnotherImage) {
  const auto ofTest = [](Artifact artifact) {
    artifact.meta["split"] = "test";
    return samples::atStep(std::move(artifact), 400);
  };
  const std::int64_t run = runWith("a", {ofTest(samples::attentionMap(3))}, configOf("patches"));
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  auto* number = shown->findChild<QSpinBox*>();
  EXPECT_TRUE(shown->panels()[0]->hasImage());
  EXPECT_EQ(number->prefix().toStdString(), "test image ");
  // As Calibration opens it.
  shown->setViewState({{"image", 3}, {"split", "validation"}});
  EXPECT_FALSE(shown->panels()[0]->hasImage());
  EXPECT_EQ(number->prefix().toStdString(), "validation image ");
  shown->computeMissing();
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->hasImage(); }));
  EXPECT_THAT(log().toStdString(), HasLine("split validation\n"));
  EXPECT_EQ(shown->viewState()["split"], "validation");
  // And back, where both are known.
  QComboBox* split = nullptr;
  for (auto* box : shown->findChildren<QComboBox*>()) {
    if (box->accessibleName() == QStringLiteral("Split") && box->isVisibleTo(shown.get()))
      split = box;
  }
  ASSERT_NE(split, nullptr);
  ASSERT_EQ(split->count(), 2);
  split->setFocus();
  QTest::keyClick(split, Qt::Key_Up);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState()["split"], "test");
  EXPECT_EQ(scene(*shown).layers(), 2);  // the stored one
}

TEST_F(AskedAttention, StoresWhatIsComputedAndReadsItBack) {
  const std::int64_t run = runWith("a", {}, configOf("memory"));
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  shown->computeMissing();
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->hasImage(); }));
  EXPECT_THAT(log().toStdString(), HasLine("analyse memory_weights 0 store\n"));
  // What the program stores then is there at the next look, and nothing is asked for.
  Artifact stored = samples::atStep(samples::attentionMap(0, 1, "weights"), 400);
  stored.analysis = "memory_weights";
  workbench_.store().addArtifact(run, stored);
  const auto again = page({run});
  EXPECT_TRUE(again->panels()[0]->hasImage());
  again->computeMissing();
  EXPECT_EQ(log().count(QStringLiteral("analyse")), 1);
  // Not more than a bounded part of the database is filled.
  const auto full = page({run});
  full->setProperty("mostStored", 1);
  full->setViewState({{"image", 9}});
  full->waitUntilIdle();
  full->computeMissing();
  ASSERT_TRUE(soon([&] { return full->panels()[0]->hasImage(); }));
  EXPECT_THAT(log().toStdString(), HasLine("analyse memory_weights 9 keep\n"));
}

TEST_F(AskedAttention, ACheckpointThatIsNewerThanAllMapsIsNamedAndOneClickComputesIt) {
  const std::int64_t run =
      runWith("a", {samples::atStep(samples::attentionMap(3), 0)}, configOf("patches"));
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  EXPECT_EQ(shown->shownStep(), 0);
  EXPECT_THAT(labels(*shown),
              HasLine("Step 0, before training, is shown; step 400 can be computed.\n"));
  press(*shown, "Compute step 400");
  EXPECT_EQ(shown->shownStep(), 400);
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->hasImage(); }));
  EXPECT_EQ(log().count(QStringLiteral("analyse attention_map 3")), 1);
  EXPECT_EQ(button(*shown, "Compute step 400"), nullptr);
  // A later checkpoint again, next to what was computed.
  workbench_.addCheckpoint(run, 1200);
  shown->waitUntilIdle();
  EXPECT_TRUE(shown->panels()[0]->hasImage());
  EXPECT_THAT(labels(*shown), HasLine("Step 400 is shown; step 1,200 can be computed.\n"));
}

/// A map that has the row of the class token alone, as a run stores it by itself.
Artifact classRowOf(std::int64_t image) {
  Artifact artifact = samples::atStep(samples::attentionMap(image, 1), 400);
  setFloat32(artifact, std::vector<float>(10, 0.2F), {1, 2, 1, 5},
             {"layer", "head", "query", "key"});
  artifact.meta["query_positions"] = Json::array({Json::array({-1, -1})});
  return artifact;
}

TEST_F(AskedAttention, APatchThatIsNotStoredIsComputedByOneClick) {
  const std::int64_t run = runWith("a", {classRowOf(3)}, configOf("patches"));
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  EXPECT_EQ(scene(*shown).query(0), 0);
  EXPECT_EQ(button(*shown, "Compute this patch"), nullptr);
  Q_EMIT shown->panels()[0]->headView().clicked({.queryAt = {{0.25, 0.25}}});
  EXPECT_EQ(scene(*shown).query(0), std::nullopt);
  press(*shown, "Compute this patch");
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->hasImage(); }));
  EXPECT_EQ(scene(*shown).query(0), 1);
  EXPECT_EQ(button(*shown, "Compute this patch"), nullptr);
}

TEST_F(AskedAttention, APatchOfAStepThatHasNoCheckpointIsNotOffered) {
  const std::int64_t run = runWith("a", {classRowOf(3)}, configOf("patches"));
  workbench_.addCheckpoint(run, 300);
  const auto shown = page({run});
  Q_EMIT shown->panels()[0]->headView().clicked({.queryAt = {{0.25, 0.25}}});
  EXPECT_EQ(scene(*shown).query(0), std::nullopt);
  EXPECT_EQ(button(*shown, "Compute this patch"), nullptr);
}

TEST_F(AskedAttention, APatchThatTheNextImageDoesNotHaveIsNotTheQueryAnyMore) {
  const auto shown =
      page({runWith("a", {samples::atStep(samples::attentionMap(5), 400), classRowOf(6)})});
  shown->setViewState({{"image", 5}, {"query", "patch"}, {"place", {0.25, 0.25}}});
  shown->waitUntilIdle();
  EXPECT_EQ(scene(*shown).query(0), 1);
  shown->setViewState({{"image", 6}});
  shown->waitUntilIdle();
  EXPECT_EQ(scene(*shown).query(0), 0) << "the class token, not an empty picture";
}

TEST_F(AskedAttention, TheWindowOfAPatchComesWhenThePatchIsChosen) {
  const std::int64_t run = runWith("a", {}, configOf("pyramid"));
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  shown->setViewState({{"query", "patch"}, {"place", {0.125, 0.125}}});
  shown->waitUntilIdle();
  shown->computeMissing();
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->hasImage(); }));
  EXPECT_EQ(scene(*shown).layerAt(0).window, 0);
  EXPECT_EQ(scene(*shown).query(0), 0);
  EXPECT_EQ(scene(*shown).layerAt(0).keyGrid.frame, QRectF(0, 0, 0.5, 0.5)) << "as the grid says";
  // A key moves inside of the window and asks nothing; a patch elsewhere brings its window.
  AttentionView& head = shown->panels()[0]->headView();
  head.setFocus();
  QTest::keyClick(&head, Qt::Key_Right);
  EXPECT_EQ(scene(*shown).query(0), 1);
  EXPECT_EQ(log().count(QStringLiteral("place")), 1);
  FigureTarget target{.queryAt = {{0.9, 0.1}}};
  Q_EMIT head.clicked(target);
  ASSERT_TRUE(soon([&] { return scene(*shown).layers() == 2; }));
  EXPECT_THAT(log().toStdString(), HasLine("place [0.9, 0.1]\n"));
  EXPECT_EQ(scene(*shown).layerAt(scene(*shown).layer()).window, 2);
  EXPECT_EQ(scene(*shown).query(scene(*shown).layer()), 2);
  // Back: what came before is still there.
  target.queryAt = {0.1, 0.1};
  Q_EMIT head.clicked(target);
  EXPECT_EQ(scene(*shown).layerAt(scene(*shown).layer()).window, 0);
  EXPECT_EQ(log().count(QStringLiteral("place")), 2);
}

TEST_F(AskedAttention, OneComputeAsksBothRunsInLockStepAndShowsTheCostOfBoth) {
  const std::int64_t a = runWith("a", {}, configOf("memory"));
  const std::int64_t b = runWith("b", {}, configOf("memory"));
  for (const std::int64_t run : {a, b}) workbench_.addCheckpoint(run, 400);
  const auto shown = page({a, b});
  for (const AttentionPanel* panel : shown->panels()) {
    EXPECT_THAT(panel->sentence().toStdString(),
                test::HasTexts("both runs", formatBytes(2 * 1'700'000)));
  }
  press(*shown, "Compute");
  ASSERT_TRUE(
      soon([&] { return shown->panels()[0]->hasImage() && shown->panels()[1]->hasImage(); }));
  EXPECT_EQ(log().count(QStringLiteral("analyse")), 2);
  // What one of them has is not computed again.
  Artifact stored = samples::atStep(samples::attentionMap(3, 1, "weights"), 400);
  stored.analysis = "memory_weights";
  workbench_.store().addArtifact(a, stored);
  shown->setViewState({{"image", 3}});
  shown->waitUntilIdle();
  ASSERT_TRUE(shown->panels()[0]->hasImage());
  const std::string alone = shown->panels()[1]->sentence().toStdString();
  EXPECT_THAT(alone, test::HasTexts("b: The attention of image 3", formatBytes(1'700'000)));
  EXPECT_EQ(alone.find("both runs"), std::string::npos) << alone;
  press(*shown, "Compute");
  ASSERT_TRUE(soon([&] { return shown->panels()[1]->hasImage(); }));
  EXPECT_EQ(log().count(QStringLiteral("analyse")), 3);
}

TEST_F(AskedAttention, AShorterRunIsAskedAtItsNewestCheckpoint) {
  const std::int64_t a =
      runWith("long", {samples::atStep(samples::attentionMap(3), 800)}, configOf("patches"));
  const std::int64_t b = runWith("short", {}, configOf("patches"));
  workbench_.addCheckpoint(a, 800);
  workbench_.addCheckpoint(b, 400);
  const auto shown = page({a, b});
  EXPECT_EQ(shown->shownStep(), 800);
  EXPECT_THAT(shown->panels()[1]->sentence().toStdString(), HasSubstr("at step 400"));
  press(*shown, "Compute");
  ASSERT_TRUE(soon([&] { return shown->panels()[1]->hasImage(); }));
  EXPECT_TRUE(shown->panels()[0]->hasImage());
  EXPECT_EQ(shown->shownStep(), 800);
}

TEST_F(AskedAttention, AFailureOfOneOfTwoRunsNamesItAndKeepsTheOther) {
  const std::int64_t a = runWith("first", {}, configOf("memory"));
  const std::int64_t b = runWith("second", {}, configOf("memory"));
  for (const std::int64_t run : {a, b}) workbench_.addCheckpoint(run, 400);
  const FakeServe serve(QByteArray(kWindows) +
                        QByteArray(R"(
def load(request):
    if request["run"] == SECOND: return {"error": {"kind": "refused", "message": "memory is short"}}
    return {"model": "model"}
)")
                            .replace("SECOND", QByteArray::number(static_cast<qlonglong>(b))));
  const auto shown = page({a, b});
  const auto hasFailed = [&] {
    return shown->panels()[1]->sentence().contains(QStringLiteral("memory is short"));
  };
  press(*shown, "Compute");
  ASSERT_TRUE(soon([&] { return shown->panels()[0]->hasImage() && hasFailed(); }));
  EXPECT_THAT(shown->panels()[1]->sentence().toStdString(), HasSubstr("second"));
  press(*shown, "Try again");
  ASSERT_FALSE(hasFailed());
  ASSERT_TRUE(soon(hasFailed));
  EXPECT_TRUE(shown->panels()[0]->hasImage());
  EXPECT_EQ(serve.read(QStringLiteral("log")).count("analyse"), 1);
}

}  // namespace
}  // namespace vitrine::ui

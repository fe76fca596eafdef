// The Attention page of what belongs to the weights: which of them, their first layer, and how far
// heads read.
#include <gmock/gmock.h>

#include <QCheckBox>
#include <QComboBox>

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
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr, ::testing::StartsWith;

class AttentionWeights : public PageTest<AttentionPage> {
 protected:
  AttentionWeights() { workbench_.become(attentionCatalog()); }
  static Artifact averaged(Artifact artifact) {
    artifact.meta["weights"] = "ema";
    return artifact;
  }
  static void choose(QComboBox& combo, int index) {
    combo.setFocus();
    QTest::keyClick(&combo, index > combo.currentIndex() ? Qt::Key_Down : Qt::Key_Up);
    ASSERT_EQ(combo.currentIndex(), index);
  }
  static std::string summary(AttentionView& view) {
    return view.figure() == nullptr ? "" : view.figure()->summary().toStdString();
  }
};

TEST_F(AttentionWeights, AverageIsOfferedWhereTheRunHasIt) {
  const auto plain = page({runWith("a", {samples::attentionMap(3)})});
  EXPECT_FALSE(named<QComboBox>(*plain, "Weights")->isVisible());
  const Json config{{"train", {{"ema", {{"decay", 0.99}}}}}};
  const auto shown = page({runWith("b", {samples::attentionMap(3)}, config)});
  auto* weights = named<QComboBox>(*shown, "Weights");
  EXPECT_TRUE(weights->isVisible());
  EXPECT_EQ(weights->currentIndex(), 0);
}

TEST_F(AttentionWeights, MapsOfOtherWeightsAreNeverMixed) {
  const auto shown =
      page({runWith("a", {samples::attentionMap(3, 2), averaged(samples::attentionMap(3, 1))})});
  const AttentionPanel& panel = *shown->panels()[0];
  EXPECT_EQ(panel.scene().layers(), 2);
  choose(*named<QComboBox>(*shown, "Weights"), 1);
  EXPECT_TRUE(soon([&] { return panel.hasImage() && panel.scene().layers() == 1; }));
  EXPECT_EQ(shown->viewState()["weights"], "ema");
}

TEST_F(AttentionWeights, WhatIsStoredOfTheAverageAloneIsShown) {
  const auto shown = page({runWith("a", {averaged(samples::attentionMap(3))})});
  EXPECT_EQ(named<QComboBox>(*shown, "Weights")->currentIndex(), 1);
  EXPECT_TRUE(shown->panels()[0]->hasImage());
}

TEST_F(AttentionWeights, TheChosenOnesAreAsked) {
  const FakeServe serve(R"(
def load(request):
    open(here("use"), "w").write(request["use"])
    return {"model": "m"}
def analyse(request): return {"error": {"kind": "refused", "message": "enough"}}
)");
  workbench_.serve();
  Json config = configOf("patches");
  config["train"] = {{"ema", {{"decay", 0.99}}}};
  const std::int64_t run = runWith("a", {}, config);
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  choose(*named<QComboBox>(*shown, "Weights"), 1);
  press(*shown, "Compute");
  EXPECT_TRUE(
      soon([&] { return shown->panels()[0]->sentence().contains(QStringLiteral("enough")); }));
  EXPECT_EQ(serve.read(QStringLiteral("use")).toStdString(), "ema");
}

TEST_F(AttentionWeights, DistancesOfAllHeadsReplaceTheirMaps) {
  const auto shown = page({runWith("a", {samples::attentionMap(3)})});
  AttentionView& heads = shown->panels()[0]->headsView();
  EXPECT_THAT(summary(heads), StartsWith("Attention of 2 layers"));
  auto* box = button<QCheckBox>(*shown, "Distances");
  ASSERT_NE(box, nullptr);
  QTest::mouseClick(box, Qt::LeftButton);
  // The other patches are 1, 1 and sqrt(2) away. Head 0 gives each of them a tenth; head 1 reads
  // all patches alike.
  const std::string csv = heads.figure()->csv().toStdString();
  EXPECT_THAT(csv, test::HasTexts("mean of the layer", "0.3793", "0.8535"))
      << "a tenth of 2 + sqrt(2), of the 0.9 on patches, and a quarter of it";
  EXPECT_EQ(shown->viewState()["distances"], true);
  QTest::mouseClick(box, Qt::LeftButton);
  EXPECT_THAT(summary(heads), StartsWith("Attention of 2 layers"));
}

TEST_F(AttentionWeights, DistancesOfTwoRunsHaveOneAxisOnTheSameScale) {
  Artifact wide = samples::attentionMap(3);
  wide.meta["key_positions"] = {{-1, -1}, {0, 0}, {0, 8}, {8, 0}, {8, 8}};
  wide.meta["query_positions"] = wide.meta["key_positions"];
  const auto shown = page({runWith("a", {samples::attentionMap(3)}), runWith("b", {wide})});
  ASSERT_EQ(shown->panels().size(), 2U);
  press<QCheckBox>(*shown, "Distances");
  const auto range = [&](std::size_t panel) {
    return *shown->panels()[panel]->headsView().figure()->valueRange();
  };
  EXPECT_LT(range(0)[1], 2) << "its own";
  EXPECT_GT(range(1)[1], 6);
  press<QCheckBox>(*shown, "Same scale");
  EXPECT_EQ(range(0), range(1));
  EXPECT_GT(range(0)[1], 6);
  press<QCheckBox>(*shown, "Same scale");
  EXPECT_LT(range(0)[1], 2);
}

TEST_F(AttentionWeights, AChoiceWithoutRoomEndsInAnEllipsis) {
  const auto shown = page({runWith("a", {samples::attentionMap(3)})});
  for (const QComboBox* box : shown->findChildren<QComboBox*>())
    EXPECT_NE(qobject_cast<const ElidedComboBox*>(box), nullptr)
        << box->accessibleName().toStdString();
}

TEST_F(AttentionWeights, RolloutIsOneMapALayerWhereItIsDefined) {
  const auto shown = page({runWith("a", {samples::attentionMap(3)})});
  AttentionPanel& panel = *shown->panels()[0];
  QTest::mouseClick(button<QCheckBox>(*shown, "Rollout"), Qt::LeftButton);
  EXPECT_EQ(panel.scene().heads(0), 1);
  EXPECT_THAT(summary(panel.headView()), StartsWith("Rollout up to layer 0"));
  EXPECT_EQ(shown->viewState()["rollout"], true);
  Artifact last = samples::attentionMap(3, 1);
  last.meta["layers"] = {1};
  const auto other = page({runWith("b", {last})});
  const auto* box = button<QCheckBox>(*other, "Rollout");
  EXPECT_FALSE(box->isEnabled());
  EXPECT_EQ(box->toolTip().toStdString(), "Rollout needs every layer; layer 0 is missing.");
}

TEST_F(AttentionWeights, TheFirstLayerShowsFiltersAndPositionsLikeTheChosenOne) {
  const auto shown = page({runWith("a", {samples::positions(), samples::filters()})});
  AttentionPanel& panel = *shown->panels()[0];
  ASSERT_TRUE(panel.hasImage());
  EXPECT_THAT(summary(panel.headsView()), HasSubstr("6 filters of 2 x 2 pixels"));
  AttentionView& similar = panel.headView();
  clickAt(similar, [](const FigureTarget& target) {
    return target.queryAt && (*target.queryAt)[0] < 0.4 && (*target.queryAt)[1] < 0.4;
  });
  EXPECT_EQ(panel.scene().row(0, 0).weights, (std::vector<float>{1, 0.9F, -1, -1}));
  EXPECT_THAT(summary(similar), HasSubstr("query: row 0, column 0"));
  EXPECT_EQ(panel.headView().figure()->note(), QString()) << "it is not attention";
  EXPECT_THAT(labels(*shown), test::HasLine("of no image\n"));
}

TEST_F(AttentionWeights, TheFirstLayerIsTheSameForEveryImage) {
  const auto shown = page(
      {runWith("a", {samples::attentionMap(3), samples::attentionMap(5), samples::positions()})});
  auto* series = named<QComboBox>(*shown, "Matrix");
  ASSERT_EQ(series->count(), 2);
  choose(*series, 1);
  EXPECT_TRUE(soon([&] {
    return shown->panels()[0]->hasImage() &&
           !shown->panels()[0]->scene().image()->quantity.isEmpty();
  }));
}

}  // namespace
}  // namespace vitrine::ui

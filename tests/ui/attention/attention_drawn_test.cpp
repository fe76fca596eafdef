// The Attention page of images that a model draws: one patch at a time, and the patches that were
// asked for before stay.
#include <gmock/gmock.h>

#include <QAction>
#include <QComboBox>

#include "tests/ui/attention/catalog.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/attention/attention_view.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr;

/// One layer, one head, 2 x 2 patches: the patch reads itself.
Artifact drawnAttention(int row, int column, double time = 0.5) {
  Artifact artifact{"quick", "attention of seed 7", artifact_kind::kAttention};
  std::vector<float> weights(4, 0.1F);
  weights[static_cast<std::size_t>(2 * row + column)] = 0.7F;
  setFloat32(artifact, weights, {1, 1, 1, 4}, {"layer", "head", "query", "key"});
  artifact.meta["query_positions"] = Json::array({{row, column}});
  artifact.meta["key_positions"] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  artifact.meta["attention"] = "softmax";
  artifact.meta["image"] = 7;
  artifact.meta["seed"] = 7;
  artifact.meta["time"] = time;
  artifact.step = 400;
  return artifact;
}

class DrawnAttention : public PageTest<AttentionPage> {
 protected:
  DrawnAttention() { workbench_.become(attentionCatalog()); }
  static void click(AttentionView& view, double down, double right) {
    clickAt(view, [=](const FigureTarget& target) {
      return target.queryAt && std::abs((*target.queryAt)[0] - down) < 0.1 &&
             std::abs((*target.queryAt)[1] - right) < 0.1;
    });
  }
  static std::vector<float> weights(const AttentionPage& page) {
    return page.panels()[0]->scene().row(0, 0).weights;
  }
};

TEST_F(DrawnAttention, PatchesThatAreStoredAreAllThereToChoose) {
  const auto shown = page({runWith("a", {drawnAttention(0, 0), drawnAttention(1, 0)})});
  AttentionView& view = shown->panels()[0]->headView();
  click(view, 0.25, 0.25);
  EXPECT_EQ(weights(*shown), (std::vector<float>{0.7F, 0.1F, 0.1F, 0.1F}));
  click(view, 0.75, 0.25);
  EXPECT_EQ(weights(*shown), (std::vector<float>{0.1F, 0.1F, 0.7F, 0.1F}));
  click(view, 0.75, 0.75);
  EXPECT_EQ(weights(*shown), std::vector<float>()) << "this patch was not asked for";
  EXPECT_THAT(view.figure()->summary().toStdString(), HasSubstr("no such query is stored"));
}

TEST_F(DrawnAttention, WhatASamplerStoredSaysThatItIsOfADrawing) {
  const auto shown = page({runWith("a", {drawnAttention(0, 0)})});
  const auto* series = firstWhere<QComboBox>(*shown, [](const QComboBox& one) {
    return one.currentText().startsWith(QStringLiteral("while drawing: "));
  });
  ASSERT_NE(series, nullptr);
  EXPECT_THAT(series->currentText().toStdString(), HasSubstr("softmax"));
}

TEST_F(DrawnAttention, ImagesThatAnotherPageListedAreNotSeeds) {
  const FakeServe serve("def load(request): return {\"model\": \"m\"}\n");
  workbench_.serve();
  const std::int64_t run = runWith("a", {drawnAttention(0, 0)}, configOf("noise"));
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  shown->setViewState({{"image", 7}, {"listed", {7, 3}}});
  shown->waitUntilIdle();
  EXPECT_THAT(labels(*shown), HasSubstr("stored: 7"));
  EXPECT_EQ(labels(*shown).find("listed"), std::string::npos);
}

TEST_F(DrawnAttention, OfOnePatchTheNewestCounts) {
  Artifact again = drawnAttention(0, 0);
  setFloat32(again, std::vector<float>{0.25F, 0.25F, 0.25F, 0.25F}, {1, 1, 1, 4},
             {"layer", "head", "query", "key"});
  const auto shown = page({runWith("a", {drawnAttention(0, 0), again})});
  click(shown->panels()[0]->headView(), 0.25, 0.25);
  EXPECT_EQ(weights(*shown), (std::vector<float>(4, 0.25F)));
}

TEST_F(DrawnAttention, AnotherPatchIsAskedForAndThoseBeforeStay) {
  const FakeServe serve(R"(
import struct
def sample(request):
    row, column = request["settings"]["attention"]
    open(here("asked"), "a").write("%d %d\n" % (row, column))
    weights = [0.1] * 4
    weights[2 * row + column] = 0.7
    meta = {"version": 1, "dtype": "float32", "shape": [1, 1, 1, 4], "attention": "softmax", "image": 7, "seed": 7,
            "time": 0.5, "query_positions": [[row, column]], "key_positions": [[0, 0], [0, 1], [1, 0], [1, 1]]}
    yield {"preview": whole({"name": "attention of seed 7", "kind": "attention", "meta": meta}, struct.pack("<4f", *weights))}
    return {"sampler": "quick", "step": 400, "images": 1}
)");
  workbench_.serve();
  const std::int64_t run = runWith("a", {drawnAttention(0, 0)}, configOf("noise"));
  workbench_.addCheckpoint(run, 400);
  const auto shown = page({run});
  ASSERT_TRUE(shown->panels()[0]->hasImage());
  click(shown->panels()[0]->headView(), 0.75, 0.75);
  EXPECT_EQ(weights(*shown), std::vector<float>());
  shown->tools().front()->trigger();
  EXPECT_TRUE(soon([&] {
    return shown->panels()[0]->hasImage() &&
           weights(*shown) == std::vector<float>{0.1F, 0.1F, 0.1F, 0.7F};
  }));
  click(shown->panels()[0]->headView(), 0.25, 0.25);
  EXPECT_EQ(weights(*shown), (std::vector<float>{0.7F, 0.1F, 0.1F, 0.1F}));
  EXPECT_EQ(serve.read(QStringLiteral("asked")).toStdString(), "1 1\n");
}

}  // namespace
}  // namespace vitrine::ui

// The Attention page shows the layer that is looked at before the others are computed.
#include <gmock/gmock.h>

#include <QFile>
#include <QSpinBox>

#include "tests/ui/attention/catalog.h"
#include "tests/ui/attention/maps.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"

namespace vitrine::ui {
namespace {

/// Three layers of two heads; each weight is the layer's number and the image's. Whole images wait
/// until the test lets them come.
constexpr const char* kServe = R"(
import os, struct, time
def analyse(request):
    number = request["settings"]["ids"][0]
    layers = request["settings"].get("layers", [0, 1, 2])
    open(here("asked"), "a").write("%d %s\n" % (number, layers))
    if len(layers) > 1:
        for _ in range(3000):
            if os.path.exists(here("go")): break
            time.sleep(0.01)
        if os.path.exists(here("bad")):
            return {"error": {"kind": "refused", "message": "memory is short"}}
    values = [layer + number / 100 for layer in layers for _ in range(50)]
    places = [[-1, -1], [0, 0], [0, 1], [1, 0], [1, 1]]
    meta = {"version": 1, "dtype": "float32", "shape": [len(layers), 2, 5, 5], "layers": layers, "image": number,
            "attention": "effective", "weights": "model", "query_positions": places, "key_positions": places}
    yield {"artifact": whole({"name": "image %d" % number, "kind": "attention", "meta": meta},
                             struct.pack("<%df" % len(values), *values))}
    return {"model": "m", "run": 1, "step": 0, "artifacts": 1}
)";

class LayersOfAttention : public PageTest<AttentionPage> {
 protected:
  LayersOfAttention() : serve_(kServe) {
    Catalog catalog = attentionCatalog();
    for (ItemCard& card : catalog.items) {
      if (card.id == "attention_map")
        card.schema.fields = {listField("layers", FieldType::Integer, Json::array(), "layers")};
    }
    workbench_.become(catalog);
    workbench_.serve();
    run_ = runWith("a", {samples::attentionMap(3, 3)}, configOf("patches"));
    workbench_.addCheckpoint(run_, 0);
    page_ = page({run_});
    page_->setViewState({{"layer", 1}});
  }
  void look(int image) {
    page_->setViewState({{"image", image}});
    page_->waitUntilIdle();
    page_->computeMissing();
  }
  [[nodiscard]] const AttentionScene& scene() const { return page_->panels()[0]->scene(); }
  /// The first weight of a layer's row; -1 where it has none.
  [[nodiscard]] float weight(int layer) const {
    const auto& weights = scene().row(layer, 0).weights;
    return weights.empty() ? -1 : weights.front();
  }
  [[nodiscard]] bool shows(int image) const {
    return page_->panels()[0]->hasImage() && std::abs(weight(1) - (1 + image / 100.0F)) < 1e-4F;
  }
  [[nodiscard]] std::string asked() const {
    return serve_.read(QStringLiteral("asked")).toStdString();
  }
  void letCome(const char* name = "go") const { serve_.touch(QLatin1String(name)); }

  FakeServe serve_;
  std::int64_t run_ = 0;
  std::unique_ptr<AttentionPage> page_;
};

TEST_F(LayersOfAttention, TheOneThatIsLookedAtComesFirstAndTheOthersFollow) {
  ASSERT_TRUE(page_->panels()[0]->hasImage());
  look(7);
  ASSERT_TRUE(soon([&] { return shows(7); }));
  EXPECT_EQ(scene().layers(), 3) << "the overview keeps its rows";
  EXPECT_EQ(scene().layer(), 1);
  EXPECT_EQ(weight(0), -1);
  EXPECT_EQ(scene().queryText(0).toStdString(), "still being computed");
  EXPECT_EQ(page_->figure(), nullptr) << "half a picture is not exported";
  letCome();
  ASSERT_TRUE(soon([&] { return shows(7) && weight(2) > 2; }));
  EXPECT_NE(page_->figure(), nullptr);
  EXPECT_EQ(asked(), "7 [1]\n7 [0, 1, 2]\n");
}

TEST_F(LayersOfAttention, AnImageChosenMeanwhileIsShownAndTheOneBeforeIsCompletedOnReturn) {
  look(7);
  ASSERT_TRUE(soon([&] { return shows(7); }));
  look(8);
  letCome();
  page_->computeMissing();
  ASSERT_TRUE(soon([&] {
    if (page_->panels()[0]->hasImage()) return shows(8) && weight(2) > 2;
    page_->computeMissing();  // the model was still busy with the image before
    return false;
  }));
  page_->setViewState({{"image", 7}});
  page_->waitUntilIdle();
  EXPECT_TRUE(soon([&] { return shows(7) && weight(2) > 2; }));
}

TEST_F(LayersOfAttention, WhatIsThereStaysWhenTheOthersFail) {
  letCome("bad");
  look(7);
  ASSERT_TRUE(soon([&] { return shows(7); }));
  letCome();
  ASSERT_TRUE(soon([&] {
    return !workbench_.errors.empty() &&
           workbench_.errors.back().contains(QStringLiteral("memory is short"));
  }));
  EXPECT_TRUE(shows(7));
  EXPECT_EQ(weight(0), -1);
  ASSERT_TRUE(QFile::remove(serve_.path(QStringLiteral("bad"))));
  page_->computeMissing();
  EXPECT_TRUE(soon([&] { return shows(7) && weight(2) > 2; }));
}

}  // namespace
}  // namespace vitrine::ui

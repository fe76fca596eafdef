#include <QSignalSpy>
#include <QTreeWidget>

#include "tests/ui/gallery/gallery_fixture.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/soon.h"
#include "ui/gallery/image_details.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre;

/// Makes grey squares as the recipe says; where a file "drifts" is there, a little brighter ones.
constexpr const char* kMaker = R"PY(
import hashlib, os, time

def load(request):
    return {"model": "%d/%s/%s" % (request["run"], request["checkpoint"], request["use"])}

def sample(request):
    while os.path.exists(here("waits")) and not request["is_cancelled"]():
        time.sleep(0.01)
        yield {"done": 1, "total": 4}
    if request["is_cancelled"]():
        return {"error": {"kind": "cancelled", "message": "it was cancelled"}}
    settings = request["settings"]
    for i in range(settings["count"]):
        grey = settings["grey"] + (3 if os.path.exists(here("drifts")) else 0)
        yield {"image": whole({"seed": settings["seed"] + i, "width": 8, "height": 8, "recipe": {},
                               "sha256": hashlib.sha256(bytes([grey] * 64)).hexdigest()}, png(grey))}
    return {"images": settings["count"]}
)PY";

class GalleryAgain : public Gallery {
 protected:
  GalleryAgain() : serve_(kMaker) { workbench_.serve(); }
  /// An image of a batch of two, as a sampler leaves it.
  std::int64_t addDrawn() {
    first_ = workbench_.addRun("painter", Json::object());
    return add(first_, 100, 8, 90,
               {{"run", "uuid"},
                {"step", 100},
                {"weights", "ema"},
                {"sampler", "slow"},
                {"settings", {{"grey", 90}}},
                {"seed", 8},
                {"device", "cpu"},
                {"batch", {{"first_seed", 7}, {"size", 2}}}});
  }
  FakeServe serve_;
};

TEST_F(GalleryAgain, VerifyMakesTheImageAgainAndComparesItsPixels) {
  addDrawn();
  const auto shown = page();
  QTest::keyClick(&shown->sheet(), Qt::Key_V);
  EXPECT_TRUE(soon([&] { return texts(*shown).find("Bit-exact") != std::string::npos; }));
  const auto* details = shown->findChild<ImageDetails*>();
  const auto* verdict = named<QLabel>(*details, "Verification");
  EXPECT_LT(verdict->y(), details->findChild<QTreeWidget*>()->y()) << "above the recipe";
  serve_.touch(QStringLiteral("drifts"));
  QTest::keyClick(&shown->sheet(), Qt::Key_V);
  EXPECT_TRUE(soon([&] { return texts(*shown).find("by 3 of 255") != std::string::npos; }));
}

TEST_F(GalleryAgain, AVerificationCanBeCancelled) {
  addDrawn();
  const auto shown = page();
  serve_.touch(QStringLiteral("waits"));
  press(*shown, "Verify");
  EXPECT_TRUE(soon([&] { return texts(*shown).find("25") != std::string::npos; }));
  press(*shown, "Cancel");
  EXPECT_TRUE(soon([&] { return texts(*shown).find("again") == std::string::npos; }));
  EXPECT_EQ(texts(*shown).find("Bit-exact"), std::string::npos);
}

TEST_F(GalleryAgain, ARecipeThatLacksSomethingIsASentence) {
  first_ = workbench_.addRun("painter", Json::object());
  add(first_, 100, 8);
  const auto shown = page();
  press(*shown, "Verify");
  EXPECT_THAT(texts(*shown), ::testing::HasSubstr("the recipe of the image has no step"));
}

TEST_F(GalleryAgain, RecallHandsTheRecipeToThePlayground) {
  addDrawn();
  const auto shown = page();
  QSignalSpy recalled(&workbench_.selection(), &Selection::recalled);
  QTest::keyClick(&shown->sheet(), Qt::Key_A);
  EXPECT_THAT(workbench_.pages, ElementsAre(QStringLiteral("playground")));
  ASSERT_EQ(recalled.size(), 1);
  EXPECT_EQ(recalled.front().front().toLongLong(), first_);
}

}  // namespace
}  // namespace vitrine::ui

// Names that the Gallery has no room for are read in tool tips.
#include "tests/ui/gallery/gallery_fixture.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/tool_tip.h"
#include "ui/gallery/image_stage.h"
#include "ui/gallery/steps_view.h"

namespace vitrine::ui {
namespace {

class GalleryTips : public Gallery {};

TEST_F(GalleryTips, BothNamesOfAPairAreWhole) {
  QImage picture(8, 8, QImage::Format_RGB32);
  picture.fill(Qt::red);
  const QString a = QStringLiteral("a run with a name that is long, step 100, seed 1"),
                b = QStringLiteral("another run with a name that is long, step 400, seed 1");
  ImageStage stage;
  stage.resize(240, 200);
  stage.setImages({picture, a}, {picture, b});
  stage.show();
  for (const auto view : {ImageStage::View::Side, ImageStage::View::Difference}) {
    stage.setView(view);
    EXPECT_EQ(toolTipAt(stage, {20, 8}), a.toStdString());
    EXPECT_EQ(toolTipAt(stage, {220, 8}), b.toStdString());
  }
  EXPECT_THAT(toolTipAt(stage, {120, 195}), ::testing::StartsWith("mean |A"));
  stage.setImages({picture, a}, {});
  EXPECT_EQ(toolTipAt(stage, {220, 8}), a.toStdString());
}

TEST_F(GalleryTips, TwoImagesThatArePickedAreCompared) {
  const auto shown = filledPage();
  click(*shown, 0);
  EXPECT_THAT(texts(*shown),
              ::testing::HasSubstr("pick two with Ctrl, or another with Alt and an arrow"));
  click(*shown, 2, Qt::ControlModifier);
  EXPECT_EQ(shown->viewState()["other"], shown->model().at(0).id);
  EXPECT_THAT(texts(*shown), ::testing::HasSubstr("Enlarge compares A and B"));
  QTest::keyClick(&shown->sheet(), Qt::Key_4);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->stage().shownView(), ImageStage::View::Slider);
}

TEST_F(GalleryTips, TheImageStaysAtTheEdgeOfItsDetails) {
  const auto shown = filledPage();
  click(*shown, 0);
  const auto leftOf = [&](const QWidget* one) { return one->mapTo(shown.get(), QPoint()).x(); };
  const auto* image = named<QLabel>(*shown, "The image");
  const auto* tag = named<QLineEdit>(*shown, "New tag of the image");
  ASSERT_TRUE(image != nullptr && tag != nullptr);
  EXPECT_EQ(leftOf(image), leftOf(tag));
  QTest::keyClick(&shown->sheet(), Qt::Key_S);
  shown->waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(leftOf(image), leftOf(tag)) << "the words of the star are longer now";
}

TEST_F(GalleryTips, TheNameOfARunIsWholeNextToItsSteps) {
  const std::string name = "a run with a name that has no room next to the images of its steps";
  first_ = workbench_.addRun(name, Json::object());
  workbench_.selection().setRuns({first_}, first_);
  add(first_, 100, 1);
  add(first_, 400, 1);
  const auto shown = page();
  click(*shown, 0);
  QTest::keyClick(&shown->sheet(), Qt::Key_3);
  shown->waitUntilIdle();
  const QRect cell = only<StepsView>(*shown).placeOf(first_, 100);
  ASSERT_FALSE(cell.isEmpty());
  EXPECT_EQ(toolTipAt(only<StepsView>(*shown), {20, cell.center().y()}), name);
}

}  // namespace
}  // namespace vitrine::ui

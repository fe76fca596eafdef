// Views and files of the Gallery, and the images that they mean.
#include <QTreeWidget>

#include "tests/ui/gallery/gallery_fixture.h"
#include "ui/gallery/image_details.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre;

class GalleryRecipe : public Gallery {};

TEST_F(GalleryRecipe, PickedImagesComeBackWithTheView) {
  const auto shown = filledPage();
  click(*shown, 0);
  click(*shown, 3, Qt::ShiftModifier);
  const Json state = shown->viewState();
  EXPECT_EQ(state.at("images").size(), 4u);
  GalleryPage again(workbench_);  // has read nothing yet
  again.setViewState(state);
  again.waitUntilIdle();
  EXPECT_EQ(again.chosen(), shown->chosen());
  ASSERT_NE(again.figure(), nullptr);
  EXPECT_EQ(again.figure()->imageCount(), 4);
  click(*shown, 5);
  again.setViewState(shown->viewState());
  again.waitUntilIdle();
  EXPECT_THAT(again.chosen(), ElementsAre(shown->current())) << "no image is picked in this view";
}

TEST_F(GalleryRecipe, ShiftAndArrowsPickFromTheFirstImageToTheCurrentOne) {
  const auto shown = filledPage();
  click(*shown, 1);
  for (int i = 0; i < 3; ++i)
    QTest::keyClick(&shown->sheet(), Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(shown->chosen().size(), 4u);
  QTest::keyClick(&shown->sheet(), Qt::Key_Left, Qt::ShiftModifier);
  EXPECT_EQ(shown->chosen().size(), 3u);
  click(*shown, 4);
  QTest::keyClick(&shown->sheet(), Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(shown->chosen().size(), 2u) << "a click begins again";
}

TEST_F(GalleryRecipe, AFigureOfTheSheetHasTheSameImagesInAWindowOfAnySize) {
  first_ = workbench_.addRun("many", Json::object());
  workbench_.selection().setRuns({first_}, first_);
  for (std::uint64_t i = 0; i < 200; ++i) add(first_, 1, i, static_cast<int>(i));
  const auto shown = page({500, 300});
  const std::string csv = shown->figure()->csv().toStdString();
  const auto again = page({1100, 800});
  EXPECT_NE(again->figure()->csv().toStdString(), csv);
  again->setViewState(recipeOf(workbench_, QStringLiteral("gallery"), *shown).view);
  again->waitUntilIdle();
  EXPECT_EQ(again->figure()->csv().toStdString(), csv);
}

TEST_F(GalleryRecipe, AFigureOfRunsAndStepsHasTheirRowsAndColumnsWithTheirNames) {
  fill();
  add(second_, 700, 4, 9);  // a step that the other run has no image of
  const auto shown = page();
  click(*shown, shown->model().indexOf(5));  // seed 4 of the first run at step 100
  QTest::keyClick(&shown->sheet(), Qt::Key_3);
  shown->waitUntilIdle();
  const auto figure = shown->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->error(), QString());
  std::vector<std::string> cells;  // of the first pixel of each
  for (const QString& line : figure->csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
    const QStringList values = line.split(QLatin1Char(','));
    if (values.value(2) != QStringLiteral("0") || values.value(3) != QStringLiteral("0")) continue;
    const QStringList cell{values[0], values[1], values[4]};
    cells.push_back(cell.join(QLatin1Char('|')).toStdString());
  }
  EXPECT_THAT(cells, ElementsAre("wide|step 100|51", "wide|step 400|81", "narrow|step 100|52",
                                 "narrow|step 400|82", "narrow|step 700|9"));
}

TEST_F(GalleryRecipe, AnImageOfAFileIsFoundByItsRunWhateverItsNumberIs) {
  const auto shown = filledPage();
  click(*shown, 1);
  const std::int64_t id = shown->current();
  const QString file = workbench_.path(QStringLiteral("one.png"));
  shown->saveImage(file);
  const auto recipe = readRecipe(file);
  ASSERT_TRUE(recipe.has_value());
  Json view = recipe->view;
  EXPECT_EQ(view["images"][0]["run"], workbench_.run(second_)->uuid);
  // As another database numbers it.
  view["image"] = 1;
  for (const char* key : {"images", "names"}) view[key][0]["id"] = 1;
  const auto again = page();
  again->setViewState(view);
  again->waitUntilIdle();
  EXPECT_EQ(again->current(), id);
  EXPECT_THAT(again->chosen(), ElementsAre(id));
  EXPECT_TRUE(workbench_.said.back().startsWith(QLatin1String("Wrote"))) << "nothing is missing";
  for (const char* key : {"images", "names"}) view[key][0]["run"] = "a run that is not here";
  again->setViewState(view);
  EXPECT_EQ(workbench_.said.back().toStdString(),
            "An image of this view is not in this database.");
}

TEST_F(GalleryRecipe, OfTwoImagesTheSettingsOfBothAreListed) {
  first_ = workbench_.addRun("wide", Json::object());
  workbench_.selection().setRuns({first_}, first_);
  const std::int64_t a = add(first_, 100, 1, 20, {{"sampler", "heun"}, {"guidance", 4}});
  const std::int64_t b = add(
      first_, 100, 1, 30, {{"sampler", "heun"}, {"settings", {{"solver", "rk4"}, {"churn", 0.5}}}});
  const auto shown = page();
  click(*shown, shown->model().indexOf(a));
  const auto* table = shown->findChild<ImageDetails*>()->findChild<QTreeWidget*>();
  EXPECT_EQ(table->topLevelItemCount(), 2);
  click(*shown, shown->model().indexOf(b), Qt::AltModifier);
  std::vector<std::string> plain, bold, tips;
  for (int i = 0; i < table->topLevelItemCount(); ++i) {
    const QTreeWidgetItem* item = table->topLevelItem(i);
    (item->font(1).bold() ? bold : plain)
        .push_back((item->text(0) + QLatin1Char('=') + item->text(1)).toStdString());
    if (item->font(1).bold())
      tips.push_back(item->toolTip(1).section(QLatin1Char('\n'), -1).toStdString());
  }
  EXPECT_THAT(plain, ElementsAre("sampler=heun"));
  EXPECT_THAT(bold, ElementsAre("solver=\u2013", "guidance=4", "churn=\u2013"));
  EXPECT_THAT(tips, ElementsAre("B: rk4", "B: \u2013", "B: 0.5"));
}

}  // namespace
}  // namespace vitrine::ui

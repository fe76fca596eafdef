#include "ui/gallery/gallery_page.h"

#include <gmock/gmock.h>

#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QGuiApplication>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include "core/base/read_json.h"
#include "core/config/edit/document.h"
#include "tests/support/has_texts.h"
#include "tests/ui/gallery/gallery_fixture.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/painter.h"
#include "tests/ui/support/program_script.h"
#include "tests/ui/support/soon.h"
#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/image_details.h"
#include "ui/kit/empty_page.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;

TEST_F(Gallery, SaysWhatWillBeHereAndOffersTheWayThere) {
  const auto shown = page();
  EXPECT_THAT(texts(*shown), HasSubstr("No image is stored yet"));
  for (auto* button : shown->findChildren<QPushButton*>())
    if (button->isVisible()) QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_THAT(workbench_.pages, ElementsAre(QStringLiteral("playground")));
}

TEST_F(Gallery, WhereNoRunDrawsOneIsTrainedInOneClickWithItsCost) {
  const QTemporaryDir folder;
  const QByteArray before = qgetenv("VITRINE_PROGRAM");
  becomeProgram(folder, "[ \"$1\" = enqueue ] || exit 0\necho '{\"ids\":[1]}'");
  workbench_.become(sampleCatalog());
  const auto shown = page();
  const auto button = [&](const char* text) { return ui::button(*shown, text); };
  EXPECT_THAT(texts(*shown), HasSubstr("Cost: 1 run, about"));
  ASSERT_NE(button("Train it"), nullptr);
  const std::int64_t run = workbench_.addRun("drawing", [this] {
    Problem problem;
    return parseDocument(firstDrawing(workbench_.catalog()).text, problem)->tables;
  }());
  QTest::mouseClick(button("Train it"), Qt::LeftButton);
  EXPECT_TRUE(soon([&] { return !workbench_.pages.empty(); }));
  EXPECT_THAT(workbench_.pages, ElementsAre(QStringLiteral("monitor")));
  before.isEmpty() ? qunsetenv("VITRINE_PROGRAM") : qputenv("VITRINE_PROGRAM", before);
  // What was started is shown until it can draw.
  shown->waitUntilIdle();
  EXPECT_NE(button("Show its training"), nullptr);
  workbench_.addCheckpoint(run, 100);
  shown->waitUntilIdle();
  ASSERT_NE(button("Open Playground"), nullptr);
  QTest::mouseClick(button("Open Playground"), Qt::LeftButton);
  EXPECT_EQ(workbench_.pages.back(), QStringLiteral("playground"));
}

TEST_F(Gallery, ShowsImagesOfAllRunsTheNewestFirst) {
  const auto shown = filledPage();
  EXPECT_EQ(shown->model().count(), 20);
  EXPECT_EQ(shown->model().at(0).id, 20);
  EXPECT_EQ(shown->current(), 20);
  EXPECT_THAT(texts(*shown), test::HasTexts("20 images", "narrow, step 400"));
}

TEST_F(Gallery, ShowsWhatARunAddsWhileItIsOpen) {
  const auto shown = filledPage();
  click(*shown, 5);
  const std::int64_t current = shown->current();
  store::RunStore other(workbench_.store().file());
  GeneratedImage image = generatedImage(std::vector<std::uint8_t>(4, 9), 2, 2, 1);
  image.recipe = Json::object();
  other.addImage(first_, image);
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->model().count() == 21; }));
  EXPECT_EQ(shown->current(), current);
}

TEST_F(Gallery, ForgetsImagesOfADeletedRun) {
  const auto shown = filledPage();
  workbench_.store().deleteRun(second_);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->model().count(), 10);
  EXPECT_EQ(shown->current(), 10);
}

TEST_F(Gallery, MovesWithTheArrowsAndEnlargesWithSpace) {
  const auto shown = filledPage();
  QTest::keyClick(&shown->sheet(), Qt::Key_Home);
  QTest::keyClick(&shown->sheet(), Qt::Key_Right);
  EXPECT_EQ(shown->current(), 19);
  QTest::keyClick(&shown->sheet(), Qt::Key_End);
  EXPECT_EQ(shown->current(), 1);
  QTest::keyClick(&shown->sheet(), Qt::Key_Space);
  EXPECT_EQ(shown->viewState()["enlarged"], true);
  shown->waitUntilIdle();
  EXPECT_TRUE(shown->stage().hasFocus());
  EXPECT_EQ(shown->stage().shownView(), ImageStage::View::One);
  EXPECT_GT(shown->stage().scale(), 1);
  QTest::keyClick(&shown->stage(), Qt::Key_Left);
  EXPECT_EQ(shown->current(), 2);
  QTest::keyClick(&shown->stage(), Qt::Key_Escape);
  EXPECT_EQ(shown->viewState()["enlarged"], false);
  EXPECT_TRUE(shown->sheet().hasFocus());
}

TEST_F(Gallery, EnlargesWholePixelsWithoutSmoothing) {
  const auto shown = filledPage();
  shown->setEnlarged(true);
  shown->waitUntilIdle();
  const QImage drawn = shown->stage().grab().toImage();
  const QColor middle = drawn.pixelColor(drawn.width() / 2, drawn.height() / 2);
  EXPECT_EQ(middle, QColor(82, 82, 82)) << "the grey of the image, and nothing in between";
}

TEST_F(Gallery, FindsImagesByTheirRecipe) {
  fill();
  add(first_, 900, 7, 1, {{"sampler", "ddim"}, {"settings", {{"guidance", 4}}}});
  const auto shown = page();
  type(*shown, QStringLiteral("sampler:ddim guidance>2 run:wide"));
  EXPECT_EQ(shown->model().count(), 1);
  EXPECT_EQ(shown->current(), 21);
  EXPECT_THAT(texts(*shown), HasSubstr("1 of 21 images"));
}

TEST_F(Gallery, NamesClassesAndFindsImagesByThem) {
  first_ = workbench_.addRun(
      "wide", {{"data", {{"dataset", "clothes"}, {"classes", {"Coat", "Ankle boot", "Sneaker"}}}}});
  second_ = workbench_.addRun("narrow", {{"data", {{"dataset", "digits"}}}});
  const Json recipe{{"run", "0c1d-uuid"},
                    {"weights_sha256", std::string(64, 'a')},
                    {"class", 2},
                    {"settings", {{"class", nullptr}, {"attention", Json::array()}}}};
  add(first_, 100, 1, 20, recipe);
  add(first_, 100, 2, 30, {{"settings", {{"class", 1}}}});
  add(second_, 100, 3, 40, {{"class", 2}});
  const auto shown = page();
  type(*shown, QStringLiteral("sneaker"));
  ASSERT_EQ(shown->model().count(), 1);
  EXPECT_EQ(shown->current(), 1);
  const auto* table = shown->findChild<ImageDetails*>()->findChild<QTreeWidget*>();
  QStringList rows;
  for (int i = 0; i < table->topLevelItemCount(); ++i)
    rows << table->topLevelItem(i)->text(0) + QLatin1Char('=') + table->topLevelItem(i)->text(1);
  EXPECT_EQ(rows, (QStringList{"run=#1 wide", "class=Sneaker (2)",
                               QStringLiteral("weights hash=aaaaaaaaaaaa\u2026")}));
  type(*shown, QStringLiteral("boot"));
  EXPECT_EQ(shown->current(), 2);
  type(*shown, QStringLiteral("class:sneaker"));
  EXPECT_EQ(shown->current(), 1);
  type(*shown, QStringLiteral("-class:sneaker"));
  EXPECT_EQ(shown->model().count(), 2);
  type(*shown, QStringLiteral("class:2"));
  EXPECT_EQ(shown->model().count(), 2);
}

TEST_F(Gallery, SaysWhenNothingFitsAndClearsTheSearch) {
  const auto shown = filledPage();
  type(*shown, QStringLiteral("class:99"));
  EXPECT_EQ(shown->model().count(), 0);
  EXPECT_THAT(texts(*shown), HasSubstr("None of 20 images matches \u201cclass:99\u201d."));
  for (auto* button : shown->findChildren<QPushButton*>())
    if (button->isVisible()) QTest::mouseClick(button, Qt::LeftButton);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->model().count(), 20);
}

TEST_F(Gallery, KeepsTheImagesAndSaysWhatOfASearchCannotBeAsked) {
  const auto shown = filledPage();
  type(*shown, QStringLiteral("guidance>much"));
  EXPECT_EQ(shown->model().count(), 20);
  EXPECT_THAT(texts(*shown), HasSubstr("\"much\" is not a number"));
}

TEST_F(Gallery, StarsWithAKeyAndFindsTheStar) {
  const auto shown = filledPage();
  click(*shown, 3);
  QTest::keyClick(&shown->sheet(), Qt::Key_S);
  shown->waitUntilIdle();
  EXPECT_TRUE(shown->model().isStarred(shown->current()));
  EXPECT_EQ(workbench_.store().imageTags(second_).size(), 1u);
  type(*shown, QStringLiteral("starred"));
  EXPECT_EQ(shown->model().count(), 1);
  press(*shown, "\xe2\x98\x85 Starred");
  EXPECT_EQ(workbench_.store().imageTags(second_).size(), 0u);
  EXPECT_EQ(shown->model().count(), 0) << "it has no star any more";
}

TEST_F(Gallery, TagsAllPickedImagesAndTakesTheTagAway) {
  const auto shown = filledPage();
  click(*shown, 0);
  click(*shown, 2, Qt::ShiftModifier);
  EXPECT_EQ(shown->chosen().size(), 3u);
  QTest::keyClick(&shown->sheet(), Qt::Key_T);
  QWidget* field = shown->focusWidget();
  QTest::keyClicks(field, QStringLiteral("paper"));
  QTest::keyClick(field, Qt::Key_Return);
  shown->waitUntilIdle();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(shown->model().tags(shown->model().at(i).id), QStringList{"paper"});
  click(*shown, 1);
  press(*shown, "paper \xc3\x97");
  EXPECT_TRUE(shown->model().tags(shown->model().at(1).id).isEmpty());
  EXPECT_EQ(workbench_.store().imageTags(second_).size(), 2u);
}

TEST_F(Gallery, LettersInTheSearchAreNotKeysOfThePage) {
  const auto shown = filledPage();
  type(*shown, QStringLiteral("scm"));
  EXPECT_EQ(workbench_.store().imageTags(second_).size(), 0u);
  EXPECT_TRUE(workbench_.said.empty());
}

TEST_F(Gallery, ReturnStaysInTheSearchAndDownGoesToTheImages) {
  const auto shown = filledPage();
  type(*shown, QStringLiteral("sampler:heun"));
  QWidget* field = shown->focusWidget();
  ASSERT_NE(qobject_cast<QLineEdit*>(field), nullptr);
  QTest::keyClicks(field, QStringLiteral("st"));
  EXPECT_EQ(workbench_.store().imageTags(second_).size(), 0u);
  type(*shown, QStringLiteral("sampler:heun"));  // with those letters there are no hits
  QTest::keyClick(field, Qt::Key_Down);
  EXPECT_EQ(shown->focusWidget(), &shown->sheet());
}

TEST_F(Gallery, GroupsImagesByStepAndGoesToAStepWithTheSlider) {
  fill();
  const auto shown = page({600, 320});
  QTest::keyClick(&shown->sheet(), Qt::Key_2);
  EXPECT_EQ(shown->viewState()["view"], "by_step");
  ASSERT_EQ(shown->model().groups().size(), 2u);
  EXPECT_EQ(shown->model().groups()[1].step, 400);
  shown->sheet().setTile(ContactSheet::kMostTile);
  shown->waitUntilIdle();
  auto* slider = shown->sheet().parentWidget()->findChild<QSlider*>();
  slider->setValue(1);
  EXPECT_GT(shown->sheet().verticalScrollBar()->value(), 0);
}

TEST_F(Gallery, ShowsTheSameSeedByAllRunsOverTheirSteps) {
  const auto shown = filledPage();
  click(*shown, 0);  // of "narrow", step 400, seed 4
  QTest::keyClick(&shown->sheet(), Qt::Key_3);
  shown->waitUntilIdle();
  const StepsTable& table = only<StepsView>(*shown).table();
  EXPECT_THAT(table.runs, ElementsAre(first_, second_));
  EXPECT_THAT(table.steps, ElementsAre(100, 400));
  ASSERT_NE(table.at(first_, 100), nullptr);
  EXPECT_EQ(shown->model().at(shown->model().indexOf(table.at(first_, 100)->id)).seed, 4u);
  QTest::mouseClick(&only<StepsView>(*shown), Qt::LeftButton, {},
                    only<StepsView>(*shown).placeOf(first_, 400).center());
  EXPECT_EQ(shown->current(), table.at(first_, 400)->id);
  QTest::keyClick(&only<StepsView>(*shown), Qt::Key_Left);
  EXPECT_EQ(shown->current(), table.at(first_, 100)->id);
  shown->waitUntilIdle();
  named<QSlider>(*shown, "Step of all runs")->setValue(1);
  EXPECT_EQ(shown->current(), table.at(first_, 400)->id);
}

TEST_F(Gallery, SaysThatOnlySelectedRunsAreBelowEachOther) {
  const auto shown = filledPage();
  click(*shown, 0);
  QTest::keyClick(&shown->sheet(), Qt::Key_3);
  shown->waitUntilIdle();
  EXPECT_EQ(texts(*shown).find("only the selected runs"), std::string::npos);
  const std::int64_t other = workbench_.addRun("without images", Json::object());
  workbench_.selection().setRuns({second_, other}, second_);
  shown->waitUntilIdle();
  EXPECT_THAT(only<StepsView>(*shown).table().runs, ElementsAre(second_));
  EXPECT_THAT(texts(*shown), HasSubstr("only the selected runs"));
}

TEST_F(Gallery, ComparesTwoImagesInEveryWay) {
  const auto shown = filledPage();
  click(*shown, 0);
  QTest::keyClick(&shown->sheet(), Qt::Key_Right, Qt::AltModifier);
  EXPECT_EQ(shown->viewState()["other"], shown->model().at(1).id);
  QTest::keyClick(&shown->sheet(), Qt::Key_M);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState()["enlarged"], true);
  EXPECT_EQ(shown->stage().shownView(), ImageStage::View::Slider);
  shown->stage().setFocus();
  const double line = shown->stage().line();
  QTest::keyClick(&shown->stage(), Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_GT(shown->stage().line(), line);
  for (const auto view :
       {ImageStage::View::Side, ImageStage::View::Difference, ImageStage::View::Flicker}) {
    QTest::keyClick(&shown->stage(), Qt::Key_M);
    EXPECT_EQ(shown->stage().shownView(), view);
  }
  EXPECT_NEAR(shown->stage().difference().meanAbsolute, 10 / 255.0, 1e-9);
  const QImage first = shown->stage().grab().toImage();
  EXPECT_TRUE(soon([&] { return shown->stage().grab().toImage() != first; })) << "it flickers";
  const std::int64_t a = shown->current();
  const Json b = shown->viewState()["other"];
  QTest::keyClick(&shown->stage(), Qt::Key_C);
  EXPECT_EQ(shown->current(), b);
  EXPECT_EQ(shown->viewState()["other"], a);
  QTest::keyClick(&shown->stage(), Qt::Key_Backspace);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState()["other"], 0);
  EXPECT_EQ(shown->stage().shownView(), ImageStage::View::One);
}

TEST_F(Gallery, DragsTheLineBetweenTwoImages) {
  const auto shown = filledPage();
  click(*shown, 0);
  click(*shown, 2, Qt::AltModifier);
  QTest::keyClick(&shown->sheet(), Qt::Key_M);
  shown->waitUntilIdle();
  const QPoint middle = shown->stage().rect().center();
  QTest::mousePress(&shown->stage(), Qt::LeftButton, {}, middle - QPoint(60, 0));
  EXPECT_LT(shown->stage().line(), 0.5);
  QTest::mouseRelease(&shown->stage(), Qt::LeftButton, {}, middle);
}

TEST_F(Gallery, CopiesTheRecipeAndShowsTheRun) {
  const auto shown = filledPage();
  click(*shown, 0);
  press(*shown, "Copy recipe");
  const Json recipe = readJson(QGuiApplication::clipboard()->text().toStdString());
  EXPECT_EQ(recipe.at("sampler"), "heun");
  press(*shown, "Show run");
  EXPECT_EQ(workbench_.selection().current(), second_);
  EXPECT_EQ(workbench_.pages.back(), QStringLiteral("monitor"));
}

TEST_F(Gallery, SavesAnImagePixelByPixelWithItsRecipe) {
  const auto shown = filledPage();
  click(*shown, 1);
  const QString file = workbench_.path(QStringLiteral("one.png"));
  shown->saveImage(file);
  const auto recipe = readRecipe(file);
  ASSERT_TRUE(recipe.has_value());
  EXPECT_EQ(recipe->page, "gallery");
  const Json& image = recipe->view.at("images").at(0);
  EXPECT_EQ(image.at("recipe").at("class"), 3);
  EXPECT_EQ(image.at("sha256"), workbench_.store().generatedImage(shown->current()).sha256);
  EXPECT_EQ(QImage(file).size(), QSize(8, 8));
}

TEST_F(Gallery, SavesPickedImagesAsAGridAndOnPaperAndOpensThemAgain) {
  const auto shown = filledPage();
  click(*shown, 0);
  click(*shown, 3, Qt::ShiftModifier);
  const QString grid = workbench_.path(QStringLiteral("grid.png"));
  const QString paper = workbench_.path(QStringLiteral("grid.pdf"));
  shown->saveGrid(grid);
  shown->savePdf(paper);
  EXPECT_EQ(QImage(grid).size(), QSize(2 * 96 + 2, 2 * 96 + 2));
  for (const QString& file : {grid, paper}) {
    const auto recipe = readRecipe(file);
    ASSERT_TRUE(recipe.has_value()) << file.toStdString();
    EXPECT_EQ(recipe->view.at("images").size(), 4u);
    const auto again = page();
    again->setViewState(recipe->view);
    again->waitUntilIdle();
    EXPECT_EQ(again->chosen(), shown->chosen());
  }
  const QString nowhere = workbench_.path(QStringLiteral("no/such/folder.png"));
  shown->saveGrid(nowhere);
  ASSERT_EQ(workbench_.errors.size(), 1u);
  EXPECT_TRUE(workbench_.errors.front().startsWith(nowhere));
}

TEST_F(Gallery, ItsFigureIsWhatIsOnTheScreen) {
  const auto shown = filledPage();
  auto figure = shown->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->imageCount(), 20);
  click(*shown, 0);
  click(*shown, 1, Qt::AltModifier);
  QTest::keyClick(&shown->sheet(), Qt::Key_M);
  shown->waitUntilIdle();
  figure = shown->figure();
  EXPECT_THAT(figure->csv().toStdString(), HasSubstr("narrow, step 400, seed 4"));
}

TEST_F(Gallery, ShowsTheViewOfAState) {
  const auto shown = filledPage();
  click(*shown, 3);
  click(*shown, 5, Qt::AltModifier);
  QTest::keyClick(&shown->sheet(), Qt::Key_M);
  QTest::keyClick(&shown->stage(), Qt::Key_M);
  type(*shown, QStringLiteral("class:3"));
  const Json state = shown->viewState();
  const auto other = page();
  other->setViewState(state);
  other->waitUntilIdle();
  EXPECT_EQ(other->viewState().dump(), state.dump());
  EXPECT_EQ(other->viewState()["enlarged"], true);
  EXPECT_EQ(other->stage().shownView(), ImageStage::View::Side);
  for (const char* odd : {"null", "[]", R"({"view": 3, "tile": -1, "image": "x", "images": [1]})",
                          R"({"search": "a>b", "other": -5, "line": "x", "enlarged": 1})"})
    other->setViewState(readJson(odd));
  other->waitUntilIdle();
}

TEST_F(Gallery, ReadsOnlyWhatIsInSightIntoBoundedMemory) {
  first_ = workbench_.addRun("many", Json::object());
  for (std::uint64_t i = 0; i < 600; ++i) add(first_, 1, i, static_cast<int>(i % 250));
  const auto shown = page({500, 300});
  shown->sheet().setTile(ContactSheet::kMostTile);
  shown->waitUntilIdle();
  const auto [first, last] = shown->sheet().inSight();
  EXPECT_EQ(first, 0);
  EXPECT_LT(last, 20);
  EXPECT_GT(pictureBytes(*shown), 0);
  EXPECT_LT(pictureBytes(*shown), 40 * 256 * 256 * 4);
  for (int i = 0; i < 40; ++i) {
    shown->sheet().verticalScrollBar()->setValue(i * shown->sheet().verticalScrollBar()->maximum() /
                                                 40);
    shown->waitUntilIdle();
  }
  EXPECT_LE(pictureBytes(*shown), GalleryPage::kPictureBytes);
}

TEST_F(Gallery, SaysHowManyOfTooManyImagesAFileHas) {
  first_ = workbench_.addRun("many", Json::object());
  workbench_.selection().setRuns({first_}, first_);
  for (std::uint64_t i = 0; i < 402; ++i) add(first_, 1, i);
  const auto shown = page();
  QTest::keyClick(&shown->sheet(), Qt::Key_Home);
  QTest::keyClick(&shown->sheet(), Qt::Key_End, Qt::ShiftModifier);
  shown->saveGrid(workbench_.path(QStringLiteral("many.png")));
  EXPECT_THAT(workbench_.said.back().toStdString(), HasSubstr("with the first 400 of 402 images"));
}

TEST_F(Gallery, SaysWhichPictureCannotBeRead) {
  first_ = workbench_.addRun("broken", Json::object());
  GeneratedImage image = generatedImage(std::vector<std::uint8_t>(4, 9), 2, 2, 1);
  image.png.resize(10);
  image.recipe = Json::object();
  workbench_.store().addImage(first_, image);
  const auto shown = page();
  shown->setEnlarged(true);
  shown->waitUntilIdle();
  EXPECT_THAT(shown->stage().plotSummary().toStdString(), HasSubstr("image 1 is not a PNG file"));
  EXPECT_EQ(shown->figure(), nullptr);
}

TEST_F(Gallery, TellsAScreenReaderWhatIsInSight) {
  const auto shown = filledPage();
  const DescribedPlot::Table table = shown->sheet().plotTable();
  EXPECT_EQ(table.rows.size(), 20u);
  EXPECT_EQ(table.rows[0][1].toStdString(), "narrow, step 400, seed 4");
  click(*shown, 2);
  EXPECT_EQ(shown->sheet().accessibleDescription().toStdString(), "narrow, step 400, seed 2");
}

TEST_F(Gallery, KeepsAPercentSignInTheNameOfARun) {
  const std::int64_t run = workbench_.addRun("half %3", Json::object());
  add(run, 100, 6);
  const auto shown = page();
  click(*shown, 0);
  EXPECT_EQ(shown->sheet().accessibleDescription().toStdString(), "half %3, step 100, seed 6");
}

TEST_F(Gallery, FitsIntoASmallWindow) {
  fill();
  QWidget window;
  window.resize(1200, 900);
  GalleryPage shown(workbench_, &window);
  window.show();
  shown.waitUntilIdle();
  for (const auto view :
       {GalleryPage::View::Sheet, GalleryPage::View::ByStep, GalleryPage::View::RunsAndSteps}) {
    shown.setView(view);
    EXPECT_EQ(whatDoesNotFitAnywhere(shown), "") << static_cast<int>(view);
  }
  shown.setCurrent(shown.model().at(0).id);
  shown.waitUntilIdle();
  EXPECT_EQ(whatDoesNotFitAnywhere(shown), "") << "with the recipe of an image";
  shown.setOther(1);
  shown.setEnlarged(true);
  EXPECT_EQ(whatDoesNotFitAnywhere(shown), "");
}

}  // namespace
}  // namespace vitrine::ui

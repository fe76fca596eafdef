// The search of the Gallery from the keyboard.
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "tests/ui/gallery/gallery_fixture.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

TEST_F(Gallery, SearchesInAPauseOfTypingAndAtOnceOnReturn) {
  const auto shown = filledPage();
  auto* field = shown->findChild<QLineEdit*>();
  field->setFocus();
  QTest::keyClicks(field, QStringLiteral("step:100"));
  EXPECT_TRUE(soon([&] { return shown->model().count() == 10; }));
  EXPECT_TRUE(field->hasFocus());
  QSignalSpy searched(shown.get(), &GalleryPage::viewChanged);
  QTest::keyClicks(field, QStringLiteral(" seed:4"));
  EXPECT_EQ(searched.count(), 0) << "not letter by letter";
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_EQ(searched.count(), 1);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->model().count(), 2);
}

TEST_F(Gallery, DownGoesFromTheSearchToTheTableOfRunsAndSteps) {
  const auto shown = filledPage();
  QTest::keyClick(&shown->sheet(), Qt::Key_3);
  shown->waitUntilIdle();
  auto* field = shown->findChild<QLineEdit*>();
  field->setFocus();
  QTest::keyClick(field, Qt::Key_Down);
  EXPECT_TRUE(only<StepsView>(*shown).hasFocus());
}

TEST_F(Gallery, DownStaysInTheSearchThatHasNoHits) {
  const auto shown = filledPage();
  type(*shown, QStringLiteral("seed:77"));
  ASSERT_EQ(shown->model().count(), 0);
  EXPECT_THAT(texts(*shown), ::testing::HasSubstr("seed:77"));
  auto* field = shown->findChild<QLineEdit*>();
  QTest::keyClick(field, Qt::Key_Down);
  EXPECT_TRUE(field->hasFocus());
  type(*shown, QStringLiteral("seed:4"));
  QTest::keyClick(field, Qt::Key_Down);
  EXPECT_TRUE(shown->sheet().hasFocus());
}

TEST_F(Gallery, GivesTheKeysThatAPageHasWhileItReadsToItsImages) {
  const auto shown = filledPage();
  shown->setFocus();  // as Alt+2 does
  shown->setViewState({{"search", "step:100"}});
  shown->waitUntilIdle();
  ASSERT_EQ(shown->model().count(), 10);
  EXPECT_TRUE(shown->sheet().hasFocus());
}

TEST_F(Gallery, ClosesWhileASearchIsTyped) {
  auto shown = filledPage();
  auto* field = shown->findChild<QLineEdit*>();
  field->setFocus();
  QTest::keyClicks(field, QStringLiteral("sampler:ddim"));
  shown.reset();
}

}  // namespace
}  // namespace vitrine::ui

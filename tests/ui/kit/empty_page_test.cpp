#include "ui/kit/empty_page.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QVBoxLayout>

#include "tests/ui/support/qt_test.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {
namespace {

TEST(EmptyPage, SaysOneSentenceAndOffersWhatHasAWord) {
  EmptyPage page(QStringLiteral("Nothing is here."), QStringLiteral("New experiment"));
  const auto buttons = page.findChildren<QPushButton*>();
  ASSERT_EQ(buttons.size(), 2);
  EXPECT_EQ(page.findChild<QLabel*>()->text().toStdString(), "Nothing is here.");
  EXPECT_TRUE(buttons[0]->isVisibleTo(&page));
  EXPECT_FALSE(buttons[1]->isVisibleTo(&page)) << "nothing to cancel";
  int asked = 0, cancelled = 0;
  QObject::connect(&page, &EmptyPage::actionRequested, [&] { ++asked; });
  QObject::connect(&page, &EmptyPage::cancelRequested, [&] { ++cancelled; });
  buttons[0]->click();
  page.setCancelShown(true);
  buttons[1]->click();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(cancelled, 1);
  page.showMessage(QStringLiteral("Reading."), QString());
  EXPECT_EQ(page.findChild<QLabel*>()->text().toStdString(), "Reading.");
  EXPECT_FALSE(buttons[0]->isVisibleTo(&page));
}

TEST(EmptyPage, KeepsTheFocusOfAButtonThatHasNoWordAnyMore) {
  QWidget window;
  auto* column = new QVBoxLayout(&window);
  auto* page = new EmptyPage(QStringLiteral("Not computed."), QStringLiteral("Compute"));
  column->addWidget(page);
  column->addWidget(new QPushButton(QStringLiteral("Export")));
  window.show();
  page->findChildren<QPushButton*>()[0]->setFocus();
  page->showMessage(QStringLiteral("Computing."), QString());
  EXPECT_EQ(window.focusWidget(), page);
}

TEST(PageStack, ShowsItsEmptyStateUntilThereIsContent) {
  QWidget page;
  auto* stack = new PageStack(&page);
  auto* label = new QLabel(QStringLiteral("Curves"), stack->content());
  columnIn(stack->content(), {})->addWidget(label);
  page.show();
  EXPECT_FALSE(label->isVisible());
  stack->showContent();
  EXPECT_TRUE(label->isVisible());
  stack->showEmpty(QStringLiteral("Nothing is here."));
  EXPECT_FALSE(label->isVisible());
  EXPECT_FALSE(stack->isContentShown());
  EXPECT_EQ(stack->empty().findChild<QLabel*>()->text().toStdString(), "Nothing is here.");
}

}  // namespace
}  // namespace vitrine::ui

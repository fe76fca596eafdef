// Drawings of an earlier start.
#include <gtest/gtest.h>

#include <QListWidget>
#include <QTest>

#include "tests/ui/playground/playground_fixture.h"
#include "ui/kit/settings.h"
#include "ui/playground/drawing_history.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {
namespace {

using PlaygroundHistory = PlaygroundTest;

TEST_F(PlaygroundHistory, ADrawingOfAnEarlierStartIsInTheHistoryAndGivesItsSettingsBack) {
  useSettings(workbench_.path(QStringLiteral("studio.ini")));
  openPainter();
  type("seed", QStringLiteral("40"));
  makeAxis("guidance", kRows, QStringLiteral("1, 2"));
  draw();
  const SampleSettings before = probe().shown()->base;
  const SampleGrid grid = probe().shown()->grid;
  open(1);
  auto* list = page_->findChild<QListWidget*>();
  ASSERT_EQ(list->count(), 1);
  EXPECT_FALSE(list->item(0)->icon().isNull()) << "a small picture of it";
  EXPECT_NE(probe().form().values()["seed"], 40) << "it changes nothing by itself";
  list->setCurrentRow(0);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("A recalls its settings")));
  bringUp(*page_);
  list->setFocus();
  QTest::keyClick(list, Qt::Key_A);
  EXPECT_EQ(probe().form().values()["seed"], 40);
  EXPECT_EQ(probe().form().grid(), grid);
  waitForModel();
  draw();
  EXPECT_EQ(probe().shown()->base, before);
  EXPECT_EQ(probe().shown()->imageCount(), 2);
  EXPECT_EQ(probe().history().size(), 2U);
  forgetSettings();
}

TEST_F(PlaygroundHistory, ADrawingOfAnEarlierStartSaysHowItEnded) {
  useSettings(workbench_.path(QStringLiteral("studio.ini")));
  auto failed = std::make_shared<Drawing>();
  failed->base.model.run = 1;
  failed->cells.resize(1);
  failed->state = Drawing::State::Failed;
  failed->error = QStringLiteral("memory is short");
  auto cancelled = std::make_shared<Drawing>(*failed);
  cancelled->state = Drawing::State::Cancelled;
  keepDrawings("one", {failed, cancelled});
  keepDrawings("one", keptDrawings("one"));  // as after another start
  const auto kept = keptDrawings("one");
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0]->state, Drawing::State::Kept);
  EXPECT_EQ(kept[0]->ended, Drawing::State::Failed);
  EXPECT_EQ(kept[0]->error, QStringLiteral("memory is short"));
  EXPECT_EQ(kept[1]->ended, Drawing::State::Cancelled);
  const std::int64_t run = addRun("a", "painter", "paint");
  keepDrawings(databaseUuid(workbench_.store()), {failed});
  open(run);
  const auto* list = page_->findChild<QListWidget*>();
  ASSERT_EQ(list->count(), 1);
  EXPECT_TRUE(list->item(0)->text().contains(QStringLiteral("failed")));
  forgetSettings();
}

TEST_F(PlaygroundHistory, HistoriesOfOtherDatabasesAndDamagedOnesAreLeftOut) {
  useSettings(workbench_.path(QStringLiteral("studio.ini")));
  auto drawing = std::make_shared<Drawing>();
  drawing->base.model.run = 1;
  drawing->cells.resize(1);
  keepDrawings("one", {drawing});
  EXPECT_EQ(keptDrawings("one").size(), 1U);
  EXPECT_TRUE(keptDrawings("two").empty());
  storeSetting(QStringLiteral("playground/history/two"),
               QStringList{QStringLiteral("{"), QStringLiteral("{\"settings\": 3}")});
  EXPECT_TRUE(keptDrawings("two").empty());
  keepDrawings("one", std::vector(kMostKeptDrawings + 5, drawing));
  EXPECT_EQ(keptDrawings("one").size(), kMostKeptDrawings);
  forgetSettings();
}

}  // namespace
}  // namespace vitrine::ui

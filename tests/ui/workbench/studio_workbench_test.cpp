#include "ui/workbench/studio_workbench.h"

#include <QSignalSpy>

#include "tests/ui/support/describing.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

/// The button that the message bar offered last, and what it does.
struct LastOffer {
  explicit LastOffer(StudioWorkbench& workbench) {
    QObject::connect(
        &workbench, &StudioWorkbench::offered, &workbench,
        [this](const QString&, const QString& name, const std::function<void()>& does) {
          label = name;
          act = does;
        });
  }
  QString label;
  std::function<void()> act;
};

TEST(Workbench, OffersOnlyWhatAStateAllows) {
  store::RunRow row{.state = store::RunState::Running};
  EXPECT_FALSE(StudioWorkbench::canStart(row));
  EXPECT_TRUE(StudioWorkbench::canStop(row));
  EXPECT_FALSE(StudioWorkbench::canDelete(row));
  row.state = store::RunState::Interrupted;
  EXPECT_TRUE(StudioWorkbench::canStart(row));
  EXPECT_FALSE(StudioWorkbench::canStop(row));
  EXPECT_TRUE(StudioWorkbench::canDelete(row));
  row.state = store::RunState::Failed;
  EXPECT_TRUE(StudioWorkbench::canStart(row));
  row.state = store::RunState::Done;
  EXPECT_FALSE(StudioWorkbench::canStart(row));
}

TEST(Workbench, UndoOfADeletionBringsTheSelectionBackToo) {
  SampleStudio studio(SampleOptions{0, 50});
  const std::vector<std::int64_t> selected{studio.runs[0], studio.runs[1], studio.runs[2]};
  Selection& selection = studio.workbench.selection();
  selection.setRuns(selected, studio.runs[1], {studio.runs[2]});
  LastOffer offered(studio.workbench);
  studio.workbench.deleteRuns({studio.runs[0]});
  studio.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  ASSERT_EQ(studio.workbench.run(studio.runs[0]), nullptr);
  ASSERT_TRUE(offered.act);
  offered.act();
  studio.workbench.queue().waitUntilIdle();
  ASSERT_NE(studio.workbench.run(studio.runs[0]), nullptr);
  EXPECT_EQ(selection.runs(), selected);
  EXPECT_EQ(selection.current(), studio.runs[1]);
  EXPECT_EQ(selection.hidden(), std::set<std::int64_t>{studio.runs[2]});
}

TEST(Workbench, StopSaysWhatWaitsAndOffersToContinue) {
  SampleStudio studio(SampleOptions{0, 50});
  const std::int64_t first = studio.runs[10], second = studio.runs[11];
  jobs::JobQueue queue(studio.writer);
  queue.enqueue(std::vector{first, second}, {});
  ASSERT_EQ(queue.next({"cpu", "", "", 0, 0}, {})->run, first);
  studio.workbench.watcher().poll();
  studio.workbench.queue().waitUntilIdle();
  QSignalSpy offers(&studio.workbench, &StudioWorkbench::offered);
  LastOffer offered(studio.workbench);
  studio.workbench.stopRuns({first});
  studio.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(studio.writer.request(first), "stop");
  EXPECT_EQ(queue.mode(), store::QueueMode::Paused);
  ASSERT_EQ(offers.count(), 1);
  const QString said = offers[0][0].toString();
  EXPECT_TRUE(said.contains(QStringLiteral("run %1, ").arg(second))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("queue is paused"))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("at a checkpoint."))) << said.toStdString();
  ASSERT_EQ(offers[0][1].toString(), QStringLiteral("Resume queue"));
  ASSERT_TRUE(offered.act);
  offered.act();
  studio.workbench.queue().waitUntilIdle();
  EXPECT_EQ(queue.mode(), store::QueueMode::Running);
  EXPECT_EQ(queue.next({"cpu", "", "", 0, 0}, {})->run, second);
}

TEST(Workbench, StopOfRunsThatWaitIsTakenBackWithUndo) {
  SampleStudio studio(SampleOptions{0, 50});
  const std::int64_t first = studio.runs[10], second = studio.runs[11];
  jobs::JobQueue queue(studio.writer);
  queue.enqueue(std::vector{first}, {.timeLimitSeconds = 3600});
  queue.enqueue(std::vector{second}, {});
  studio.workbench.watcher().poll();
  studio.workbench.queue().waitUntilIdle();
  LastOffer offered(studio.workbench);
  studio.workbench.stopRuns({first});
  studio.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(studio.writer.run(first).state, store::RunState::Stopped);
  ASSERT_EQ(offered.label, QStringLiteral("Undo"));
  offered.act();
  studio.workbench.queue().waitUntilIdle();
  EXPECT_EQ(studio.writer.run(first).state, store::RunState::Queued);
  const auto entries = queue.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].run, first) << "at its place";
  EXPECT_EQ(entries[0].options.timeLimitSeconds, 3600);
}

TEST(Workbench, UndoOfAMixedStopReturnsTheRunsThatWaitedAndResumesTheQueue) {
  SampleStudio studio(SampleOptions{0, 50});
  const std::int64_t first = studio.runs[9], second = studio.runs[10], third = studio.runs[11];
  jobs::JobQueue queue(studio.writer);
  queue.enqueue(std::vector{first, second, third}, {});
  ASSERT_EQ(queue.next({"cpu", "", "", 0, 0}, {})->run, first);
  studio.workbench.watcher().poll();
  studio.workbench.queue().waitUntilIdle();
  LastOffer offered(studio.workbench);
  studio.workbench.stopRuns({first, second});
  studio.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(studio.writer.run(second).state, store::RunState::Stopped);
  EXPECT_EQ(queue.mode(), store::QueueMode::Paused);
  ASSERT_EQ(offered.label, QStringLiteral("Undo"));
  offered.act();
  studio.workbench.queue().waitUntilIdle();
  EXPECT_EQ(studio.writer.run(second).state, store::RunState::Queued);
  EXPECT_EQ(queue.mode(), store::QueueMode::Running);
  EXPECT_EQ(queue.next({"cpu", "", "", 0, 0}, {})->run, second) << "before the third, as it was";
}

TEST(Workbench, AsksForTheCatalogAgainAfterItFailed) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, "echo 'out of order' >&2; exit 1");
  QSignalSpy ready(&studio.workbench, &Workbench::catalogReady);
  QSignalSpy failed(&studio.workbench, &Workbench::catalogFailed);
  EXPECT_TRUE(studio.workbench.catalog().items.empty());
  ASSERT_TRUE(soon([&] { return failed.count() == 1; }));
  studio.workbench.askCatalogAgain();
  ASSERT_TRUE(soon([&] { return failed.count() == 2; }));
  becomeProgram(studio, describing("vit"));
  studio.workbench.askCatalogAgain();
  ASSERT_TRUE(soon([&] { return ready.count() == 1; }));
  EXPECT_NE(studio.workbench.catalog().find(ItemKind::Architecture, "vit"), nullptr);
}

TEST(Workbench, ReadsTheCatalogFromWhatTheProgramDescribes) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, describing("vit"));
  QSignalSpy ready(&studio.workbench, &Workbench::catalogReady);
  EXPECT_TRUE(studio.workbench.catalog().items.empty());
  EXPECT_TRUE(soon([&] { return ready.count() == 1; }));
  EXPECT_NE(studio.workbench.catalog().find(ItemKind::Architecture, "vit"), nullptr);
}

}  // namespace
}  // namespace vitrine::ui

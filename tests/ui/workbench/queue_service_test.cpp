// The service: what it reads, what it changes, and who works on the queue.
#include "ui/workbench/queue_service.h"

#include <QSignalSpy>

#include "core/jobs/kernel_lock.h"
#include "core/jobs/work.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"

namespace vitrine::ui {
namespace {

struct OpenQueue {
  OpenQueue()
      : store(folder.filePath(QStringLiteral("experiments.sqlite")).toStdString()),
        queue(store),
        service(store.file()) {}

  std::int64_t add(store::RunState state = store::RunState::Queued) {
    store::NewRun run{
        .name = "a run", .config = Json{{"train", {{"device", "cpu"}}}}, .state = state};
    return store.addRuns(store.experiment("an experiment", ""), {run}).front();
  }
  std::int64_t enqueued() {
    const std::int64_t run = add();
    queue.enqueue(std::vector{run}, {});
    return run;
  }
  /// A script in the place of the headless program.
  void becomeProgram(const QByteArray& script) { ui::becomeProgram(folder, script); }
  QByteArray contentOf(const QString& name) { return bytesOf(folder.filePath(name)); }

  QTemporaryDir folder;
  store::RunStore store;
  jobs::JobQueue queue;
  QueueService service;
};

TEST(QueueService, TellsWhatWaitsWhatCanResumeAndWhatEnded) {
  OpenQueue open;
  const std::int64_t first = open.enqueued(), second = open.enqueued(), lost = open.add(),
                     failed = open.add();
  open.add();  // as `train` stores it: not in the queue
  for (const std::int64_t run : {lost, failed}) open.store.claim(run);
  open.store.setState(lost, store::RunState::Interrupted, "killed");
  open.store.setState(failed, store::RunState::Failed, "no memory");
  open.queue.moveBefore(second, first);
  open.service.refresh();
  open.service.waitUntilIdle();
  const QueueView& view = open.service.view();
  EXPECT_EQ(view.waiting(), (std::vector<std::int64_t>{second, first}));
  EXPECT_EQ(view.resumable, std::vector<std::int64_t>{lost});
  EXPECT_EQ(view.ended, std::vector<std::int64_t>{failed});
  EXPECT_TRUE(view.running.empty());
  EXPECT_TRUE(view.error.isEmpty()) << view.error.toStdString();
}

TEST(QueueService, ReadsOnceMoreForWhatChangesDuringAReading) {
  OpenQueue open;
  QSignalSpy shown(&open.service, &QueueService::viewChanged);
  open.service.refresh();
  const std::int64_t run = open.enqueued();
  for (int change = 0; change < 3; ++change) open.service.refresh();
  ASSERT_TRUE(soon([&] { return shown.count() == 2; }));
  EXPECT_EQ(open.service.view().waiting(), std::vector<std::int64_t>{run});
  open.service.refresh();
  ASSERT_TRUE(soon([&] { return shown.count() == 3; })) << "and then only when it is asked";
}

TEST(QueueService, SaysWhatAnOrderCameToAndWhyOneCannotBeDone) {
  OpenQueue open;
  QSignalSpy said(&open.service, &QueueService::messageSent);
  QSignalSpy failed(&open.service, &QueueService::failed);
  const std::int64_t run = open.enqueued();
  jobs::Command command{.what = jobs::Command::What::Remove, .runs = {run}};
  open.service.execute(command, [run](const jobs::CommandResult& result) {
    EXPECT_EQ(result.runs, std::vector<std::int64_t>{run});
    return QStringLiteral("well done");
  });
  command.what = jobs::Command::What::Limit;
  command.runs = {77};
  open.service.execute(command);
  open.service.waitUntilIdle();
  ASSERT_EQ(said.count(), 1);
  ASSERT_EQ(failed.count(), 1);
  EXPECT_EQ(said[0][0].toString().toStdString(), "well done");
  EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("run 77")));
  EXPECT_TRUE(open.service.view().entries.empty());
}

TEST(QueueService, StartsOneWorkerForWhatWaitsAndNoneForAnEmptyQueue) {
  OpenQueue open;
  open.becomeProgram("echo \"$@\" >> $(dirname $0)/calls; sleep 10");
  open.service.attend();
  open.service.waitUntilIdle();
  EXPECT_TRUE(open.contentOf(QStringLiteral("calls")).isEmpty());
  open.enqueued();
  for (int look = 0; look < 3; ++look) {
    open.service.refresh();
    open.service.waitUntilIdle();
  }
  ASSERT_TRUE(soon([&] { return !open.contentOf(QStringLiteral("calls")).isEmpty(); }));
  EXPECT_EQ(open.contentOf(QStringLiteral("calls")).trimmed().toStdString(),
            "work --drain --db " + open.store.file().string());
}

TEST(QueueService, LeavesTheQueueToTheProcessThatWorksOnItAlready) {
  OpenQueue open;
  open.becomeProgram("echo \"$@\" >> $(dirname $0)/calls");
  const auto elsewhere = jobs::KernelLock::tryLock(jobs::workLockFile(open.store.file()));
  ASSERT_TRUE(elsewhere);
  open.enqueued();
  open.service.attend();
  open.service.waitUntilIdle();
  EXPECT_TRUE(open.contentOf(QStringLiteral("calls")).isEmpty());
}

TEST(QueueService, SaysWhyNoProcessWorksOnTheQueue) {
  OpenQueue open;
  qputenv("VITRINE_PROGRAM", "/no/such/program");
  open.enqueued();
  open.service.attend();
  open.service.waitUntilIdle();
  EXPECT_TRUE(open.service.view().error.contains(QStringLiteral("/no/such/program")))
      << open.service.view().error.toStdString();
  open.service.execute({.what = jobs::Command::What::Mode, .mode = store::QueueMode::Paused});
  open.service.waitUntilIdle();
  EXPECT_TRUE(open.service.view().error.isEmpty()) << "nothing is to be started now";
}

TEST(Workbench, PutsRunsIntoTheQueueOnce) {
  SampleStudio studio(SampleOptions{0, 50});
  const auto idOf = [&](store::RunState state) {
    for (const std::int64_t run : studio.runs) {
      if (studio.writer.run(run).state == state) return run;
    }
    return std::int64_t{0};
  };
  const std::int64_t queued = idOf(store::RunState::Queued), done = idOf(store::RunState::Done);
  ASSERT_NE(queued, 0);
  ASSERT_NE(done, 0);
  QSignalSpy said(&studio.workbench, &StudioWorkbench::messageSent);
  studio.workbench.startRuns({done, queued});
  studio.workbench.queue().waitUntilIdle();
  EXPECT_EQ(studio.workbench.queue().view().waiting(), std::vector<std::int64_t>{queued});
  studio.workbench.startRuns({queued});
  studio.workbench.queue().waitUntilIdle();
  EXPECT_TRUE(said.back()[0].toString().contains(QStringLiteral("already")));
  studio.workbench.startRuns({done});
  EXPECT_TRUE(said.back()[0].toString().contains(QStringLiteral("None of the selected runs")));
}

}  // namespace
}  // namespace vitrine::ui

// What the checkpoints of runs take is read before a question, and on which thread: counted with
// SQLite's own trace of every statement.
#include <sqlite3.h>

#include <QMessageBox>
#include <QSignalSpy>
#include <QTimer>
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "core/base/text.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

std::thread::id panelThread;
std::atomic<int> panelReadings{0}, otherReadings{0};

int onDiskStatement(unsigned /*kind*/, void* /*context*/, void* /*statement*/, void* text) {
  const std::string sql = static_cast<const char*>(text);
  if (sql.find("sum(bytes)") != std::string::npos)
    ++(std::this_thread::get_id() == panelThread ? panelReadings : otherReadings);
  return 0;
}

int traceDisk(sqlite3* database, char** /*error*/, const sqlite3_api_routines* /*api*/) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, onDiskStatement, nullptr);
}

/// Counts in all connections that are opened while it lives.
struct DiskReadings {
  DiskReadings() {
    panelThread = std::this_thread::get_id();
    panelReadings = otherReadings = 0;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(traceDisk));
  }
  ~DiskReadings() { sqlite3_reset_auto_extension(); }
};

class RunsDisk : public ::testing::Test {
 protected:
  RunsDisk() : panel_(studio_.workbench) {}
  void addCheckpoint(std::int64_t run, std::int64_t bytes) {
    CheckpointRecord record;
    record.step = 100;
    record.folder = store::runFolderName(studio_.writer.run(run).uuid) + "/step-100";
    record.bytes = bytes;
    studio_.writer.append(run, studio_.writer.segments(run).back().number,
                          {.checkpoints = {record}});
  }
  /// The words of the question that `ask` leads to, which is answered with No.
  QString questionAfter(const std::function<void()>& ask) {
    QString words;
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &panel_, [&] {
      auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      if (question == nullptr) return;
      look.stop();
      words = question->text() + question->informativeText();
      question->reject();
    });
    look.start(10);
    ask();
    EXPECT_TRUE(soon([&] { return !look.isActive(); }));
    return words;
  }

  DiskReadings readings_;
  SampleStudio studio_{SampleOptions{0, 50}};
  RunsPanel panel_;
};

TEST_F(RunsDisk, TheSizeOfTheSelectedRunsIsReadOffTheThreadOfTheWindow) {
  const std::int64_t run = studio_.runs[0];
  addCheckpoint(run, 1'500'000);
  addCheckpoint(studio_.runs[1], 64'000'000);
  studio_.workbench.watcher().poll();
  panel_.select({run}, run);
  const QString size = QString::fromStdString(formatBytes(1.5e6));
  EXPECT_TRUE(questionAfter([&] { panel_.runActions().remove().trigger(); }).contains(size));
  EXPECT_TRUE(questionAfter([&] { panel_.askPrune(); }).contains(size));
  EXPECT_EQ(panelReadings, 0);
  EXPECT_EQ(otherReadings, 2);
}

TEST_F(RunsDisk, ASizeThatCannotBeReadIsAnErrorAndNotARunWithoutCheckpoints) {
  const std::int64_t run = studio_.runs[0];
  panel_.select({run}, run);
  QSignalSpy said(&studio_.workbench, &StudioWorkbench::messageSent);
  panel_.askPrune();
  ASSERT_TRUE(soon([&] { return said.count() == 1; }));
  EXPECT_TRUE(said[0][0].toString().contains(QStringLiteral("no checkpoints")));
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(studio_.writer.file().c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, "DROP TABLE checkpoint", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  QSignalSpy failed(&studio_.workbench, &StudioWorkbench::errorSent);
  panel_.askPrune();
  ASSERT_TRUE(soon([&] { return failed.count() == 1; }));
  EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("cannot be read")))
      << failed[0][0].toString().toStdString();
  EXPECT_EQ(said.count(), 1);
}

}  // namespace
}  // namespace vitrine::ui

// The queue as the window uses it. It is read and changed on a thread of its own, or on the machine
// that has the database. So the window never waits for a disk or for another process.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/jobs/command.h"
#include "core/jobs/queue.h"

namespace vitrine::ui {

class RemoteLink;

/// The queue at one moment.
struct QueueView {
  store::QueueMode mode = store::QueueMode::Running;
  std::vector<jobs::QueueEntry> entries;  ///< in the order of their start, also those in progress
  std::map<std::int64_t, store::RunRow> rows;  ///< of all runs named here
  std::vector<std::int64_t> running;           ///< in progress, of the queue and of terminals
  std::vector<std::int64_t>
      resumable;                    ///< paused or interrupted and not in the queue, newest first
  std::vector<std::int64_t> ended;  ///< the last of them, newest first
  double secondsLeft = 0;           ///< until nothing of it is left; 0: unknown
  bool isMoreLeft = false;  ///< some runs that wait are like none that was trained: not counted
  QString error;            ///< why no process works on the queue; "" when all is well

  [[nodiscard]] const jobs::QueueEntry* entry(std::int64_t run) const;
  /// Entries that are not in progress.
  [[nodiscard]] std::vector<std::int64_t> waiting() const;
  /// Where those of `runs` that wait stand, in the order of their start.
  [[nodiscard]] std::vector<jobs::Command::Place> places(
      const std::vector<std::int64_t>& runs) const;
};

/// "about 2 h left", "more than 2 h left"; "" where it is unknown.
[[nodiscard]] QString leftText(const QueueView& queue);

class QueueService : public QObject {
  Q_OBJECT
 public:
  /// Nothing is opened before the first refresh() or order().
  /// \param link  to the machine that has the database, which `database` is a copy of; orders go
  /// there
  explicit QueueService(const std::filesystem::path& database, RemoteLink* link = nullptr,
                        QObject* parent = nullptr);
  ~QueueService() override;

  [[nodiscard]] const QueueView& view() const { return view_; }
  /// Reads again, soon; many calls are two readings at most.
  void refresh();
  /// The message after a command was executed; "": none. Called in the window's thread.
  using Sentence = std::function<QString(const jobs::CommandResult& result)>;
  /// Executes a command, soon; its result or its error becomes a message.
  void execute(const jobs::Command& command, Sentence sentence = {});
  /// Puts runs that were taken out of the queue back where they stood.
  void enqueueAgain(const std::vector<jobs::Command::Place>& places);
  /// Lets a paused queue continue.
  void resume();
  /// Finds runs whose process has ended and entries that have ended permanently. On the machine
  /// that has the database a process does that.
  void prune();
  /// From now on a process works on the queue while the window is open. The service starts one
  /// where a run can start and no process works on the queue; it outlives the window. The other
  /// machine does that by itself.
  void attend();
  /// All that was asked before is done and shown when this returns: for pictures and tests.
  void waitUntilIdle();

 Q_SIGNALS:
  void viewChanged();
  void messageSent(const QString& sentence);
  /// A command could not be executed.
  void failed(const QString& sentence);

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
  RemoteLink* link_;
  QueueView view_;
  bool isReading_ = false;
  bool isReadingDue_ = false;  ///< asked for while one was under way
};

}  // namespace vitrine::ui

// Reading that may take a while, off the window's thread: one job at a time, the newest wins.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "ui/kit/reader_pool.h"

namespace vitrine::ui {

/// Runs the event loop while `isPending`, at most that long: for pictures and tests.
void waitWhile(const std::function<bool()>& isPending, int milliseconds);

class Background : public QObject {
  Q_OBJECT
 public:
  /// What of a job is left to do in the window's thread: show the result.
  using Finish = std::function<void()>;
  /// Runs on a thread of the pool, with its read-only connection. Reads `isStale` now and then
  /// and returns early, with anything, once it is true.
  using Work = std::function<Finish(store::RunReader& store, const std::atomic<bool>& isStale)>;
  /// As Work, for what reads no database: none is opened.
  using Task = std::function<Finish(const std::atomic<bool>& isStale)>;

  /// A place in the pool of `database`, which all objects of this class share. \param database  ""
  /// where only tasks are run
  explicit Background(const std::filesystem::path& database, QObject* parent = nullptr);
  /// Marks the job as stale and waits for it.
  ~Background() override;

  /// Replaces a job that waits; one that runs becomes stale and its result is dropped.
  void run(Work work);
  void run(Task task);
  /// Drops both.
  void cancel();
  [[nodiscard]] bool isBusy() const { return shown_ < newest_; }
  /// The last job is done and shown when this returns: for pictures and tests.
  void waitUntilIdle();

 Q_SIGNALS:
  void busyChanged();
  /// The newest job threw; never for one that is stale.
  void failed(const QString& sentence);

 private:
  void start(std::function<Finish(ReaderPool::Connection&, const std::atomic<bool>&)> job);
  void deliver(std::uint64_t number, const Finish& finish, const QString& failure);

  // Only touched in the window's thread.
  std::uint64_t newest_ = 0;  ///< number of the last job asked for
  std::uint64_t shown_ = 0;   ///< all up to this one are delivered or dropped
  ReaderPool::Line line_;     ///< the last member: it goes first, and waits
};

}  // namespace vitrine::ui

// Reading that may take a while, off the window's thread: one job at a time, the newest wins.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/store/run_store.h"

namespace vitrine::ui {

class Background : public QObject {
  Q_OBJECT
 public:
  /// What of a job is left to do in the window's thread: show the result.
  using Finish = std::function<void()>;
  /// Runs on the thread, with a read-only connection of its own. Looks at `isStale` now and then
  /// and returns early, with anything, once it is true.
  using Work = std::function<Finish(store::RunReader& store, const std::atomic<bool>& isStale)>;

  /// Opens nothing and starts no thread before the first job.
  explicit Background(std::filesystem::path database, QObject* parent = nullptr);
  /// Marks the job as stale and waits for it.
  ~Background() override;

  /// Replaces a job that waits; one that runs becomes stale and its result is dropped.
  void run(Work work);
  /// Drops both.
  void cancel();
  [[nodiscard]] bool isBusy() const;
  /// The last job is done and shown when this returns: for pictures and tests.
  void waitUntilIdle();

 Q_SIGNALS:
  void busyChanged();
  /// The newest job threw; never for one that is stale.
  void failed(const QString& sentence);

 private:
  struct State;
  void deliver(std::uint64_t number, const Finish& finish, const QString& failure);
  std::shared_ptr<State> state_;
};

}  // namespace vitrine::ui

// Informs the window that another process wrote. Polls PRAGMA data_version at 4 Hz, then reports
// what changed.
#pragma once

#include <QObject>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/store/run_reader.h"

namespace vitrine::store {

class VITRINE_STORE_EXPORT RunWatcher : public QObject {
  Q_OBJECT
 public:
  explicit RunWatcher(RunReader& store, QObject* parent = nullptr);
  ~RunWatcher() override;
  void start(int intervalMs = 250);
  void stop();
  /// Looks now instead of at the next tick.
  void poll();

 Q_SIGNALS:
  /// Rows of runs that are new or changed since the last signal (all of them, the first time).
  void runsChanged(const std::vector<vitrine::store::RunRow>& runs);
  /// These were deleted.
  void runsDeleted(const std::vector<std::int64_t>& ids);
  /// Something was committed, by this process or another: readers may have new points, events or
  /// artifacts.
  void dataChanged();
  /// The store cannot be read; the sentence says why. Polling continues.
  void failed(const QString& sentence);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::store

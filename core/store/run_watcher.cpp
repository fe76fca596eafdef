#include "core/store/run_watcher.h"

#include <QString>
#include <QTimer>

namespace vitrine::store {

struct RunWatcher::State {
  explicit State(RunReader& watched) : store(watched) {}

  RunReader& store;
  QTimer timer;
  std::int64_t dataVersion = -1;
  std::int64_t change = 0;  ///< newest change of a run that was reported
  QString failure;
};

RunWatcher::RunWatcher(RunReader& store, QObject* parent)
    : QObject(parent), state_(std::make_unique<State>(store)) {
  connect(&state_->timer, &QTimer::timeout, this, &RunWatcher::poll);
}

RunWatcher::~RunWatcher() = default;

void RunWatcher::start(int intervalMs) {
  poll();
  state_->timer.start(intervalMs);
}

void RunWatcher::stop() { state_->timer.stop(); }

void RunWatcher::poll() {
  State& state = *state_;
  std::vector<RunRow> changed;
  std::vector<std::int64_t> deleted;
  bool isNew = false;
  try {
    // data_version tells of other connections; the counter of changes also of our own.
    const std::int64_t version = state.store.dataVersion();
    const std::int64_t change = state.store.lastChange();
    const bool isFirst = state.dataVersion < 0;
    isNew = version != state.dataVersion || change != state.change;
    if (change != state.change || isFirst) {
      changed = state.store.runs(state.change);
      if (!isFirst) deleted = state.store.deletedRuns(state.change);
      // Rows written between these reads are newer than `change` and come again next time.
      state.change = change;
    }
    state.dataVersion = version;
    state.failure.clear();
  } catch (const std::exception& error) {
    const QString sentence = QString::fromUtf8(error.what());
    if (sentence != state.failure) {
      state.failure = sentence;
      Q_EMIT failed(sentence);
    }
    return;
  }
  if (!deleted.empty()) Q_EMIT runsDeleted(deleted);
  if (!changed.empty()) Q_EMIT runsChanged(changed);
  if (isNew) Q_EMIT dataChanged();
}

}  // namespace vitrine::store

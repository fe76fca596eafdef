#include "core/store/run_watcher.h"

#include <QString>
#include <QTimer>

#include "core/store/change_reader.h"

namespace vitrine::store {

struct RunWatcher::State {
  explicit State(RunReader& store) : reader(store) {}

  ChangeReader reader;
  QTimer timer;
  QString error;
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
  ChangeReader::Changes changes;
  try {
    changes = state.reader.read();
    state.error.clear();
  } catch (const std::exception& error) {
    const QString sentence = QString::fromUtf8(error.what());
    if (sentence != state.error) {
      state.error = sentence;
      Q_EMIT failed(sentence);
    }
    return;
  }
  if (!changes.deleted.empty()) Q_EMIT runsDeleted(changes.deleted);
  if (!changes.runs.empty()) Q_EMIT runsChanged(changes.runs);
  if (changes.isNew) Q_EMIT dataChanged();
}

}  // namespace vitrine::store

#include "ui/kit/background.h"

#include <QCoreApplication>
#include <QEvent>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace vitrine::ui {

struct Background::State {
  std::filesystem::path database;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  std::optional<Work> waiting;
  std::uint64_t waitingNumber = 0;
  std::shared_ptr<std::atomic<bool>> isStale;  ///< of the job that runs; null when none does
  bool isEnding = false;
  // Only touched in the window's thread.
  std::uint64_t newest = 0;  ///< number of the last job asked for
  std::uint64_t shown = 0;   ///< all up to this one are delivered or dropped
};

Background::Background(std::filesystem::path database, QObject* parent)
    : QObject(parent), state_(std::make_shared<State>()) {
  state_->database = std::move(database);
}

Background::~Background() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->isEnding = true;
    state_->waiting.reset();
    if (state_->isStale) state_->isStale->store(true);
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

void Background::run(Work work) {
  const bool wasBusy = isBusy();
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting = std::move(work);
    state_->waitingNumber = ++state_->newest;
    if (state_->isStale) state_->isStale->store(true);
  }
  state_->changed.notify_all();
  if (!state_->thread.joinable()) {
    // `this` outlives the thread; what is posted to it is dropped when it goes first.
    state_->thread = std::thread([this, state = state_.get()] {
      std::optional<store::RunReader> store;
      for (;;) {
        std::optional<Work> job;
        std::uint64_t number = 0;
        std::shared_ptr<std::atomic<bool>> isStale;
        {
          std::unique_lock lock(state->mutex);
          state->changed.wait(lock, [state] { return state->isEnding || state->waiting; });
          if (state->isEnding) return;
          job.swap(state->waiting);
          number = state->waitingNumber;
          isStale = state->isStale = std::make_shared<std::atomic<bool>>(false);
        }
        Finish finish;
        QString failure;
        try {
          if (!store) store.emplace(state->database);
          finish = (*job)(*store, *isStale);
        } catch (const std::exception& error) {
          failure = QString::fromUtf8(error.what());
        }
        job.reset();
        {
          const std::lock_guard lock(state->mutex);
          state->isStale.reset();
        }
        QMetaObject::invokeMethod(
            this, [this, number, finish, failure] { deliver(number, finish, failure); },
            Qt::QueuedConnection);
        state->changed.notify_all();
      }
    });
  }
  if (!wasBusy) Q_EMIT busyChanged();
}

void Background::cancel() {
  if (!isBusy()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.reset();
    if (state_->isStale) state_->isStale->store(true);
  }
  state_->shown = state_->newest;
  Q_EMIT busyChanged();
}

bool Background::isBusy() const { return state_->shown < state_->newest; }

void Background::deliver(std::uint64_t number, const Finish& finish, const QString& failure) {
  if (number != state_->newest || number <= state_->shown) return;
  state_->shown = number;
  if (!failure.isEmpty()) {
    Q_EMIT failed(failure);
  } else if (finish) {
    finish();
  }
  Q_EMIT busyChanged();
}

void Background::waitUntilIdle() {
  // What a job shows may ask for another one.
  while (isBusy()) {
    {
      std::unique_lock lock(state_->mutex);
      state_->changed.wait(lock, [this] { return !state_->waiting && !state_->isStale; });
    }
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace vitrine::ui

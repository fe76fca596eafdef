#include "ui/kit/background.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QTimer>
#include <exception>
#include <utility>

namespace vitrine::ui {

void waitWhile(const std::function<bool()>& isPending, int milliseconds) {
  QElapsedTimer clock;
  clock.start();
  // Wakes the loop: processEvents() with a time limit of its own returns at once and never sleeps.
  QTimer tick;
  tick.start(20);
  while (isPending() && clock.elapsed() < milliseconds)
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
}

Background::Background(const std::filesystem::path& database, QObject* parent)
    : QObject(parent), line_(ReaderPool::of(database)) {}

Background::~Background() = default;

void Background::run(Work work) {
  start([work = std::move(work)](ReaderPool::Connection& connection,
                                 const std::atomic<bool>& isStale) {
    return work(connection.store(), isStale);
  });
}

void Background::run(Task task) {
  start([task = std::move(task)](ReaderPool::Connection&, const std::atomic<bool>& isStale) {
    return task(isStale);
  });
}

void Background::start(
    std::function<Finish(ReaderPool::Connection&, const std::atomic<bool>&)> job) {
  const bool wasBusy = isBusy();
  // `this` outlives the job; events posted to it are dropped when it is destroyed first.
  line_.run([this, number = ++newest_, job = std::move(job)](ReaderPool::Connection& connection,
                                                             const std::atomic<bool>& isStale) {
    Finish finish;
    QString failure;
    try {
      finish = job(connection, isStale);
    } catch (const std::exception& error) {
      failure = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this, [this, number, finish, failure] { deliver(number, finish, failure); },
        Qt::QueuedConnection);
  });
  if (!wasBusy) Q_EMIT busyChanged();
}

void Background::cancel() {
  if (!isBusy()) return;
  line_.cancel();
  shown_ = newest_;
  Q_EMIT busyChanged();
}

void Background::deliver(std::uint64_t number, const Finish& finish, const QString& failure) {
  if (number != newest_ || number <= shown_) return;
  shown_ = number;
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
    line_.wait();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace vitrine::ui

#include "ui/kit/loading_state.h"

#include <algorithm>
#include <utility>

namespace vitrine::ui {

LoadingState::LoadingState(std::vector<Background*> readers, int pauseMs, QObject* parent)
    : QObject(parent), readers_(std::move(readers)) {
  for (QTimer* timer : {&pause_, &waiting_, &cancellable_}) {
    timer->setParent(this);
    timer->setSingleShot(true);
  }
  pause_.setInterval(pauseMs);
  waiting_.setInterval(kWaitingAfterMs);
  cancellable_.setInterval(kCancelAfterMs);
  connect(&waiting_, &QTimer::timeout, this, &LoadingState::waiting);
  connect(&cancellable_, &QTimer::timeout, this, [this] {
    isOffered_ = true;
    Q_EMIT cancellable();
  });
  connect(&pause_, &QTimer::timeout, this, [this] {
    if (isBusy()) {
      pause_.start();
    } else {
      Q_EMIT again();
    }
  });
  for (Background* one : readers_)
    connect(one, &Background::busyChanged, this, &LoadingState::look);
}

bool LoadingState::isBusy() const {
  return std::any_of(readers_.begin(), readers_.end(),
                     [](const Background* one) { return one->isBusy(); });
}

void LoadingState::cancel() {
  pause_.stop();
  for (Background* one : readers_) one->cancel();
}

void LoadingState::readLater() {
  if (!pause_.isActive()) pause_.start();
}

void LoadingState::look() {
  if (!isBusy()) {
    waiting_.stop();
    cancellable_.stop();
    isOffered_ = false;
    Q_EMIT done();
    return;
  }
  if (!waiting_.isActive()) waiting_.start();
  if (!isOffered_ && !cancellable_.isActive()) cancellable_.start();
}

}  // namespace vitrine::ui

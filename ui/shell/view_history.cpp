#include "ui/shell/view_history.h"

namespace vitrine::ui {

void ViewHistory::begin(const QString& page, const Json& state) { now_.emplace(page, state); }

void ViewHistory::add(const QString& page, const Json& state, Gesture gesture) {
  Json& now = now_[page];
  if (now == state) return;
  const bool hadRedo = canRedo();
  steps_.resize(done_);
  const bool isOne =
      gesture == Gesture::GoesOn && !hadRedo && !steps_.empty() && steps_.back().page == page;
  if (isOne) {
    steps_.back().after = state;
    if (steps_.back().before == state) steps_.pop_back();  // back where it began
  } else {
    steps_.push_back({page, now, state});
    if (steps_.size() > kMost) steps_.erase(steps_.begin());
  }
  done_ = steps_.size();
  now = state;
  Q_EMIT changed();
}

ViewHistory::View ViewHistory::undo() {
  const Step& step = steps_.at(--done_);
  now_[step.page] = step.before;
  const View view{step.page, step.before};
  Q_EMIT changed();
  return view;
}

ViewHistory::View ViewHistory::redo() {
  const Step& step = steps_.at(done_++);
  now_[step.page] = step.after;
  const View view{step.page, step.after};
  Q_EMIT changed();
  return view;
}

}  // namespace vitrine::ui

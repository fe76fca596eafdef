#include "ui/configure/form/edit_history.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostEditBytes = std::size_t{16} << 20;

}  // namespace

void EditHistory::reset(State state) {
  bytes_ = state.text.size();
  states_.assign(1, std::move(state));
  at_ = 0;
  mergeKey_.clear();
}

void EditHistory::push(State state, const std::string& mergeKey) {
  if (states_.empty()) return reset(std::move(state));
  if (states_[at_].text == state.text && states_[at_].origin == state.origin) return;
  while (states_.size() > at_ + 1) {
    bytes_ -= states_.back().text.size();
    states_.pop_back();
  }
  bytes_ += state.text.size();
  if (at_ > 0 && !mergeKey.empty() && mergeKey == mergeKey_) {
    bytes_ -= states_[at_].text.size();
    states_[at_] = std::move(state);
    if (states_[at_].text == states_[at_ - 1].text &&
        states_[at_].origin == states_[at_ - 1].origin) {  // typed and taken back: no step
      bytes_ -= states_[at_].text.size();
      states_.pop_back();
      --at_;
      mergeKey_.clear();
    }
    return;
  }
  states_.push_back(std::move(state));
  ++at_;
  mergeKey_ = mergeKey;
  dropOldest();
}

void EditHistory::dropOldest() {
  while (bytes_ > kMostEditBytes && at_ > 1) {
    bytes_ -= states_.front().text.size();
    states_.erase(states_.begin());
    --at_;
  }
}

void EditHistory::setOrigin(const QString& file) {
  if (states_.empty()) return;
  std::size_t first = at_;
  while (first > 0 && states_[first].kind == Kind::Edit) --first;
  std::size_t end = at_ + 1;
  while (end < states_.size() && states_[end].kind == Kind::Edit) ++end;
  for (; first < end; ++first) states_[first].origin = file;
}

const EditHistory::State& EditHistory::undo() {
  mergeKey_.clear();
  return states_[--at_];
}

const EditHistory::State& EditHistory::redo() {
  mergeKey_.clear();
  return states_[++at_];
}

}  // namespace vitrine::ui

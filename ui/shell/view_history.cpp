#include "ui/shell/view_history.h"

#include <QCoreApplication>

namespace vitrine::ui {

namespace {

struct NamedKey {
  const char* key;  ///< of Page::viewState()
  const char* name;
};

// The first key that differs names the step. Another x axis or scale changes ranges as well, so
// these come last.
constexpr NamedKey kNamedKeys[] = {
    {"selection", QT_TRANSLATE_NOOP("ViewHistory", "selection")},
    {"current", QT_TRANSLATE_NOOP("ViewHistory", "selection")},
    {"hidden", QT_TRANSLATE_NOOP("ViewHistory", "visibility of runs")},
    {"sort_column", QT_TRANSLATE_NOOP("ViewHistory", "sort")},
    {"sort_descending", QT_TRANSLATE_NOOP("ViewHistory", "sort")},
    {"filter", QT_TRANSLATE_NOOP("ViewHistory", "filter")},
    {"search", QT_TRANSLATE_NOOP("ViewHistory", "search")},
    {"smoothing", QT_TRANSLATE_NOOP("ViewHistory", "smoothing")},
    {"x", QT_TRANSLATE_NOOP("ViewHistory", "x axis")},
    {"x_metric", QT_TRANSLATE_NOOP("ViewHistory", "x axis")},
    {"log_x", QT_TRANSLATE_NOOP("ViewHistory", "axis scale")},
    {"log_y", QT_TRANSLATE_NOOP("ViewHistory", "axis scale")},
    {"clip", QT_TRANSLATE_NOOP("ViewHistory", "clipping")},
    {"pinned", QT_TRANSLATE_NOOP("ViewHistory", "pin")},
    {"usual", QT_TRANSLATE_NOOP("ViewHistory", "pin")},
    {"metrics", QT_TRANSLATE_NOOP("ViewHistory", "choice of metrics")},
    {"baseline", QT_TRANSLATE_NOOP("ViewHistory", "baseline")},
    {"ranges", QT_TRANSLATE_NOOP("ViewHistory", "zoom")},
    {"follow", QT_TRANSLATE_NOOP("ViewHistory", "zoom")},
};

QString nameOfChange(const Json& before, const Json& after) {
  if (before.is_object() && after.is_object()) {
    for (const NamedKey& one : kNamedKeys) {
      if (before.value(one.key, Json()) != after.value(one.key, Json()))
        return QCoreApplication::translate("ViewHistory", one.name);
    }
  }
  return QCoreApplication::translate("ViewHistory", "view");
}

}  // namespace

void ViewHistory::begin(const QString& page, const Json& state) { now_.emplace(page, state); }

void ViewHistory::add(const QString& page, const Json& state, Gesture gesture) {
  Json& now = now_[page];
  if (now == state) return;
  const bool hadRedo = canRedo();
  steps_.resize(done_);
  const bool isOne =
      gesture == Gesture::Continues && !hadRedo && !steps_.empty() && steps_.back().page == page;
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

QString ViewHistory::undoName() const {
  return canUndo() ? nameOfChange(steps_[done_ - 1].before, steps_[done_ - 1].after) : QString();
}

QString ViewHistory::redoName() const {
  return canRedo() ? nameOfChange(steps_[done_].before, steps_[done_].after) : QString();
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

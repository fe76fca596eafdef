#include "ui/shell/view_history.h"

#include <QCoreApplication>

namespace vitrine::ui {

namespace {

struct NamedKeys {
  const char* name;
  std::vector<const char*> keys;  ///< of Page::viewState()
};

// The first key that differs names the step. Another x axis or scale changes ranges as well, and
// another part of a picture which picture is exported, so these come last.
const std::vector<NamedKeys>& namedKeys() {
  static const std::vector<NamedKeys> kAll{
      {QT_TRANSLATE_NOOP("ViewHistory", "selection"), {"selection", "current"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "visibility of runs"), {"hidden"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "sort"), {"sort_column", "sort_descending"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "filter"), {"filter"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "search"), {"search"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "smoothing"), {"smoothing"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "x axis"), {"x", "x_metric"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "axis scale"), {"log_x", "log_y"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "clipping"), {"clip"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "pin"), {"pinned", "usual"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of metrics"), {"metrics"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "baseline"), {"baseline"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "seeds"), {"seeds"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "shared zoom"), {"share_zoom"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "axis scale"), {"axes"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "enlarged plot"), {"enlarged"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "open groups"), {"groups"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "log"), {"log"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "kind of view"), {"view"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of values"), {"value", "at_step"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of runs"), {"count_unfinished"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of rows"), {"picked"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "LaTeX columns"), {"latex"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "mean and band"), {"centre", "band"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "grouping"), {"colour", "dash", "panel"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "parallel axes"), {"parallel"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "scatter axes"), {"scatter"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "filter"), {"only_differences"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "artifact"), {"artifact"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "published numbers"), {"published"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "analysis"), {"analysis"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "artifact"), {"name"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "matrix"), {"matrix"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "weights"), {"weights"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "image"), {"image", "listed"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of images"), {"images"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "comparison"), {"other", "compare", "line", "names"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "split"), {"split"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "time"), {"time"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "moment"), {"scrubbed"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "step"), {"step"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "layer"), {"layer"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "head"), {"head"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "query"),
       {"query", "query_at", "place", "token", "row", "column"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "share of attention"), {"mass"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "rollout"), {"rollout"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "distances"), {"distances"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "layout of maps"), {"layout"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "whole matrix"), {"whole_matrix"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "threshold"), {"threshold"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "table of values"), {"values"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "colour scale"), {"same_scale"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "bins"), {"edges", "bins", "target"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "temperature"), {"temperatures"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "gap"), {"gap"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of errors"), {"only_errors"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "shape and texture"), {"cues"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "bin"), {"bin"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "cell"), {"cell"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "image"), {"sample"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of errors"), {"all_errors"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "order"), {"order"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "size of images"), {"tile"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "drawing"), {"drawn"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "settings"), {"settings"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "axes of the grid"), {"rows", "columns"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "recipe"), {"recipe"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "statement"), {"statement"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "chart or table"), {"show"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "chart"), {"chart"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of plugin"), {"entry"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "comparison"), {"a", "b"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "side panel"), {"side", "side_panel"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "zoom"), {"zoom", "ranges", "follow"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "chosen plot"), {"card"}},
      {QT_TRANSLATE_NOOP("ViewHistory", "choice of picture"), {"figure", "picture"}},
  };
  return kAll;
}

QString nameOfChange(const Json& before, const Json& after) {
  if (before.is_object() && after.is_object()) {
    for (const NamedKeys& one : namedKeys()) {
      for (const char* key : one.keys)
        if (before.value(key, Json()) != after.value(key, Json()))
          return QCoreApplication::translate("ViewHistory", one.name);
    }
  }
  return QCoreApplication::translate("ViewHistory", "view");
}

}  // namespace

void ViewHistory::begin(const QString& page, const Json& state) { now_.emplace(page, state); }

void ViewHistory::setNow(const QString& page, const Json& state) {
  if (const auto known = now_.find(page); known != now_.end()) known->second = state;
}

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

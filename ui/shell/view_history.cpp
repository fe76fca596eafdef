#include "ui/shell/view_history.h"

#include <QCoreApplication>

namespace vitrine::ui {

namespace {

struct NamedKey {
  const char* key;  ///< of Page::viewState()
  const char* name;
};

// The first key that differs names the step. Another x axis or scale changes ranges as well, and
// another part of a picture which picture is exported, so these come last.
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
    {"seeds", QT_TRANSLATE_NOOP("ViewHistory", "seeds")},
    {"share_zoom", QT_TRANSLATE_NOOP("ViewHistory", "shared zoom")},
    {"axes", QT_TRANSLATE_NOOP("ViewHistory", "axis scale")},
    {"enlarged", QT_TRANSLATE_NOOP("ViewHistory", "enlarged plot")},
    {"groups", QT_TRANSLATE_NOOP("ViewHistory", "open groups")},
    {"log", QT_TRANSLATE_NOOP("ViewHistory", "log")},
    {"view", QT_TRANSLATE_NOOP("ViewHistory", "kind of view")},
    {"value", QT_TRANSLATE_NOOP("ViewHistory", "choice of values")},
    {"at_step", QT_TRANSLATE_NOOP("ViewHistory", "choice of values")},
    {"count_unfinished", QT_TRANSLATE_NOOP("ViewHistory", "choice of runs")},
    {"picked", QT_TRANSLATE_NOOP("ViewHistory", "choice of rows")},
    {"latex", QT_TRANSLATE_NOOP("ViewHistory", "LaTeX columns")},
    {"centre", QT_TRANSLATE_NOOP("ViewHistory", "mean and band")},
    {"band", QT_TRANSLATE_NOOP("ViewHistory", "mean and band")},
    {"colour", QT_TRANSLATE_NOOP("ViewHistory", "grouping")},
    {"dash", QT_TRANSLATE_NOOP("ViewHistory", "grouping")},
    {"panel", QT_TRANSLATE_NOOP("ViewHistory", "grouping")},
    {"parallel", QT_TRANSLATE_NOOP("ViewHistory", "parallel axes")},
    {"scatter", QT_TRANSLATE_NOOP("ViewHistory", "scatter axes")},
    {"only_differences", QT_TRANSLATE_NOOP("ViewHistory", "filter")},
    {"artifact", QT_TRANSLATE_NOOP("ViewHistory", "artifact")},
    {"published", QT_TRANSLATE_NOOP("ViewHistory", "published numbers")},
    {"analysis", QT_TRANSLATE_NOOP("ViewHistory", "analysis")},
    {"name", QT_TRANSLATE_NOOP("ViewHistory", "artifact")},
    {"matrix", QT_TRANSLATE_NOOP("ViewHistory", "matrix")},
    {"weights", QT_TRANSLATE_NOOP("ViewHistory", "weights")},
    {"image", QT_TRANSLATE_NOOP("ViewHistory", "image")},
    {"other", QT_TRANSLATE_NOOP("ViewHistory", "comparison")},
    {"compare", QT_TRANSLATE_NOOP("ViewHistory", "comparison")},
    {"line", QT_TRANSLATE_NOOP("ViewHistory", "comparison")},
    {"split", QT_TRANSLATE_NOOP("ViewHistory", "split")},
    {"time", QT_TRANSLATE_NOOP("ViewHistory", "time")},
    {"scrubbed", QT_TRANSLATE_NOOP("ViewHistory", "moment")},
    {"step", QT_TRANSLATE_NOOP("ViewHistory", "step")},
    {"layer", QT_TRANSLATE_NOOP("ViewHistory", "layer")},
    {"head", QT_TRANSLATE_NOOP("ViewHistory", "head")},
    {"query", QT_TRANSLATE_NOOP("ViewHistory", "query")},
    {"query_at", QT_TRANSLATE_NOOP("ViewHistory", "query")},
    {"place", QT_TRANSLATE_NOOP("ViewHistory", "query")},
    {"token", QT_TRANSLATE_NOOP("ViewHistory", "query")},
    {"row", QT_TRANSLATE_NOOP("ViewHistory", "query")},
    {"column", QT_TRANSLATE_NOOP("ViewHistory", "query")},
    {"mass", QT_TRANSLATE_NOOP("ViewHistory", "share of attention")},
    {"rollout", QT_TRANSLATE_NOOP("ViewHistory", "rollout")},
    {"distances", QT_TRANSLATE_NOOP("ViewHistory", "distances")},
    {"layout", QT_TRANSLATE_NOOP("ViewHistory", "layout of maps")},
    {"whole_matrix", QT_TRANSLATE_NOOP("ViewHistory", "whole matrix")},
    {"threshold", QT_TRANSLATE_NOOP("ViewHistory", "threshold")},
    {"values", QT_TRANSLATE_NOOP("ViewHistory", "table of values")},
    {"same_scale", QT_TRANSLATE_NOOP("ViewHistory", "colour scale")},
    {"edges", QT_TRANSLATE_NOOP("ViewHistory", "bins")},
    {"bins", QT_TRANSLATE_NOOP("ViewHistory", "bins")},
    {"target", QT_TRANSLATE_NOOP("ViewHistory", "bins")},
    {"temperatures", QT_TRANSLATE_NOOP("ViewHistory", "temperature")},
    {"gap", QT_TRANSLATE_NOOP("ViewHistory", "gap")},
    {"only_errors", QT_TRANSLATE_NOOP("ViewHistory", "choice of errors")},
    {"cues", QT_TRANSLATE_NOOP("ViewHistory", "shape and texture")},
    {"bin", QT_TRANSLATE_NOOP("ViewHistory", "bin")},
    {"cell", QT_TRANSLATE_NOOP("ViewHistory", "cell")},
    {"all_errors", QT_TRANSLATE_NOOP("ViewHistory", "choice of errors")},
    {"order", QT_TRANSLATE_NOOP("ViewHistory", "order")},
    {"tile", QT_TRANSLATE_NOOP("ViewHistory", "size of images")},
    {"drawn", QT_TRANSLATE_NOOP("ViewHistory", "drawing")},
    {"settings", QT_TRANSLATE_NOOP("ViewHistory", "settings")},
    {"rows", QT_TRANSLATE_NOOP("ViewHistory", "axes of the grid")},
    {"columns", QT_TRANSLATE_NOOP("ViewHistory", "axes of the grid")},
    {"recipe", QT_TRANSLATE_NOOP("ViewHistory", "recipe")},
    {"statement", QT_TRANSLATE_NOOP("ViewHistory", "statement")},
    {"show", QT_TRANSLATE_NOOP("ViewHistory", "chart or table")},
    {"chart", QT_TRANSLATE_NOOP("ViewHistory", "chart")},
    {"entry", QT_TRANSLATE_NOOP("ViewHistory", "choice of plugin")},
    {"a", QT_TRANSLATE_NOOP("ViewHistory", "comparison")},
    {"b", QT_TRANSLATE_NOOP("ViewHistory", "comparison")},
    {"side", QT_TRANSLATE_NOOP("ViewHistory", "side panel")},
    {"side_panel", QT_TRANSLATE_NOOP("ViewHistory", "side panel")},
    {"zoom", QT_TRANSLATE_NOOP("ViewHistory", "zoom")},
    {"ranges", QT_TRANSLATE_NOOP("ViewHistory", "zoom")},
    {"follow", QT_TRANSLATE_NOOP("ViewHistory", "zoom")},
    {"card", QT_TRANSLATE_NOOP("ViewHistory", "chosen plot")},
    {"figure", QT_TRANSLATE_NOOP("ViewHistory", "choice of picture")},
    {"picture", QT_TRANSLATE_NOOP("ViewHistory", "choice of picture")},
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

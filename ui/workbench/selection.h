// The runs that the user selected. Pages share one selection and know each other only through it.
#pragma once

#include <QObject>
#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/base/json.h"

namespace vitrine::ui {

class Selection : public QObject {
  Q_OBJECT
 public:
  explicit Selection(QObject* parent = nullptr) : QObject(parent) {}

  /// Selected, in list order.
  [[nodiscard]] const std::vector<std::int64_t>& runs() const { return runs_; }
  /// The current run: in the inspector, and by pages of one run. 0 where there is none;
  /// next to several selected runs it may be another one.
  [[nodiscard]] std::int64_t current() const { return current_; }
  /// Selected runs that the pages leave out.
  [[nodiscard]] const std::set<std::int64_t>& hidden() const { return hidden_; }
  /// The selected runs without the hidden ones.
  [[nodiscard]] const std::vector<std::int64_t>& drawn() const { return drawn_; }
  /// What an action on runs concerns: the selected ones, or the current one where it is not one of
  /// them.
  [[nodiscard]] std::vector<std::int64_t> targets() const {
    const bool isOther =
        current_ != 0 && std::find(runs_.begin(), runs_.end(), current_) == runs_.end();
    return isOther ? std::vector<std::int64_t>{current_} : runs_;
  }
  [[nodiscard]] std::int64_t step() const { return step_; }        ///< -1: the latest
  [[nodiscard]] int image() const { return image_; }
  [[nodiscard]] int layer() const { return layer_; }
  [[nodiscard]] int head() const { return head_; }

  /// \param hidden  those of `runs` that stay hidden; others are forgotten
  void setRuns(const std::vector<std::int64_t>& runs, std::int64_t current,
               const std::set<std::int64_t>& hidden = {}) {
    std::set<std::int64_t> left;
    std::vector<std::int64_t> drawn;
    for (const std::int64_t run : runs) {
      if (hidden.contains(run))
        left.insert(run);
      else
        drawn.push_back(run);
    }
    if (runs == runs_ && current == current_ && left == hidden_) return;
    runs_ = runs;
    current_ = current;
    hidden_ = std::move(left);
    drawn_ = std::move(drawn);
    Q_EMIT runsChanged();
  }
  /// Looks at a run as a click does: selects it, unless several runs are selected, which stay so.
  void look(std::int64_t run) {
    if (runs_.size() > 1)
      setRuns(runs_, run, hidden_);
    else
      setRuns({run}, run);
  }
  void setStep(std::int64_t step) {
    if (step == step_) return;
    step_ = step;
    Q_EMIT stepChanged();
  }
  void setFocus(int image, int layer, int head) {
    if (image == image_ && layer == layer_ && head == head_) return;
    image_ = image;
    layer_ = layer;
    head_ = head;
    Q_EMIT focusChanged();
  }
  /// Hands the recipe of a stored image of `run` to the page that draws. That page has been shown
  /// before: it takes the settings of the image over.
  void recall(std::int64_t run, const Json& recipe) { Q_EMIT recalled(run, recipe); }

 Q_SIGNALS:
  void runsChanged();
  void stepChanged();
  void focusChanged();
  void recalled(std::int64_t run, const vitrine::Json& recipe);

 private:
  std::vector<std::int64_t> runs_, drawn_;
  std::set<std::int64_t> hidden_;
  std::int64_t current_ = 0;
  std::int64_t step_ = -1;
  int image_ = 0, layer_ = 0, head_ = 0;
};

}  // namespace vitrine::ui

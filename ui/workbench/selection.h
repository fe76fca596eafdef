// What the user looks at. Pages share one selection and know each other only through it.
#pragma once

#include <QObject>
#include <cstdint>
#include <vector>

namespace vitrine::ui {

class Selection : public QObject {
  Q_OBJECT
 public:
  explicit Selection(QObject* parent = nullptr) : QObject(parent) {}

  [[nodiscard]] const std::vector<std::int64_t>& runs() const {
    return runs_;
  }                                                                ///< selected, in list order
  [[nodiscard]] std::int64_t current() const { return current_; }  ///< 0 where there is none
  [[nodiscard]] std::int64_t step() const { return step_; }        ///< -1: the latest
  [[nodiscard]] int image() const { return image_; }
  [[nodiscard]] int layer() const { return layer_; }
  [[nodiscard]] int head() const { return head_; }

  void setRuns(const std::vector<std::int64_t>& runs, std::int64_t current) {
    if (runs == runs_ && current == current_) return;
    runs_ = runs;
    current_ = current;
    Q_EMIT runsChanged();
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

 Q_SIGNALS:
  void runsChanged();
  void stepChanged();
  void focusChanged();

 private:
  std::vector<std::int64_t> runs_;
  std::int64_t current_ = 0;
  std::int64_t step_ = -1;
  int image_ = 0, layer_ = 0, head_ = 0;
};

}  // namespace vitrine::ui

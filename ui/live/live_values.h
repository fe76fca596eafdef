// The numbers behind the picture of the Live page, as tables that a screen reader reads.
#pragma once

#include <QWidget>

#include "ui/live/live_model.h"

class QLabel;

namespace vitrine::ui {

class FactTable;

class LiveValues : public QWidget {
  Q_OBJECT
 public:
  explicit LiveValues(QWidget* parent = nullptr);
  /// Of the frame shown, the query chosen and the last steps. Rows stay while their number does.
  void show(const LiveModel& model);

 private:
  QLabel *about_, *filmTitle_;
  FactTable *attention_, *moment_, *steps_, *film_;
};

}  // namespace vitrine::ui

// The lines above the plots: how far the current run is, and what an alert has to say.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QToolButton>
#include <QWidget>
#include <string>

#include "core/store/types.h"

namespace vitrine::ui {

class ElidedLabel;

class RunStrip : public QWidget {
  Q_OBJECT
 public:
  explicit RunStrip(QWidget* parent = nullptr);
  /// nullptr, or a run that is not in progress, hides the progress.
  /// \param unit  what its throughput counts: "images"
  void showRun(const store::RunRow* row, const std::string& unit);
  void showAlert(const QString& sentence);
  /// "step 1,200 of 4,000 · epoch 3.1 of 10 · 3,410 images/s · 3:12 left"
  [[nodiscard]] static QString facts(const store::RunRow& row, const std::string& unit);

 private:
  void updateVisibility();
  QWidget *progress_, *alert_;
  ElidedLabel *name_, *sentence_;
  QLabel* facts_;
  QProgressBar* bar_;
};

}  // namespace vitrine::ui

// The right side of the window: what the current run is, how it is configured, where it ran, what
// it logs.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QWidget>

#include "ui/shell/fact_table.h"
#include "ui/shell/log_tail.h"
#include "ui/shell/studio_workbench.h"

namespace vitrine::ui {

class Inspector : public QWidget {
  Q_OBJECT
 public:
  explicit Inspector(StudioWorkbench& workbench, QWidget* parent = nullptr);

  /// Reads everything about the current run again.
  void refresh();

 Q_SIGNALS:
  /// For the header of the dock.
  void titleChanged(const QString& name, const QString& id);

 private:
  void showRun();
  void showFacts();
  void showConfig();
  void saveNote();
  void saveTags();
  QWidget* section(const QString& title, QWidget* right, QWidget* content);

  StudioWorkbench& workbench_;
  std::int64_t run_ = 0;
  Json config_, baseline_, origins_, environment_;
  ConfigFilter filter_ = ConfigFilter::Baseline;

  QStackedWidget* stack_;
  QLabel* state_;
  QLabel* reason_;
  FactTable* facts_;
  FactTable* configTable_;
  FactTable* environmentTable_;
  QLabel* configHint_;
  QToolButton* filterButton_;
  QPlainTextEdit* note_;
  QLineEdit* tags_;
  LogTail* log_;
  QTimer later_, noteLater_;
};

}  // namespace vitrine::ui

// Next to the form: what changes, what multiplies the runs, the planned runs, and the experiment as
// text.
#pragma once

#include <QWidget>
#include <vector>

#include "core/base/json.h"
#include "core/config/config.h"
#include "core/config/experiment.h"

class QLabel;
class QPlainTextEdit;

namespace vitrine::ui {

class ChangesView;
class PlannedRunsView;
class CollapsibleSection;
class SweepEditor;

class SidePanel : public QWidget {
  Q_OBJECT
 public:
  explicit SidePanel(QWidget* parent = nullptr);

  [[nodiscard]] SweepEditor& sweep() const { return *sweep_; }
  [[nodiscard]] ChangesView& changes() const { return *changes_; }
  [[nodiscard]] PlannedRunsView& plannedRuns() const { return *plannedRuns_; }
  [[nodiscard]] QPlainTextEdit& text() const { return *text_; }

  /// One line over the planned runs: "6 runs, about 9 min".
  void setPlannedRuns(const QString& title, const QString& note);
  [[nodiscard]] QString plannedRunsTitle() const { return plannedRunsTitle_; }
  /// Lines of the text with problems are marked; each problem is one sentence under it.
  void showProblems(const std::vector<Problem>& problems);
  /// Sets the text without emitting textEdited(); cursor and selection stay on what they were on.
  void setText(const QString& text);
  /// Opens the section of the text.
  void showText();

  /// Which parts are open, and what the changes are counted from.
  [[nodiscard]] Json viewState() const;
  void setViewState(const Json& state);

 Q_SIGNALS:
  void textEdited();
  void viewChanged();

 private:
  [[nodiscard]] std::vector<CollapsibleSection*> sections() const;

  ChangesView* changes_;
  SweepEditor* sweep_;
  PlannedRunsView* plannedRuns_;
  QPlainTextEdit* text_;
  QLabel *plannedRunsNote_, *problems_;
  QString plannedRunsTitle_;
  CollapsibleSection *changesSection_, *runsSection_, *textSection_;
};

}  // namespace vitrine::ui

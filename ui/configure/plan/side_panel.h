// Next to the form: what changes, what multiplies the runs, the runs to come, and the experiment as
// text.
#pragma once

#include <QWidget>
#include <cstdint>
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
  [[nodiscard]] PlannedRunsView& coming() const { return *coming_; }
  [[nodiscard]] QPlainTextEdit& text() const { return *text_; }

  /// One line over the runs to come: "6 runs, about 9 min".
  void setComing(const QString& title, const QString& note);
  [[nodiscard]] QString comingTitle() const { return comingTitle_; }
  /// Lines of the text with problems are marked; each problem is one sentence under it.
  void showProblems(const std::vector<Problem>& problems);
  /// Sets the text without telling textEdited(); cursor and selection stay on what they were on.
  void setText(const QString& text);
  /// Unfolds it.
  void showText();

  /// Which parts are open, and what the changes are counted from.
  [[nodiscard]] Json viewState() const;
  void setViewState(const Json& state);

 Q_SIGNALS:
  void textEdited();
  void viewChanged();

 private:
  [[nodiscard]] std::vector<CollapsibleSection*> folds() const;

  ChangesView* changes_;
  SweepEditor* sweep_;
  PlannedRunsView* coming_;
  QPlainTextEdit* text_;
  QLabel *comingNote_, *problems_;
  QString comingTitle_;
  CollapsibleSection *changesFold_, *comingFold_, *textFold_;
};

}  // namespace vitrine::ui

// Beside the form: what changes, what multiplies the runs, and the experiment as text.
#pragma once

#include <QWidget>
#include <cstdint>
#include <vector>

#include "core/config/config.h"
#include "core/config/experiment.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;

namespace vitrine::ui {

class SweepEditor;

class SidePanel : public QWidget {
  Q_OBJECT
 public:
  explicit SidePanel(QWidget* parent = nullptr);

  [[nodiscard]] SweepEditor& sweep() const { return *sweep_; }
  [[nodiscard]] QPlainTextEdit& text() const { return *text_; }

  /// What the changes are counted from.
  enum class Against { Defaults, Run };
  [[nodiscard]] Against against() const;
  /// \param run  0 where none is selected
  void setRun(std::int64_t run);
  void showChanges(const std::vector<Difference>& changes);
  /// Lines of the text with problems are marked; each problem is one sentence under it.
  void showProblems(const std::vector<Problem>& problems);
  /// Sets the text without telling textEdited(); the cursor stays where it is.
  void setText(const QString& text);

 Q_SIGNALS:
  void textEdited();
  void againstChanged();

 private:
  QComboBox* against_;
  QLabel* changes_;
  SweepEditor* sweep_;
  QPlainTextEdit* text_;
  QLabel* problems_;
};

}  // namespace vitrine::ui

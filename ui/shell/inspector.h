// The right side of the window: what the current run is, how it is configured, where it ran, what
// it logs.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>
#include <functional>

#include "ui/kit/log_tail.h"
#include "ui/workbench/fact_table.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

/// Below a field that another user has changed while it was edited: what they wrote, and the
/// choice. The text in the field stays there.
class ConflictBar : public QFrame {
  Q_OBJECT
 public:
  explicit ConflictBar(const QString& what, QWidget* parent = nullptr);
  void open(const QString& theirs, std::int64_t version);
  [[nodiscard]] bool isOpen() const { return !isHidden(); }
  /// Of what the other user wrote.
  [[nodiscard]] std::int64_t version() const { return version_; }

 Q_SIGNALS:
  void mineChosen();
  void theirsChosen();

 private:
  std::int64_t version_ = 0;
  QLabel* text_;
};

class Inspector : public QWidget {
  Q_OBJECT
 public:
  explicit Inspector(StudioWorkbench& workbench, QWidget* parent = nullptr);
  ~Inspector() override;  ///< keeps what was just written

  /// Reads everything about the current run again.
  void refresh();
  /// Before another run is shown or the window is closed: saves what was written about this one.
  /// Where a choice is still to be made, it stays among RunStore::edits().
  void leaveEdits();

 Q_SIGNALS:
  /// For the header of the dock.
  void titleChanged(const QString& name, const QString& id);

 private:
  void attempt(const std::function<void()>& read);
  void showRun();
  void showFacts();
  void showConfig();
  /// Takes the marked run of the experiment, else its first one, as the baseline.
  /// \returns  whether it is another one than before \throws Error
  bool readBaseline();
  void followBaseline();
  void showEdits();
  void saveNote();
  void saveTags();
  void keepTyped(store::RunField field);
  void tellStored(bool isWaiting);
  void keepMine(store::RunField field);
  void takeTheirs(store::RunField field);
  [[nodiscard]] std::string joinedTags() const;  ///< one a line
  /// A part of the content: its title with room for buttons at its right, and its rows.
  struct Section {
    QWidget* inside;
    QHBoxLayout* header;
    QVBoxLayout* rows;
  };
  [[nodiscard]] Section section(QVBoxLayout& column, const QString& title, int stretch = 0);
  void makeContent();
  void makeState(QWidget& inside, QVBoxLayout& column);
  void makeConfig(QVBoxLayout& column);
  void makeLog(QVBoxLayout& column);
  void makeNotes(QVBoxLayout& column);
  void makeEnvironment(QVBoxLayout& column);

  StudioWorkbench& workbench_;
  std::int64_t run_ = 0, baselineRun_ = 0;
  Json config_, baseline_, origins_, environment_;
  ConfigFilter filter_ = ConfigFilter::Baseline;

  QStackedWidget* stack_;
  QLabel* empty_;
  QScrollArea* content_ = nullptr;  ///< and all below: there from the first run on that is shown
  QLabel* state_ = nullptr;
  QLabel* reason_ = nullptr;
  FactTable* facts_ = nullptr;
  FactTable* configTable_ = nullptr;
  FactTable* environmentTable_ = nullptr;
  QLabel* configHint_ = nullptr;
  QToolButton* filterButton_ = nullptr;
  QPlainTextEdit* note_ = nullptr;
  QLineEdit* tags_ = nullptr;
  QLabel* stored_ = nullptr;  ///< says that what was typed is stored
  ConflictBar* noteConflict_ = nullptr;
  ConflictBar* tagsConflict_ = nullptr;
  std::int64_t noteVersion_ = -1, tagsVersion_ = -1;  ///< that the fields are based on
  LogTail* log_ = nullptr;
  QTimer later_, noteLater_;
};

}  // namespace vitrine::ui

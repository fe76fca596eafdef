// A page that draws runs: which runs, what they are called, and the step that is shown of them. It
// also has the analyses that are computed where a run has stored none.
#pragma once

#include <QString>
#include <QWidget>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "ui/workbench/model_service.h"

class QLabel;
class QPushButton;
class QSlider;

namespace vitrine::ui {

class Selection;
class WrapLabel;
class Workbench;

/// The selected runs that are not hidden; of more than `most` the first ones. The current run is
/// among them, selected or not; hidden it is there only while nothing else is left.
/// \param preferred  of more than `most`, these come first
[[nodiscard]] std::vector<std::int64_t> drawnRuns(const Selection& selection, std::size_t most,
                                                  const std::set<std::int64_t>& preferred = {});
/// `runs`; of more than `most` the current one, then the first of the preferred, then of the
/// others.
[[nodiscard]] std::vector<std::int64_t> firstRuns(std::vector<std::int64_t> runs,
                                                  std::int64_t current, std::size_t most,
                                                  const std::set<std::int64_t>& preferred);
/// The name of a run in the list; "run 3" of one that has none or is not in the list.
[[nodiscard]] QString runNameOf(const Workbench& workbench, std::int64_t run);

/// A slider over the steps that a page has. Ctrl+Left and Ctrl+Right move it from anywhere on the
/// page.
class StepBar final : public QWidget {
  Q_OBJECT
 public:
  /// \param tip  what the places of the slider are
  StepBar(const QString& tip, QWidget* page);
  /// \param steps  ascending \param wanted  the newest up to it is shown; negative: the last
  void setSteps(std::vector<std::int64_t> steps, std::int64_t wanted);
  [[nodiscard]] const std::vector<std::int64_t>& steps() const { return steps_; }
  [[nodiscard]] std::int64_t shown() const;  ///< -1 where there is none
  [[nodiscard]] QSlider* slider() const { return slider_; }
  void move(int by);

 Q_SIGNALS:
  /// By the user.
  void chosen(qint64 step);

 private:
  void tell();

  std::vector<std::int64_t> steps_;
  QSlider* slider_;
  QLabel* text_;
};

/// One analysis to compute and store.
struct RunAnalysis {
  QString name;  ///< "a", "step 200 of a"
  ModelChoice model;
  Json request;  ///< {op: "analyse", item ...}
};

/// Computes analyses one after another through the ModelService of the workbench. The first that
/// fails ends the row; what was computed before stays.
class AnalysisQueue final : public QObject {
  Q_OBJECT
 public:
  struct Words {
    QString computing;  ///< "Computing the spectra of %1"
    QString cancelled;  ///< "Computing the spectra was cancelled."
    QString failed;     ///< "The spectra of %1 cannot be computed: %2"
  };
  AnalysisQueue(Workbench& workbench, Words words, QObject* parent = nullptr);
  ~AnalysisQueue() override;

  /// Does nothing while it computes, or where nothing can be computed.
  void start(const std::vector<RunAnalysis>& analyses);
  void cancel();
  [[nodiscard]] bool isRunning() const { return ticket_ != 0; }
  /// The computation in progress and its state; "" for none.
  [[nodiscard]] QString sentence() const;
  /// Why the last row ended early; "" where it did not.
  [[nodiscard]] const QString& error() const { return error_; }

 Q_SIGNALS:
  void progressed();
  /// \param item  the id of the last analysis
  void ended(const std::string& item);

 private:
  void next();

  Workbench& workbench_;
  Words words_;
  std::deque<RunAnalysis> waiting_;
  RunAnalysis current_;
  QString progress_, error_;
  ModelService::Ticket ticket_ = 0;
};

/// A bar with a sentence and a button, which computes what is missing and is Cancel meanwhile.
class RunAnalyses final : public QWidget {
  Q_OBJECT
 public:
  struct Words {
    QString compute;                       ///< on the button: "Compute the spectra"
    QString tip;                           ///< of the button
    QString computing, cancelled, failed;  ///< as AnalysisQueue::Words
  };
  RunAnalyses(Workbench& workbench, const Words& words, QWidget* parent);

  /// What the button asks for; without any there is no button.
  void setMissing(std::vector<RunAnalysis> missing);
  /// Shows the bar with these words; hides it where it has neither words nor a button.
  void showMessage(const QString& sentence);
  /// Computes missing results; cancels while it computes.
  void press();
  [[nodiscard]] bool isComputing() const { return queue_.isRunning(); }
  /// The computation in progress and its state, or its error; "" for none.
  [[nodiscard]] QString status() const;

  /// What a page without anything to draw says, and the word on its button.
  struct EmptyWords {
    QString sentence, action;
  };
  /// \param cannot  where nothing can be computed \param can  where it can
  [[nodiscard]] EmptyWords emptyWords(const QString& cannot, const QString& can) const;

 Q_SIGNALS:
  void progressed();
  /// Nothing is left to compute: the stored results can be read again.
  void ended();

 private:
  void dress();

  Workbench& workbench_;
  QString compute_;
  AnalysisQueue queue_;
  std::vector<RunAnalysis> missing_;
  WrapLabel* sentence_;
  QPushButton* button_;
};

}  // namespace vitrine::ui

// A page that draws stored results of the selected runs, and computes those that a run lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ui/kit/loading_state.h"
#include "ui/workbench/drawn_runs.h"
#include "ui/workbench/page.h"

class QGridLayout;
class QToolButton;

namespace vitrine::ui {

class FlowRow;
class PageStack;

class ResultsPage : public ReadingPage {
  Q_OBJECT
 public:
  void waitUntilIdle() override;
  /// What the page says about runs that are not drawn; "" where all are.
  [[nodiscard]] virtual QString notice() const = 0;

 protected:
  /// \param mostRuns  that are drawn \param readers  number of the page's readers, of which one
  /// asks for the next \param pauseMs  between two readings while runs write
  ResultsPage(Workbench& workbench, std::size_t mostRuns, std::size_t readers, int pauseMs,
              QWidget* parent);
  ~ResultsPage() override;

  // For the constructor of a page, in this order.
  /// Parent of the page's parts.
  [[nodiscard]] QWidget* content();
  /// \param newest  of the newest checkpoints \param steps  of the other ones
  void makeAnalyses(const RunAnalyses::Words& newest, const RunAnalyses::Words& steps);
  /// Cancel and Export at the end of the tools. \param id  of the page
  void addTools(FlowRow& row, const QString& id, const QString& exportTip);
  /// Shows the empty state until showContent(). \param reading  "Reading the spectra..." \param
  /// failed  "The spectra cannot be read: %1" \param tabOrder  of the controls
  void begin(const QString& reading, const QString& failed,
             std::initializer_list<QWidget*> tabOrder);

  [[nodiscard]] Background& reader(std::size_t number) { return *readers_[number]; }
  /// What reload() begins with: the page shows the step of the selection.
  void beginReading();
  void showContent();
  void showEmpty(const QString& sentence, const QString& action);
  void cancelReading();
  /// Also for the other pages. \param step  negative, or the last one: the newest from now on
  void chooseStep(std::int64_t step);
  /// Empties the grid; in a narrow page fills it with the parts, one below the other.
  /// \param columns  that each takes there \returns  whether the page is narrow
  [[nodiscard]] bool stackParts(std::initializer_list<QWidget*> parts, int columns);
  void resizeEvent(QResizeEvent* event) override;

  /// What is stored of a run, whatever its results are.
  struct RunBasics {
    Json config;
    std::vector<std::int64_t> checkpoints;  ///< steps, ascending
    bool isOfScript = false;                ///< of another program, which logged the run
  };
  [[nodiscard]] static RunBasics readBasics(store::RunReader& store, std::int64_t run);
  /// nullptr of a run that has results, or that they can be computed for.
  using Lacking = std::function<const RunBasics*(std::int64_t run)>;
  /// Why runs have no results; "" where none lacks them. \param sentence  "... the model of %1."
  [[nodiscard]] QString whyNoneOf(const QString& sentence, const Lacking& lacking) const;

  [[nodiscard]] std::vector<std::int64_t> runs() const;
  [[nodiscard]] QString runName(std::int64_t run) const;
  /// "4 of 7 selected runs are drawn."; "" where the page has room for all.
  [[nodiscard]] QString drawnShare(std::size_t drawn) const;

  [[nodiscard]] virtual bool hasShown() const = 0;
  [[nodiscard]] virtual std::vector<std::int64_t> steps() const = 0;  ///< ascending
  virtual void showAll() = 0;
  virtual void showStep() = 0;  ///< step_ is another one
  virtual void showNotice() = 0;
  virtual void arrange() = 0;

  Workbench& workbench_;
  std::vector<std::int64_t> readOf_;  ///< runs whose results were read
  std::set<std::int64_t> preferred_;  ///< drawn first where not all selected runs are
  std::optional<std::int64_t> step_;  ///< nothing: the newest
  bool isFilling_ = false;            ///< controls are being set by the page
  QGridLayout* grid_;
  RunAnalyses *analyses_ = nullptr, *stepAnalyses_ = nullptr;
  StepBar* stepBar_ = nullptr;

 private:
  std::size_t mostRuns_;
  std::vector<std::unique_ptr<Background>> readers_;
  std::unique_ptr<LoadingState> loading_;  ///< all of them
  PageStack* stack_;
  QToolButton* cancel_ = nullptr;
};

}  // namespace vitrine::ui

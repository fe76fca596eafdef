// The New Experiment page: a form made from the plugins' schemas, checked while it is edited, and
// started from here.
#pragma once

#include <QTimer>
#include <cstdint>
#include <optional>
#include <string>

#include "core/config/experiment.h"
#include "ui/configure/headless.h"
#include "ui/shell/page.h"

class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace vitrine::ui {

class Document;
class ExperimentForm;
class SidePanel;

class ConfigurePage final : public Page {
  Q_OBJECT
 public:
  explicit ConfigurePage(Workbench& workbench, QWidget* parent = nullptr);
  ~ConfigurePage() override;

  void settle() override;
  [[nodiscard]] QImage snapshot(QSize size, double scale) override;

  [[nodiscard]] ExperimentForm& form() const { return *form_; }
  [[nodiscard]] SidePanel& side() const { return *side_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// The experiment as it would be saved or started.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Shows an experiment file's text; `origin` is where Save offers to write.
  void setText(const std::string& text, const QString& origin = {});
  /// Plans now instead of 150 ms after the last edit.
  void planNow();

 public Q_SLOTS:
  /// Fills the form with a run's resolved configuration; as soon as the schemas are there.
  void startFrom(std::int64_t run);
  void start(QueueEnd end = QueueEnd::Back);
  void save();
  void open();
  void openFile(const QString& file);
  void copyAsCommand();

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* makeContent();
  QWidget* makeFooter();
  void onCatalog();
  void onFormEdited();
  void onTextEdited();
  void takeText();
  void textChanged();
  void showPlan();
  void showChanges();
  void showCost();
  void onRunSelected();
  void onEnqueued(const std::vector<std::int64_t>& runs);
  void placeSide();

  Workbench& workbench_;
  QStackedWidget* stack_;
  QLabel* failure_ = nullptr;
  QSplitter* splitter_ = nullptr;
  ExperimentForm* form_ = nullptr;
  SidePanel* side_ = nullptr;
  QToolButton* sideButton_ = nullptr;
  QToolButton* fromRun_ = nullptr;
  QLabel* headline_ = nullptr;
  QLabel* details_ = nullptr;
  QLabel* warning_ = nullptr;
  QPushButton *start_ = nullptr, *front_ = nullptr;

  std::string text_;
  QString origin_;
  std::int64_t fromRunLater_ = 0;  ///< startFrom() came before the schemas
  std::optional<Problem>
      syntax_;  ///< why the text is no TOML; the form then shows what it last was
  Plan plan_;
  std::optional<Json> report_;  ///< of `vitrine check`, for the text as it is
  QString costProblem_;
  CheckProcess check_;
  EnqueueProcess enqueue_;
  QTimer planTimer_, checkTimer_, textTimer_;
  bool isSideWanted_ = true;
  bool isSideChosen_ = false;  ///< the user showed or hid it
};

[[nodiscard]] PageFactory configurePage();

}  // namespace vitrine::ui

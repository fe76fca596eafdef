// The state shared by all pages: the open database, its watcher, the selection, the catalog, and
// the actions on runs.
#pragma once

#include <QTimer>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ui/workbench/local_edits.h"
#include "ui/workbench/model_service.h"
#include "ui/workbench/page.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {

class StudioWorkbench final : public Workbench {
  Q_OBJECT
 public:
  /// Opens the database, made when there is none. \throws StoreError  it is not ours, newer, or
  /// damaged
  explicit StudioWorkbench(const std::filesystem::path& database, QObject* parent = nullptr);
  /// The database at the other end of `link`, which outlives the workbench.
  explicit StudioWorkbench(RemoteLink& link, QObject* parent = nullptr);
  ~StudioWorkbench() override;

  store::RunStore& store() override { return store_; }
  store::RunWatcher& watcher() override { return watcher_; }
  Selection& selection() override { return selection_; }
  QueueService& queue() override { return queue_; }
  RemoteLink* link() override { return link_; }
  ModelService* models() override { return models_.get(); }
  const Catalog& catalog() override;
  void askCatalogAgain() override;
  [[nodiscard]] QString catalogProblem() const override { return catalogProblem_; }
  const store::TaskCards& cards() override;
  /// cards() is empty only until cardsSettled.
  [[nodiscard]] bool areCardsComing() const { return isDescribing_ && cards_.empty(); }
  void waitForCards() override;
  const store::RunRow* run(std::int64_t id) override;
  void showMessage(const QString& sentence) override;
  void offer(const QString& sentence, const QString& label,
             const std::function<void()>& act) override;
  void showError(const QString& sentence) override;
  void showPage(const QString& id) override;
  void showView(const QString& id, const Json& view) override;
  void configure(const std::string& experimentText, const QString& origin) override;
  bool isRunListVisible() const override { return isRunListVisible_; }
  const std::map<std::int64_t, store::RunRow>& runs() const override { return rows_; }

  /// Reads the database now, and its changes 4 times a second.
  void start();
  void setRunListVisible(bool isVisible);

  void startRuns(const std::vector<std::int64_t>& ids,
                 jobs::QueueEnd end = jobs::QueueEnd::Back) override;
  void openFile(const QString& file) override;
  /// Those in progress at a checkpoint, those that wait out of the queue. The queue pauses rather
  /// than start other runs of their experiments in their place, and says so.
  void stopRuns(const std::vector<std::int64_t>& ids);
  /// Moves them to the trash and offers to bring them back, with the selection as it is now.
  void deleteRuns(const std::vector<std::int64_t>& ids);
  /// \param select  chooses the selection then; none: what was restored is selected
  void restoreRuns(const std::vector<std::int64_t>& ids, const std::function<void()>& select = {});
  /// "run 3, baseline"; several: "runs 3, baseline; 4, wide", or their number.
  [[nodiscard]] QString namesOf(const std::vector<std::int64_t>& ids);
  void edit(std::int64_t run, store::RunField field, const std::string& text, std::int64_t basedOn,
            QObject* context, const RemoteLink::OnEdit& onOutcome) override;
  const std::string* waiting(std::int64_t run, store::RunField field) override;
  /// Edits of runs of this machine's database.
  [[nodiscard]] LocalEdits& edits() { return edits_; }
  /// Opens the form filled with the configuration of a run.
  void newFromRun(std::int64_t run);
  /// Reads a row again after this window changed it.
  void refresh(std::int64_t id);

  /// Whether startRuns (stopRuns, deleteRuns) makes sense for a run in that state.
  [[nodiscard]] static bool canStart(const store::RunRow& row);
  [[nodiscard]] static bool canStop(const store::RunRow& row);
  [[nodiscard]] static bool canDelete(const store::RunRow& row);

 Q_SIGNALS:
  void messageSent(const QString& sentence);
  void errorSent(const QString& sentence);
  /// A message with something to do about it.
  void offered(const QString& sentence, const QString& label, const std::function<void()>& act);
  /// A message that is still shown reads `now`; "": it is not true any more, and goes.
  void amended(const QString& sentence, const QString& now);
  void pageRequested(const QString& id);
  void viewRequested(const QString& id, const vitrine::Json& view);
  void fileRequested(const QString& file);
  void newFromRunRequested(std::int64_t run);
  void configureRequested(const std::string& experimentText, const QString& origin);
  void runsChanged(const std::vector<vitrine::store::RunRow>& rows);
  void runsRemoved(const std::vector<std::int64_t>& ids);
  /// The cards are there, or cannot be had.
  void cardsSettled();

 private:
  StudioWorkbench(const std::filesystem::path& database, RemoteLink* link, QObject* parent);
  void take(const std::vector<store::RunRow>& rows);
  void drop(const std::vector<std::int64_t>& ids);
  void describe();
  void describeThere();
  void catalogCame(const Catalog& described, const QString& sentence);

  RemoteLink* link_;
  store::RunStore store_;
  store::RunWatcher watcher_;
  Selection selection_;
  Catalog catalog_;
  store::TaskCards cards_;
  std::map<std::int64_t, store::RunRow> rows_;
  QueueService queue_;
  std::unique_ptr<ModelService> models_;
  LocalEdits edits_;
  QTimer reaper_;
  std::jthread describing_;
  bool isCatalogAsked_ = false, isCatalogThere_ = false;
  bool isDescribing_ = false;
  bool areCardsAsked_ =
      false;  ///< once: a later need of the schemas asks again, and gets the error
  QString catalogProblem_;
  bool isQuiet_ = false;        ///< only cards are asked for
  bool isRunListVisible_ = true;
};

}  // namespace vitrine::ui

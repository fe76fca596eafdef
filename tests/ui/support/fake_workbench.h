// A workbench around a database in a temporary folder and a catalog that a test writes by hand.
#pragma once

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/store/run_store.h"
#include "ui/workbench/model_service.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

class FakeWorkbench : public Workbench {
 public:
  explicit FakeWorkbench(Catalog catalog = {})
      : store_(folder_.filePath(QStringLiteral("experiments.sqlite")).toStdString()),
        watcher_(store_),
        queue_(store_.file()),
        catalog_(std::move(catalog)) {}

  store::RunStore& store() override {
    ++storeRequests;
    return store_;
  }
  store::RunWatcher& watcher() override { return watcher_; }
  Selection& selection() override { return selection_; }
  QueueService& queue() override { return queue_; }
  const Catalog& catalog() override { return catalog_; }
  void askCatalogAgain() override { ++asked; }
  QString catalogProblem() const override { return problem; }
  const store::RunRow* run(std::int64_t id) override {
    if (written_.count(id) != 0) return &rows_[id];
    try {
      return &(rows_[id] = store_.run(id));
    } catch (const NotFoundError&) {
      rows_.erase(id);
      return nullptr;
    }
  }
  const std::map<std::int64_t, store::RunRow>& runs() const override { return rows_; }
  void configure(const std::string& experimentText, const QString& /*origin*/) override {
    configured.push_back(experimentText);
  }
  void startRuns(const std::vector<std::int64_t>& ids, jobs::QueueEnd /*end*/) override {
    started = ids;
  }
  void edit(std::int64_t /*run*/, store::RunField /*field*/, const std::string& /*text*/,
            std::int64_t /*basedOn*/, QObject* /*context*/,
            const std::function<void(const EditOutcome&)>& /*onOutcome*/) override {}
  void openFile(const QString& file) override { opened.push_back(file); }
  void showMessage(const QString& sentence) override { said.push_back(sentence); }
  void showError(const QString& sentence) override {
    errors.push_back(sentence);
    said.push_back(sentence);
  }
  void offer(const QString& sentence, const QString& label,
             const std::function<void()>& act) override {
    said.push_back(sentence);
    offered = label;
    takeOffer = act;
  }
  void showPage(const QString& id) override { pages.push_back(id); }
  void showView(const QString& id, const Json& view) override {
    pages.push_back(id);
    views.push_back(view);
  }
  ModelService* models() override { return served.get(); }

  /// From here on models() computes, with a FakeServe for example.
  void serve() { served = std::make_unique<ModelService>(store_.file()); }

  /// A stored run with a configuration; returns its id.
  std::int64_t addRun(const std::string& name, const Json& config) {
    store::NewRun run{.name = name, .config = config};
    const std::int64_t id = store_.addRuns(store_.experiment("Experiment", ""), {run}).front();
    rows_[id] = store_.run(id);
    return id;
  }
  void addCheckpoint(std::int64_t run, std::int64_t step) {
    store::RunStore::Batch batch;
    batch.checkpoints.push_back(
        {.step = step, .folder = "step-" + std::to_string(step), .bytes = 1'700'000});
    const auto [segment, isNew] = segments_.try_emplace(run);
    if (isNew) segment->second = store_.openSegment(run, 0, store::thisWorker(), Json::object());
    store_.append(run, segment->second, batch);
  }
  /// Changes the row as the list shows it, not as it is stored.
  store::RunRow& row(std::int64_t id) {
    written_.insert(id);
    return rows_.at(id);
  }
  [[nodiscard]] QString path(const QString& name) const { return folder_.filePath(name); }
  void become(Catalog catalog) {
    catalog_ = std::move(catalog);
    Q_EMIT catalogReady();
  }

  std::vector<QString> said, pages, opened;
  std::vector<QString> errors;          ///< of what was said, what stays until it is closed
  std::vector<Json> views;              ///< that showView() was asked for
  QString offered;                      ///< the button that was offered last
  std::function<void()> takeOffer;      ///< presses it
  std::vector<std::int64_t> started;    ///< what startRuns was asked for last
  std::vector<std::string> configured;  ///< texts that the form was opened with
  int storeRequests = 0;                ///< how often the window's connection was taken
  QString problem;                      ///< why there are no schemas
  int asked = 0;                        ///< how often the schemas were asked for once more
  std::unique_ptr<ModelService> served;

 private:
  QTemporaryDir folder_;
  store::RunStore store_;
  store::RunWatcher watcher_;
  Selection selection_;
  QueueService queue_;
  Catalog catalog_;
  std::map<std::int64_t, std::int64_t> segments_;  ///< of runs with checkpoints
  std::map<std::int64_t, store::RunRow> rows_;
  std::set<std::int64_t> written_;  ///< rows that a test wrote by hand
};

}  // namespace vitrine::ui

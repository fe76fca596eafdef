#include "ui/workbench/studio_workbench.h"

#include <QCoreApplication>
#include <QEvent>
#include <QMetaObject>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/jobs/launcher.h"
#include "core/store/script_runs.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

StudioWorkbench::StudioWorkbench(const std::filesystem::path& database, QObject* parent)
    : StudioWorkbench(database, nullptr, parent) {}

StudioWorkbench::StudioWorkbench(RemoteLink& link, QObject* parent)
    : StudioWorkbench(link.file(), &link, parent) {
  connect(&link, &RemoteLink::failed, this, &StudioWorkbench::showError);
  // Logs are copied of the shown runs.
  const auto follow = [this] {
    std::vector<std::int64_t> runs = selection_.runs();
    const std::int64_t current = selection_.current();
    if (current != 0 && std::find(runs.begin(), runs.end(), current) == runs.end())
      runs.push_back(current);
    link_->follow(runs);
  };
  connect(&selection_, &Selection::runsChanged, this, follow);
  connect(&link, &RemoteLink::stateChanged, this, [this] {
    const bool isAsked = isCatalogAsked_ || areCardsAsked_;
    if (link_->isLinked() && isAsked && !isCatalogThere_ && !isDescribing_) describe();
  });
}

StudioWorkbench::StudioWorkbench(const std::filesystem::path& database, RemoteLink* link,
                                 QObject* parent)
    : Workbench(parent),
      link_(link),
      store_(database,
             link != nullptr ? store::OpenMode::ReadOnly : store::OpenMode::ReadWriteCreate),
      watcher_(store_),
      queue_(store_.file(), link),
      models_(link != nullptr ? std::make_unique<ModelService>(*link)
                              : std::make_unique<ModelService>(store_.file())),
      edits_(store_) {
  connect(&edits_, &LocalEdits::messageSent, this, &StudioWorkbench::showMessage);
  connect(&edits_, &LocalEdits::failed, this, &StudioWorkbench::showError);
  connect(&watcher_, &store::RunWatcher::runsChanged, this, &StudioWorkbench::take);
  connect(&watcher_, &store::RunWatcher::runsDeleted, this, &StudioWorkbench::drop);
  connect(&watcher_, &store::RunWatcher::failed, this, &StudioWorkbench::showError);
  connect(&watcher_, &store::RunWatcher::dataChanged, &queue_, &QueueService::refresh);
  connect(&queue_, &QueueService::messageSent, this, &StudioWorkbench::showMessage);
  connect(&queue_, &QueueService::failed, this, &StudioWorkbench::showError);
}

StudioWorkbench::~StudioWorkbench() {
  watcher_.stop();
  describing_.request_stop();
  if (describing_.joinable()) describing_.join();
}

void StudioWorkbench::start() {
  // A process that was killed leaves a row that says `running`.
  if (link_ == nullptr) attempt([this] { store_.reapLostRuns(); });
  watcher_.start();
  if (link_ == nullptr) edits_.takeOver();
  queue_.refresh();
  connect(&reaper_, &QTimer::timeout, &queue_, &QueueService::prune);
  reaper_.start(10'000);
}

const Catalog& StudioWorkbench::catalog() {
  isQuiet_ = false;
  if (!isCatalogAsked_) describe();
  return catalog_;
}

void StudioWorkbench::askCatalogAgain() {
  isQuiet_ = false;
  if (!isDescribing_) describe();
}

const store::TaskCards& StudioWorkbench::cards() {
  if (!areCardsAsked_ && !isCatalogAsked_) {
    isQuiet_ = true;
    describe();
  }
  areCardsAsked_ = true;
  return cards_;
}

void StudioWorkbench::waitForCards() {
  (void)cards();
  if (!isDescribing_ || !describing_.joinable()) return;  // another machine answers in its own time
  describing_.join();
  QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
}

void StudioWorkbench::describe() {
  isCatalogAsked_ = true;
  isDescribing_ = true;
  if (link_ != nullptr) return describeThere();
  if (describing_.joinable()) describing_.join();  // it has posted its answer: nothing to wait for
  describing_ = std::jthread([this](const std::stop_token& stop) {
    Catalog described;
    QString sentence;
    try {
      described = catalogFromJson(readJson(jobs::describeJson(stop)).at("catalog"));
    } catch (const std::exception& error) {
      sentence = QString::fromUtf8(error.what());
    }
    // Joined in the destructor, so `this` is alive; the event is dropped when the window is gone
    // first.
    QMetaObject::invokeMethod(
        this,
        [this, described = std::move(described), sentence] { catalogCame(described, sentence); },
        Qt::QueuedConnection);
  });
}

/// The models and tasks of the machine that will run them.
void StudioWorkbench::describeThere() {
  link_->send({{"op", "describe"}}, this, [this](const Json& answer) {
    Catalog described;
    QString sentence;
    try {
      remote::throwAnswered(answer);
      described = catalogFromJson(answer.at("catalog"));
    } catch (const std::exception& error) {
      sentence = QString::fromUtf8(error.what());
    }
    catalogCame(described, sentence);
  });
}

void StudioWorkbench::catalogCame(const Catalog& described, const QString& sentence) {
  isDescribing_ = false;
  if (sentence.isEmpty()) {
    catalogProblem_.clear();
    catalog_ = described;
    cards_ = store::taskCards(catalog_);
    isCatalogThere_ = true;
    Q_EMIT catalogReady();
  } else if (isQuiet_) {
    isCatalogAsked_ = false;
  } else {
    catalogProblem_ = sentence;
    showMessage(sentence);
    Q_EMIT catalogFailed(sentence);
  }
  Q_EMIT cardsSettled();
}

const store::RunRow* StudioWorkbench::run(std::int64_t id) {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

void StudioWorkbench::showMessage(const QString& sentence) { Q_EMIT messageSent(sentence); }

void StudioWorkbench::offer(const QString& sentence, const QString& label,
                            const std::function<void()>& act) {
  Q_EMIT offered(sentence, label, act);
}

void StudioWorkbench::showError(const QString& sentence) { Q_EMIT errorSent(sentence); }

void StudioWorkbench::showPage(const QString& id) { Q_EMIT pageRequested(id); }

void StudioWorkbench::showView(const QString& id, const Json& view) {
  Q_EMIT viewRequested(id, view);
}

void StudioWorkbench::configure(const std::string& experimentText, const QString& origin) {
  Q_EMIT configureRequested(experimentText, origin);
}

void StudioWorkbench::openFile(const QString& file) { Q_EMIT fileRequested(file); }

void StudioWorkbench::setRunListVisible(bool isVisible) {
  if (isVisible == isRunListVisible_) return;
  isRunListVisible_ = isVisible;
  Q_EMIT runListVisibilityChanged();
}

void StudioWorkbench::take(const std::vector<store::RunRow>& rows) {
  if (rows.empty()) return;
  for (const store::RunRow& row : rows) {
    const auto known = rows_.find(row.id);
    const bool wasAlive = known != rows_.end() && isAlive(known->second.state);
    const bool isLost =
        row.state == store::RunState::Interrupted || row.state == store::RunState::Failed;
    if (wasAlive && isLost) {
      showError(tr("Run %1, %2, is %3: %4")
                    .arg(row.id)
                    .arg(QString::fromStdString(row.name),
                         QString::fromStdString(toString(row.state)),
                         QString::fromStdString(row.reason)));
    } else if (known != rows_.end() && !wasAlive && isAlive(row.state) && row.step > 0) {
      // So that what was said last is not that it ended.
      showMessage(tr("Run %1, %2, continues from step %3.")
                      .arg(row.id)
                      .arg(QString::fromStdString(row.name),
                           count(std::max<std::int64_t>(row.latestCheckpoint, 0))));
    }
    rows_[row.id] = row;
  }
  Q_EMIT runsChanged(rows);
}

void StudioWorkbench::drop(const std::vector<std::int64_t>& ids) {
  std::vector<std::int64_t> gone;
  for (const std::int64_t id : ids) {
    if (rows_.erase(id) > 0) gone.push_back(id);
  }
  if (!gone.empty()) Q_EMIT runsRemoved(gone);
}

bool StudioWorkbench::canStart(const store::RunRow& row) {
  switch (row.state) {
    case store::RunState::Queued:
    case store::RunState::Paused:
    case store::RunState::Stopped:
    case store::RunState::Interrupted:
    case store::RunState::Failed:  // what stopped it, a full disk for one, may be gone
      return true;
    default:
      return false;
  }
}

bool StudioWorkbench::canStop(const store::RunRow& row) {
  return row.state == store::RunState::Running || row.state == store::RunState::Starting ||
         row.state == store::RunState::Queued;
}

bool StudioWorkbench::canDelete(const store::RunRow& row) { return !isAlive(row.state); }

void StudioWorkbench::startRuns(const std::vector<std::int64_t>& ids, jobs::QueueEnd end) {
  std::vector<std::int64_t> wanted;
  for (const std::int64_t id : ids) {
    const store::RunRow* row = run(id);
    if (row != nullptr && canStart(*row)) wanted.push_back(id);
  }
  if (wanted.empty()) {
    showMessage(
        tr("None of the selected runs can be started: select one that is queued, paused, stopped, "
           "interrupted or failed."));
    return;
  }
  jobs::Command command{.what = jobs::Command::What::Start, .runs = wanted, .end = end};
  queue_.execute(command, [this, end](const jobs::CommandResult& result) {
    if (result.runs.empty()) return tr("These runs are in the queue already.");
    const auto number = static_cast<std::int64_t>(result.runs.size());
    const store::RunRow* first = run(result.runs.front());
    const QString who =
        number == 1 ? tr("Run %1, %2,")
                          .arg(result.runs.front())
                          .arg(first != nullptr ? QString::fromStdString(first->name) : QString())
                    : counted(number, tr("run"), tr("runs"));
    if (result.mode != store::QueueMode::Running)
      return tr("%1 in the queue, which is paused: Resume queue starts it.")
          .arg(who + (number == 1 ? tr(" is") : tr(" are")));
    const QString where =
        end == jobs::QueueEnd::Front ? tr("first in the queue") : tr("in the queue");
    return number == 1 ? tr("%1 is %2. It keeps running if you close the window.").arg(who, where)
                       : tr("%1 are %2. They keep running if you close the window.")
                             .arg(who, where);
  });
}

void StudioWorkbench::stopRuns(const std::vector<std::int64_t>& ids) {
  std::vector<std::int64_t> wanted, alive;
  for (const std::int64_t id : ids) {
    const store::RunRow* row = run(id);
    if (row == nullptr || !canStop(*row)) continue;
    wanted.push_back(id);
    if (isAlive(row->state)) alive.push_back(id);
  }
  if (wanted.empty()) {
    showMessage(tr("Nothing to stop: no selected run is running or queued."));
    return;
  }
  jobs::Command command{.what = jobs::Command::What::Stop, .runs = wanted};
  const std::vector<jobs::Command::Place> places = queue_.view().places(wanted);
  const bool wasRunning = queue_.view().mode == store::QueueMode::Running;
  queue_.execute(command, [this, alive, places, wasRunning](const jobs::CommandResult& result) {
    std::vector<std::int64_t> ending, out;
    for (const std::int64_t id : result.runs) {
      const bool wasAlive = std::find(alive.begin(), alive.end(), id) != alive.end();
      (wasAlive ? ending : out).push_back(id);
    }
    const bool areOfScripts = std::all_of(ending.begin(), ending.end(), [this](std::int64_t id) {
      return store::scriptOf(store_, id).has_value();
    });
    QStringList parts;
    if (!ending.empty())
      parts << (areOfScripts ? tr("Stopping %1 at the script's next check of run.should_stop.")
                             : tr("Stopping %1 at a checkpoint."))
                   .arg(namesOf(ending));
    if (!out.empty()) parts << tr("Stopped %1, not started yet.").arg(namesOf(out));
    const bool isPaused = !result.waiting.empty();
    if (isPaused)
      parts << tr("The queue is paused: %1 would start next.").arg(namesOf(result.waiting));
    std::vector<jobs::Command::Place> removed = places;
    std::erase_if(removed, [&out](const jobs::Command::Place& place) {
      return std::find(out.begin(), out.end(), place.run) == out.end();
    });
    const QString sentence = parts.join(QLatin1Char(' '));
    if (removed.empty() && !isPaused) return sentence;
    // After the sentence of the queue, which has the error alone.
    QMetaObject::invokeMethod(
        this,
        [this, sentence, removed, resumes = isPaused && wasRunning] {
          if (removed.empty())
            return offer(sentence, tr("Resume queue"), [this] { queue_.resume(); });
          offer(sentence, tr("Undo"), [this, removed, resumes] {
            queue_.enqueueAgain(removed);
            if (resumes) queue_.resume();
          });
        },
        Qt::QueuedConnection);
    return QString();
  });
}

void StudioWorkbench::deleteRuns(const std::vector<std::int64_t>& ids) {
  if (ids.empty()) return;
  jobs::Command command{.what = jobs::Command::What::Delete, .runs = ids};
  const auto select = [this, runs = selection_.runs(), current = selection_.current(),
                       hidden = selection_.hidden()] {
    std::vector<std::int64_t> left = runs;
    std::erase_if(left, [this](std::int64_t id) { return run(id) == nullptr; });
    const std::int64_t first = left.empty() ? 0 : left.front();
    selection_.setRuns(left, run(current) == nullptr ? first : current, hidden);
  };
  queue_.execute(command, [this, select](const jobs::CommandResult& result) {
    QString sentence = tr("Moved %1 to the trash.").arg(namesOf(result.runs));
    if (!result.error.empty())
      sentence += QLatin1Char(' ') + QString::fromStdString(result.error);
    drop(result.runs);
    // After the sentence of the queue, which has the error alone.
    QMetaObject::invokeMethod(
        this,
        [this, sentence, select, runs = result.runs] {
          Q_EMIT offered(sentence, tr("Undo"),
                         [this, select, runs] { restoreRuns(runs, select); });
        },
        Qt::QueuedConnection);
    return QString();
  });
}

void StudioWorkbench::restoreRuns(const std::vector<std::int64_t>& ids,
                                  const std::function<void()>& select) {
  if (ids.empty()) return;
  queue_.execute({.what = jobs::Command::What::Restore, .runs = ids},
                 [this, select](const jobs::CommandResult& result) {
                   watcher_.poll();
                   if (link_ == nullptr && !result.runs.empty()) {
                     if (select)
                       select();
                     else
                       selection_.setRuns(result.runs, result.runs.front());
                   }
                   return tr("Restored %1.").arg(namesOf(result.runs));
                 });
}

QString StudioWorkbench::namesOf(const std::vector<std::int64_t>& ids) {
  constexpr std::size_t kMost = 3;
  if (ids.size() > kMost)
    return counted(static_cast<std::int64_t>(ids.size()), tr("run"), tr("runs"));
  QStringList names;
  for (const std::int64_t id : ids) {
    const store::RunRow* row = run(id);
    names << (row == nullptr ? QString::number(id)
                             : tr("%1, %2").arg(id).arg(QString::fromStdString(row->name)));
  }
  return (ids.size() == 1 ? tr("run %1") : tr("runs %1")).arg(names.join(QStringLiteral("; ")));
}

void StudioWorkbench::edit(std::int64_t run, store::RunField field, const std::string& text,
                           std::int64_t basedOn, QObject* context,
                           const RemoteLink::OnEdit& onOutcome) {
  if (link_ != nullptr) return link_->edit(run, field, text, basedOn, context, onOutcome);
  edits_.edit(run, field, text, basedOn, context, onOutcome);
}

const std::string* StudioWorkbench::waiting(std::int64_t run, store::RunField field) {
  return link_ != nullptr ? link_->waiting(run, field) : edits_.waiting(run, field);
}

void StudioWorkbench::newFromRun(std::int64_t run) {
  attempt([&] {
    if (run == 0 || !store::scriptOf(store_, run)) {
      Q_EMIT newFromRunRequested(run);
      return;
    }
    showMessage(tr("Run %1 was logged by a script: Vitrine cannot train its configuration. Start "
                   "the script again.")
                    .arg(run));
  });
}

void StudioWorkbench::refresh(std::int64_t id) {
  attempt([&] {
    const store::RunRow row = store_.run(id);
    rows_[id] = row;
    Q_EMIT runsChanged({row});
  });
}

}  // namespace vitrine::ui

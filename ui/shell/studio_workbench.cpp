#include "ui/shell/studio_workbench.h"

#include <QMetaObject>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/jobs/launcher.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {

StudioWorkbench::StudioWorkbench(const std::filesystem::path& database, QObject* parent)
    : Workbench(parent), store_(database, OpenMode::ReadWriteCreate), watcher_(store_) {
  connect(&watcher_, &RunWatcher::runsChanged, this, &StudioWorkbench::take);
  connect(&watcher_, &RunWatcher::runsDeleted, this, &StudioWorkbench::drop);
  connect(&watcher_, &RunWatcher::failed, this, &StudioWorkbench::say);
}

StudioWorkbench::~StudioWorkbench() {
  watcher_.stop();
  if (describing_.joinable()) describing_.join();
}

void StudioWorkbench::start() {
  const auto reap = [this] {
    try {
      store_.reapLostRuns();
    } catch (const Error& error) {
      say(QString::fromUtf8(error.what()));
    }
  };
  reap();
  watcher_.start();
  // A process that was killed leaves a row that says `running`.
  connect(&reaper_, &QTimer::timeout, this, reap);
  reaper_.start(10'000);
}

const Catalog& StudioWorkbench::catalog() {
  if (!isCatalogAsked_) describe();
  return catalog_;
}

void StudioWorkbench::askCatalogAgain() {
  if (!isDescribing_) describe();
}

void StudioWorkbench::describe() {
  isCatalogAsked_ = true;
  isDescribing_ = true;
  if (describing_.joinable()) describing_.join();  // it has posted its answer: nothing to wait for
  describing_ = std::thread([this] {
    Catalog described;
    QString sentence;
    try {
      described = catalogFromJson(Json::parse(describeJson()).at("catalog"));
    } catch (const std::exception& error) {
      sentence = QString::fromUtf8(error.what());
    }
    // Joined in the destructor, so `this` is alive; the event is dropped when the window is gone
    // first.
    QMetaObject::invokeMethod(
        this,
        [this, described = std::move(described), sentence] {
          isDescribing_ = false;
          if (!sentence.isEmpty()) {
            say(sentence);
            Q_EMIT catalogFailed(sentence);
            return;
          }
          catalog_ = described;
          Q_EMIT catalogReady();
        },
        Qt::QueuedConnection);
  });
}

const RunRow* StudioWorkbench::run(std::int64_t id) {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

void StudioWorkbench::say(const QString& sentence) { Q_EMIT said(sentence); }

void StudioWorkbench::showPage(const QString& id) { Q_EMIT pageRequested(id); }

void StudioWorkbench::setRunListVisible(bool isVisible) {
  if (isVisible == isRunListVisible_) return;
  isRunListVisible_ = isVisible;
  Q_EMIT runListVisibilityChanged();
}

void StudioWorkbench::take(const std::vector<RunRow>& rows) {
  if (rows.empty()) return;
  for (const RunRow& row : rows) {
    const auto known = rows_.find(row.id);
    const bool wasAlive = known != rows_.end() && isAlive(known->second.state);
    const bool isLost = row.state == RunState::Interrupted || row.state == RunState::Failed;
    if (wasAlive && isLost) {
      say(tr("Run %1, %2, is %3: %4")
              .arg(row.id)
              .arg(QString::fromStdString(row.name), QString::fromStdString(toString(row.state)),
                   QString::fromStdString(row.reason)));
    }
    rows_[row.id] = row;
  }
  Q_EMIT runsChanged(rows);
  startNext();
}

void StudioWorkbench::drop(const std::vector<std::int64_t>& ids) {
  std::vector<std::int64_t> gone;
  for (const std::int64_t id : ids) {
    if (rows_.erase(id) > 0) gone.push_back(id);
  }
  if (!gone.empty()) Q_EMIT runsRemoved(gone);
}

bool StudioWorkbench::canStart(const RunRow& row) {
  switch (row.state) {
    case RunState::Queued:
    case RunState::Paused:
    case RunState::Stopped:
    case RunState::Interrupted:
    case RunState::Failed:  // what stopped it, a full disk for one, may be gone
      return true;
    default:
      return false;
  }
}

bool StudioWorkbench::canStop(const RunRow& row) {
  return row.state == RunState::Running || row.state == RunState::Starting;
}

bool StudioWorkbench::canDelete(const RunRow& row) { return !isAlive(row.state); }

void StudioWorkbench::startRuns(const std::vector<std::int64_t>& ids) {
  int added = 0;
  for (const std::int64_t id : ids) {
    const RunRow* row = run(id);
    if (row == nullptr || !canStart(*row)) continue;
    if (std::find(waiting_.begin(), waiting_.end(), id) != waiting_.end()) continue;
    waiting_.push_back(id);
    ++added;
  }
  if (added == 0) {
    say(
        tr("None of the selected runs can be started: select one that is queued, paused, stopped, "
           "interrupted or failed."));
    return;
  }
  startNext();
}

void StudioWorkbench::startNext() {
  if (launched_ != 0) {
    const RunRow* row = run(launched_);
    // A launched run stays `queued` until its process has claimed it.
    const bool isOver = row == nullptr || (!isAlive(row->state) && row->state != RunState::Queued &&
                                           row->changeSequence > launchedAt_);
    if (!isOver) return;
    launched_ = 0;
  }
  while (!waiting_.empty() && launched_ == 0) {
    const std::int64_t id = waiting_.front();
    waiting_.pop_front();
    const RunRow* row = run(id);
    if (row == nullptr || !canStart(*row)) continue;
    try {
      const QString name = QString::fromStdString(row->name);
      launchRun(store_, id);
      launched_ = id;
      refresh(id);
      const RunRow* now = run(id);
      launchedAt_ = now == nullptr ? 0 : now->changeSequence;
      const auto more = static_cast<std::int64_t>(waiting_.size());
      const QString started = tr("Started run %1, %2").arg(id).arg(name);
      say(more == 0
              ? started + tr("; it goes on when this window is closed.")
              : started +
                    tr("; %1 more start one after another while this window is open.").arg(more));
    } catch (const Error& error) {
      say(QString::fromUtf8(error.what()));
    }
  }
}

void StudioWorkbench::stopRuns(const std::vector<std::int64_t>& ids) {
  int asked = 0;
  for (const std::int64_t id : ids) {
    const RunRow* row = run(id);
    if (row == nullptr || !canStop(*row)) continue;
    try {
      stopRun(store_, id);
      refresh(id);
      ++asked;
    } catch (const Error& error) {
      say(QString::fromUtf8(error.what()));
      return;
    }
  }
  say(asked == 0
          ? tr("None of the selected runs is running.")
          : tr("Asked %1 to stop: it finishes its step, writes a checkpoint and can be resumed.")
                .arg(counted(asked, tr("run"), tr("runs"))));
}

void StudioWorkbench::deleteRuns(const std::vector<std::int64_t>& ids) {
  std::vector<std::int64_t> gone;
  for (const std::int64_t id : ids) {
    try {
      store_.deleteRun(id);
      gone.push_back(id);
    } catch (const Error& error) {
      say(QString::fromUtf8(error.what()));
      break;
    }
  }
  drop(gone);
}

void StudioWorkbench::newFromRun(std::int64_t run) { Q_EMIT newFromRunRequested(run); }

void StudioWorkbench::refresh(std::int64_t id) {
  try {
    const RunRow row = store_.run(id);
    rows_[id] = row;
    Q_EMIT runsChanged({row});
  } catch (const Error& error) {
    say(QString::fromUtf8(error.what()));
  }
}

}  // namespace vitrine::ui

// Actions of the Queue page: tools, menus, and the changes behind them.
#include <QInputDialog>
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/jobs/launcher.h"
#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/theme.h"
#include "ui/queue/queue_page.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

using Section = QueueModel::Section;

void QueuePage::makeActions() {
  const auto make = [this](Icon picture, const QString& text, const QString& tip,
                           const QKeySequence& key, const auto& act) {
    QAction* action = makePageAction(text, tip, key, this);
    action->setIcon(icon(picture));
    connect(action, &QAction::triggered, this, act);
    addAction(action);
    return action;
  };
  pauseQueue_ = make(Icon::Pause, tr("Pause queue"), tr("Start no further runs"), {}, [] {});
  auto* pauses = new QMenu(tr("Pause queue"), this);
  pauses->addAction(tr("&After the current run"), this,
                    [this] { pauseQueue(store::QueueMode::AfterCurrent); });
  pauses->addAction(tr("&Now: runs in progress pause at a checkpoint"), this,
                    [this] { pauseQueue(store::QueueMode::Paused); });
  pauseQueue_->setMenu(pauses);
  resumeQueue_ =
      make(Icon::Play, tr("Resume queue"), tr("Resume the queue"), {},
           [this] { workbench_.queue().resume(); });
  front_ = make(Icon::Front, tr("Queue first"), tr("Start the selected runs next"),
                Qt::CTRL | Qt::SHIFT | Qt::Key_Return, [this] {
                  resumeRuns(selected(Section::Resumable), jobs::QueueEnd::Front);
                  const auto waiting = model_.runsOf(Section::Waiting);
                  if (!waiting.empty()) move(selected(Section::Waiting), waiting.front());
                });
  up_ = make(Icon::Front, tr("Up"), tr("One place earlier"), Qt::ALT | Qt::Key_Up,
             [this] { moveBy(-1); });
  down_ = make(Icon::Front, tr("Down"), tr("One place later"), Qt::ALT | Qt::Key_Down,
               [this] { moveBy(1); });
  up_->setIcon({});
  down_->setIcon({});
  pauseRun_ = make(Icon::Pause, tr("Pause run"),
                   tr("End the selected runs at a checkpoint and free their device"),
                   Qt::CTRL | Qt::Key_Space, [this] { pauseRuns(); });
  resumeRun_ = make(Icon::Play, tr("Resume or retry"),
                    tr("Put the selected runs into the queue: they continue from their newest "
                       "checkpoint"),
                    {}, [this] {
                      auto runs = selected(Section::Resumable);
                      const auto ended = selected(Section::Ended);
                      runs.insert(runs.end(), ended.begin(), ended.end());
                      resumeRuns(runs, jobs::QueueEnd::Back);
                    });
  remove_ = make(Icon::Remove, tr("Remove"), tr("Remove the selected runs from the queue"),
                 QKeySequence::Delete, [this] { removeRuns(); });
  limit_ = make(Icon::Clock, tr("Time limit"),
                tr("Stop the selected runs at a checkpoint after this running time"), {}, [] {});
  makeLimitMenu();
  device_ = make(Icon::Panel, tr("Device"), tr("Device of the selected runs"), {}, [] {});
  device_->setIcon({});
  deviceMenu_ = new QMenu(tr("Device"), this);
  device_->setMenu(deviceMenu_);
  connect(deviceMenu_, &QMenu::aboutToShow, this, &QueuePage::fillDeviceMenu);
  fillDeviceMenu();
}

void QueuePage::makeLimitMenu() {
  limitMenu_ = new QMenu(tr("Time limit"), this);
  limitMenu_->addAction(tr("&None"), this, [this] { setLimit(0); });
  for (const int minutes : {30, 60, 4 * 60, 12 * 60, 24 * 60}) {
    limitMenu_->addAction(duration(60.0 * minutes), this,
                          [this, minutes] { setLimit(60.0 * minutes); });
  }
  limitMenu_->addSeparator();
  limitMenu_->addAction(tr("&Other\u2026"), this, [this] { askLimit(); });
  limit_->setMenu(limitMenu_);
}

QList<QAction*> QueuePage::tools() {
  return {pauseQueue_, resumeQueue_, front_, pauseRun_, remove_, limit_, device_};
}

void QueuePage::updateActions() {
  const store::QueueMode mode = workbench_.queue().view().mode;
  pauseQueue_->setVisible(mode == store::QueueMode::Running);
  resumeQueue_->setVisible(mode != store::QueueMode::Running);
  const auto waiting = selected(Section::Waiting), running = selected(Section::Running),
             resumable = selected(Section::Resumable), ended = selected(Section::Ended);
  const auto& rows = workbench_.queue().view().rows;
  // The table may still show a run that the queue has dropped.
  const auto canRetry = [&](std::int64_t run) {
    const auto row = rows.find(run);
    return row != rows.end() && canChange(row->second.state, store::RunState::Queued);
  };
  front_->setEnabled(!waiting.empty() || !resumable.empty());
  for (QAction* action : {up_, down_, remove_, limit_, device_})
    action->setEnabled(!waiting.empty());
  pauseRun_->setEnabled(!running.empty());
  resumeRun_->setEnabled(!resumable.empty() || std::any_of(ended.begin(), ended.end(), canRetry));
}

void QueuePage::fillMenu(QMenu& menu) {
  updateActions();
  const auto waiting = selected(Section::Waiting), running = selected(Section::Running);
  if (!running.empty()) menu.addAction(pauseRun_);
  if (!waiting.empty()) {
    menu.addActions({front_, up_, down_});
    menu.addSeparator();
    menu.addAction(limit_);
    menu.addAction(device_);
    menu.addSeparator();
    menu.addAction(remove_);
  }
  if (resumeRun_->isEnabled()) menu.addAction(resumeRun_);
  menu.addSeparator();
  menu.addAction(tr("Show &curves"), this,
                 [this] { workbench_.showPage(QStringLiteral("monitor")); });
}

void QueuePage::pauseQueue(store::QueueMode mode) {
  jobs::Command command{.what = mode == store::QueueMode::Paused ? jobs::Command::What::PauseAll
                                                                 : jobs::Command::What::Mode,
                        .mode = mode};
  workbench_.queue().execute(command, [mode](const jobs::CommandResult& result) {
    if (mode == store::QueueMode::AfterCurrent) {
      return result.mode == store::QueueMode::Paused
                 ? tr("The queue is paused: nothing is in progress.")
                 : tr("The queue pauses after the runs in progress.");
    }
    return result.runs.empty() ? tr("The queue is paused.")
                               : tr("The queue is paused; %1 when the queue resumes.")
                                     .arg(counted(std::ssize(result.runs),
                                                  tr("run stops at a checkpoint and is first"),
                                                  tr("runs stop at a checkpoint and are first")));
  });
}

void QueuePage::pauseRuns() {
  give(jobs::Command::What::Pause, selected(Section::Running),
       [](const jobs::CommandResult& result) {
         return tr("Asked %1 to pause: the step is finished, a checkpoint written, the device "
                   "freed.")
             .arg(counted(std::ssize(result.runs), tr("run"), tr("runs")));
       });
}

void QueuePage::resumeRuns(const std::vector<std::int64_t>& runs, jobs::QueueEnd end) {
  give({.what = jobs::Command::What::Enqueue, .end = end}, runs,
       [](const jobs::CommandResult& result) {
         return tr("%1 in the queue; runs with a checkpoint continue from it.")
             .arg(counted(std::ssize(result.runs), tr("run is"), tr("runs are")));
       });
}

void QueuePage::removeRuns() {
  const auto runs = selected(Section::Waiting);
  const std::vector<jobs::Command::Place> places = workbench_.queue().view().places(runs);
  give(jobs::Command::What::Remove, runs, [this, places](const jobs::CommandResult& result) {
    std::vector<jobs::Command::Place> removed = places;
    std::erase_if(removed, [&result](const jobs::Command::Place& place) {
      return std::find(result.runs.begin(), result.runs.end(), place.run) == result.runs.end();
    });
    const QString sentence = tr("Removed %1 from the queue.")
                                 .arg(counted(std::ssize(result.runs), tr("run"), tr("runs")));
    // After the sentence of the queue, which has the error alone.
    QMetaObject::invokeMethod(
        this,
        [this, sentence, removed] {
          workbench_.offer(sentence, tr("Undo"),
                           [&queue = workbench_.queue(), removed] { queue.enqueueAgain(removed); });
        },
        Qt::QueuedConnection);
    return QString();
  });
}

void QueuePage::give(jobs::Command command, const std::vector<std::int64_t>& runs,
                     QueueService::Sentence sentence) {
  if (runs.empty()) return;
  command.runs = runs;
  workbench_.queue().execute(command, std::move(sentence));
}

void QueuePage::give(jobs::Command::What what, const std::vector<std::int64_t>& runs,
                     QueueService::Sentence sentence) {
  jobs::Command command{.what = what};
  give(command, runs, std::move(sentence));
}

void QueuePage::move(const std::vector<std::int64_t>& runs, std::int64_t before) {
  give({.what = jobs::Command::What::Move, .before = before}, runs);
}

void QueuePage::moveBy(int places) {
  const auto runs = selected(Section::Waiting);
  const auto waiting = model_.runsOf(Section::Waiting);
  if (runs.empty()) return;
  const auto placeOf = [&](std::int64_t run) {
    return std::find(waiting.begin(), waiting.end(), run) - waiting.begin();
  };
  const auto size = static_cast<std::ptrdiff_t>(waiting.size());
  if (places < 0) {
    const auto first = placeOf(runs.front());
    if (first > 0) move(runs, waiting[static_cast<std::size_t>(first - 1)]);
    return;
  }
  const auto last = placeOf(runs.back());
  if (last + 1 >= size) return;
  move(runs, last + 2 < size ? waiting[static_cast<std::size_t>(last + 2)] : 0);
}

void QueuePage::setLimit(double seconds) {
  give({.what = jobs::Command::What::Limit, .seconds = seconds}, selected(Section::Waiting));
}

void QueuePage::askLimit() {
  const auto runs = selected(Section::Waiting);
  if (runs.empty()) return;
  const jobs::QueueEntry* entry = workbench_.queue().view().entry(runs.front());
  bool isGiven = false;
  const double hours =
      QInputDialog::getDouble(this, tr("Time limit"), tr("Hours of running time, over all starts:"),
                              entry != nullptr && entry->options.timeLimitSeconds > 0
                                  ? entry->options.timeLimitSeconds / 3600
                                  : 1,
                              0.01, 10'000, 2, &isGiven);
  if (isGiven) setLimit(hours * 3600);
}

void QueuePage::fillDeviceMenu() {
  deviceMenu_->clear();
  deviceMenu_->addAction(tr("As &configured"), this, [this] { setDevice({}); });
  for (const jobs::DeviceLoad& load : devices_.loads()) {
    deviceMenu_->addAction(load.name == "cpu"
                               ? tr("CPU")
                               : QStringLiteral("%1, %2").arg(QString::fromStdString(load.name),
                                                              QString::fromStdString(load.title)),
                           this, [this, name = load.name] { setDevice(name); });
  }
}

void QueuePage::setDevice(const std::string& device) {
  give({.what = jobs::Command::What::Device, .device = device}, selected(Section::Waiting));
}

}  // namespace vitrine::ui

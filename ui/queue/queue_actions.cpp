// What can be done on the Queue page: actions, menus, and the changes behind them.
#include <QInputDialog>
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/jobs/launcher.h"
#include "ui/queue/queue_page.h"
#include "ui/shell/icons.h"
#include "ui/shell/run_facts.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {

using Section = QueueModel::Section;

void QueuePage::makeActions() {
  const auto make = [this](Icon picture, const QString& text, const QString& tip,
                           const QKeySequence& key, const auto& act) {
    auto* action = new QAction(icon(picture), text, this);
    action->setToolTip(
        key.isEmpty() ? tip
                      : QStringLiteral("%1 (%2)").arg(tip, key.toString(QKeySequence::NativeText)));
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, act);
    addAction(action);
    return action;
  };
  pauseQueue_ = make(Icon::Pause, tr("Pause queue"), tr("Start nothing new"), {}, [] {});
  auto* pauses = new QMenu(tr("Pause queue"), this);
  pauses->addAction(tr("&After the current run"), this,
                    [this] { pauseQueue(QueueMode::AfterCurrent); });
  pauses->addAction(tr("&Now: runs in progress pause at a checkpoint"), this,
                    [this] { pauseQueue(QueueMode::Paused); });
  pauseQueue_->setMenu(pauses);
  resumeQueue_ = make(Icon::Play, tr("Resume queue"), tr("Let the queue go on"), {},
                      [this] { resumeQueue(); });
  front_ = make(Icon::Front, tr("To the front"), tr("Start the selected runs next"),
                Qt::CTRL | Qt::SHIFT | Qt::Key_Return, [this] {
                  resumeRuns(selected(Section::Resumable), QueueEnd::Front);
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
                    tr("Put the selected runs into the queue: they go on from their newest "
                       "checkpoint"),
                    {}, [this] {
                      auto runs = selected(Section::Resumable);
                      const auto ended = selected(Section::Ended);
                      runs.insert(runs.end(), ended.begin(), ended.end());
                      resumeRuns(runs, QueueEnd::Back);
                    });
  remove_ = make(Icon::Remove, tr("Remove"), tr("Take the selected runs out of the queue"),
                 QKeySequence::Delete, [this] { removeRuns(); });
  limit_ =
      make(Icon::Clock, tr("Time limit"),
           tr("Stop the selected runs at a checkpoint after that much running time"), {}, [] {});
  makeLimitMenu();
  device_ =
      make(Icon::Panel, tr("Device"), tr("Where the selected runs are to compute"), {}, [] {});
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
    limitMenu_->addAction(limitText(60.0 * minutes), this,
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
  const QueueMode mode = workbench_.queue().view().mode;
  pauseQueue_->setVisible(mode == QueueMode::Running);
  resumeQueue_->setVisible(mode != QueueMode::Running);
  const auto waiting = selected(Section::Waiting), running = selected(Section::Running),
             resumable = selected(Section::Resumable), ended = selected(Section::Ended);
  const auto& rows = workbench_.queue().view().rows;
  const auto canRetry = [&](std::int64_t run) {
    return canChange(rows.at(run).state, RunState::Queued);
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

void QueuePage::pauseQueue(QueueMode mode) {
  workbench_.queue().change([mode](RunStore& store, JobQueue& queue) {
    queue.setMode(mode);
    if (mode == QueueMode::AfterCurrent) {
      return queue.mode() == QueueMode::Paused ? tr("The queue is paused: nothing is in progress.")
                                               : tr("The queue pauses after what is in progress.");
    }
    std::int64_t paused = 0;
    for (const std::int64_t run : queue.inProgress()) {
      try {
        pauseRun(store, run);
        ++paused;
      } catch (const RefusedError&) {  // it ends just now
      }
    }
    return paused == 0 ? tr("The queue is paused.")
                       : tr("The queue is paused; %1 at a checkpoint and first when it goes on.")
                             .arg(counted(paused, tr("run pauses"), tr("runs pause")));
  });
}

void QueuePage::resumeQueue() {
  workbench_.queue().change([](RunStore&, JobQueue& queue) {
    queue.setMode(QueueMode::Running);
    return tr("The queue goes on with %1.")
        .arg(counted(static_cast<std::int64_t>(queue.list().size()), tr("run"), tr("runs")));
  });
}

void QueuePage::pauseRuns() {
  const auto runs = selected(Section::Running);
  if (runs.empty()) return;
  workbench_.queue().change([runs](RunStore& store, JobQueue& queue) {
    for (const std::int64_t run : runs) {
      pauseRun(store, run);
      queue.remove(run);
    }
    return tr("Asked %1 to pause: the step is finished, a checkpoint written, the device freed.")
        .arg(counted(static_cast<std::int64_t>(runs.size()), tr("run"), tr("runs")));
  });
}

void QueuePage::resumeRuns(const std::vector<std::int64_t>& runs, QueueEnd end) {
  if (runs.empty()) return;
  workbench_.queue().change([runs, end](RunStore& store, JobQueue& queue) {
    std::vector<std::int64_t> wanted;
    for (const std::int64_t run : runs) {
      if (canChange(store.run(run).state, RunState::Queued)) wanted.push_back(run);
    }
    queue.enqueue(wanted, {}, end);
    return tr("%1 in the queue; what has a checkpoint goes on from it.")
        .arg(counted(static_cast<std::int64_t>(wanted.size()), tr("run is"), tr("runs are")));
  });
}

void QueuePage::removeRuns() {
  const auto runs = selected(Section::Waiting);
  if (runs.empty()) return;
  workbench_.queue().change([runs](RunStore&, JobQueue& queue) {
    std::int64_t removed = 0;
    for (const std::int64_t run : runs) removed += queue.remove(run) ? 1 : 0;
    return tr("Removed %1 from the queue; Start puts them back.")
        .arg(counted(removed, tr("run"), tr("runs")));
  });
}

void QueuePage::move(const std::vector<std::int64_t>& runs, std::int64_t before) {
  if (runs.empty()) return;
  const auto waiting = model_.runsOf(Section::Waiting);
  workbench_.queue().change([runs, before, waiting](RunStore&, JobQueue& queue) {
    const auto isMoved = [&](std::int64_t run) {
      return std::find(runs.begin(), runs.end(), run) != runs.end();
    };
    if (before != 0) {
      // Before the first of those that stay when it is moved itself.
      std::int64_t target = before;
      for (auto it = std::find(waiting.begin(), waiting.end(), before);
           it != waiting.end() && isMoved(target); ++it)
        target = *it;
      if (isMoved(target)) return QString();
      for (const std::int64_t run : runs) queue.moveBefore(run, target);
      return QString();
    }
    for (const std::int64_t run : runs) {
      const auto entries = queue.list();
      if (!entries.empty() && entries.back().run != run) queue.moveAfter(run, entries.back().run);
    }
    return QString();
  });
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
  const auto runs = selected(Section::Waiting);
  if (runs.empty()) return;
  workbench_.queue().change([runs, seconds](RunStore&, JobQueue& queue) {
    for (const std::int64_t run : runs) queue.setTimeLimit(run, seconds);
    return QString();
  });
}

void QueuePage::askLimit() {
  const auto runs = selected(Section::Waiting);
  if (runs.empty()) return;
  const QueueEntry* entry = workbench_.queue().view().entry(runs.front());
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
  for (const DeviceLoad& load : devices_.loads()) {
    deviceMenu_->addAction(load.name == QLatin1String("cpu")
                               ? tr("CPU")
                               : QStringLiteral("%1, %2").arg(load.name, load.title),
                           this, [this, name = load.name.toStdString()] { setDevice(name); });
  }
}

void QueuePage::setDevice(const std::string& device) {
  const auto runs = selected(Section::Waiting);
  if (runs.empty()) return;
  workbench_.queue().change([runs, device](RunStore&, JobQueue& queue) {
    for (const std::int64_t run : runs) queue.setDevice(run, device);
    return QString();
  });
}

}  // namespace vitrine::ui

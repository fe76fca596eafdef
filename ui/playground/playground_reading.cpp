// Runs that can draw, the chosen one, its model in memory, and the training that waits.
#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QPointer>
#include <QPushButton>
#include <QSignalBlocker>
#include <algorithm>

#include "core/jobs/command.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/icons.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/playground/drawing_history.h"
#include "ui/playground/image_board.h"
#include "ui/playground/playground_page.h"
#include "ui/workbench/recipe.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

QIcon runSquare(std::int64_t run) {
  QPixmap picture(px(12), px(12));
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  drawRunMark(painter, QRectF(px(2), px(2), px(8), px(8)), seriesOf(run),
              seriesColor(seriesOf(run)));
  return picture;
}

QString memoryText(const Json& loaded) {
  const Json& bytes = stateMember(loaded, "bytes");
  if (!bytes.is_number()) return {};
  constexpr double kMega = 1e6;
  return QStringLiteral(", %1\u202fMB").arg(number(bytes.get<double>() / kMega, 0));
}

/// Names of runs as rich text: "a, b".
QString trainingNames(const Workbench& workbench, const std::vector<std::int64_t>& runs) {
  QStringList names;
  for (const std::int64_t run : runs)
    names << QString::fromStdString(workbench.runs().at(run).name).toHtmlEscaped();
  return quotedNames(names);
}

}  // namespace

void PlaygroundPage::colourRuns() {
  for (int i = 0; i < runBox_->count(); ++i)
    runBox_->setItemIcon(i, runSquare(runBox_->itemData(i).toLongLong()));
}

void PlaygroundPage::readLater() {
  if (!reloadTimer_.isActive()) reloadTimer_.start();
}

void PlaygroundPage::reload() {
  const Catalog& catalog = workbench_.catalog();
  if (catalog.items.empty()) return;  // it is shown when it is there
  isStale_ = false;
  lists_.run([this, catalog](store::RunReader& store,
                             const std::atomic<bool>& isStale) -> Background::Finish {
    DrawableRuns found = readDrawableRuns(store, catalog, isStale);
    return [this, found = std::move(found), database = databaseUuid(store)] {
      takeKept(database);
      takeRuns(found);
    };
  });
}

// The drawings of earlier starts, before those of this one.
void PlaygroundPage::takeKept(const std::string& database) {
  if (database == database_) return;
  database_ = database;
  rememberUuid(workbench_, database);
  history_ = keptDrawings(database);
  showHistory();
}

void PlaygroundPage::showNothingDraws() {
  offer_.setComing(drawable_.coming);
  stack_->showEmpty(offer_.sentence(), offer_.action());
}

void PlaygroundPage::takeRuns(DrawableRuns found) {
  const DrawableRun* before = drawable(run_);
  const bool wasNewest = before != nullptr && settings().model.checkpoint ==
                                                  std::to_string(before->checkpoints.front().step);
  drawable_ = std::move(found);
  if (drawable_.runs.empty()) {
    run_ = 0;
    showNothingDraws();
    showButtons();
    return;
  }
  if (workbench_.models() == nullptr)
    return stack_->showEmpty(tr("Nothing can be computed with this database from here."));
  stack_->showContent();
  {
    const QSignalBlocker quiet(runBox_);
    runBox_->clear();
    for (const DrawableRun& run : drawable_.runs) {
      runBox_->addItem(runSquare(run.id), QStringLiteral("#%1 %2").arg(run.id).arg(run.name),
                       QVariant::fromValue<qlonglong>(run.id));
    }
  }
  std::int64_t wanted = run_;
  const std::int64_t current = workbench_.selection().current();
  if (wanted == 0 && drawable(current) != nullptr) wanted = current;
  if (drawable(wanted) == nullptr) wanted = drawable_.runs.front().id;
  if (wanted == run_) {
    runBox_->setCurrentIndex(runBox_->findData(QVariant::fromValue<qlonglong>(run_)));
    fillForm(sampler_);
    // A drawing with the newest weights stays with the newest.
    if (wasNewest) {
      const std::int64_t newest = drawable(run_)->checkpoints.front().step;
      form_->setValues({{kCheckpointKey, std::to_string(newest)}});
      if (isVisible()) warmTimer_.start();
    }
  } else {
    chooseRun(wanted);
  }
  applyState();
  showLending();
}

void PlaygroundPage::chooseRun(std::int64_t run) {
  const DrawableRun* chosen = drawable(run);
  if (chosen == nullptr || run == run_) return;
  run_ = run;
  isSamplerKnown_ = chosen->samplers.size() == 1;
  {
    const QSignalBlocker quiet(runBox_);
    runBox_->setCurrentIndex(runBox_->findData(QVariant::fromValue<qlonglong>(run)));
  }
  fillForm(chosen->samplers.front());
  // Another run is drawn with its newest weights.
  form_->setValues({{kRunKey, std::to_string(run)},
                    {kCheckpointKey, std::to_string(chosen->checkpoints.front().step)},
                    {kWeightsKey, chosen->hasAverage ? "ema" : "model"}});
  warmText_.clear();
  if (isVisible()) warmTimer_.start();
  showCost();
}

void PlaygroundPage::fillForm(const std::string& sampler) {
  const DrawableRun* run = drawable(run_);
  if (run == nullptr) return;
  sampler_ = std::find(run->samplers.begin(), run->samplers.end(), sampler) != run->samplers.end()
                 ? sampler
                 : run->samplers.front();
  form_->setEntries(
      formEntries(workbench_.catalog(), *run, sampler_, classNames(run_), drawable_.runs));
  form_->setValues({{kSamplerKey, sampler_}});
  keepWheelForFocus(*form_);
  showCost();
}

// Only while the page is looked at: a model takes memory.
void PlaygroundPage::warm() {
  const DrawableRun* run = drawable(run_);
  if (run == nullptr || worker_.isBusy() || (!isVisible() && !wantsDraw_)) return;
  const ModelChoice model = settings().model;
  const bool isWarm = !warmText_.isEmpty() && model.request() == warmModel_.request();
  if (isWarm || worker_.isWarming()) return;
  warmModel_ = model;
  warmText_.clear();
  worker_.warm(model, probeSettings(workbench_.catalog(), *run));
  showButtons();
}

void PlaygroundPage::takeWarm(const Json& loaded, const QString& sampler) {
  if (settings().model.request() != warmModel_.request()) {
    warmTimer_.start();  // it was loaded for another choice
  } else {
    warmText_ = tr("Model in memory%1").arg(memoryText(loaded));
    const Json& image = stateList(loaded, "image");
    // The size of the data says nothing of texts.
    const bool isSize = !makesTextOnly(workbench_.catalog(), sampler_) && image.size() == 3 &&
                        image[1].is_number_integer() && image[2].is_number_integer();
    if (isSize) {
      const int high = image[1].get<int>(), wide = image[2].get<int>();
      board_->setExpectedSize({wide, high});
      // A sampler that can draw another size has a field for it.
      const bool isFixed = samplerSchema(workbench_.catalog(), sampler_).find("size") == nullptr;
      if (isFixed)
        warmText_ +=
            tr(". It draws %1 \u00d7 %2 pixels, the size it was trained for").arg(wide).arg(high);
    }
  }
  if (!isSamplerKnown_ && !sampler.isEmpty() && sampler.toStdString() != sampler_)
    fillForm(sampler.toStdString());
  isSamplerKnown_ = true;
  if (wantsDraw_) startDrawing();
  showButtons();
}

// --- a run that trains on the device that draws

void PlaygroundPage::showLending() {
  for (auto each = paused_.begin(); each != paused_.end();) {
    const auto found = workbench_.runs().find(each->first);
    const store::RunState state =
        found == workbench_.runs().end() ? store::RunState::Stopped : found->second.state;
    if (state == store::RunState::Paused) each->second = true;
    // It ended, or was resumed elsewhere.
    const bool isOver =
        state != store::RunState::Paused && (each->second || !store::isAlive(state));
    each = isOver ? paused_.erase(each) : std::next(each);
  }
  // Resumed elsewhere, on the Queue page for one.
  if (paused_.empty() && workbench_.queue().view().mode == store::QueueMode::Running)
    holdsQueue_ = false;
  lendingButton_->setToolTip({});
  lendingButton_->setEnabled(true);
  const std::vector<std::int64_t> training = trainingRuns();
  if (!paused_.empty() || holdsQueue_) {
    showLendingPaused();
  } else if (!training.empty()) {
    const QString names = trainingNames(workbench_, training);
    const std::string& device = workbench_.runs().at(training.front()).device;
    lendingText_->setText(
        training.size() > 1 ? tr("%1 train: drawing and training slow each other down.").arg(names)
                            : tr("%1 trains on %2: drawing and training slow each other down.")
                                  .arg(names, device.empty() ? tr("this machine")
                                                             : deviceText(device).toHtmlEscaped()));
    lendingButton_->setText(tr("Pause training"));
    lendingButton_->setToolTip(
        training.size() > 1
            ? tr("Pause these runs at a checkpoint; the queue starts nothing until you resume")
            : tr("Pause this run at a checkpoint; the queue starts nothing until you resume"));
    lendingButton_->setIcon(icon(Icon::Pause));
  }
  lending_->setVisible(!paused_.empty() || holdsQueue_ || !training.empty());
}

void PlaygroundPage::showLendingPaused() {
  lendingButton_->setText(paused_.empty() ? tr("Resume queue") : tr("Resume training"));
  lendingButton_->setIcon(icon(Icon::Play));
  const QString waits = tr("The queue starts nothing until you resume.");
  if (paused_.empty()) {
    lendingText_->setText(tr("The queue is <b>paused</b>. %1").arg(waits));
    return;
  }
  std::vector<std::int64_t> runs;
  bool isPaused = true;
  for (const auto& [run, wasPaused] : paused_) {
    runs.push_back(run);
    isPaused = isPaused && workbench_.runs().at(run).state == store::RunState::Paused;
  }
  const QString names = trainingNames(workbench_, runs);
  const bool isOne = runs.size() == 1;
  QString text = isOne ? tr("%1 pauses at its next checkpoint\u2026").arg(names)
                       : tr("%1 pause at their next checkpoints\u2026").arg(names);
  if (isPaused) {
    text = isOne ? tr("%1 is <b>paused</b> at step %2. Its training waits for you.")
                       .arg(names, count(workbench_.runs().at(runs.front()).step))
                 : tr("%1 are <b>paused</b>. Their training waits for you.").arg(names);
  }
  lendingText_->setText(holdsQueue_ ? text + QLatin1Char(' ') + waits : text);
  lendingButton_->setEnabled(isPaused);
}

std::vector<std::int64_t> PlaygroundPage::trainingRuns() const {
  std::vector<std::int64_t> runs;
  for (const auto& [id, row] : workbench_.runs()) {
    if (store::isAlive(row.state) && row.state != store::RunState::Pausing) runs.push_back(id);
  }
  return runs;
}

void PlaygroundPage::pauseTraining() {
  jobs::Command command;
  command.what = jobs::Command::What::Pause;
  command.queue = jobs::Command::Queue::Holds;
  command.runs = trainingRuns();
  if (command.runs.empty()) return;
  for (const std::int64_t run : command.runs) paused_[run] = false;
  workbench_.queue().execute(command, [page = QPointer(this)](const jobs::CommandResult& result) {
    if (page == nullptr) return QString();
    if (result.isHeld) page->holdsQueue_ = true;
    // Others cannot be paused: a script that logs a run, or one that ends just now.
    std::erase_if(page->paused_, [&result](const auto& one) {
      return !one.second &&
             std::find(result.runs.begin(), result.runs.end(), one.first) == result.runs.end();
    });
    page->showLending();
    return result.runs.size() == 1
               ? tr("The run pauses at a checkpoint; Resume training continues it.")
               : tr("The runs pause at a checkpoint; Resume training continues them.");
  });
  showLending();
}

void PlaygroundPage::forgetUnpaused() {
  std::erase_if(paused_, [this](const auto& one) {
    const auto found = workbench_.runs().find(one.first);
    return !one.second &&
           (found == workbench_.runs().end() || found->second.state == store::RunState::Running ||
            found->second.state == store::RunState::Starting);
  });
  showLending();
}

void PlaygroundPage::resumeTraining() {
  std::vector<std::int64_t> runs;
  for (const auto& [run, wasPaused] : std::exchange(paused_, {})) runs.push_back(run);
  if (std::exchange(holdsQueue_, false)) {
    jobs::Command command;
    command.what = runs.empty() ? jobs::Command::What::Mode : jobs::Command::What::Start;
    command.runs = runs;
    command.mode = store::QueueMode::Running;
    command.end = jobs::QueueEnd::Front;
    command.queue = jobs::Command::Queue::Resumes;
    workbench_.queue().execute(command, [](const jobs::CommandResult& result) {
      return result.runs.empty() ? tr("The queue continues.")
                                 : tr("The training continues, and the queue after it.");
    });
  } else {
    workbench_.startRuns(runs, jobs::QueueEnd::Front);
  }
  showLending();
}

}  // namespace vitrine::ui

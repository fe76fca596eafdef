#include "ui/workbench/analyses/results_page.h"

#include <QGridLayout>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "core/store/script_runs.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {

namespace {

std::optional<std::int64_t> selectedStep(Workbench& workbench) {
  const std::int64_t step = workbench.selection().step();
  return step < 0 ? std::nullopt : std::optional(step);
}

}  // namespace

ResultsPage::ResultsPage(Workbench& workbench, std::size_t mostRuns, std::size_t readers,
                         int pauseMs, QWidget* parent)
    : ReadingPage(parent),
      workbench_(workbench),
      grid_(new QGridLayout),
      mostRuns_(mostRuns),
      stack_(new PageStack(this)) {
  setMinimumSize(240, 140);
  grid_->setSpacing(px(12));
  std::vector<Background*> all;
  while (readers_.size() < readers) {
    readers_.push_back(std::make_unique<Background>(workbench.store().file()));
    all.push_back(readers_.back().get());
  }
  loading_ = std::make_unique<LoadingState>(std::move(all), pauseMs);
}

ResultsPage::~ResultsPage() = default;

QWidget* ResultsPage::content() { return stack_->content(); }

void ResultsPage::makeAnalyses(const RunAnalyses::Words& newest, const RunAnalyses::Words& steps) {
  analyses_ = new RunAnalyses(workbench_, newest, this);
  stepAnalyses_ = new RunAnalyses(workbench_, steps, this);
  connect(analyses_, &RunAnalyses::progressed, this, [this] {
    showNotice();
    if (!hasShown()) showEmpty(analyses_->status(), tr("Cancel"));
  });
  connect(stepAnalyses_, &RunAnalyses::progressed, this, [this] { showNotice(); });
  for (RunAnalyses* one : {analyses_, stepAnalyses_})
    connect(one, &RunAnalyses::ended, this, [this] { reload(); });
}

void ResultsPage::addTools(FlowRow& row, const QString& id, const QString& exportTip) {
  row.addStretch();
  cancel_ = makeToolButton(tr("Cancel"), tr("Stop reading"), this);
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, this, &ResultsPage::cancelReading);
  row.addWidget(cancel_);
  auto* exports = makeToolButton(tr("Export figure\u2026"), exportTip, this);
  connect(exports, &QToolButton::clicked, this,
          [this, id] { exportFigureOf(this, workbench_, *this, id); });
  row.addWidget(exports);
}

void ResultsPage::begin(const QString& reading, const QString& failed,
                        std::initializer_list<QWidget*> tabOrder) {
  arrange();
  connect(&stack_->empty(), &EmptyPage::actionRequested, this, [this] {
    if (runs().empty())
      workbench_.showPage(QStringLiteral("configure"));
    else
      analyses_->press();
  });
  connect(&stack_->empty(), &EmptyPage::cancelRequested, this, &ResultsPage::cancelReading);
  keepWheelForFocus(*this);
  QWidget* before = nullptr;
  for (QWidget* next : tabOrder) {
    if (before != nullptr) setTabOrder(before, next);
    before = next;
  }
  const auto offerCancel = [this](bool isOffered) {
    cancel_->setVisible(isOffered);
    stack_->empty().setCancelShown(isOffered);
  };
  connect(loading_.get(), &LoadingState::again, this, [this] { reload(); });
  connect(loading_.get(), &LoadingState::cancellable, this, [offerCancel] { offerCancel(true); });
  connect(loading_.get(), &LoadingState::done, this, [offerCancel] { offerCancel(false); });
  connect(loading_.get(), &LoadingState::waiting, this, [this, reading] {
    if (readOf_ != runs() || !hasShown()) showEmpty(reading, QString());
  });
  for (const auto& one : readers_) {
    connect(one.get(), &Background::failed, this, [this, failed](const QString& sentence) {
      showEmpty(failed.arg(sentence), QString());
    });
  }
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this,
          [this] { changed(*loading_); });
  connect(&workbench_.selection(), &Selection::runsChanged, this, [this] { changed(); });
  connect(&workbench_.selection(), &Selection::stepChanged, this, [this] {
    const auto last = std::exchange(step_, selectedStep(workbench_));
    if (step_ != last && isVisible() && readOf_ == runs()) showStep();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] { showAll(); });
}

void ResultsPage::beginReading() {
  isStale_ = false;
  step_ = selectedStep(workbench_);
}

void ResultsPage::showContent() { stack_->showContent(); }

void ResultsPage::showEmpty(const QString& sentence, const QString& action) {
  stack_->showEmpty(sentence, action);
}

void ResultsPage::cancelReading() {
  loading_->cancel();
  isStale_ = true;  // shown again, it reads again
  if (!hasShown()) showEmpty(tr("Reading was cancelled: choose a run to read again."), QString());
}

void ResultsPage::chooseStep(std::int64_t step) {
  const std::vector<std::int64_t> all = steps();
  const bool isLast = step < 0 || (!all.empty() && step >= all.back());
  step_ = isLast ? std::nullopt : std::optional(step);
  workbench_.selection().setStep(step_.value_or(-1));
  showStep();
  Q_EMIT viewChanged();
}

bool ResultsPage::stackParts(std::initializer_list<QWidget*> parts, int columns) {
  const bool isNarrow = width() < px(640);
  for (QWidget* part : parts) grid_->removeWidget(part);
  for (int i = 0; i < 8; ++i) grid_->setRowStretch(i, 0);
  int row = 0;
  for (QWidget* part : parts)
    if (isNarrow) grid_->addWidget(part, row++, 0, 1, columns);
  return isNarrow;
}

void ResultsPage::resizeEvent(QResizeEvent* event) {
  ReadingPage::resizeEvent(event);
  arrange();
}

ResultsPage::RunBasics ResultsPage::readBasics(store::RunReader& store, std::int64_t run) {
  RunBasics basics{store.config(run), {}, store::scriptOf(store, run).has_value()};
  for (const store::CheckpointRow& checkpoint : store.checkpoints(run))
    basics.checkpoints.push_back(checkpoint.step);
  std::sort(basics.checkpoints.begin(), basics.checkpoints.end());
  return basics;
}

QString ResultsPage::whyNoneOf(const QString& sentence, const Lacking& lacking) const {
  QStringList names;
  qsizetype ofScripts = 0;
  for (const std::int64_t run : readOf_) {
    if (const RunBasics* basics = lacking(run)) {
      names << runName(run);
      ofScripts += basics->isOfScript ? 1 : 0;
    }
  }
  if (names.isEmpty()) return {};
  const QString why = sentence.arg(quotedNames(names));
  if (ofScripts < names.size()) return why;
  return why + QLatin1Char(' ') +
         (ofScripts == 1 ? tr("This run was logged by a script: Vitrine has no model of it.")
                         : tr("These runs were logged by a script: Vitrine has no model of them."));
}

std::vector<std::int64_t> ResultsPage::runs() const {
  return drawnRuns(workbench_.selection(), mostRuns_, preferred_);
}

QString ResultsPage::runName(std::int64_t run) const { return runNameOf(workbench_, run); }

QString ResultsPage::drawnShare(std::size_t drawn) const {
  const std::size_t selected = workbench_.selection().drawn().size();
  if (readOf_.empty() || selected <= readOf_.size()) return {};
  return drawn == 1 ? tr("1 of %1 selected runs is drawn.").arg(selected)
                    : tr("%1 of %2 selected runs are drawn.").arg(drawn).arg(selected);
}

void ResultsPage::waitUntilIdle() {
  loading_->forgetLater();
  reload();
  // One reading asks for the next.
  for (std::size_t round = 0; round < 2; ++round)
    for (const auto& one : readers_) one->waitUntilIdle();
  layOutNow();
}

}  // namespace vitrine::ui

#include "ui/workbench/analyses/analysis_menu.h"

#include <QAction>
#include <QMenu>
#include <QToolButton>
#include <algorithm>

#include "core/config/lookup.h"
#include "core/config/reads_images.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

bool isEndedWithCheckpoint(Workbench& workbench, std::int64_t run) {
  const store::RunRow* row = workbench.run(run);
  return row != nullptr && row->latestCheckpoint >= 0 && !isAlive(row->state);
}

/// Whether the newest checkpoint can be analysed and was not.
bool lacks(Workbench& workbench, const AnalysedRun& run, const std::string& analysis) {
  if (!isEndedWithCheckpoint(workbench, run.run)) return false;
  const std::int64_t newest = workbench.run(run.run)->latestCheckpoint;
  return run.artifacts == nullptr ||
         std::ranges::none_of(*run.artifacts, [&](const store::ArtifactRow& one) {
           return one.analysis == analysis && one.step >= newest;
         });
}

/// Why none of the runs lacks an analysis that it could give.
QString whyNoneLacks(Workbench& workbench, const std::vector<std::int64_t>& runs) {
  const auto isAny = [&](auto holds) { return std::ranges::any_of(runs, holds); };
  if (isAny([&](std::int64_t run) { return isEndedWithCheckpoint(workbench, run); }))
    return AnalysisMenu::tr("already stored");
  const bool isAnyAlive = isAny([&](std::int64_t run) {
    const store::RunRow* row = workbench.run(run);
    return row != nullptr && isAlive(row->state);
  });
  return isAnyAlive ? AnalysisMenu::tr("in progress") : AnalysisMenu::tr("no checkpoint");
}

/// What an evaluation read, where one has said so; no analysis reads more. 0: not known.
std::int64_t samplesOf(const AnalysedRun& run) {
  std::int64_t samples = 0;
  if (run.artifacts == nullptr) return samples;
  for (const store::ArtifactRow& row : *run.artifacts)
    samples = std::max(samples, stateInteger(row.meta, "samples", 0));
  return samples;
}

}  // namespace

QString analysisCost(Workbench& workbench, const std::vector<AnalysedSamples>& checkpoints) {
  std::int64_t samples = 0;
  double seconds = 0;
  bool isKnown = true;
  for (const AnalysedSamples& one : checkpoints) {
    const store::RunRow* row = workbench.run(one.run);
    isKnown = one.samples > 0 && row != nullptr && row->imagesPerSecond > 0;
    if (!isKnown) break;
    samples += one.samples;
    // A training step costs more than a look: this is not too little.
    seconds += static_cast<double>(one.samples) / row->imagesPerSecond;
  }
  const QString models =
      counted(std::ssize(checkpoints), QObject::tr("checkpoint"), QObject::tr("checkpoints"));
  if (!isKnown) return QObject::tr("Cost: loading %1, at most one evaluation of each").arg(models);
  return QObject::tr("Cost: loading %1, and at most %2 samples in about %3")
      .arg(models, count(samples), duration(std::max(1.0, seconds)));
}

bool canAnalyse(const Catalog& catalog, const AnalysedRun& run, const ItemCard& analysis) {
  if (run.config == nullptr) return false;
  const auto cardOf = [&](ItemKind kind, const char* key) {
    return catalog.find(kind, textAt(*run.config, key));
  };
  const ItemCard* architecture = cardOf(ItemKind::Architecture, "model.architecture");
  const ItemCard* task = cardOf(ItemKind::Task, "task.name");
  std::vector<std::string> offers;
  for (const ItemCard* card : {architecture, task, cardOf(ItemKind::Dataset, "data.dataset")}) {
    if (card != nullptr) offers.insert(offers.end(), card->offers.begin(), card->offers.end());
  }
  return offersEvery(offers, analysis.needs) &&
         (architecture == nullptr || !lacksImages(analysis, *architecture, task));
}

bool canCompute(Workbench& workbench, const std::vector<std::int64_t>& runs) {
  return workbench.models() != nullptr && std::ranges::any_of(runs, [&](std::int64_t run) {
           return isEndedWithCheckpoint(workbench, run);
         });
}

AnalysisMenu::AnalysisMenu(Workbench& workbench, const QString& tip, Runs runs, QWidget* parent)
    : QWidget(parent),
      workbench_(workbench),
      runs_(std::move(runs)),
      queue_(workbench, {.computing = tr("Computing %1"),
                         .cancelled = tr("Computing was cancelled."),
                         .failed = tr("%1 cannot be computed: %2")}),
      compute_(makeToolButton(tr("Compute\u2026"), tip, this)),
      cancel_(makeToolButton(tr("Cancel computing"), tr("Stop the analysis; stored results stay"),
                             this)) {
  auto* row = rowIn(this, {}, 0);
  for (QToolButton* button : {compute_, cancel_}) row->addWidget(button);
  compute_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(compute_);
  menu->setToolTipsVisible(true);
  connect(menu, &QMenu::aboutToShow, this, &AnalysisMenu::fill);
  compute_->setMenu(menu);
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, &queue_, &AnalysisQueue::cancel);
  connect(&queue_, &AnalysisQueue::progressed, this, &AnalysisMenu::dress);
  connect(&queue_, &AnalysisQueue::ended, this, [this](const std::string& analysis) {
    dress();
    if (queue_.error().isEmpty())
      Q_EMIT computed(analysis);
    else
      Q_EMIT failed(queue_.error());
  });
}

void AnalysisMenu::press(QWidget& over) {
  if (queue_.isRunning())
    queue_.cancel();
  else
    compute_->menu()->popup(over.mapToGlobal(over.rect().center()));
}

void AnalysisMenu::dress() {
  compute_->setVisible(!queue_.isRunning());
  cancel_->setVisible(queue_.isRunning());
  Q_EMIT progressed();
}

void AnalysisMenu::fill() {
  QMenu& menu = *compute_->menu();
  menu.clear();
  const Catalog& catalog = workbench_.catalog();
  const std::vector<AnalysedRun> runs = runs_();
  bool isAny = false;
  for (const ItemCard& item : catalog.items) {
    const auto fits = [&](const AnalysedRun& run) { return canAnalyse(catalog, run, item); };
    if (item.kind != ItemKind::Analysis || !std::ranges::any_of(runs, fits)) continue;
    isAny = true;
    const QString id = QString::fromStdString(item.id);
    std::vector<std::int64_t> fitting;
    std::vector<AnalysedSamples> without;
    std::vector<RunAnalysis> missing;
    for (const AnalysedRun& run : runs) {
      if (!fits(run)) continue;
      fitting.push_back(run.run);
      if (!lacks(workbench_, run, item.id)) continue;
      without.push_back({run.run, samplesOf(run)});
      missing.push_back({tr("%1 of %2").arg(id, runNameOf(workbench_, run.run)),
                         {.run = run.run},
                         {{"op", "analyse"}, {"item", item.id}, {"store", true}}});
    }
    const QString title = QString::fromStdString(item.title);
    QAction* action = menu.addAction(title);
    action->setEnabled(!missing.empty() && workbench_.models() != nullptr);
    action->setToolTip(QString::fromStdString(item.doc));
    if (missing.empty()) {
      action->setText(tr("%1: %2").arg(title, whyNoneLacks(workbench_, fitting)));
    } else if (workbench_.models() == nullptr) {
      action->setText(tr("%1: run `vitrine analyse %2 %3` in a terminal")
                          .arg(title, QString::number(without.front().run), id));
    } else {
      action->setText(tr("%1. %2").arg(title, analysisCost(workbench_, without)));
      connect(action, &QAction::triggered, this, [this, missing] { queue_.start(missing); });
    }
  }
  if (isAny) return;
  menu.addAction(catalog.items.empty() ? tr("The plugins are being read\u2026")
                                       : tr("No analysis fits the selected runs"))
      ->setEnabled(false);
}

}  // namespace vitrine::ui

// Analyses of finished runs: which are missing, what they cost, and the computing.
#include <QLabel>
#include <QMenu>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>

#include "core/config/lookup.h"
#include "ui/artifacts/artifacts_page.h"
#include "ui/kit/empty_page.h"
#include "ui/workbench/model_service.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

bool ArtifactsPage::canAnalyse(std::int64_t run, const ItemCard& analysis) {
  const auto config = configs_.find(run);
  if (config == configs_.end()) return false;
  const std::pair<ItemKind, const char*> items[] = {{ItemKind::Architecture, "model.architecture"},
                                                    {ItemKind::Task, "task.name"},
                                                    {ItemKind::Dataset, "data.dataset"}};
  std::vector<std::string> offers;
  for (const auto& [kind, key] : items) {
    const Json* id = valueAt(config->second, key);
    const ItemCard* card = id == nullptr || !id->is_string()
                               ? nullptr
                               : workbench_.catalog().find(kind, id->get<std::string>());
    if (card != nullptr) offers.insert(offers.end(), card->offers.begin(), card->offers.end());
  }
  return std::all_of(analysis.needs.begin(), analysis.needs.end(), [&](const std::string& need) {
    return std::find(offers.begin(), offers.end(), need) != offers.end();
  });
}

std::vector<std::int64_t> ArtifactsPage::runsWithout(const std::string& analysis) {
  std::vector<std::int64_t> without;
  for (const std::int64_t run : rowsOf_) {
    const store::RunRow* row = workbench_.run(run);
    if (row == nullptr || row->latestCheckpoint < 0 || isAlive(row->state)) continue;
    const auto rows = rows_.find(run);
    const bool isStored =
        rows != rows_.end() &&
        std::any_of(rows->second.begin(), rows->second.end(), [&](const store::ArtifactRow& one) {
          return one.analysis == analysis && one.step >= row->latestCheckpoint;
        });
    if (!isStored) without.push_back(run);
  }
  return without;
}

bool ArtifactsPage::canCompute() {
  return workbench_.models() != nullptr &&
         std::any_of(rowsOf_.begin(), rowsOf_.end(), [this](std::int64_t run) {
           const store::RunRow* row = workbench_.run(run);
           return row != nullptr && row->latestCheckpoint >= 0 && !isAlive(row->state);
         });
}

QString ArtifactsPage::costOf(const std::vector<std::int64_t>& runs) {
  // What an evaluation reads, where one has said so; no analysis reads more.
  std::int64_t samples = 0;
  double seconds = 0;
  bool isKnown = true;
  for (const std::int64_t run : runs) {
    std::int64_t own = 0;
    for (const store::ArtifactRow& row : rows_[run]) {
      const auto said = row.meta.is_object() ? row.meta.find("samples") : row.meta.end();
      if (said != row.meta.end() && said->is_number_integer())
        own = std::max(own, said->get<std::int64_t>());
    }
    const store::RunRow* row = workbench_.run(run);
    isKnown = isKnown && own > 0 && row != nullptr && row->imagesPerSecond > 0;
    if (!isKnown) break;
    samples += own;
    // A training step costs more than a look: this is not too little.
    seconds += static_cast<double>(own) / row->imagesPerSecond;
  }
  const QString models = counted(std::ssize(runs), tr("checkpoint"), tr("checkpoints"));
  if (!isKnown) return tr("Cost: loading %1, at most one evaluation of each").arg(models);
  return tr("Cost: loading %1, and at most %2 samples in about %3")
      .arg(models, count(samples), duration(std::max(1.0, seconds)));
}

void ArtifactsPage::fillComputeMenu() {
  QMenu* menu = compute_->menu();
  menu->clear();
  const auto say = [menu](const QString& sentence) {
    menu->addAction(sentence)->setEnabled(false);
  };
  const Catalog& catalog = workbench_.catalog();
  std::vector<const ItemCard*> analyses;
  for (const ItemCard& item : catalog.items) {
    const bool fits = item.kind == ItemKind::Analysis &&
                      std::any_of(rowsOf_.begin(), rowsOf_.end(),
                                  [&](std::int64_t run) { return canAnalyse(run, item); });
    if (fits) analyses.push_back(&item);
  }
  if (analyses.empty()) {
    say(catalog.items.empty() ? tr("The plugins are being read\u2026")
                              : tr("No analysis fits the selected runs"));
    return;
  }
  for (const ItemCard* item : analyses) {
    std::vector<std::int64_t> runs = runsWithout(item->id);
    std::erase_if(runs, [&](std::int64_t run) { return !canAnalyse(run, *item); });
    QAction* action = menu->addAction(QString::fromStdString(item->title));
    action->setEnabled(!runs.empty() && workbench_.models() != nullptr);
    action->setToolTip(QString::fromStdString(item->doc));
    if (runs.empty()) {
      action->setText(tr("%1: stored, or no checkpoint").arg(action->text()));
    } else if (workbench_.models() == nullptr) {
      action->setText(tr("%1: vitrine analyse %2 %3")
                          .arg(action->text())
                          .arg(runs.front())
                          .arg(QString::fromStdString(item->id)));
    } else {
      action->setText(tr("%1. %2").arg(action->text(), costOf(runs)));
      connect(action, &QAction::triggered, this,
              [this, id = item->id, runs] { computeAnalysis(id, runs); });
    }
  }
}

void ArtifactsPage::computeAnalysis(const std::string& analysis, std::vector<std::int64_t> runs) {
  if (computing_ != 0) return;
  computed_ = analysis;
  toCompute_ = std::move(runs);
  computeProblem_.clear();
  computeNext();
}

void ArtifactsPage::computeNext() {
  computing_ = 0;
  if (toCompute_.empty()) {
    showComputing(QString());
    if (computeProblem_.isEmpty()) {
      isStale_ = true;  // what was computed is not among the rows
      showArtifact(QString::fromStdString(computed_), QString());
    } else {
      reload();
      workbench_.showError(computeProblem_);
    }
    return;
  }
  const std::int64_t run = toCompute_.back();
  toCompute_.pop_back();
  const QString what =
      tr("Computing %1 of %2").arg(QString::fromStdString(computed_), runName(run));
  ModelService::Listener listener;
  listener.onPart = [this, what](const Json& answer) {
    const auto done = answer.find("done"), total = answer.find("total");
    if (done == answer.end() || total == answer.end() || !done->is_number_integer() ||
        !total->is_number_integer())
      return;
    showComputing(
        tr("%1: %2 of %3")
            .arg(what, count(done->get<std::int64_t>()), count(total->get<std::int64_t>())));
  };
  listener.onDone = [this](const Json&) { computeNext(); };
  listener.onError = [this, run](const ModelError& error) {
    computeProblem_ = error.kind == "cancelled" ? tr("Computing was cancelled.")
                                                : tr("%1 of %2 cannot be computed: %3")
                                                      .arg(QString::fromStdString(computed_),
                                                           runName(run), error.sentence);
    toCompute_.clear();
    computeNext();
  };
  ModelChoice model;
  model.run = run;
  computing_ = workbench_.models()->compute(
      model, {{"op", "analyse"}, {"item", computed_}, {"store", true}}, this, listener);
  showComputing(what);
}

void ArtifactsPage::cancelComputing() {
  toCompute_.clear();
  if (computing_ != 0 && workbench_.models() != nullptr) workbench_.models()->cancel(computing_);
}

void ArtifactsPage::showComputing(const QString& sentence) {
  computeText_->setText(sentence);
  computeText_->setVisible(!sentence.isEmpty());
  cancelCompute_->setVisible(!sentence.isEmpty());
  compute_->setVisible(sentence.isEmpty());
  if (!sentence.isEmpty() && stack_->currentIndex() == 1) empty_->say(sentence, tr("Cancel"));
}

}  // namespace vitrine::ui

// Runs without spectra, what computing costs, and what the page says about itself.
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <set>

#include "ui/kit/empty_page.h"
#include "ui/spectra/spectra_page.h"

namespace vitrine::ui {

std::vector<std::int64_t> SpectraPage::runsWithout() const {
  std::vector<std::int64_t> without;
  for (const std::int64_t run : factsOf_) {
    const auto facts = facts_.find(run);
    const store::RunRow* row = workbench_.run(run);
    if (facts == facts_.end() || row == nullptr || row->latestCheckpoint < 0) continue;
    if (facts->second.stored.empty()) without.push_back(run);
  }
  return without;
}

QString SpectraPage::costOf(const std::vector<std::int64_t>& runs) const {
  if (workbench_.models() == nullptr) {
    return tr("They are computed by: vitrine analyse %1 attention_rank")
        .arg(runs.empty() ? QString() : QString::number(runs.front()));
  }
  return tr("Cost: %1 loaded, one pass over 4 images each, a few seconds.")
      .arg(counted(std::ssize(runs), tr("checkpoint"), tr("checkpoints")));
}

QString SpectraPage::notice() const {
  QStringList sentences;
  if (computing_ != 0) {
    sentences << tr("Computing the spectra of %1\u2026").arg(runName(computingRun_));
  } else if (!computeProblem_.isEmpty()) {
    sentences << computeProblem_;
  }
  QStringList none;
  for (const std::int64_t run : factsOf_) {
    const auto facts = facts_.find(run);
    if (facts != facts_.end() && facts->second.stored.empty()) none << runName(run);
  }
  if (!none.isEmpty() && !shown_.empty())
    sentences << tr("No spectra are stored of %1.").arg(none.join(QStringLiteral(", ")));
  // Ranks of matrices of different kinds or sizes are not the same quantity.
  std::set<std::string> kinds;
  std::set<std::size_t> sizes;
  for (const auto& run : shown_) {
    kinds.insert(run->attention);
    if (run->steps.empty() || run->steps.back()->layers.empty() ||
        run->steps.back()->layers.front().heads.empty())
      continue;
    sizes.insert(run->steps.back()->layers.front().heads.front().values.size());
  }
  if (kinds.size() > 1) {
    QStringList each;
    for (const auto& run : shown_)
      each << tr("%1: %2").arg(runName(run->run), QString::fromStdString(run->attention));
    sentences << tr("These are not the same matrices (%1).").arg(each.join(QStringLiteral(", ")));
  }
  if (sizes.size() > 1)
    sentences << tr("The matrices differ in size: compare shares of it, not ranks.");
  const std::size_t selected = workbench_.selection().drawn().size();
  if (selected > factsOf_.size() && !factsOf_.empty())
    sentences << tr("%1 of %2 selected runs are drawn.").arg(factsOf_.size()).arg(selected);
  const std::vector<std::int64_t> without = runsWithout();
  if (computing_ == 0 && !without.empty() && !shown_.empty()) sentences << costOf(without);
  return sentences.join(QLatin1Char(' '));
}

void SpectraPage::showNotice() {
  const QString text = notice();
  notice_->setText(text);
  noticeBar_->setVisible(!text.isEmpty());
  const bool canCompute = workbench_.models() != nullptr && !runsWithout().empty();
  compute_->setText(computing_ != 0 ? tr("Cancel") : tr("Compute the spectra"));
  compute_->setVisible(computing_ != 0 || canCompute);
}

void SpectraPage::computeSpectra() {
  ModelService* models = workbench_.models();
  if (models == nullptr) return;
  if (computing_ != 0) {
    toCompute_.clear();
    models->cancel(computing_);
    return;
  }
  computeProblem_.clear();
  toCompute_ = runsWithout();
  computeNext();
}

void SpectraPage::computeNext() {
  computing_ = 0;
  if (toCompute_.empty()) {
    reload();
    return;
  }
  computingRun_ = toCompute_.back();
  toCompute_.pop_back();
  ModelService::Listener listener;
  listener.onDone = [this](const Json&) { computeNext(); };
  listener.onError = [this](const ModelError& error) {
    computeProblem_ = error.kind == "cancelled" ? tr("Computing the spectra was cancelled.")
                                                : tr("The spectra of %1 cannot be computed: %2")
                                                      .arg(runName(computingRun_), error.sentence);
    toCompute_.clear();
    computeNext();
  };
  ModelChoice model;
  model.run = computingRun_;
  computing_ = workbench_.models()->compute(
      model, {{"op", "analyse"}, {"item", "attention_rank"}, {"store", true}}, this, listener);
  if (shown_.empty())
    showEmpty(notice(), tr("Cancel"));
  else
    showNotice();
}

QString SpectraPage::howToRead() const {
  return tr(
      "Each small chart has the singular values of one head's attention matrix, mean over the "
      "images looked at. Where they fall fast, few directions hold most of the attention: the "
      "rank at 80 % is the number of singular values that hold 80 % of their sum. Drag the dashed "
      "line to ask for another share.\n\n"
      "The waterfall has a column for each stored step: its index from bottom to top, its colour "
      "the logarithm of the singular value, the white line the rank. It grows while a run "
      "trains.\n\n"
      "A claim about ranks needs controls. Diamonds and dashed lines are the same model before "
      "any training: what is there already comes from the mask or the architecture, not from "
      "learning. Other selected runs are controls too; the keys in which their configurations "
      "differ stand below their names. Effective rank is the exponential of the entropy of the "
      "shares, stable rank the sum of squares over the largest square.");
}

PageFactory spectraPage() {
  PageFactory factory;
  factory.id = QStringLiteral("spectra");
  factory.title = QStringLiteral("Spectra");
  factory.make = [](Workbench& workbench, QWidget* parent) {
    return new SpectraPage(workbench, parent);
  };
  factory.isWide = true;
  return factory;
}

}  // namespace vitrine::ui

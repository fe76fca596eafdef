// Runs without answers: which they are, what computing costs, and the computing.
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <algorithm>

#include "ui/calibration/calibration_page.h"
#include "ui/kit/empty_page.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

std::vector<std::int64_t> CalibrationPage::runsWithout() const {
  std::vector<std::int64_t> without;
  for (const std::int64_t run : storedOf_) {
    const auto stored = stored_.find(run);
    const store::RunRow* row = workbench_.run(run);
    if (stored == stored_.end() || row == nullptr || row->latestCheckpoint < 0) continue;
    const bool hasThem = choice_.which
                             ? answersAt(stored->second.answers, *choice_.which, -1) != nullptr
                             : !stored->second.answers.empty();
    if (!hasThem) without.push_back(run);
  }
  return without;
}

QString CalibrationPage::costOf(const std::vector<std::int64_t>& runs) const {
  if (workbench_.models() == nullptr) {
    return tr("They are computed by: vitrine analyse %1 calibration")
        .arg(runs.empty() ? QString() : QString::number(runs.front()));
  }
  std::int64_t images = 0;
  double seconds = 0;
  bool isKnown = true;
  for (const std::int64_t run : runs) {
    const store::RunRow* row = workbench_.run(run);
    const std::int64_t samples = stored_.at(run).samples;
    images += samples;
    // A training step costs more than a look: this is not too little.
    if (samples > 0 && row->imagesPerSecond > 0)
      seconds += static_cast<double>(samples) / row->imagesPerSecond;
    else
      isKnown = false;
  }
  const QString models = counted(std::ssize(runs), tr("checkpoint"), tr("checkpoints"));
  if (!isKnown) return tr("Cost: loading %1 and one evaluation.").arg(models);
  return tr("Cost: loading %1, and %2 images in about %3.")
      .arg(models, count(images), duration(std::max(1.0, seconds)));
}

QString CalibrationPage::notice() const {
  QStringList sentences;
  if (computing_ != 0) {
    sentences << tr("Computing the answers of %1%2").arg(runName(computingRun_), progress_);
  } else if (!computeProblem_.isEmpty()) {
    sentences << computeProblem_;
  }
  QStringList otherSplit, none;
  for (const std::int64_t run : storedOf_) {
    const auto stored = stored_.find(run);
    if (stored == stored_.end() || !choice_.which) continue;
    if (answersAt(stored->second.answers, *choice_.which, -1) != nullptr) continue;
    if (stored->second.answers.empty()) {
      none << runName(run);
    } else {
      otherSplit << tr("%1 (%2)").arg(
          runName(run), QString::fromStdString(textOf(stored->second.answers.back().which)));
    }
  }
  if (!otherSplit.isEmpty()) {
    sentences << tr("Answers of different splits are not drawn next to each other; left out: %1.")
                     .arg(otherSplit.join(QStringLiteral(", ")));
  }
  if (!none.isEmpty() && !shown_.empty())
    sentences << tr("No answers are stored of %1.").arg(none.join(QStringLiteral(", ")));
  // Bins of other classes say nothing about these.
  const CalibrationRun* main = current();
  QStringList others;
  for (const auto& run : shown_) {
    if (main != nullptr && run->predictions->classes != main->predictions->classes)
      others << runName(run->run);
  }
  if (!others.isEmpty()) {
    sentences << tr("%1 tell another number of classes apart: their data are not those of %2.")
                     .arg(others.join(QStringLiteral(", ")), runName(main->run));
  }
  const std::size_t selected = workbench_.selection().drawn().size();
  if (selected > storedOf_.size() && !storedOf_.empty()) {
    sentences << tr("%1 of %2 selected runs are drawn.").arg(storedOf_.size()).arg(selected);
  }
  const std::vector<std::int64_t> without = runsWithout();
  if (computing_ == 0 && !without.empty() && !shown_.empty()) sentences << costOf(without);
  return sentences.join(QLatin1Char(' '));
}

void CalibrationPage::showNotice() {
  const QString text = notice();
  notice_->setText(text);
  noticeBar_->setVisible(!text.isEmpty());
  const bool canCompute = workbench_.models() != nullptr && !runsWithout().empty();
  compute_->setText(computing_ != 0 ? tr("Cancel") : tr("Compute the answers"));
  compute_->setVisible(computing_ != 0 || canCompute);
}

void CalibrationPage::computeAnswers() {
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

void CalibrationPage::computeNext() {
  computing_ = 0;
  progress_.clear();
  if (toCompute_.empty()) {
    reload();
    return;
  }
  computingRun_ = toCompute_.back();
  toCompute_.pop_back();
  const auto again = [this] {
    if (shown_.empty())
      showEmpty(notice(), tr("Cancel"));
    else
      showNotice();
  };
  ModelService::Listener listener;
  listener.onPart = [this, again](const Json& answer) {
    const auto done = answer.find("done"), total = answer.find("total");
    if (done == answer.end() || total == answer.end() || !done->is_number_integer() ||
        !total->is_number_integer())
      return;
    progress_ = tr(": %1 of %2 images")
                    .arg(count(done->get<std::int64_t>()), count(total->get<std::int64_t>()));
    again();
  };
  listener.onDone = [this](const Json&) { computeNext(); };
  listener.onError = [this](const ModelError& error) {
    computeProblem_ = error.kind == "cancelled" ? tr("Computing the answers was cancelled.")
                                                : tr("The answers of %1 cannot be computed: %2")
                                                      .arg(runName(computingRun_), error.sentence);
    toCompute_.clear();
    computeNext();
  };
  Json request{{"op", "analyse"}, {"item", "calibration"}, {"store", true}};
  if (choice_.which) request["split"] = choice_.which->split;
  ModelChoice model;
  model.run = computingRun_;
  if (choice_.which && choice_.which->weights == "ema") model.use = "ema";
  computing_ = workbench_.models()->compute(model, std::move(request), this, listener);
  again();
}

}  // namespace vitrine::ui

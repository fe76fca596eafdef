// Runs without answers: which they are, what computing costs, and the computing.
#include "core/config/catalog.h"
#include "ui/calibration/calibration_page.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/analyses/analysis_menu.h"
#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {

namespace {

constexpr const char* kAnswersAnalysis = "calibration";
constexpr const char* kCueAnalysis = "shape_bias";

}  // namespace

bool CalibrationPage::canAnswer(std::int64_t run) const {
  const Catalog& catalog = workbench_.catalog();
  const ItemCard* analysis = catalog.find(ItemKind::Analysis, kAnswersAnalysis);
  const auto stored = stored_.find(run);
  if (analysis == nullptr || stored == stored_.end()) return true;  // the program will say
  return canAnalyse(catalog, {run, &stored->second.config}, *analysis);
}

QString CalibrationPage::whyNone() const {
  const Lacking lacking = [this](std::int64_t run) -> const RunBasics* {
    const auto stored = stored_.find(run);
    const bool hasNone = stored != stored_.end() && stored->second.answers.empty();
    return hasNone && (stored->second.isOfScript || !canAnswer(run)) ? &stored->second : nullptr;
  };
  return whyNoneOf(tr("No analysis here compares confidence with accuracy for the model of %1."),
                   lacking);
}

std::vector<std::int64_t> CalibrationPage::runsWithout() const {
  std::vector<std::int64_t> without;
  for (const std::int64_t run : readOf_) {
    const auto stored = stored_.find(run);
    const store::RunRow* row = workbench_.run(run);
    if (stored == stored_.end() || row == nullptr || row->latestCheckpoint < 0 || !canAnswer(run))
      continue;
    const bool hasThem = choice_.which
                             ? answersAt(stored->second.answers, *choice_.which, -1) != nullptr
                             : !stored->second.answers.empty();
    if (!hasThem) without.push_back(run);
  }
  return without;
}

std::vector<std::int64_t> CalibrationPage::runsWithoutCues() const {
  std::vector<std::int64_t> without;
  for (const auto& run : shown_) {
    const auto stored = stored_.find(run->run);
    const store::RunRow* row = workbench_.run(run->run);
    if (stored == stored_.end() || !stored->second.cues.empty() || row == nullptr ||
        row->latestCheckpoint < 0)
      continue;
    const ItemCard* dataset = workbench_.catalog().find(ItemKind::Dataset, stored->second.dataset);
    if (dataset == nullptr) continue;
    if (offersEvery(dataset->offers, {"shape", "texture"})) without.push_back(run->run);
  }
  return without;
}

QString CalibrationPage::costOf(const std::vector<std::int64_t>& runs,
                                const QString& analysis) const {
  if (workbench_.models() == nullptr) {
    return tr("They are computed by: vitrine analyse %1 %2")
        .arg(runs.empty() ? QString() : QString::number(runs.front()), analysis);
  }
  std::vector<AnalysedSamples> checkpoints;
  for (const std::int64_t run : runs) checkpoints.push_back({run, stored_.at(run).samples});
  return tr("%1.").arg(analysisCost(workbench_, checkpoints));
}

QString CalibrationPage::notice() const {
  QStringList sentences;
  if (const QString status = analyses_->status(); !status.isEmpty()) sentences << status;
  QStringList otherSplit, none;
  for (const std::int64_t run : readOf_) {
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
    sentences << tr("Answers of different splits are not drawn next to each other; excluded: %1.")
                     .arg(otherSplit.join(QStringLiteral(", ")));
  }
  if (!none.isEmpty() && !shown_.empty())
    sentences << tr("No answers are stored of %1.").arg(quotedNames(none));
  if (const QString why = whyNone(); !why.isEmpty()) sentences << why;
  // Bins of other classes say nothing about these.
  const CalibrationRun* main = current();
  QStringList others;
  for (const auto& run : shown_) {
    if (main != nullptr && run->predictions->classes != main->predictions->classes)
      others << runName(run->run);
  }
  if (!others.isEmpty()) {
    sentences << tr("%1 have another number of classes: their data are not those of %2.")
                     .arg(quotedNames(others), quotedNames({runName(main->run)}));
  }
  if (const QString share = drawnShare(shown_.size()); !share.isEmpty()) sentences << share;
  const std::vector<std::int64_t> without = runsWithout();
  if (!analyses_->isComputing() && !without.empty() && !shown_.empty())
    sentences << costOf(without);
  if (!analyses_->isComputing() && choice_.hasCues) {
    const std::vector<std::int64_t> cues = runsWithoutCues();
    QStringList names;
    for (const std::int64_t run : cues) names << runName(run);
    if (!cues.empty()) {
      sentences << tr("No decisions between shape and texture are stored of %1. %2")
                       .arg(quotedNames(names), costOf(cues, QLatin1String(kCueAnalysis)));
    }
  }
  return sentences.join(QLatin1Char(' '));
}

std::vector<std::pair<std::int64_t, std::int64_t>> CalibrationPage::checkpointsWithout() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> without;
  if (!choice_.which) return without;
  for (const auto& run : shown_) {
    const auto stored = stored_.find(run->run);
    if (stored == stored_.end()) continue;
    for (const std::int64_t step : stored->second.checkpoints) {
      const StoredAnswers* found = answersAt(stored->second.answers, *choice_.which, step);
      if (found == nullptr || found->step != step) without.emplace_back(run->run, step);
    }
  }
  return without;
}

RunAnalysis CalibrationPage::answersOf(std::int64_t run, std::int64_t checkpoint) const {
  RunAnalysis one{runName(run), {.run = run}, {}};
  if (checkpoint >= 0) {
    one.name = tr("step %1 of %2").arg(count(checkpoint), runName(run));
    one.model.checkpoint = std::to_string(checkpoint);
  }
  one.request = {{"op", "analyse"}, {"item", kAnswersAnalysis}, {"store", true}};
  if (choice_.which) one.request["split"] = choice_.which->split;
  if (choice_.which && choice_.which->weights == "ema") one.model.use = "ema";
  return one;
}

void CalibrationPage::showNotice() {
  // One at a time: both would ask for the same answers.
  std::vector<RunAnalysis> missing, ofFilm;
  if (!stepAnalyses_->isComputing()) {
    for (const std::int64_t run : runsWithout()) missing.push_back(answersOf(run));
    for (const std::int64_t run :
         choice_.hasCues ? runsWithoutCues() : std::vector<std::int64_t>()) {
      missing.push_back(answersOf(run));
      missing.back().request["item"] = kCueAnalysis;
    }
  }
  std::vector<std::int64_t> runs;
  if (!analyses_->isComputing()) {
    for (const auto& [run, step] : checkpointsWithout()) {
      ofFilm.push_back(answersOf(run, step));
      runs.push_back(run);
    }
  }
  analyses_->setMissing(std::move(missing));
  analyses_->showMessage(notice());
  QString film = stepAnalyses_->status();
  if (!stepAnalyses_->isComputing() && !ofFilm.empty()) {
    if (!film.isEmpty()) film += QLatin1Char(' ');
    film += tr("Without answers: %1. %2")
                .arg(counted(std::ssize(ofFilm), tr("stored checkpoint"), tr("stored checkpoints")),
                     costOf(runs));
  }
  stepAnalyses_->setMissing(std::move(ofFilm));
  stepAnalyses_->showMessage(film);
}

}  // namespace vitrine::ui

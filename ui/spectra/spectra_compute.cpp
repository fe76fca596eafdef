// Runs and steps without spectra, what computing costs, and what the page says about itself.
#include <algorithm>
#include <set>

#include "core/config/catalog.h"
#include "core/config/lookup.h"
#include "core/config/reads_images.h"
#include "ui/kit/value_text.h"
#include "ui/spectra/spectra_page.h"
#include "ui/workbench/analyses/analysis_menu.h"
#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {

namespace {

constexpr const char* kSpectrum = "spectrum";             // what an analysis offers that makes them
constexpr const char* kUsualAnalysis = "attention_rank";  // where the cards do not say

}  // namespace

std::string SpectraPage::architectureOf(std::int64_t run) const {
  const auto facts = facts_.find(run);
  return facts == facts_.end() ? std::string() : textAt(facts->second.config, "model.architecture");
}

std::string SpectraPage::analysisOf(std::int64_t run) const {
  const Catalog& catalog = workbench_.catalog();
  const ItemCard* architecture = catalog.find(ItemKind::Architecture, architectureOf(run));
  const bool isTold =
      std::any_of(catalog.items.begin(), catalog.items.end(),
                  [](const ItemCard& card) { return offersEvery(card.offers, {kSpectrum}); });
  if (architecture == nullptr || !isTold) return kUsualAnalysis;
  // Analyses of samples need a way to run the model on images.
  if (!readsImages(architecture->offers)) return {};
  for (const ItemCard& card : catalog.items) {
    if (card.kind == ItemKind::Analysis && offersEvery(architecture->offers, card.needs) &&
        offersEvery(card.offers, {kSpectrum}))
      return card.id;
  }
  return {};
}

QString SpectraPage::whyNone() const {
  const Lacking lacking = [this](std::int64_t run) -> const RunBasics* {
    const auto facts = facts_.find(run);
    const bool hasNone = facts != facts_.end() && facts->second.stored.empty();
    return hasNone && (facts->second.isOfScript || analysisOf(run).empty()) ? &facts->second
                                                                            : nullptr;
  };
  return whyNoneOf(tr("No analysis here computes singular values for the model of %1."), lacking);
}

std::vector<std::int64_t> SpectraPage::runsWithout() const {
  std::vector<std::int64_t> without;
  for (const std::int64_t run : readOf_) {
    const auto facts = facts_.find(run);
    const store::RunRow* row = workbench_.run(run);
    if (facts == facts_.end() || row == nullptr || row->latestCheckpoint < 0) continue;
    if (facts->second.stored.empty() && !analysisOf(run).empty()) without.push_back(run);
  }
  return without;
}

QString SpectraPage::costOf(std::size_t checkpoints, std::int64_t run) const {
  if (workbench_.models() == nullptr)
    return tr("They are computed by: vitrine analyse %1 %2")
        .arg(run)
        .arg(QString::fromStdString(analysisOf(run)));
  return tr("Cost: %1 loaded, one pass over 4 images each, a few seconds.")
      .arg(counted(static_cast<std::int64_t>(checkpoints), tr("checkpoint"), tr("checkpoints")));
}

QString SpectraPage::costOfMissing() const {
  const std::vector<std::int64_t> without = runsWithout();
  return without.empty() ? QString() : costOf(without.size(), without.front());
}

std::vector<RunAnalysis> SpectraPage::columnsWithout() const {
  std::vector<RunAnalysis> missing;
  for (const auto& run : shown_) {
    const auto facts = facts_.find(run->run);
    if (facts == facts_.end()) continue;
    const std::vector<StoredSpectrum>& stored = facts->second.stored;
    for (const std::int64_t step : facts->second.checkpoints) {
      const bool isThere = std::any_of(stored.begin(), stored.end(),
                                       [step](const auto& one) { return one.step == step; });
      if (isThere) continue;
      RunAnalysis one{tr("step %1 of %2").arg(count(step), runName(run->run)),
                      {.run = run->run},
                      {{"op", "analyse"}, {"item", run->analysis}, {"store", true}}};
      one.model.checkpoint = std::to_string(step);
      one.model.use = run->weights;
      // Of the same matrices as the columns next to it.
      const ItemCard* card = workbench_.catalog().find(ItemKind::Analysis, run->analysis);
      if (card != nullptr && card->schema.find("attention") != nullptr && !run->attention.empty())
        one.request["settings"] = {{"attention", run->attention}};
      missing.push_back(std::move(one));
    }
  }
  return missing;
}

QString SpectraPage::notice() const {
  QStringList sentences;
  if (const QString status = analyses_->status(); !status.isEmpty()) sentences << status;
  QStringList none;
  for (const std::int64_t run : readOf_) {
    const auto facts = facts_.find(run);
    if (facts != facts_.end() && facts->second.stored.empty()) none << runName(run);
  }
  if (!none.isEmpty() && !shown_.empty())
    sentences << tr("No spectra are stored of %1.").arg(quotedNames(none));
  if (const QString why = whyNone(); !why.isEmpty()) sentences << why;
  QStringList averaged;
  for (const auto& run : shown_) {
    if (run->weights == "ema") averaged << runName(run->run);
  }
  if (!averaged.isEmpty())
    sentences << tr("Of averaged weights: %1.").arg(quotedNames(averaged));
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
    sentences << tr("The matrices differ in size: compare each rank as a share of its size.");
  if (const QString share = drawnShare(shown_.size()); !share.isEmpty()) sentences << share;
  const std::vector<std::int64_t> without = runsWithout();
  if (!analyses_->isComputing() && !without.empty() && !shown_.empty())
    sentences << costOfMissing();
  return sentences.join(QLatin1Char(' '));
}

void SpectraPage::showNotice() {
  // One at a time: a model that is loaded for the one is not for the other.
  std::vector<RunAnalysis> missing, ofWaterfall;
  if (!stepAnalyses_->isComputing()) {
    for (const std::int64_t run : runsWithout())
      missing.push_back({runName(run),
                         {.run = run},
                         {{"op", "analyse"}, {"item", analysisOf(run)}, {"store", true}}});
  }
  if (!analyses_->isComputing()) ofWaterfall = columnsWithout();
  analyses_->setMissing(std::move(missing));
  analyses_->showMessage(notice());
  QString sentence = stepAnalyses_->status();
  if (!stepAnalyses_->isComputing() && !ofWaterfall.empty()) {
    if (!sentence.isEmpty()) sentence += QLatin1Char(' ');
    sentence += tr("Not in the waterfall: %1. %2")
                    .arg(counted(std::ssize(ofWaterfall), tr("stored checkpoint"),
                                 tr("stored checkpoints")),
                         costOf(ofWaterfall.size(), ofWaterfall.front().model.run));
  }
  stepAnalyses_->setMissing(std::move(ofWaterfall));
  stepAnalyses_->showMessage(sentence);
  showVariants();
}

QString SpectraPage::howToRead() const {
  return tr(
      "Each small chart has the singular values of one head's attention matrix, mean over the "
      "probe images. Where they fall fast, few directions hold most of the attention. The rank at "
      "80 % is the number of singular values that hold 80 % of their sum. Drag the dashed line to "
      "choose another share.\n\n"
      "The waterfall has a column for each stored step. The index goes from bottom to top, the "
      "colour is the logarithm of the singular value, the white line is the rank. It grows while a "
      "run trains; steps that only have a checkpoint are measured by Complete the waterfall.\n\n"
      "A claim about ranks needs controls. Diamonds and dashed lines are the same model before any "
      "training: what is there already comes from the mask or the architecture, not from learning. "
      "Other selected runs are controls too; the keys in which their configurations differ stand "
      "below their names. Above the charts stands what the ranks of all variants of the experiment "
      "say, and which of them are not trained. Effective rank is the exponential of the entropy of "
      "the shares, stable rank the sum of squares over the largest square.");
}

}  // namespace vitrine::ui

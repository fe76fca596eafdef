// Runs of the Attention page, and the choice of the image.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/config/config.h"
#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/figures/painting.h"
#include "ui/kit/empty_page.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostKept = 16;  // images in memory
constexpr int kNamedSamples = 8;       // stored images that are listed by number

bool isOfAttention(const store::ArtifactRow& row) {
  if (!row.meta.is_object()) return false;
  if (row.kind == artifact_kind::kAttention) return true;
  return (row.kind == artifact_kind::kImage && row.meta.contains("image")) ||
         (row.kind == artifact_kind::kImageGrid &&
          (row.meta.contains("first_seed") || row.meta.contains("explained")));
}

QStringList seriesWords(const AttentionSeries& series) {
  return {QString::fromStdString(series.analysis), QString::fromStdString(series.matrix)};
}

}  // namespace

void AttentionPage::reload() {
  isStale_ = false;
  lists_.run([this, wanted = runs()](store::RunReader& store,
                                     const std::atomic<bool>& isStale) -> Background::Finish {
    Facts facts;
    QString failure;
    for (const std::int64_t run : wanted) {
      if (isStale) return {};
      try {
        auto one = std::make_shared<RunFacts>();
        for (store::ArtifactRow& row : store.artifacts(run)) {
          if (isOfAttention(row)) one->rows.push_back(std::move(row));
        }
        one->entries = attentionEntries(one->rows);
        one->checkpoints = store.checkpoints(run);
        one->config = store.config(run);
        facts[run] = std::move(one);
      } catch (const Error& error) {
        failure = QString::fromUtf8(error.what());
      }
    }
    return [this, wanted, facts = std::move(facts), failure, uuid = databaseUuid(store)] {
      rememberUuid(workbench_, uuid);
      takeFacts(wanted, facts, failure);
    };
  });
}

void AttentionPage::takeFacts(const std::vector<std::int64_t>& runs, Facts facts,
                              const QString& failure) {
  facts_ = std::move(facts);
  const bool isOther = std::exchange(runsOf_, runs) != runs || panels_.size() != runs.size();
  if (runs.empty() || facts_.empty()) {
    runsOf_.clear();
    stack_->showEmpty(
        failure.isEmpty()
            ? tr("Select a run in the list: where its heads read is drawn here. Select two "
                 "runs to see both on the same image, patch and step.")
            : tr("The attention cannot be read: %1").arg(failure),
        failure.isEmpty() ? tr("New experiment") : QString());
    return;
  }
  if (isOther) arrangePanels();
  fillWeights();
  showContent();
}

// The controls choose among what there is.
void AttentionPage::showContent() {
  QStringList sentences;
  for (const std::int64_t run : runsOf_) {
    const auto facts = facts_.find(run);
    const bool isStored = facts != facts_.end() && !facts->second->entries.empty();
    if (isStored || computed_.count(run) > 0 || !waysOf(run).empty()) continue;
    const QString why = whyNothing(run);
    sentences << (runsOf_.size() > 1 ? tr("%1: %2").arg(runName(run), why) : why);
  }
  if (sentences.size() == std::ssize(runsOf_))
    stack_->showEmpty(sentences.join(QLatin1Char('\n')));
  else
    stack_->showContent();
  fillSeries();
}

std::vector<AttentionEntry> AttentionPage::entriesOf(std::int64_t run) const {
  std::vector<AttentionEntry> all;
  if (const auto facts = facts_.find(run); facts != facts_.end()) all = facts->second->entries;
  if (const auto computed = computed_.find(run); computed != computed_.end())
    all.insert(all.end(), computed->second.begin(), computed->second.end());
  const bool wantsAverage = use_ == kAverage;
  std::erase_if(all, [wantsAverage](const AttentionEntry& entry) {
    return (entry.weights == kAverage) != wantsAverage;
  });
  return all;
}

// Without a choice the weights that attention is stored of.
void AttentionPage::fillWeights() {
  bool hasAverage = false, isPlainStored = false, isAverageStored = false;
  for (const auto& [run, facts] : facts_) {
    hasAverage = hasAverage || Config(facts->config).at("train.ema.decay").is_number();
    for (const AttentionEntry& entry : facts->entries)
      (entry.weights == kAverage ? isAverageStored : isPlainStored) = true;
  }
  hasAverage = hasAverage || isAverageStored;
  if (!isUseChosen_) use_ = isAverageStored && !isPlainStored ? kAverage : kTrained;
  const QSignalBlocker quiet(weights_);
  weights_->setCurrentIndex(hasAverage && use_ == kAverage ? 1 : 0);
  weights_->setVisible(hasAverage);
  if (!hasAverage) use_ = kTrained;
}

AttentionSeries AttentionPage::seriesOf(std::int64_t run) const {
  const std::vector<AttentionEntry> entries = entriesOf(run);
  const std::vector<AttentionWay> ways = waysOf(run);
  const bool isStored = std::any_of(entries.begin(), entries.end(),
                                    [this](const auto& entry) { return entry.series == chosen_; });
  const bool canBe = std::any_of(ways.begin(), ways.end(),
                                 [this](const auto& way) { return way.series == chosen_; });
  if (isStored || canBe) return chosen_;
  // Another architecture has matrices of its own.
  if (!entries.empty()) return entries.front().series;
  return ways.empty() ? chosen_ : ways.front().series;
}

void AttentionPage::fillSeries() {
  std::vector<AttentionSeries> all;
  std::set<AttentionSeries> drawn;  // named by their samplers
  const auto add = [&all](const AttentionSeries& series) {
    if (std::find(all.begin(), all.end(), series) == all.end()) all.push_back(series);
  };
  // Stored images, in the order in which a run would be asked.
  for (const std::int64_t run : runsOf_) {
    const std::vector<AttentionEntry> entries = entriesOf(run);
    for (const AttentionWay& way : waysOf(run)) {
      if (std::any_of(entries.begin(), entries.end(),
                      [&](const AttentionEntry& entry) { return entry.series == way.series; }))
        add(way.series);
    }
    for (const AttentionEntry& entry : entries) {
      add(entry.series);
      if (entry.isDrawn) drawn.insert(entry.series);
    }
  }
  for (const std::int64_t run : runsOf_) {
    for (const AttentionWay& way : waysOf(run)) {
      // A sampler has no name before it has drawn.
      const bool isNamed = std::any_of(all.begin(), all.end(), [&](const auto& series) {
        return way.series.analysis.empty() && series.matrix == way.series.matrix;
      });
      if (!isNamed) add(way.series);
    }
  }
  if (!all.empty() && std::find(all.begin(), all.end(), chosen_) == all.end())
    chosen_ = all.front();
  const QSignalBlocker quiet(series_);
  series_->clear();
  for (const AttentionSeries& series : all) {
    series_->addItem(series.analysis.empty()  ? tr("while drawing")
                     : drawn.contains(series) ? tr("while drawing: %1").arg(series.title())
                                              : series.title(),
                     seriesWords(series));
    if (series == chosen_) series_->setCurrentIndex(series_->count() - 1);
  }
  series_->setEnabled(all.size() > 1);
  fillSamples();
}

void AttentionPage::fillSamples() {
  fillSplits();
  const std::string split = shownSplit();
  std::set<std::int64_t> stored;
  bool isDrawn = false, isOfWeights = false;
  for (const std::int64_t run : runsOf_) {
    const AttentionSeries series = seriesOf(run);
    for (const AttentionEntry& entry : entriesOf(run)) {
      if (entry.series != series) continue;
      isOfWeights = isOfWeights || entry.isOfWeights;
      if (entry.sample >= 0 && !entry.isOfWeights && entry.isIn(split)) stored.insert(entry.sample);
    }
    const std::vector<AttentionWay> ways = waysOf(run);
    isDrawn = isDrawn || (!ways.empty() && ways.front().isDrawn);
    isOfWeights = isOfWeights || std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
                    return way.isOfWeights && way.series == series;
                  });
  }
  if (isDrawn) listed_.clear();  // seeds, not images of a split
  if (!isSampleChosen_ && own_.isNull() && !stored.empty() && stored.count(sample_) == 0)
    sample_ = *stored.begin();
  const QSignalBlocker quiet(image_);
  // The number that Back to samples returns to.
  if (own_.isNull()) image_->setValue(static_cast<int>(std::max<std::int64_t>(sample_, 0)));
  image_->setPrefix(isDrawn         ? tr("seed ")
                    : split.empty() ? tr("image ")
                                    : tr("%1 image ").arg(QString::fromStdString(split)));
  QStringList numbers;
  for (const std::int64_t one : stored) {
    if (numbers.size() == kNamedSamples) {
      numbers << QStringLiteral("\u2026");
      break;
    }
    numbers << QString::number(one);
  }
  const auto place = std::find(listed_.begin(), listed_.end(), sample_);
  stored_->setText(
      isOfWeights             ? tr("of no image")
      : !own_.isNull()        ? ownName_
      : place != listed_.end() ? tr("%1 of %2 listed")
                                     .arg(std::distance(listed_.begin(), place) + 1)
                                     .arg(listed_.size())
      : stored.empty()        ? tr("none stored")
                              : tr("stored: %1").arg(numbers.join(QStringLiteral(", "))));
  image_->setEnabled(own_.isNull() && !isOfWeights);
  fillTimes();
}

std::set<std::string> AttentionPage::splits() const {
  std::set<std::string> all;
  if (!split_.empty()) all.insert(split_);
  for (const std::int64_t run : runsOf_) {
    for (const AttentionEntry& entry : entriesOf(run)) {
      if (!entry.split.empty() && entry.sample >= 0) all.insert(entry.split);
    }
  }
  return all;
}

std::string AttentionPage::shownSplit() const {
  if (!split_.empty()) return split_;
  // Evaluations end with the first of these that the data have.
  const std::set<std::string> known = splits();
  for (const char* one : {"test", "validation"}) {
    if (known.contains(one)) return one;
  }
  return known.empty() ? std::string() : *known.begin();
}

void AttentionPage::fillSplits() {
  const std::set<std::string> known = splits();
  const std::string shown = shownSplit();
  const QSignalBlocker quiet(splits_);
  splits_->clear();
  for (const std::string& one : known) {
    const QString word = QString::fromStdString(one);
    splits_->addItem(tr("%1 split").arg(word), word);
    if (one == shown) splits_->setCurrentIndex(splits_->count() - 1);
  }
  splits_->setVisible(known.size() > 1 && own_.isNull());
}

AttentionPage::ImageKey AttentionPage::keyOf(std::int64_t run, const AttentionEntry& entry) {
  return {run,           entry.step,
          entry.sample,  entry.split,
          entry.series,  entry.time.value_or(-1),
          entry.weights, entry.maps.empty() ? 0 : entry.maps.back()};
}

void AttentionPage::fillTimes() {
  std::set<double, std::greater<>> times;
  for (const std::int64_t run : runsOf_) {
    const AttentionSeries series = seriesOf(run);
    for (const AttentionEntry& entry : entriesOf(run)) {
      if (entry.series == series && entry.isOf(sample_, shownSplit()) && entry.time)
        times.insert(*entry.time);
    }
  }
  const QSignalBlocker quiet(time_);
  time_->clear();
  for (const double time : times) time_->addItem(tr("time %1").arg(shortNumber(time)), time);
  if (atTime_ && times.count(*atTime_) == 0) atTime_.reset();
  if (!atTime_ && !times.empty()) atTime_ = *times.begin();
  if (atTime_) time_->setCurrentIndex(time_->findData(*atTime_));
  time_->setVisible(!times.empty());
  timeName_->setVisible(!times.empty());
  fillSteps();
}

void AttentionPage::fillSteps() {
  std::set<std::int64_t> steps;
  std::int64_t newest = -1, newestWeights = -1;
  for (const std::int64_t run : runsOf_) {
    const AttentionSeries series = seriesOf(run);
    for (const AttentionEntry& entry : entriesOf(run)) {
      if (entry.series != series || !entry.isOf(sample_, shownSplit())) continue;
      steps.insert(entry.step);
      newest = std::max(newest, entry.step);
    }
    if (waysOf(run).empty()) continue;
    const auto facts = facts_.find(run);
    if (facts == facts_.end()) continue;
    for (const store::CheckpointRow& checkpoint : facts->second->checkpoints) {
      steps.insert(checkpoint.step);
      newestWeights = std::max(newestWeights, checkpoint.step);
    }
  }
  newestMissing_ = newest >= 0 && newestWeights > newest ? newestWeights : -1;
  // Without a choice the newest that is there to see.
  steps_->setSteps({steps.begin(), steps.end()}, atStep_.value_or(newest));
  showImages();
}

std::int64_t AttentionPage::shownStep() const { return steps_->shown(); }

std::int64_t AttentionPage::checkpointOf(std::int64_t run) const {
  std::int64_t newest = -1;
  const auto facts = facts_.find(run);
  if (facts == facts_.end()) return newest;
  for (const store::CheckpointRow& one : facts->second->checkpoints) {
    if (one.step <= shownStep()) newest = std::max(newest, one.step);
  }
  return newest;
}

std::optional<AttentionEntry> AttentionPage::entryOf(std::int64_t run) const {
  const AttentionSeries series = seriesOf(run);
  std::optional<AttentionEntry> found;
  const bool isExact = checkpointOf(run) == shownStep() && !waysOf(run).empty();
  for (const AttentionEntry& entry : entriesOf(run)) {
    if (entry.series != series || !entry.isOf(sample_, shownSplit()) || entry.step > shownStep())
      continue;
    if (entry.time && atTime_ && *entry.time != *atTime_) continue;
    // What can be had at the step itself is not shown from an earlier one.
    if (isExact && entry.step != shownStep()) continue;
    if (!found || entry.step >= found->step) found = entry;
  }
  return found;
}

void AttentionPage::showImages() {
  // All first: the cost that one panel shows is that of both runs.
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const std::int64_t run = panels_[i]->run();
    const std::optional<AttentionEntry> entry = entryOf(run);
    std::optional<ImageKey> wanted;
    if (entry) wanted = keyOf(run, *entry);
    if (shown_[i].wanted != wanted) shown_[i].error.clear();
    shown_[i].wanted = wanted;
  }
  for (std::size_t i = 0; i < panels_.size(); ++i) showPanel(i);
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const Shown& shown = shown_[i];
    if (shown.ticket != 0 || !shown.error.isEmpty()) continue;
    if (isPartShown(i) || isWindowMissing(i) ||
        (!shown.wanted && always_->isChecked() && isVisible()))
      compute(i);
  }
  readImages();
  showChoice();
}

void AttentionPage::showPanel(std::size_t index) {
  Shown& shown = shown_[index];
  AttentionPanel& panel = *panels_[index];
  const auto kept = shown.wanted ? kept_.find(*shown.wanted) : kept_.end();
  if (kept != kept_.end()) {
    if (shown.present == shown.wanted && panel.hasImage()) return;
    shown.present = shown.wanted;
    QString title;
    if (panels_.size() > 1) {
      title = runName(panel.run());
      if (shown.wanted->step != shownStep())
        title += tr(", step %1").arg(count(shown.wanted->step));
    }
    const AttentionScene& scene = panel.scene();
    const bool isLeading = panel.hasImage() && leading() == &panel;
    const int number = isLeading ? scene.layerAt(scene.layer()).number : -1;
    const int window = isLeading ? scene.layerAt(scene.layer()).window : -1;
    panel.showImage(kept->second, title);
    panel.scene().setChoice(choice_);
    if (isLeading && window >= 0) followLayer(number, window);
    if (shown.ticket == 0 && leading() == &panel && !panel.scene().canAnswer()) choice_.query = {};
    return;
  }
  if (shown.ticket != 0) return;  // says how far it is
  shown.present.reset();
  if (!shown.error.isEmpty()) {
    panel.showMessage(shown.error, wayOf(panel.run()) ? tr("Try again") : QString());
  } else if (shown.wanted) {
    // A short reading shows no message: the earlier picture stays until then.
    if (!panel.hasImage()) sayReading(index);
  } else {
    const QString why = whyNothing(panel.run());
    // Of two runs only pictures have a title.
    panel.showMessage(panels_.size() > 1 ? tr("%1: %2").arg(runName(panel.run()), why) : why,
                      wayOf(panel.run()) ? tr("Compute") : QString());
  }
}

void AttentionPage::sayReading(std::size_t index) {
  panels_[index]->showMessage(
      tr("Reading the attention of step %1\u2026").arg(count(shown_[index].wanted->step)),
      QString());
}

void AttentionPage::readImages() {
  struct Job {
    ImageKey key;
    AttentionEntry entry;
    std::shared_ptr<const RunFacts> facts;
    std::shared_ptr<const AttentionImage> image;
    QString error;
  };
  auto jobs = std::make_shared<std::vector<Job>>();
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const Shown& shown = shown_[i];
    if (!shown.wanted || kept_.count(*shown.wanted) > 0 || !shown.error.isEmpty()) continue;
    const auto entry = entryOf(panels_[i]->run());
    const auto facts = facts_.find(panels_[i]->run());
    if (entry && facts != facts_.end())
      jobs->push_back({*shown.wanted, *entry, facts->second, nullptr, QString()});
  }
  if (jobs->empty()) {
    images_.cancel();
    return;
  }
  images_.run([this, jobs](store::RunReader& store,
                           const std::atomic<bool>& isStale) -> Background::Finish {
    for (Job& job : *jobs) {
      if (isStale) return {};
      try {
        job.image = readAttention(job.entry, job.facts->rows,
                                  [&store](std::int64_t id) { return store.artifactData(id); });
      } catch (const Error& error) {
        job.error = QString::fromUtf8(error.what());
      }
    }
    return [this, jobs] {
      for (Job& job : *jobs) {
        if (job.image != nullptr) keep(job.key, job.image);
        for (std::size_t i = 0; i < panels_.size(); ++i) {
          if (shown_[i].wanted != job.key) continue;
          if (!job.error.isEmpty())
            shown_[i].error = tr("This attention cannot be read: %1").arg(job.error);
          showPanel(i);
        }
      }
      showChoice();
    };
  });
}

void AttentionPage::keep(const ImageKey& key, std::shared_ptr<const AttentionImage> image) {
  kept_[key] = std::move(image);
  recent_.erase(std::remove(recent_.begin(), recent_.end(), key), recent_.end());
  recent_.push_back(key);
  while (recent_.size() > kMostKept) {
    const ImageKey oldest = recent_.front();
    recent_.erase(recent_.begin());
    kept_.erase(oldest);
    if (oldest.map != 0) continue;
    std::vector<AttentionEntry>& entries = computed_[oldest.run];
    std::erase_if(entries,
                  [&](const AttentionEntry& entry) { return keyOf(oldest.run, entry) == oldest; });
  }
}

void AttentionPage::showWaiting() {
  if (!lists_.isBusy() || runsOf_ == runs()) {
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const Shown& shown = shown_[i];
      if (shown.wanted && kept_.count(*shown.wanted) == 0 && shown.ticket == 0 &&
          shown.error.isEmpty())
        sayReading(i);
    }
    return;
  }
  runsOf_.clear();
  stack_->showEmpty(tr("Reading the stored attention\u2026"));
}

}  // namespace vitrine::ui

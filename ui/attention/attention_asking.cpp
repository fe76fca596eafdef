// Attention that is not stored: asked from the model in memory, or made of an image of the user's.
#include <QCheckBox>
#include <QFileDialog>
#include <QImageReader>
#include <QPushButton>
#include <QSpinBox>
#include <QVariant>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/lookup.h"
#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/model_service.h"

namespace vitrine::ui {

namespace {

constexpr std::int64_t kOwnSample = -1;
constexpr std::int64_t kMostStored = std::int64_t{128} << 20;  // bytes of a run's attention
constexpr int kLargestSide = 4096;  // pixels: three bytes each have to fit into one request

}  // namespace

std::vector<AttentionWay> AttentionPage::waysOf(std::int64_t run) const {
  const auto facts = facts_.find(run);
  if (facts == facts_.end() || workbench_.models() == nullptr) return {};
  std::vector<AttentionWay> ways = attentionWays(workbench_.catalog(), facts->second->config);
  for (const AttentionEntry& entry : entriesOf(run)) {
    if (!entry.isDrawn || ways.empty() || !ways.front().isDrawn) continue;
    AttentionWay own{entry.series, true};
    if (std::find(ways.begin(), ways.end(), own) == ways.end()) ways.push_back(own);
  }
  return ways;
}

std::optional<AttentionWay> AttentionPage::wayOf(std::int64_t run) const {
  if (checkpointOf(run) < 0) return std::nullopt;
  const std::vector<AttentionWay> ways = waysOf(run);
  const AttentionSeries series = seriesOf(run);
  for (const AttentionWay& way : ways) {
    if (way.series == series && !(way.isDrawn && !own_.isNull())) return way;
  }
  return std::nullopt;
}

bool AttentionPage::isMissing(std::size_t index) const {
  const Shown& shown = shown_[index];
  const bool isUnread = !shown.error.isEmpty() && !panels_[index]->hasImage();
  const bool isThere = shown.wanted && !isUnread && !isQueryMissing(index) && !isPartShown(index) &&
                       !isWindowMissing(index);
  return !isThere && shown.ticket == 0 && wayOf(panels_[index]->run());
}

QString AttentionPage::costOfMissing() const {
  double bytes = 0;
  int missing = 0;
  bool isDrawn = false, isOfWeights = false;
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    if (!isMissing(i)) continue;
    ++missing;
    const std::int64_t run = panels_[i]->run();
    isDrawn = isDrawn || wayOf(run)->isDrawn;
    isOfWeights = isOfWeights || wayOf(run)->isOfWeights;
    const auto facts = facts_.find(run);
    if (facts == facts_.end()) continue;
    for (const store::CheckpointRow& one : facts->second->checkpoints) {
      if (one.step == checkpointOf(run)) bytes += static_cast<double>(one.bytes);
    }
  }
  const QString weights = bytes > 0 ? QString::fromStdString(formatBytes(bytes)) : QString();
  if (isOfWeights)
    return tr("Computing loads the weights (%1): seconds on a processor.")
        .arg(weights.isEmpty() ? tr("size unknown") : weights);
  if (missing > 1 && isDrawn)
    return tr(
        "Computing asks both runs: it draws an image with every step of the sampler, seconds to "
        "minutes.");
  if (missing > 1)
    return tr("Computing asks both runs: it loads the weights of both (%1) and runs one image "
              "through each model. That takes seconds on a processor, and less for the next image.")
        .arg(weights.isEmpty() ? tr("size unknown") : weights);
  if (isDrawn)
    return tr(
        "Computing draws the image once, with every step of the sampler: seconds to minutes.");
  return weights.isEmpty()
             ? tr("Computing runs one image through the model: seconds on a processor.")
             : tr("Computing loads the weights (%1) and runs one image through the model: seconds "
                  "on a processor, less for the next image.")
                   .arg(weights);
}

QString AttentionPage::whyNothing(std::int64_t run) const {
  const auto facts = facts_.find(run);
  const bool isKnown = !workbench_.catalog().items.empty();
  if (waysOf(run).empty()) {
    if (!entriesOf(run).empty())
      return tr("The attention of this image is not stored at step %1.").arg(count(shownStep()));
    if (workbench_.models() == nullptr)
      return tr("This run has stored no attention, and nothing can be computed here.");
    if (!isKnown || facts == facts_.end())
      return tr("This run has stored no attention. Checking what can be computed\u2026");
    const ItemCard* card = workbench_.catalog().find(
        ItemKind::Architecture, textAt(facts->second->config, "model.architecture"));
    if (card == nullptr)
      return tr("No plugin here knows the model of this run, so its attention cannot be computed. "
                "Install its plugin, or select another run.");
    return tr("The architecture of this run, %1, offers no attention that can be read. Select a "
              "run of another architecture.")
        .arg(QString::fromStdString(card->title));
  }
  if (facts == facts_.end() || facts->second->checkpoints.empty())
    return tr(
        "This run has no checkpoint yet. Attention can be computed from its first one on, or "
        "stored while it trains: choose attention maps under Observe.");
  if (checkpointOf(run) < 0)
    return tr("This run has no checkpoint up to step %1, and nothing is stored there.")
        .arg(count(shownStep()));
  const QString step = count(checkpointOf(run));
  if (!own_.isNull())
    return wayOf(run) ? tr("%1 at step %2. %3").arg(ownName_, step, costOfMissing())
                      : tr("This model draws images; it cannot analyse one.");
  const std::optional<AttentionWay> way = wayOf(run);
  if (way && way->isOfWeights)
    return tr("Not stored at step %1: %2. %3").arg(step, way->series.title(), costOfMissing());
  const QString sentence =
      way && way->isDrawn
          ? tr("The attention while the image of seed %1 is drawn, at step %2, is not stored. %3")
          : tr("The attention of image %1 at step %2 is not stored. %3");
  return sentence.arg(sample_).arg(step, costOfMissing());
}

// Of a drawn image the patches are kept that were asked for; a run may have stored few queries.
bool AttentionPage::isQueryMissing(std::size_t index) const {
  const AttentionPanel& panel = *panels_[index];
  const std::optional<AttentionWay> way = wayOf(panel.run());
  if (!way || !(way->isDrawn || way->hasQueries) || !isOfCheckpoint(index) || isPartShown(index) ||
      choice_.query.kind != QueryChoice::Kind::Patch)
    return false;
  const AttentionScene& scene = panel.scene();
  return scene.layerAt(scene.layer()).window < 0 && !scene.query(scene.layer());
}

bool AttentionPage::isOfCheckpoint(std::size_t index) const {
  const std::optional<ImageKey>& shown = shown_[index].wanted;
  return panels_[index]->hasImage() && shown && shown->step == checkpointOf(panels_[index]->run());
}

bool AttentionPage::isAnyQueryMissing() const {
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    if (shown_[i].ticket == 0 && isQueryMissing(i)) return true;
  }
  return false;
}

bool AttentionPage::isWindowMissing(std::size_t index) const {
  const AttentionPanel& panel = *panels_[index];
  if (!isOfCheckpoint(index) || choice_.query.kind != QueryChoice::Kind::Patch ||
      shown_[index].asked == choice_.query.place)
    return false;
  const AttentionScene& scene = panel.scene();
  if (scene.layerAt(scene.layer()).window < 0 || scene.query(scene.layer())) return false;
  const std::optional<AttentionWay> way = wayOf(panel.run());
  return way && way->hasPlaces;
}

std::int64_t AttentionPage::roomToStore(std::int64_t run) const {
  const auto facts = facts_.find(run);
  if (!store_->isChecked() || facts == facts_.end()) return 0;
  std::int64_t stored = 0;
  for (const store::ArtifactRow& row : facts->second->rows) stored += row.bytes;
  const QVariant own = property("mostStored");  // a test fills less
  const std::int64_t most = own.isValid() ? own.toLongLong() : kMostStored;
  return std::max<std::int64_t>(most - stored, 0);
}

bool AttentionPage::isPartShown(std::size_t index) const {
  const auto kept = shown_[index].wanted ? kept_.find(*shown_[index].wanted) : kept_.end();
  return kept != kept_.end() && !kept->second->isWhole;
}

std::shared_ptr<const AttentionImage> AttentionPage::knownLayers(std::int64_t run,
                                                                 const AttentionWay& way) const {
  // Rollout and distances are of all layers.
  if (!way.hasLayers || choice_.isRollout || choice_.isDistances) return nullptr;
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const auto& kept) {
    const ImageKey& key = kept.first;
    return key.run == run && key.series == way.series && key.weights == use_ &&
           kept.second->isWhole && choice_.layer < static_cast<int>(kept.second->layers.size()) &&
           // Which windows there are depends on the patch.
           std::none_of(kept.second->layers.begin(), kept.second->layers.end(),
                        [](const AttentionLayer& layer) { return layer.window >= 0; });
  });
  return found == kept_.rend() ? nullptr : found->second;
}

void AttentionPage::computeMissing() {
  bool isAsked = false;
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    if (!isMissing(i)) continue;
    compute(i);
    isAsked = true;
  }
  if (!isAsked) workbench_.showMessage(tr("Nothing is missing that could be computed here."));
}

void AttentionPage::showOffer() {
  const std::int64_t shown = shownStep();
  const bool isQuery = isAnyQueryMissing();
  offer_->setVisible(isQuery || (shown >= 0 && shown < newestMissing_));
  const QString step = count(newestMissing_);
  offerText_->setText(
      isQuery      ? tr("The attention of this patch is not stored; it can be computed.")
      : shown == 0 ? tr("Step 0, before training, is shown; step %1 can be computed.").arg(step)
                   : tr("Step %1 is shown; step %2 can be computed.").arg(count(shown), step));
  computeOffer_->setText(isQuery ? tr("Compute this patch") : tr("Compute step %1").arg(step));
}

void AttentionPage::computeOffer() {
  if (!isAnyQueryMissing()) {
    atStep_ = newestMissing_;
    workbench_.selection().setStep(newestMissing_);
    fillSteps();
    Q_EMIT viewChanged();
  }
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    if (isMissing(i)) compute(i);
  }
}

void AttentionPage::compute(std::size_t index) {
  const std::int64_t run = panels_[index]->run();
  ModelService* models = workbench_.models();
  const std::optional<AttentionWay> way = wayOf(run);
  if (models == nullptr || !way || shown_[index].ticket != 0) return;
  const bool isOtherWindow = isWindowMissing(index);
  AttentionQuestion question{.way = *way, .sample = sample_, .image = own_};
  if (own_.isNull()) question.split = shownSplit();
  if (way->hasPlaces && choice_.query.kind == QueryChoice::Kind::Patch)
    shown_[index].asked = question.place = choice_.query.place;
  // The grid is known from any image of the run.
  const auto drawn = std::find_if(kept_.begin(), kept_.end(),
                                  [run](const auto& kept) { return kept.first.run == run; });
  if (way->isDrawn && drawn != kept_.end()) {
    const TokenGrid& grid = drawn->second->layers.front().keyGrid;
    question.patch = {static_cast<std::int64_t>(choice_.query.place[0] * grid.rows),
                      static_cast<std::int64_t>(choice_.query.place[1] * grid.columns)};
  }
  // The layer that is shown first: the others take twice as long, and follow by themselves.
  const bool isRest = isPartShown(index);
  const bool isQuiet = isRest || isOtherWindow;
  const auto known = isRest ? nullptr : knownLayers(run, *way);
  // A part is not stored: the whole follows.
  if (known == nullptr) question.storeWithin = roomToStore(run);
  if (known != nullptr)
    question.layer = known->layers[static_cast<std::size_t>(choice_.layer)].number;
  ModelChoice model{.run = run, .checkpoint = std::to_string(checkpointOf(run)), .use = use_};
  const auto answer = std::make_shared<AttentionResponse>();
  const auto panelOf = [this](std::int64_t asked) {
    return static_cast<std::size_t>(
        std::find_if(panels_.begin(), panels_.end(),
                     [asked](const AttentionPanel* panel) { return panel->run() == asked; }) -
        panels_.begin());
  };
  ModelService::Listener listener;
  listener.onPart = [this, answer, run, panelOf, isQuiet](const Json& part) {
    answer->take(part);
    const std::size_t at = panelOf(run);
    if (isQuiet || !part.contains("done") || at >= panels_.size()) return;
    const double total = stateNumber(part, "total");
    const double share = total > 0 ? stateNumber(part, "done") / total : 0;
    panels_[at]->showMessage(tr("Computing: %1").arg(percent(share, 0)), QString(), true);
  };
  listener.onDone = [this, answer, run, panelOf, way = *way, use = use_, known](const Json& last) {
    const std::size_t at = panelOf(run);
    if (at < shown_.size()) shown_[at].ticket = 0;
    AttentionWay made = way;
    if (made.isDrawn && last.contains("sampler") && last["sampler"].is_string())
      made.series.analysis = last["sampler"].get<std::string>();
    try {
      auto found = answer->found(made, last.value("step", std::int64_t{0}));
      if (found.empty()) throw FileError("the answer has no attention");
      for (AttentionResponse::Found& one : found) {
        if (one.image == nullptr) continue;
        if (known != nullptr)
          one.image = std::make_shared<AttentionImage>(amongLayersOf(*known, *one.image));
        AttentionEntry& entry = one.entry;
        entry.weights = use;
        const bool hasWindows =
            std::any_of(one.image->layers.begin(), one.image->layers.end(),
                        [](const AttentionLayer& layer) { return layer.window >= 0; });
        if (entry.isDrawn || hasWindows) addKnownQueries(run, entry, one.image);
        entry.maps.clear();
        keep(keyOf(run, entry), one.image);
        std::vector<AttentionEntry>& entries = computed_[run];
        std::erase_if(entries, [&](const AttentionEntry& other) {
          return keyOf(run, other) == keyOf(run, entry);
        });
        entries.push_back(entry);
      }
      if (way.series == chosen_) chosen_ = made.series;
    } catch (const Error& error) {
      if (at < shown_.size())
        shown_[at].error =
            tr("The answer cannot be read: %1").arg(QString::fromUtf8(error.what()));
    }
    if (at < shown_.size()) shown_[at].present.reset();
    fillSeries();
  };
  listener.onError = [this, run, panelOf](const ModelError& error) {
    const std::size_t at = panelOf(run);
    if (at >= shown_.size()) return;
    shown_[at].ticket = 0;
    const bool isCancelled = error.kind == "cancelled";
    shown_[at].error =
        isCancelled ? tr("Computing was cancelled.")
        : panels_.size() > 1
            ? tr("The attention of %1 cannot be computed: %2").arg(runName(run), error.sentence)
            : tr("The attention cannot be computed: %1").arg(error.sentence);
    // The picture that is there stays.
    if (shown_[at].wanted) {
      if (isCancelled)
        workbench_.showMessage(shown_[at].error);
      else
        workbench_.showError(shown_[at].error);
    }
    showPanel(at);
  };
  shown_[index].error.clear();
  if (!isQuiet)
    panels_[index]->showMessage(
        tr("Computing the attention at step %1\u2026").arg(count(checkpointOf(run))), QString(),
        true);
  shown_[index].ticket =
      models->compute(model, attentionRequest(question), this, std::move(listener));
}

void AttentionPage::addKnownQueries(std::int64_t run, const AttentionEntry& entry,
                                    std::shared_ptr<const AttentionImage>& image) const {
  for (const auto& [key, known] : kept_) {
    if (key.run != run || key.step != entry.step || key.sample != entry.sample ||
        key.split != entry.split || key.series.matrix != entry.series.matrix ||
        key.time != entry.time.value_or(-1) ||
        (key.weights == kAverage) != (entry.weights == kAverage) ||
        known->picture != image->picture)
      continue;
    auto both = std::make_shared<AttentionImage>(entry.isDrawn ? *known : *image);
    if (entry.isDrawn)
      addQueries(*both, *image);
    else
      addWindows(*both, *known);
    image = std::move(both);
    if (!entry.isDrawn) continue;
    return;
  }
}

void AttentionPage::cancelComputing(std::size_t index) {
  if (index >= shown_.size() || shown_[index].ticket == 0 || workbench_.models() == nullptr) return;
  workbench_.models()->cancel(shown_[index].ticket);
}

void AttentionPage::takeOwnImage(const QImage& image, const QString& name) {
  own_ = image;
  ownName_ = name;
  for (auto& [run, entries] : computed_) {
    // Those of the image before.
    entries.erase(
        std::remove_if(entries.begin(), entries.end(),
                       [](const AttentionEntry& entry) { return entry.sample == kOwnSample; }),
        entries.end());
  }
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    const bool isOwn = kept->first.sample == kOwnSample;
    if (isOwn)
      recent_.erase(std::remove(recent_.begin(), recent_.end(), kept->first), recent_.end());
    kept = isOwn ? kept_.erase(kept) : std::next(kept);
  }
  for (Shown& shown : shown_) {
    shown.present.reset();
    shown.error.clear();
  }
}

void AttentionPage::setOwnImage(const QImage& image, const QString& name) {
  takeOwnImage(image, name);
  sample_ = own_.isNull() ? std::max<std::int64_t>(image_->value(), 0) : kOwnSample;
  dressControls();
  fillSamples();
  if (own_.isNull()) return;
  for (std::size_t i = 0; i < panels_.size(); ++i) compute(i);  // that is what it was given for
}

void AttentionPage::askForImage() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("Open an image"), QString(),
      tr("Images (*.png *.jpg *.jpeg *.bmp *.webp *.gif *.tif *.tiff)"));
  if (!file.isEmpty()) openOwnImage(file);
}

void AttentionPage::openOwnImage(const QString& file) {
  QImageReader reader(file);
  reader.setAutoTransform(true);
  const QString name = QFileInfo(file).fileName();
  const QSize size = reader.size();
  if (size.width() > kLargestSide || size.height() > kLargestSide) {
    workbench_.showError(tr("%1 has %2 x %3 pixels; at most %4 a side can be opened here.")
                             .arg(name, QString::number(size.width()),
                                  QString::number(size.height()), QString::number(kLargestSide)));
    return;
  }
  const QImage image = reader.read();
  if (image.isNull()) {
    workbench_.showError(
        tr("%1 is not an image that can be read: %2.").arg(name, reader.errorString()));
    return;
  }
  setOwnImage(image, name);
}

}  // namespace vitrine::ui

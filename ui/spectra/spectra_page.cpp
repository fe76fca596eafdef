// What the Spectra page reads, and what its controls choose.
#include "ui/spectra/spectra_page.h"

#include <QApplication>
#include <QComboBox>
#include <QGridLayout>
#include <QSlider>
#include <QSpinBox>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/config/config.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

namespace {

constexpr int kSpectraReloadMs = 500;  // at most so often while a run writes
constexpr std::size_t kMostSpectra = 4;
constexpr std::size_t kMostSeeds = 64;   // runs whose scores are averaged
constexpr std::size_t kMostSteps = 400;  // of a run, that are read
constexpr const char* kMeasuredRank = "rank80";  // at the share that runs measure unasked

}  // namespace

SpectraPage::SpectraPage(Workbench& workbench, QWidget* parent)
    : ReadingPage(parent),
      workbench_(workbench),
      lists_(workbench.store().file()),
      spectra_(workbench.store().file()),
      loading_({&lists_, &spectra_}, kSpectraReloadMs),
      stack_(new QStackedWidget(this)) {
  setMinimumSize(240, 140);
  auto* outer = columnIn(this, {});
  outer->addWidget(stack_);
  auto* shown = new QWidget(this);
  auto* column = columnIn(shown, {px(12), px(12), px(12), px(12)}, px(8));
  column->addWidget(makeTools());
  makeAnalyses();
  column->addWidget(analyses_);
  column->addWidget(columns_);
  column->addWidget(makeVariants());
  grid_ = new QGridLayout;
  grid_->setSpacing(px(12));
  column->addLayout(grid_, 1);
  heads_ = makeView(tr("Spectra of all heads"), 200);
  share_ = makeView(tr("Spectrum of the chosen head"), 200);
  waterfall_ = makeView(tr("Waterfall over training"), 220);
  controls_ = makeView(tr("Controls"), 220);
  effective_ = makeView(tr("Effective rank over training"), 150);
  stable_ = makeView(tr("Stable rank over training"), 150);
  for (FigureView* view : {effective_, stable_}) view->setLeastRoom({240, 140});
  stepBar_ = new StepBar(tr("Steps whose spectra are stored"), this);
  connect(stepBar_, &StepBar::chosen, this, &SpectraPage::chooseStep);
  connectViews();
  arrange();
  stack_->addWidget(makeFitArea(shown, this));
  empty_ = new EmptyPage(QString(), QString(), this);
  connect(empty_, &EmptyPage::actionRequested, this, [this] {
    if (runs().empty())
      workbench_.showPage(QStringLiteral("configure"));
    else
      analyses_->press();
  });
  connect(empty_, &EmptyPage::cancelRequested, this, &SpectraPage::cancelReading);
  stack_->addWidget(makeFitArea(empty_, this));
  keepWheelForFocus(*this);
  QWidget* before = follow_;
  for (QWidget* next : std::initializer_list<QWidget*>{heads_, share_, waterfall_, controls_,
                                                       stepBar_->slider(), effective_, stable_}) {
    setTabOrder(before, next);
    before = next;
  }

  connect(&loading_, &LoadingState::again, this, &SpectraPage::reload);
  connect(&loading_, &LoadingState::cancellable, this, [this] {
    cancel_->show();
    empty_->setCancelShown(true);
  });
  connect(&loading_, &LoadingState::waiting, this, [this] {
    if (factsOf_ != runs() || shown_.empty())
      showEmpty(tr("Reading the spectra of the runs\u2026"), QString());
  });
  connect(&loading_, &LoadingState::done, this, [this] {
    cancel_->hide();
    empty_->setCancelShown(false);
  });
  for (Background* one : {&lists_, &spectra_}) {
    connect(one, &Background::failed, this, [this](const QString& sentence) {
      showEmpty(tr("The spectra cannot be read: %1").arg(sentence), QString());
    });
  }
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this,
          [this] { changed(loading_); });
  connect(&workbench_.selection(), &Selection::runsChanged, this, [this] { changed(); });
  connect(&workbench_.selection(), &Selection::stepChanged, this, [this] {
    const std::int64_t step = workbench_.selection().step();
    const auto wanted = step < 0 ? std::nullopt : std::optional(step);
    if (wanted == step_) return;
    step_ = wanted;
    if (isVisible() && factsOf_ == runs()) showAll();
  });
  connect(&workbench_.selection(), &Selection::focusChanged, this, [this] {
    const Selection& selection = workbench_.selection();
    const int head = choice_.head < 0 ? choice_.head : selection.head();
    if (selection.layer() == choice_.layer && head == choice_.head) return;
    choice_.layer = selection.layer();
    choice_.head = head;
    if (isVisible() && factsOf_ == runs()) {
      showAll();
      readRuns();
    }
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] { showAll(); });
  connect(&workbench_, &Workbench::catalogReady, this, [this] { changed(); });
  // Export takes the picture that had the focus last.
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    if (now == heads_) picture_ = Picture::Heads;
    if (now == share_) picture_ = Picture::Share;
    if (now == waterfall_) picture_ = Picture::Waterfall;
    if (now == controls_) picture_ = Picture::Controls;
    if (now == effective_) picture_ = Picture::Effective;
    if (now == stable_) picture_ = Picture::Stable;
  });
  stack_->setCurrentIndex(1);
}

void SpectraPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  arrange();
}

std::vector<std::int64_t> SpectraPage::runs() const {
  return drawnRuns(workbench_.selection(), kMostSpectra);
}

QString SpectraPage::runName(std::int64_t run) const { return runNameOf(workbench_, run); }

std::vector<std::int64_t> SpectraPage::steps() const {
  std::set<std::int64_t> all;
  for (const auto& run : shown_) {
    for (const auto& spectrum : run->steps) all.insert(spectrum->step);
  }
  return {all.begin(), all.end()};
}

std::int64_t SpectraPage::shownStep() const {
  const std::vector<std::int64_t> all = steps();
  if (all.empty()) return -1;
  if (!step_) return all.back();
  const auto after = std::upper_bound(all.begin(), all.end(), *step_);
  return after == all.begin() ? all.front() : *(after - 1);
}

void SpectraPage::reload() {
  isStale_ = false;
  const std::int64_t step = workbench_.selection().step();
  step_ = step < 0 ? std::nullopt : std::optional(step);
  lists_.run([this, wanted = runs()](store::RunReader& store,
                                     const std::atomic<bool>& isStale) -> Background::Finish {
    std::map<std::int64_t, Facts> facts;
    for (const std::int64_t run : wanted) {
      if (isStale) return {};
      facts[run].stored = storedSpectra(store.artifacts(run));
      facts[run].config = flatten(store.config(run));
      for (const store::CheckpointRow& checkpoint : store.checkpoints(run))
        facts[run].checkpoints.push_back(checkpoint.step);
      std::sort(facts[run].checkpoints.begin(), facts[run].checkpoints.end());
    }
    return [this, wanted, facts = std::move(facts), uuid = databaseUuid(store)] {
      rememberUuid(workbench_, uuid);
      takeFacts(wanted, facts);
    };
  });
}

void SpectraPage::takeFacts(const std::vector<std::int64_t>& runs,
                            std::map<std::int64_t, Facts> facts) {
  facts_ = std::move(facts);
  factsOf_ = runs;
  const bool hasAny = std::any_of(facts_.begin(), facts_.end(),
                                  [](const auto& entry) { return !entry.second.stored.empty(); });
  if (hasAny) {
    readRuns();
    return;
  }
  spectra_.cancel();
  shown_.clear();
  if (runs.empty()) {
    showEmpty(tr("Select a run: here the singular values of its attention are drawn, head by head "
                 "and step by step."),
              tr("New experiment"));
    return;
  }
  showNotice();
  const RunAnalyses::EmptyWords words = analyses_->emptyWords(
      whyNone().isEmpty()
          ? tr("The selected runs have no checkpoint yet. Spectra are stored while a run trains "
               "where attention rank is ticked under Observe, or computed here from a checkpoint.")
          : whyNone(),
      tr("No spectra of these runs are stored yet. %1").arg(costOfMissing()));
  showEmpty(words.sentence, words.action);
}

void SpectraPage::showEmpty(const QString& sentence, const QString& action) {
  empty_->showMessage(sentence, action);
  stack_->setCurrentIndex(1);
}

void SpectraPage::readRuns() {
  struct SpectraRequest {
    std::int64_t run;
    std::vector<StoredSpectrum> stored;
  };
  std::vector<SpectraRequest> asks;
  for (const std::int64_t run : factsOf_) {
    if (!facts_[run].stored.empty()) asks.push_back({run, facts_[run].stored});
  }
  const std::vector<std::int64_t> seedRuns = choice_.hasSeeds
                                                 ? drawnRuns(workbench_.selection(), kMostSeeds)
                                                 : std::vector<std::int64_t>();
  std::vector<std::int64_t> siblings;
  std::vector<store::RunRow> ofExperiment;
  for (const store::RunRow* row : runsOfExperiment()) {
    if (siblings.size() < kMostSeeds) siblings.push_back(row->id);
    ofExperiment.push_back(*row);
  }
  spectra_.run([this, asks, seedRuns, siblings, ofExperiment, folders = claims_.folders,
                cache = cache_,
                layer = static_cast<std::size_t>(choice_.layer), head = choice_.head](
                   store::RunReader& store,
                   const std::atomic<bool>& isStale) mutable -> Background::Finish {
    std::vector<std::shared_ptr<const SpectraRun>> shown;
    SpectrumCache kept;
    for (const SpectraRequest& ask : asks) {
      auto run = readSpectra(store, ask.run, ask.stored, layer, head, kMostSteps, cache, isStale);
      if (isStale || run == nullptr) return {};
      for (const StoredSpectrum& one : ask.stored) {
        const auto known = cache.find(one.parts.front().values);
        if (known != cache.end() && known->second != nullptr) kept.insert(*known);
      }
      shown.push_back(std::move(run));
    }
    SeedScores seeds;
    const auto curves = [&](const char* score, const std::vector<std::int64_t>& of) {
      const bool isAsked = !shown.empty() && of.size() > 1;
      const std::string name =
          isAsked ? scoreName(*shown.front(), score, layer, head) : std::string();
      return name.empty() ? std::vector<SeedCurve>() : readSeedCurves(store, of, name);
    };
    seeds.effective = curves("effective_rank", seedRuns);
    seeds.stable = curves("stable_rank", seedRuns);
    try {
      seeds.rank = curves(kMeasuredRank, siblings);
    } catch (const NotFoundError&) {
      // One was deleted meanwhile: the list of runs shows that soon.
    }
    RankClaims claims;
    if (!shown.empty())
      claims = readRankClaims(store, ofExperiment, shown.front()->analysis, folders);
    return [this, shown = std::move(shown), kept = std::move(kept), seeds = std::move(seeds),
            claims = std::move(claims)] { takeRuns(shown, kept, seeds, claims); };
  });
}

void SpectraPage::takeRuns(std::vector<std::shared_ptr<const SpectraRun>> shown,
                           SpectrumCache cache, SeedScores seeds, RankClaims claims) {
  shown_ = std::move(shown);
  cache_ = std::move(cache);
  seeds_ = std::move(seeds);
  claims_ = std::move(claims);
  stack_->setCurrentIndex(0);
  showAll();
}

void SpectraPage::cancelReading() {
  loading_.cancel();
  isStale_ = true;  // shown again, it reads again
  if (shown_.empty())
    showEmpty(tr("Reading was cancelled: choose a run to read again."), QString());
}

void SpectraPage::chooseThreshold(double threshold) {
  threshold = std::clamp(std::round(threshold * 100) / 100, 0.01, 1.0);
  if (threshold == choice_.threshold) return;
  choice_.threshold = threshold;
  showAll();
  Q_EMIT viewChanged();
}

void SpectraPage::chooseHead(int layer, int head) {
  int layers = 0, heads = 0;
  for (const auto& run : shown_) {
    for (const auto& spectrum : run->steps) {
      layers = std::max(layers, static_cast<int>(spectrum->layers.size()));
      for (const LayerSpectrum& one : spectrum->layers)
        heads = std::max(heads, static_cast<int>(one.heads.size()));
    }
  }
  if (layers == 0) return;
  layer = std::clamp(layer, 0, layers - 1);
  head = std::clamp(head, -1, heads - 1);
  if (layer == choice_.layer && head == choice_.head) return;
  choice_.layer = layer;
  choice_.head = head;
  workbench_.selection().setFocus(workbench_.selection().image(), layer, std::max(0, head));
  showAll();
  readRuns();  // the scores of the head
  Q_EMIT viewChanged();
}

void SpectraPage::chooseStep(std::int64_t step) {
  const std::vector<std::int64_t> all = steps();
  const bool isLast = step < 0 || (!all.empty() && step >= all.back());
  step_ = isLast ? std::nullopt : std::optional(step);
  workbench_.selection().setStep(step_.value_or(-1));
  showAll();
  Q_EMIT viewChanged();
}

void SpectraPage::waitUntilIdle() {
  loading_.forgetLater();
  reload();
  for (int round = 0; round < 2; ++round) {
    lists_.waitUntilIdle();
    spectra_.waitUntilIdle();
  }
  layOutNow();
}

}  // namespace vitrine::ui

// What the Spectra page reads, and what its controls choose.
#include "ui/spectra/spectra_page.h"

#include <QApplication>
#include <QComboBox>
#include <QGridLayout>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/config/config.h"
#include "core/store/run_facts.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/fit_area.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

namespace {

constexpr int kSpectraReloadMs = 500;  // at most so often while a run writes
constexpr std::size_t kMostSpectra = 4;
constexpr std::size_t kMostSeeds = 64;           // runs whose scores are averaged
constexpr std::size_t kMostSteps = 400;          // of a run, that are read
constexpr const char* kMeasuredRank = "rank80";  // at the share that runs measure unasked

}  // namespace

SpectraPage::SpectraPage(Workbench& workbench, QWidget* parent)
    : ResultsPage(workbench, kMostSpectra, 2, kSpectraReloadMs, parent),
      lists_(reader(0)),
      spectra_(reader(1)) {
  auto* column = columnIn(content(), {px(12), px(12), px(12), px(12)}, px(8));
  column->addWidget(makeTools());
  makeAnalyses(
      {.compute = tr("Compute the spectra"),
       .tip = tr("Measure the newest checkpoint once and store the results in the database"),
       .computing = tr("Computing the spectra of %1"),
       .cancelled = tr("Computing the spectra was cancelled."),
       .failed = tr("The spectra of %1 cannot be computed: %2")},
      {.compute = tr("Complete the waterfall"),
       .tip = tr("Measure every stored checkpoint that was not measured, once, and store the "
                 "results in the database"),
       .computing = tr("Computing the spectra at %1"),
       .cancelled = tr("Completing the waterfall was cancelled; computed spectra are kept."),
       .failed = tr("The spectra at %1 cannot be computed: %2")});
  column->addWidget(analyses_);
  column->addWidget(stepAnalyses_);
  column->addWidget(makeVariants());
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
  begin(tr("Reading the spectra of the runs\u2026"), tr("The spectra cannot be read: %1"),
        {follow_, heads_, share_, waterfall_, controls_, stepBar_->slider(), effective_, stable_});
  connect(&workbench_.selection(), &Selection::focusChanged, this, [this] {
    const Selection& selection = workbench_.selection();
    const int head = choice_.head < 0 ? choice_.head : selection.head();
    if (selection.layer() == choice_.layer && head == choice_.head) return;
    choice_.layer = selection.layer();
    choice_.head = head;
    if (isVisible() && readOf_ == runs()) {
      showAll();
      readRuns();
    }
  });
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
}

std::vector<std::int64_t> SpectraPage::steps() const {
  std::set<std::int64_t> all;
  for (const auto& run : shown_) {
    for (const auto& spectrum : run->steps) all.insert(spectrum->step);
  }
  return {all.begin(), all.end()};
}

std::int64_t SpectraPage::lastStep() const {
  const std::vector<std::int64_t> all = steps();
  std::int64_t last = all.empty() ? 0 : all.back();
  for (const auto& run : shown_) {
    const store::RunRow* row = workbench_.run(run->run);
    if (row != nullptr) last = std::max(last, row->totalSteps);
  }
  return last;
}

std::int64_t SpectraPage::shownStep() const {
  const std::vector<std::int64_t> all = steps();
  if (all.empty()) return -1;
  if (!step_) return all.back();
  const auto after = std::upper_bound(all.begin(), all.end(), *step_);
  return after == all.begin() ? all.front() : *(after - 1);
}

void SpectraPage::reload() {
  beginReading();
  const Selection& selection = workbench_.selection();
  lists_.run([this, all = drawnRuns(selection, std::numeric_limits<std::size_t>::max()),
              current = selection.current()](
                 store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    const std::set<std::int64_t> measured =
        store::runsWithArtifact(store, artifact_kind::kSpectrum);
    const std::vector<std::int64_t> wanted = firstRuns(all, current, kMostSpectra, measured);
    std::map<std::int64_t, Facts> facts;
    for (const std::int64_t run : wanted) {
      if (isStale) return {};
      Facts& one = facts[run];
      one = {readBasics(store, run), storedSpectra(store.artifacts(run)), {}};
      one.settings = flatten(one.config);
    }
    return [this, wanted, measured, facts = std::move(facts), uuid = databaseUuid(store)] {
      rememberUuid(workbench_, uuid);
      preferred_ = measured;
      takeFacts(wanted, facts);
    };
  });
}

void SpectraPage::takeFacts(const std::vector<std::int64_t>& runs,
                            std::map<std::int64_t, Facts> facts) {
  facts_ = std::move(facts);
  readOf_ = runs;
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
          : tr("%1 Select another run, such as one that classifies images.").arg(whyNone()),
      tr("No spectra of these runs are stored yet. %1").arg(costOfMissing()));
  showEmpty(words.sentence, words.action);
}

void SpectraPage::readRuns() {
  struct SpectraRequest {
    std::int64_t run;
    std::vector<StoredSpectrum> stored;
    std::string architecture;
  };
  std::vector<SpectraRequest> asks;
  for (const std::int64_t run : readOf_) {
    if (!facts_[run].stored.empty())
      asks.push_back({run, facts_[run].stored, architectureOf(run)});
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
  spectra_.run(
      [this, asks, seedRuns, siblings, ofExperiment, folders = claims_.folders,
       knownControls = claims_.knownControls, cache = cache_,
       layer = static_cast<std::size_t>(choice_.layer), head = choice_.head](
          store::RunReader& store, const std::atomic<bool>& isStale) mutable -> Background::Finish {
        std::vector<std::shared_ptr<const SpectraRun>> shown;
        SpectrumCache kept;
        RankControls controls;
        for (const SpectraRequest& ask : asks) {
          auto run =
              readSpectra(store, ask.run, ask.stored, layer, head, kMostSteps, cache, isStale);
          if (isStale || run == nullptr) return {};
          for (const StoredSpectrum& one : ask.stored) {
            const auto known = cache.find(one.parts);
            if (known != cache.end() && known->second != nullptr) kept.insert(*known);
          }
          const auto [own, isNew] = knownControls.try_emplace({ask.architecture, run->analysis});
          if (isNew) own->second = controlsOf(ask.architecture, run->analysis);
          if (controls.title.empty()) controls = own->second;
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
        claims.controls = std::move(controls);
        claims.knownControls = std::move(knownControls);
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
  showContent();
  showAll();
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

}  // namespace vitrine::ui

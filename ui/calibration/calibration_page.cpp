// Reads and computes for the Calibration page, and handles its controls.
#include "ui/calibration/calibration_page.h"

#include <QApplication>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QTableWidget>
#include <QToolButton>
#include <algorithm>
#include <limits>
#include <set>

#include "core/artifact/cue_decisions.h"
#include "core/artifact/predictions.h"
#include "core/config/lookup.h"
#include "core/store/run_facts.h"
#include "ui/calibration/sample_strip.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

namespace {

constexpr int kCalibrationReloadMs = 800;  // at most so often while a run writes
constexpr std::size_t kMostCalibrated = 4;
constexpr std::size_t kMostFrames = 10;

}  // namespace

CalibrationPage::CalibrationPage(Workbench& workbench, QWidget* parent)
    : ResultsPage(workbench, kMostCalibrated, 3, kCalibrationReloadMs, parent),
      lists_(reader(0)),
      numbers_(reader(1)),
      films_(reader(2)),
      pictures_(workbench.models()) {
  auto* column = columnIn(content(), {px(12), px(12), px(12), px(12)}, px(8));
  column->addWidget(makeTools());
  makeAnalyses(
      {.compute = tr("Compute the answers"),
       .tip = tr("Evaluate the newest checkpoint once and store the answers in the database"),
       .computing = tr("Computing the answers of %1"),
       .cancelled = tr("Computing the answers was cancelled."),
       .failed = tr("The answers of %1 cannot be computed: %2")},
      {.compute = tr("Complete the film"),
       .tip = tr("Evaluate every stored checkpoint that was not evaluated, once, and store the "
                 "answers in the database"),
       .computing = tr("Computing the answers at %1"),
       .cancelled = tr("Completing the film was cancelled; computed answers are kept."),
       .failed = tr("The answers at %1 cannot be computed: %2")});
  column->addWidget(analyses_);
  column->addLayout(grid_, 1);
  reliability_ = withName(new FigureView(this), tr("Reliability diagram"));
  reliability_->setSteered(true);
  reliability_->setMinimumHeight(px(260));
  connect(reliability_, &FigureView::clicked, this, [this](const FigureTarget& target) {
    if (target.image >= 0) chooseBin(target.image);
  });
  connect(reliability_, &FigureView::steered, this,
          [this](int right, int down) { onSteered(Picture::Reliability, right, down); });
  connect(reliability_, &FigureView::entered, this, [this] { strip_->setFocus(); });
  confusion_ = withName(new FigureView(this), tr("Confusion matrix"));
  confusion_->setSteered(true);
  confusion_->setMinimumHeight(px(220));
  connect(confusion_, &FigureView::clicked, this, [this](const FigureTarget& target) {
    if (target.cell) chooseDrawnCell((*target.cell)[0], (*target.cell)[1]);
  });
  connect(confusion_, &FigureView::steered, this,
          [this](int right, int down) { onSteered(Picture::Confusion, right, down); });
  connect(confusion_, &FigureView::entered, this, [this] { strip_->setFocus(); });
  makeTemperature();
  makeImages();
  makeFilm();
  begin(tr("Reading the answers of the runs\u2026"), tr("The answers cannot be read: %1"),
        {gap_, reliability_, temperature_, temperatureBox_, scores_, useFitted_, reset_, errors_,
         allErrors_, strip_, confusion_, film_, stepBar_->slider()});
  // The schemas say which data have two cues.
  connect(&workbench_, &Workbench::catalogReady, this,
          [this] { shown_.empty() ? changed() : showNotice(); });
  // Export takes the picture that had the focus last.
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    if (now == reliability_) picture_ = Picture::Reliability;
    if (now == errorsOverT_ || now == temperature_) picture_ = Picture::Temperature;
    if (now == confusion_) picture_ = Picture::Confusion;
    if (now == film_) picture_ = Picture::Film;
    if (now == sample_ || now == strip_) picture_ = Picture::Sample;
  });
}

std::optional<std::size_t> CalibrationPage::indexOfCurrent() const {
  if (shown_.empty()) return std::nullopt;
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    if (shown_[i]->run == workbench_.selection().current()) return i;
  }
  return 0;
}

const CalibrationRun* CalibrationPage::current() const {
  const auto index = indexOfCurrent();
  return index ? shown_[*index].get() : nullptr;
}

std::int64_t CalibrationPage::currentRun() const {
  const CalibrationRun* run = current();
  return run == nullptr ? 0 : run->run;
}

double CalibrationPage::temperatureOf(std::int64_t run) const {
  const auto found = choice_.temperatures.find(run);
  return found == choice_.temperatures.end() ? 1 : found->second;
}

std::vector<std::int64_t> CalibrationPage::steps() const {
  std::set<std::int64_t> all;
  for (const auto& [run, stored] : stored_) {
    for (const StoredAnswers& one : stored.answers) {
      if (choice_.which && one.which == *choice_.which) all.insert(one.step);
    }
  }
  return {all.begin(), all.end()};
}

std::int64_t CalibrationPage::shownStep() const {
  const std::vector<std::int64_t> all = steps();
  return !step_ || all.empty() ? -1 : std::max(*step_, all.front());
}

void CalibrationPage::reload() {
  beginReading();
  const Selection& selection = workbench_.selection();
  lists_.run([this, all = drawnRuns(selection, std::numeric_limits<std::size_t>::max()),
              current = selection.current()](
                 store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    const std::set<std::int64_t> answered =
        store::runsWithArtifact(store, artifact_kind::kPredictions);
    const std::vector<std::int64_t> wanted = firstRuns(all, current, kMostCalibrated, answered);
    std::map<std::int64_t, Stored> stored;
    for (const std::int64_t run : wanted) {
      if (isStale) return {};
      const std::vector<store::ArtifactRow> rows = store.artifacts(run);
      Stored& one = stored[run];
      static_cast<RunBasics&>(one) = readBasics(store, run);
      one.answers = storedAnswers(rows);
      for (const store::ArtifactRow& row : rows) {
        if (row.kind == artifact_kind::kCueDecisions)
          one.cues.push_back({row.step, whichOf(row.meta),
                              readCueDecisions(row.meta, store.artifactData(row.id))});
        if (row.kind == artifact_kind::kReliability)
          one.samples = stateInteger(row.meta, "samples", one.samples);
      }
      one.dataset = textAt(one.config, "data.dataset");
    }
    return [this, wanted, answered, stored = std::move(stored), uuid = databaseUuid(store)] {
      rememberUuid(workbench_, uuid);
      preferred_ = answered;
      takeStored(wanted, stored);
    };
  });
}

void CalibrationPage::takeStored(const std::vector<std::int64_t>& runs,
                                 std::map<std::int64_t, Stored> stored) {
  stored_ = std::move(stored);
  readOf_ = runs;
  const bool hasAny = std::any_of(stored_.begin(), stored_.end(),
                                  [](const auto& entry) { return !entry.second.answers.empty(); });
  if (hasAny) {
    fillControls();
    recompute();
    return;
  }
  numbers_.cancel();
  films_.cancel();
  shown_.clear();
  frames_.clear();
  if (runs.empty()) {
    showEmpty(tr("Select a run that classifies images: here its confidence is compared with its "
                 "accuracy, with the images behind every bin."),
              tr("New experiment"));
    return;
  }
  showNotice();
  const RunAnalyses::EmptyWords words = analyses_->emptyWords(
      whyNone().isEmpty()
          ? tr("The selected runs have no checkpoint yet. Answers are stored while a run trains "
               "where calibration is ticked under Observe, or computed here from a checkpoint.")
          : whyNone(),
      tr("No answers of these runs are stored yet. %1").arg(costOf(runsWithout())));
  showEmpty(words.sentence, words.action);
}

void CalibrationPage::fillControls() {
  isFilling_ = true;
  std::map<AnswersOf, int> counts;
  for (const auto& [run, stored] : stored_) {
    std::set<AnswersOf> own;
    for (const StoredAnswers& one : stored.answers) own.insert(one.which);
    for (const AnswersOf& one : own) ++counts[one];
  }
  if (!choice_.which || counts.count(*choice_.which) == 0) {
    // What most runs have; of as many the test split, of the weights that were trained.
    const auto rank = [&](const AnswersOf& one) {
      return std::tuple(counts[one], one.weights == "model", one.split == "test");
    };
    std::optional<AnswersOf> best;
    for (const auto& [one, number] : counts) {
      if (!best || rank(one) > rank(*best)) best = one;
    }
    choice_.which = best;
  }
  which_->clear();
  for (const auto& [one, number] : counts) {
    const QString text = QString::fromStdString(textOf(one));
    which_->addItem(tr("Split: %1").arg(text), QString::fromStdString(one.split));
    which_->setItemData(which_->count() - 1, QString::fromStdString(one.weights), Qt::UserRole + 1);
    if (choice_.which == one) which_->setCurrentIndex(which_->count() - 1);
  }
  edges_->setCurrentIndex(choice_.binning.edges == Binning::Edges::EqualMass ? 1 : 0);
  bins_->setValue(choice_.binning.bins);
  gap_->setChecked(choice_.hasGap);
  errors_->setChecked(choice_.onlyErrors);
  cues_->setChecked(choice_.hasCues);
  isFilling_ = false;
}

// Classes are known once answers were read.
void CalibrationPage::fillTargets() {
  const CalibrationRun* run = current();
  if (run == nullptr) return;
  constexpr int kMostTargets = 1000;
  const int classes =
      canBinClasses(*run->predictions) ? std::min(run->predictions->classes, kMostTargets) : 0;
  QStringList names{tr("Top class")};
  for (int k = 0; k < classes; ++k)
    names << tr("Class: %1").arg(QString::fromStdString(run->predictions->nameOf(k)));
  QStringList present;
  for (int i = 0; i < target_->count(); ++i) present << target_->itemText(i);
  if (present != names) {
    target_->clear();
    for (int i = 0; i < names.size(); ++i) target_->addItem(names[i], i - 1);
  }
  target_->setCurrentIndex(
      std::clamp(choice_.binning.target + 1, 0, static_cast<int>(names.size()) - 1));
  target_->setToolTip(canBinClasses(*run->predictions)
                          ? tr("Binned quantity: the largest probability, or that of one class")
                          : tr("Only the top classes of these answers are stored, so that single "
                               "classes cannot be binned"));
}

void CalibrationPage::recompute() {
  if (!choice_.which) return;
  std::vector<CalibrationRequest> asks;
  const std::int64_t step = shownStep();
  for (const std::int64_t run : readOf_) {
    const std::vector<StoredAnswers>& stored = stored_[run].answers;
    const StoredAnswers* found = answersAt(stored, *choice_.which, step);
    if (found == nullptr) continue;
    CalibrationRequest ask{run, *found, 0, temperatureOf(run)};
    // The temperature is chosen on the held-out part, where it was evaluated at the same step.
    const AnswersOf heldOut{"validation", choice_.which->weights};
    const StoredAnswers* fit = answersAt(stored, heldOut, found->step);
    if (fit != nullptr && fit->step == found->step) ask.fitArtifact = fit->artifact;
    asks.push_back(ask);
  }
  numbers_.run(
      [this, asks, binning = choice_.binning, before = shown_, cache = cache_](
          store::RunReader& store, const std::atomic<bool>& isStale) mutable -> Background::Finish {
        std::vector<std::shared_ptr<const CalibrationRun>> shown;
        for (const CalibrationRequest& ask : asks) {
          const auto known = std::find_if(before.begin(), before.end(),
                                          [&](const auto& one) { return one->run == ask.run; });
          shown.push_back(computeCalibration(store, ask, binning, cache,
                                             known == before.end() ? nullptr : *known, isStale));
          if (isStale) return {};
        }
        // Runs that are not drawn any more are read again when they are.
        PredictionCache kept;
        for (const CalibrationRequest& ask : asks) {
          for (const std::int64_t artifact : {ask.answers.artifact, ask.fitArtifact}) {
            if (const auto one = cache.find(artifact); one != cache.end()) kept.insert(*one);
          }
        }
        return [this, shown = std::move(shown), kept = std::move(kept)] { takeShown(shown, kept); };
      });
}

void CalibrationPage::takeShown(std::vector<std::shared_ptr<const CalibrationRun>> shown,
                                PredictionCache cache) {
  shown_ = std::move(shown);
  cache_ = std::move(cache);
  if (shown_.empty()) {
    showEmpty(tr("No selected run has answers of the %1 split up to step %2.")
                  .arg(QString::fromStdString(textOf(*choice_.which)), count(step_.value_or(0))),
              QString());
    return;
  }
  showContent();
  fillTargets();
  showAll();
  readFilm();
}

void CalibrationPage::readFilm() {
  std::vector<CalibrationFrame> frames;
  std::set<std::int64_t> missing;
  std::vector<std::pair<std::size_t, std::pair<std::int64_t, StoredAnswers>>> wanted;
  for (const std::int64_t step : filmSteps(steps(), kMostFrames)) {
    frames.push_back({step, {}});
    for (const auto& run : shown_) {
      const StoredAnswers* found = answersAt(stored_[run->run].answers, *choice_.which, step);
      if (found == nullptr) continue;
      wanted.emplace_back(frames.size() - 1, std::pair(run->run, *found));
      const auto known = filmLines_.find(found->artifact);
      if (known == filmLines_.end() || known->second.binning != choice_.binning)
        missing.insert(found->artifact);
    }
  }
  const auto finish = [this, frames, wanted] {
    frames_ = frames;
    for (const auto& [frame, line] : wanted) {
      const auto known = filmLines_.find(line.second.artifact);
      if (known == filmLines_.end()) continue;
      frames_[frame].lines.push_back(
          {line.first, line.second.step, known->second.bins, known->second.ece});
    }
    showFilm();
  };
  if (missing.empty()) {
    films_.cancel();
    finish();
    return;
  }
  films_.run([this, missing, finish, binning = choice_.binning](
                 store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    std::map<std::int64_t, FilmLine> lines;
    for (const std::int64_t artifact : missing) {
      if (isStale) return {};
      const Predictions predictions =
          readPredictions(store.artifact(artifact).meta, store.artifactData(artifact));
      FilmLine& line = lines[artifact];
      line.binning = binning;
      line.bins = binsOf(confidenceAt(predictions, 1, binning.target), binning);
      line.ece = calibrationError(line.bins, predictions.samples());
    }
    return [this, finish, lines = std::move(lines)] {
      for (const auto& [artifact, line] : lines) filmLines_[artifact] = line;
      finish();
    };
  });
}

void CalibrationPage::chooseBinning(const Binning& binning) {
  if (binning == choice_.binning) return;
  choice_.binning = binning;
  choice_.bin = -1;
  recompute();
  Q_EMIT viewChanged();
}

void CalibrationPage::chooseTemperature(double temperature) {
  const std::int64_t run = currentRun();
  if (run == 0 || temperatureOf(run) == temperature) return;
  choice_.temperatures[run] = temperature;
  recompute();
  Q_EMIT viewChanged();
}

}  // namespace vitrine::ui

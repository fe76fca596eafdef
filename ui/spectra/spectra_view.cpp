// Pictures and texts of the Spectra page.
#include <QComboBox>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "ui/figures/figure_view.h"
#include "ui/figures/line_chart.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/value_text.h"
#include "ui/spectra/spectra_page.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostDiffering = 2;  // keys that name a run

}  // namespace

HeadSpectrum SpectraPage::headOf(const Spectrum& spectrum) const {
  const auto layer = static_cast<std::size_t>(choice_.layer);
  if (layer >= spectrum.layers.size()) return {};
  const LayerSpectrum& one = spectrum.layers[layer];
  if (choice_.head < 0) return meanOfHeads(one);
  const auto head = static_cast<std::size_t>(choice_.head);
  return head < one.heads.size() ? one.heads[head] : HeadSpectrum{};
}

QString SpectraPage::headText() const {
  std::int64_t layer = choice_.layer;
  for (const auto& run : shown_) {
    const auto at = static_cast<std::size_t>(choice_.layer);
    if (!run->steps.empty() && at < run->steps.back()->layers.size())
      layer = run->steps.back()->layers[at].layer;
  }
  return atStart(choice_.head < 0 ? tr("%1, mean of heads").arg(layerName(layer))
                                  : headName(layer, choice_.head));
}

bool SpectraPage::isTraining(std::int64_t run) const {
  const store::RunRow* row = workbench_.run(run);
  return row != nullptr && store::isAlive(row->state);
}

// The keys of the configuration in which the selected runs differ, those of the model first.
QString SpectraPage::differenceOf(std::int64_t run) const {
  const auto own = facts_.find(run);
  if (own == facts_.end() || facts_.size() < 2) return {};
  const auto valueIn = [](const Facts& facts, const std::string& key) -> const Json* {
    for (const auto& [name, value] : facts.settings) {
      if (name == key) return &value;
    }
    return nullptr;
  };
  std::vector<std::pair<bool, QString>> differing;
  for (const auto& [key, value] : own->second.settings) {
    const bool differs = std::any_of(facts_.begin(), facts_.end(), [&](const auto& other) {
      const Json* there = valueIn(other.second, key);
      return there == nullptr || *there != value;
    });
    if (!differs || key.rfind("observe.", 0) == 0) continue;
    const std::string table = "model.";
    const bool isModel = key.rfind(table, 0) == 0;
    // Tables of the model need not say so; "architecture = ..." is read before the rest.
    differing.emplace_back(!isModel,
                           QString::fromStdString(isModel ? key.substr(table.size()) : key) +
                               QStringLiteral(" = ") + valueText(value));
  }
  std::stable_sort(differing.begin(), differing.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  QStringList texts;
  for (const auto& [isLater, text] : differing) {
    if (texts.size() == static_cast<qsizetype>(kMostDiffering)) {
      texts << tr("%1 more").arg(differing.size() - kMostDiffering);
      break;
    }
    texts << text;
  }
  return texts.join(QStringLiteral(", "));
}

void SpectraPage::showAll() {
  if (shown_.empty()) return;
  makeRoom();
  showSteps();
  showHeads();
  showShare();
  showWaterfall();
  showControls();
  showCurves();
  showNotice();
}

void SpectraPage::showSteps() {
  stepBar_->setSteps(steps(), step_.value_or(-1));
  isFilling_ = true;
  threshold_->setValue(static_cast<int>(std::lround(100 * choice_.threshold)));
  headChoice_->setCurrentIndex(choice_.head < 0 ? 1 : 0);
  log_->setChecked(choice_.isLog);
  values_->setChecked(choice_.isValues);
  sameScale_->setChecked(choice_.isSameScale);
  sameScale_->setVisible(shown_.size() > 1);
  meanOfSeeds_->setChecked(choice_.hasSeeds);
  follow_->setChecked(!step_);
  isFilling_ = false;
}

std::unique_ptr<Figure> SpectraPage::headsFigure() const {
  HeadGridPicture picture;
  picture.title = tr("Layers and heads");
  picture.about = tr("%1 \u00b7 rank at %2 \u00b7 step %3")
                      .arg(choice_.isLog ? tr("\u03c3 on a log scale") : tr("\u03c3"),
                           percent(choice_.threshold, 0), count(shownStep()));
  for (const auto& run : shown_) {
    if (auto spectrum = spectrumAt(*run, shownStep()))
      picture.runs.push_back({run->run, runName(run->run), std::move(spectrum)});
  }
  picture.threshold = choice_.threshold;
  picture.isLog = choice_.isLog;
  picture.isSameScale = choice_.isSameScale;
  picture.layer = choice_.layer;
  picture.head = choice_.head;
  return makeHeadGridFigure(std::move(picture));
}

std::unique_ptr<Figure> SpectraPage::shareFigure() const {
  SharePicture picture;
  picture.title = headText();
  picture.about = choice_.isValues
                      ? tr("singular values \u00b7 step %1").arg(count(shownStep()))
                      : tr("share of the first k \u00b7 step %1").arg(count(shownStep()));
  picture.threshold = choice_.threshold;
  picture.isValues = choice_.isValues;
  for (const auto& run : shown_) {
    const Spectrum* untrained = untrainedOf(*run);
    if (untrained != nullptr && shownStep() > 0)
      picture.lines.push_back(
          {run->run, tr("%1, untrained").arg(runName(run->run)), headOf(*untrained), true});
  }
  for (const auto& run : shown_) {
    if (const auto spectrum = spectrumAt(*run, shownStep()))
      picture.lines.push_back({run->run, runName(run->run), headOf(*spectrum), false});
  }
  return makeShareFigure(std::move(picture));
}

std::unique_ptr<Figure> SpectraPage::waterfallFigure() const {
  WaterfallPicture picture;
  picture.title = tr("Waterfall, %1").arg(headText().toLower());
  picture.about = tr("index of \u03c3 by step, colour log \u03c3");
  picture.threshold = choice_.threshold;
  picture.shown = shownStep();
  picture.isSameScale = choice_.isSameScale;
  for (const auto& run : shown_) {
    WaterfallPicture::Run one{.run = run->run, .name = runName(run->run)};
    for (const auto& spectrum : run->steps) {
      one.steps.push_back(spectrum->step);
      one.columns.push_back(headOf(*spectrum));
    }
    const store::RunRow* row = workbench_.run(run->run);
    if (row != nullptr) one.totalSteps = row->totalSteps;
    const std::int64_t last = one.steps.empty() ? 0 : one.steps.back();
    one.state = isTraining(run->run) ? tr("live \u00b7 step %1").arg(count(last))
                                     : tr("step %1").arg(count(last));
    picture.runs.push_back(std::move(one));
  }
  return makeWaterfallFigure(std::move(picture));
}

std::unique_ptr<Figure> SpectraPage::controlsFigure() const {
  ControlsPicture picture;
  std::size_t size = 0;
  const auto layerOf = [this](const Spectrum& spectrum) {
    const auto layer = static_cast<std::size_t>(choice_.layer);
    return layer < spectrum.layers.size() ? &spectrum.layers[layer] : nullptr;
  };
  std::vector<ControlsPicture::Row> controls;
  for (const auto& run : shown_) {
    const auto now = spectrumAt(*run, shownStep());
    const LayerSpectrum* layer = now == nullptr ? nullptr : layerOf(*now);
    if (layer == nullptr) continue;
    if (!layer->heads.empty()) size = std::max(size, layer->heads.front().values.size());
    ControlsPicture::Row row{run->run, runName(run->run), differenceOf(run->run),
                             rankOver(*layer, choice_.threshold)};
    row.isLive = isTraining(run->run);
    picture.rows.push_back(row);
    const Spectrum* untrained = untrainedOf(*run);
    const LayerSpectrum* before = untrained == nullptr ? nullptr : layerOf(*untrained);
    if (before == nullptr) continue;
    ControlsPicture::Row control{run->run, tr("%1, untrained").arg(runName(run->run)), QString(),
                                 rankOver(*before, choice_.threshold)};
    control.isControl = true;
    controls.push_back(control);
    const bool isTrained = now.get() != untrained;
    if (isTrained && std::isfinite(row.rank.mean) && std::isfinite(control.rank.mean)) {
      const double gained = row.rank.mean - control.rank.mean;
      picture.notes << tr("%1: %4 before any training, %2%3 since.")
                           .arg(runName(run->run),
                                gained < 0 ? QStringLiteral("\u2212") : QStringLiteral("+"),
                                number(std::abs(gained), 1), number(control.rank.mean, 1));
    }
  }
  picture.rows.insert(picture.rows.end(), controls.begin(), controls.end());
  picture.claims = claims_.rows;
  if (!claims_.error.isEmpty()) picture.notes << claims_.error;
  const QString heads = headText();
  picture.title = tr("Controls, %1").arg(heads.section(QLatin1Char(','), 0, 0).toLower());
  picture.about = tr("rank at %1 of %2, mean \u00b1 s.d. of heads")
                      .arg(percent(choice_.threshold, 0))
                      .arg(size);
  return makeControlsFigure(std::move(picture));
}

std::unique_ptr<Figure> SpectraPage::curveFigure(const QString& title, RankCurve SpectraRun::*curve,
                                                 const std::vector<SeedCurve>& seeds) const {
  LineChart chart{.title = title, .about = headText().toLower()};
  chart.x.title = tr("step");
  chart.x.isWhole = true;
  chart.y.least = 3;
  chart.legend = FigureLegend::None;
  chart.emptyText = tr("These runs did not measure it.");
  for (const SeedCurve& one : seeds) {
    ChartSeries series;
    series.name = one.name;
    series.run = seriesOf(one.run);
    series.x = one.steps;
    series.y = one.mean;
    series.low = one.lower;
    series.high = one.upper;
    if (series.x.size() <= 60) series.draw = ChartSeries::Draw::LineAndPoints;
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  if (!seeds.empty()) {
    chart.about = tr("%1 \u00b7 mean of seeds, 95 % interval").arg(chart.about);
    chart.footnote = seedVerdict(seeds);
  } else if (choice_.hasSeeds) {
    chart.footnote = tr("No two of the selected runs that measured it differ in their seed alone.");
  }
  for (const auto& run : shown_) {
    if (!seeds.empty()) break;
    ChartSeries series{.name = runName(run->run), .run = seriesOf(run->run)};
    for (const auto& [step, value] : (*run).*curve) {
      series.x.push_back(static_cast<double>(step));
      series.y.push_back(value);
    }
    if (series.x.size() <= 60) series.draw = ChartSeries::Draw::LineAndPoints;
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  if (!chart.series.empty() && shownStep() >= 0)
    chart.notes.push_back({static_cast<double>(shownStep()), std::nullopt, QString(), 0});
  // The whole training, as the waterfall has it: one point tells no range.
  auto last = static_cast<double>(lastStep());
  for (const ChartSeries& series : chart.series) last = std::max(last, series.x.back());
  constexpr double kRoom = 0.03;  // for the symbols at both ends
  if (last > 0) chart.x.range = {{-kRoom * last, (1 + kRoom) * last}};
  return makeLineChart(std::move(chart));
}

// Charts of more runs take more height: the page scrolls.
void SpectraPage::makeRoom() {
  const int runs = static_cast<int>(shown_.size());
  share_->setMinimumHeight(px(std::max(200, 160 + 40 * runs)));
  const int claims = static_cast<int>(claims_.rows.size());
  for (FigureView* view : {waterfall_, controls_})
    view->setMinimumHeight(px(std::max(220, 100 + 60 * runs + 36 * claims)));
}

void SpectraPage::showHeads() { heads_->setFigure(headsFigure()); }
void SpectraPage::showShare() { share_->setFigure(shareFigure()); }
void SpectraPage::showWaterfall() { waterfall_->setFigure(waterfallFigure()); }
void SpectraPage::showControls() { controls_->setFigure(controlsFigure()); }
void SpectraPage::showCurves() {
  effective_->setFigure(
      curveFigure(tr("Effective rank"), &SpectraRun::effective, seeds_.effective));
  stable_->setFigure(curveFigure(tr("Stable rank"), &SpectraRun::stable, seeds_.stable));
}

std::unique_ptr<Figure> SpectraPage::figure() {
  if (shown_.empty()) return nullptr;
  switch (picture_) {
    case Picture::Share:
      return shareFigure();
    case Picture::Waterfall:
      return waterfallFigure();
    case Picture::Controls:
      return controlsFigure();
    case Picture::Effective:
      return curveFigure(tr("Effective rank"), &SpectraRun::effective, seeds_.effective);
    case Picture::Stable:
      return curveFigure(tr("Stable rank"), &SpectraRun::stable, seeds_.stable);
    case Picture::Heads:
      break;
  }
  return headsFigure();
}

Json SpectraPage::viewState() const {
  return {{"threshold", choice_.threshold},
          {"log", choice_.isLog},
          {"values", choice_.isValues},
          {"same_scale", choice_.isSameScale},
          {"seeds", choice_.hasSeeds},
          {"layer", choice_.layer},
          {"head", choice_.head},
          {"step", step_ ? Json(*step_) : Json(nullptr)},
          {"picture", static_cast<int>(picture_)}};
}

void SpectraPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  const double threshold = stateNumber(state, "threshold");
  if (threshold >= 0.01 && threshold <= 1) choice_.threshold = threshold;
  for (const auto& [key, flag] :
       {std::pair("log", &choice_.isLog), std::pair("values", &choice_.isValues),
        std::pair("same_scale", &choice_.isSameScale), std::pair("seeds", &choice_.hasSeeds)})
    *flag = stateFlag(state, key, *flag);
  constexpr int kMost = 4096;
  choice_.layer = stateInteger(state, "layer", 0, kMost, choice_.layer);
  choice_.head = stateInteger(state, "head", -1, kMost, choice_.head);
  workbench_.selection().setFocus(workbench_.selection().image(), choice_.layer,
                                  std::max(0, choice_.head));
  if (state.contains("step"))
    workbench_.selection().setStep(std::max<std::int64_t>(stateInteger(state, "step", -1), -1));
  picture_ = static_cast<Picture>(stateInteger(state, "picture", 0, 5, static_cast<int>(picture_)));
  reload();
}

}  // namespace vitrine::ui

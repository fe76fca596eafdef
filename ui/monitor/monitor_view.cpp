// The view of the Monitor page as data, and its figures.
#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/read_json.h"
#include "core/base/text.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/side_by_side.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/settings.h"
#include "ui/kit/value_text.h"
#include "ui/monitor/monitor_page.h"
#include "ui/monitor/monitor_parts.h"
#include "ui/workbench/export_dialog.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

constexpr std::array kAxisWords{"step", "epoch", "time", "wall", "metric"};
constexpr std::array kBandWords{"none", "deviation", "error", "interval", "range", "quartiles"};
constexpr std::array kSmoothingWords{"none", "ema", "centred"};

std::optional<std::array<double, 2>> rangeIn(const Json& state, const char* key) {
  const auto range = statePair(stateMember(state, key));
  if (!range || !std::isfinite((*range)[0]) || !std::isfinite((*range)[1])) return std::nullopt;
  return (*range)[1] > (*range)[0] ? range : std::nullopt;
}

/// "EMA 0.9", "centred mean of 25 points"; "" for none.
QString footnoteText(const Smoothing& smoothing) {
  if (smoothing.kind == Smoothing::Kind::None || smoothing.amount <= 0) return {};
  const bool isEma = smoothing.kind == Smoothing::Kind::Ema;
  const QString amount = QString::fromStdString(formatReal(smoothing.amount, isEma ? 3 : 6));
  return isEma ? MonitorPage::tr("EMA %1").arg(amount)
               : MonitorPage::tr("centred mean of %1 points").arg(amount);
}

}  // namespace

Json viewParsed(const QByteArray& text) {
  Json json = readJson(text.toStdString());
  return json.is_discarded() ? Json() : json;
}

std::vector<AlertRule> alertsFromText(const QByteArray& text) {
  return alertsFromJson(viewParsed(text));
}

Json toJson(const Smoothing& smoothing) {
  return {{"kind", kSmoothingWords[static_cast<std::size_t>(smoothing.kind)]},
          {"amount", smoothing.amount},
          {"auto", smoothing.isAuto}};
}

Smoothing smoothingFromJson(const Json& json, const Smoothing& otherwise) {
  const auto kind =
      std::find(kSmoothingWords.begin(), kSmoothingWords.end(), stateText(json, "kind"));
  if (kind == kSmoothingWords.end() || !stateMember(json, "amount").is_number()) return otherwise;
  Smoothing made{static_cast<Smoothing::Kind>(kind - kSmoothingWords.begin()),
                 stateNumber(json, "amount"), stateFlag(json, "auto", false)};
  const double most = made.kind == Smoothing::Kind::Ema ? 0.9999 : 1e6;
  if (made.kind == Smoothing::Kind::None) made.amount = 0;
  return made.amount >= 0 && made.amount <= most ? made : otherwise;
}

Smoothing storedSmoothing() {
  return smoothingFromJson(
      viewParsed(setting(QStringLiteral("monitor/smoothing_kind"), QByteArray()).toByteArray()),
      kAutomaticSmoothing);
}

void storeSmoothing(const Smoothing& smoothing) {
  storeSetting(QStringLiteral("monitor/smoothing_kind"),
               QByteArray::fromStdString(toJson(smoothing).dump()));
}

Json MonitorPage::viewState() const {
  Json state = {{"x", kAxisWords[static_cast<std::size_t>(settings_.x)]},
                {"smoothing", toJson(settings_.smoothing)},
                {"log_x", settings_.isLogX},
                {"log_y", settings_.isLogY},
                {"clip", settings_.isClipped},
                {"seeds", kBandWords[static_cast<std::size_t>(settings_.band)]},
                {"share_zoom", isZoomShared_},
                {"follow", isFollowing_},
                {"pinned", pinned_},
                {"usual", isUsual_},
                {"search", words_.toStdString()},
                {"log", !log_->isHidden()}};
  if (settings_.x == XAxis::Metric) state["x_metric"] = settings_.xMetric;
  Json groups = Json::object();
  for (const auto& [name, isOpen] : opened_) groups[name.toStdString()] = isOpen;
  state["groups"] = groups;
  Json ranges = Json::object();
  for (PlotCard* card : cards_) {
    const CurvePlot& plot = card->plot();
    Json range = Json::object();
    if (!isFollowing_) range["x"] = {plot.xAxis().lower, plot.xAxis().upper};
    if (plot.isYChosen()) range["y"] = {plot.yAxis().lower, plot.yAxis().upper};
    if (!range.empty()) ranges[card->metric()] = range;
  }
  state["ranges"] = ranges;
  Json axes = Json::object();
  for (const auto& [metric, own] : ownAxes_) {
    if (own.isLogX) axes[metric]["log_x"] = *own.isLogX;
    if (own.isLogY) axes[metric]["log_y"] = *own.isLogY;
    if (own.isClipped) axes[metric]["clip"] = *own.isClipped;
  }
  if (!axes.empty()) state["axes"] = axes;
  if (!enlarged_.empty()) state["enlarged"] = enlarged_;
  if (!focused_.empty()) state["card"] = focused_;
  return state;
}

void MonitorPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  PlotSettings changed = settings_;
  const auto axis = std::find(kAxisWords.begin(), kAxisWords.end(), stateText(state, "x"));
  if (axis != kAxisWords.end()) changed.x = static_cast<XAxis>(axis - kAxisWords.begin());
  if (changed.x == XAxis::Metric) changed.xMetric = stateText(state, "x_metric");
  if (changed.x == XAxis::Metric && changed.xMetric.empty()) changed.x = XAxis::Step;
  changed.smoothing = smoothingFromJson(stateMember(state, "smoothing"), changed.smoothing);
  const auto band = std::find(kBandWords.begin(), kBandWords.end(), stateText(state, "seeds"));
  if (band != kBandWords.end()) changed.band = static_cast<Spread>(band - kBandWords.begin());
  changed.isLogX = stateFlag(state, "log_x", changed.isLogX);
  changed.isLogY = stateFlag(state, "log_y", changed.isLogY);
  changed.isClipped = stateFlag(state, "clip", changed.isClipped);
  isZoomShared_ = stateFlag(state, "share_zoom", isZoomShared_);
  shareAction_->setChecked(isZoomShared_);
  logAction_->setChecked(stateFlag(state, "log", !log_->isHidden()));
  if (const Json& pinned = stateMember(state, "pinned"); pinned.is_array()) {
    isUsual_ = stateFlag(state, "usual", false);
    pinned_.clear();
    for (const Json& metric : pinned)
      if (metric.is_string() && pinned_.size() < 500) pinned_.push_back(metric.get<std::string>());
  }
  if (const Json& groups = stateMember(state, "groups"); groups.is_object()) {
    opened_.clear();
    for (const auto& [name, isOpen] : groups.items())
      if (isOpen.is_boolean()) opened_[QString::fromStdString(name)] = isOpen.get<bool>();
  }
  if (state.contains("search")) {
    words_ = QString::fromStdString(stateText(state, "search")).simplified().left(200);
    search_->setText(words_);
  }
  focused_ = stateText(state, "card");
  enlarged_ = stateText(state, "enlarged");
  ownAxes_.clear();
  for (const auto& [metric, own] : stateTable(state, "axes").items()) {
    if (own.contains("log_x")) ownAxes_[metric].isLogX = stateFlag(own, "log_x", false);
    if (own.contains("log_y")) ownAxes_[metric].isLogY = stateFlag(own, "log_y", false);
    if (own.contains("clip")) ownAxes_[metric].isClipped = stateFlag(own, "clip", false);
  }
  pinUsual();
  rebuild();
  setSettings(changed);
  const bool isFollowing = stateFlag(state, "follow", isFollowing_);
  setFollowing(isFollowing);
  for (PlotCard* card : cards_) {
    giveCurves(*card);
    card->isStale = true;
  }
  fitAll();
  ranges_ = stateTable(state, "ranges");
  if (!isFollowing && !ranges_.empty()) isFitWanted_ = false;
  for (PlotCard* card : cards_) applyRanges(*card);
  readAllAgain();
}

void MonitorPage::applyRanges(PlotCard& card) {
  const Json& ranges = stateTable(ranges_, card.metric());
  if (const auto x = rangeIn(ranges, "x"); x && !isFollowing_)
    card.plot().showRange((*x)[0], (*x)[1]);
  if (const auto y = rangeIn(ranges, "y")) card.plot().chooseY((*y)[0], (*y)[1]);
}

QString MonitorPage::xTitle() const {
  switch (settings_.x) {
    case XAxis::Epoch:
      return tr("epoch");
    case XAxis::Time:
      return tr("running time, h:mm:ss");
    case XAxis::Wall:
      return tr("local time");
    case XAxis::Metric:
      return metricCard(settings_.xMetric, kinds_).title;
    case XAxis::Step:
      break;
  }
  return tr("step");
}

std::unique_ptr<Figure> MonitorPage::figureOf(PlotCard& card) const {
  CurvePlot& plot = card.plot();
  if (plot.curves().empty()) return nullptr;
  if (plot.hasOneValue()) return plot.bars(card.card().title, card.card().subtitle);
  const PlotSettings& settings = plot.settings();
  LineChart chart{.title = card.card().title, .about = card.card().subtitle};
  chart.x.title = xTitle();
  chart.x.scale = settings.isLogX ? AxisScale::Log : AxisScale::Linear;
  chart.x.range = {{plot.xAxis().lower, plot.xAxis().upper}};
  if (settings.x == XAxis::Time) chart.x.unit = ChartAxis::Unit::Duration;
  if (settings.x == XAxis::Wall) chart.x.unit = ChartAxis::Unit::Date;
  chart.y.title = card.card().title;
  chart.y.unit = axisUnit(card.card().format);
  chart.y.scale = settings.isLogY ? AxisScale::Log : AxisScale::Linear;
  chart.y.range = {{plot.yAxis().lower, plot.yAxis().upper}};
  bool isSmoothed = false;
  for (const PlottedCurve& curve : plot.curves()) {
    const CurveSeries& from = *curve.series;
    const auto x = from.x(settings.x), y = from.y(), smooth = from.smoothed(settings.smoothing);
    ChartSeries series{
        .name = curve.name, .run = seriesOf(curve.run), .symbol = seriesSymbol(curve.run)};
    // One point more on either side, so that the line continues to the edge.
    auto begin = std::lower_bound(x.begin(), x.end(), (*chart.x.range)[0]) - x.begin();
    auto end = std::upper_bound(x.begin(), x.end(), (*chart.x.range)[1]) - x.begin();
    begin = std::max<std::ptrdiff_t>(begin - 1, 0);
    end = std::min(end + 1, static_cast<std::ptrdiff_t>(x.size()));
    series.x.assign(x.begin() + begin, x.begin() + end);
    series.y.assign(smooth.begin() + begin, smooth.begin() + end);
    if (from.isSmoothed(settings.smoothing)) {
      isSmoothed = true;
      series.raw.assign(y.begin() + begin, y.begin() + end);
      // An infinite value is marked as what it is, though the mean passes over it.
      for (std::ptrdiff_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (std::isinf(y[at])) series.y[static_cast<std::size_t>(i - begin)] = y[at];
      }
    }
    if (curve.group) {
      const auto edge = [&](const CurveSeries& line) {
        const auto values = line.smoothed(settings.smoothing);
        return std::vector<double>(values.begin() + begin, values.begin() + end);
      };
      series.low = edge(curve.group->low);
      series.high = edge(curve.group->high);
    }
    for (const std::size_t start : from.segmentStarts()) series.segmentStarts.push_back(x[start]);
    for (const CurveNote& note : plot.notes()) {
      if (note.run != curve.run) continue;
      if (const auto place = from.placeOf(note.step, settings.x))
        chart.notes.push_back({*place, std::nullopt, note.text, note.run});
    }
    chart.series.push_back(std::move(series));
  }
  QStringList sentences;
  if (plot.hasGroups())
    sentences
        << tr("Seeds: %1, up to the shortest seed.").arg(bandText(Centre::Mean, settings.band));
  if (isSmoothed)
    sentences
        << tr("Smoothed: %1, raw values faint behind it.").arg(footnoteText(settings.smoothing));
  if (settings.isClipped && !plot.isYChosen())
    sentences << tr("Vertical axis: 1st to 99th percentile of the values.");
  chart.footnote = sentences.join(QLatin1Char(' '));
  return makeLineChart(std::move(chart));
}

std::unique_ptr<Figure> MonitorPage::figure() {
  if (PlotCard* chosen = focused_.empty() ? nullptr : card(focused_)) {
    if (auto made = figureOf(*chosen)) return made;
  }
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures;
  for (PlotCard* card : cards_) {
    if (isVisible() && !card->isOnScreen()) continue;
    if (auto made = figureOf(*card)) figures.emplace_back(card->card().title, std::move(made));
  }
  if (figures.empty()) return nullptr;
  if (figures.size() == 1) return std::move(figures.front().second);
  return std::make_unique<SideBySide>(std::move(figures), 2, FigureStyle{});
}

QString MonitorPage::howToRead() const {
  return tr(
      "Each plot is one metric of the selected runs. A run has the same colour, dash and symbol "
      "everywhere. The strong line is smoothed, the faint one behind it has every value, and "
      "values that are read out are never smoothed.\n\n"
      "Each column of pixels draws the lowest and the highest value, so no spike is hidden. A "
      "cross on the lower edge is a NaN, an arrow an infinite value or one beyond the edge. A "
      "dotted tick is the step where a run resumed.\n\n"
      "Drag, Ctrl and wheel zoom; with X or Y held, along one axis. Home shows all points. X and Y "
      "make that axis of the plot logarithmic. A double click enlarges a plot, Esc shows all of "
      "them again.");
}

void MonitorPage::exportCard(PlotCard& card) {
  focused_ = card.metric();
  const auto made = figureOf(card);
  if (made == nullptr) {
    workbench_.showMessage(tr("There are no values to export in this plot."));
    return;
  }
  QString name = QString::fromStdString(card.metric()).replace(QLatin1Char('/'), QLatin1Char('-'));
  exportFigure(this, workbench_, *made, recipeOf(workbench_, QStringLiteral("monitor"), *this),
               name);
}

}  // namespace vitrine::ui

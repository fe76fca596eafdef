// Requests of the Monitor, off the window's thread, and the handling of their answers.
#include <algorithm>

#include "ui/kit/theme.h"
#include "ui/monitor/monitor_page.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {
namespace {

constexpr int kMeasuredMs = 2000;  // between two looks for metrics that are new

}  // namespace

CurveKey MonitorPage::keyOf(std::int64_t run, const PlotCard& card) const {
  return {run, card.metric(), settings_.x == XAxis::Metric ? settings_.xMetric : std::string()};
}

void MonitorPage::giveCurves(PlotCard& card) {
  std::vector<PlottedCurve> curves;
  bool isKnown = true, isApart = false;
  for (const std::int64_t id : workbench_.selection().drawn())
    isKnown = isKnown && cache_.isKnown(keyOf(id, card));
  for (const Line& line : linesOf(card)) {
    const std::int64_t first = line.runs.front();
    if (line.runs.size() == 1) {
      const CurveSeries& series = cache_.curve(keyOf(first, card));
      if (series.size() > 0) curves.push_back({first, line.name, &series});
      continue;
    }
    const auto group = groupOfLine(card, line);
    if (group == nullptr) {
      isKnown = false;
    } else if (group->centre.size() == 0) {
      isApart = true;
    } else {
      curves.push_back({first,
                        tr("%1 (n = %2)").arg(line.name, QString::number(group->number)),
                        &group->centre, group});
    }
  }
  const bool hasPoints = !curves.empty();
  QString hint;
  if (!hasPoints && !isKnown) {
    hint = tr("Reading\u2026");
  } else if (!hasPoints && isApart) {
    hint = tr("The seeds do not overlap on this axis.\nDraw each run, or choose another axis.");
  } else if (!hasPoints && settings_.x == XAxis::Metric) {
    hint = tr("No values over %1.\nThe selected runs have not measured both.")
               .arg(metricCard(settings_.xMetric, kinds_).title);
  } else if (!hasPoints) {
    const std::vector<std::int64_t> drawn = workbench_.selection().drawn();
    const auto isOver = [this](std::int64_t run) {
      const store::RunRow* row = workbench_.run(run);
      return row != nullptr && hasEnded(row->state);
    };
    hint = std::all_of(drawn.begin(), drawn.end(), isOver)
               ? tr("No values.\nThe selected runs ended without measuring this.")
               : tr("No values yet.\nThe selected runs have not measured this.");
  }
  card.setHint(hint);
  card.plot().setCurves(curves);
  giveNotes(card);
  giveLegend(card);
}

std::vector<CurveKey> MonitorPage::unsmoothed(const PlotCard& card) const {
  std::vector<CurveKey> keys;
  if (!card.card().isNoisy) return keys;
  for (const Line& line : linesOf(card)) {
    CurveKey key = keyOf(line.runs.front(), card);
    if (line.runs.size() == 1 && !cache_.curve(key).isReady(settings_.smoothing))
      keys.push_back(std::move(key));
  }
  return keys;
}

void MonitorPage::applySettings(PlotCard& card) {
  PlotSettings settings = settings_;
  if (settings.x == XAxis::Metric) settings.xTitle = metricCard(settings.xMetric, kinds_).title;
  if (const auto own = ownAxes_.find(card.metric()); own != ownAxes_.end()) {
    settings.isLogX = own->second.isLogX.value_or(settings.isLogX);
    settings.isLogY = own->second.isLogY.value_or(settings.isLogY);
    settings.isClipped = own->second.isClipped.value_or(settings.isClipped);
  }
  const std::vector<Line> lines = linesOf(card);
  const bool isRegrouped = std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
    const auto group = line.runs.size() > 1 ? groupOfLine(card, line) : nullptr;
    return group != nullptr && !group->low.isReady(settings_.smoothing);
  });
  if (isRegrouped || !unsmoothed(card).empty())
    settings.smoothing = card.plot().settings().smoothing;
  card.setSettings(settings);
}

bool MonitorPage::isWanted(const PlotCard& card) const {
  return isReadingAll_ || (isVisible() && card.isOnScreen());
}

bool MonitorPage::isUpToDate(const CurveKey& key) const {
  if (settings_.x == XAxis::Wall && !cache_.hasStarts(key)) return false;
  if (cache_.isRead(key, version_)) return true;
  // A run that has ended is read once more after it did, and then never.
  const auto found = workbench_.runs().find(key.run);
  return found != workbench_.runs().end() && !isAlive(found->second.state) &&
         cache_.isRead(key, 1, found->second.changeSequence);
}

void MonitorPage::read() {
  if (reader_.isBusy() || isFailing_ || (!isVisible() && !isReadingAll_)) return;
  MonitorRequest ask{.isDatabaseAsked = !hasDatabase_};
  const bool areNamesOld = !sinceMeasured_.isValid() || sinceMeasured_.elapsed() > kMeasuredMs;
  std::map<std::int64_t, std::int64_t> sequences;
  std::set<std::int64_t> selected;
  std::vector<store::RunRow> rows;
  for (const std::int64_t id : workbench_.selection().drawn()) {
    const store::RunRow* row = workbench_.run(id);
    sequences[id] = row == nullptr ? 0 : row->changeSequence;
    selected.insert(id);
    if (row != nullptr) rows.push_back(*row);
    const auto known = names_.find(id);
    const bool isLive = row != nullptr && isAlive(row->state);
    if (known == names_.end() ||
        (isLive ? (areNamesOld || isReadingAll_) && known->second.version < version_
                : known->second.changeSequence != sequences[id]))
      ask.namesOf.push_back(id);
    if (!tasks_.contains(id)) ask.tasksOf.push_back(id);
    const auto noted = notes_.find(id);
    if (noted == notes_.end() || noted->second.changeSequence != sequences[id])
      ask.notesOf.push_back(id);
  }
  for (PlotCard* card : cards_) {
    if (!isWanted(*card)) continue;
    for (const auto& [id, sequence] : sequences) {
      const CurveKey key = keyOf(id, *card);
      if (isUpToDate(key)) continue;
      CurveReadRequest curve = cache_.ask(key);
      curve.smoothing = card->plot().settings().smoothing;
      curve.isStartAsked = settings_.x == XAxis::Wall;
      ask.curves.push_back(std::move(curve));
    }
  }
  if (settings_.isGrouped() && variantsOf_ != selected) ask.variantsOf = std::move(rows);
  for (PlotCard* card : cards_) {
    if (!isWanted(*card)) continue;
    for (const CurveKey& key : unsmoothed(*card))
      ask.smooth.push_back({key, cache_.share(key), settings_.smoothing});
    for (GroupRequest& group : ungrouped(*card)) ask.groups.push_back(std::move(group));
  }
  if (!ask.namesOf.empty()) sinceMeasured_.restart();
  const bool isAnyAsked = !ask.curves.empty() || !ask.smooth.empty() || !ask.groups.empty() ||
                          !ask.namesOf.empty() || !ask.tasksOf.empty() || !ask.notesOf.empty() ||
                          !ask.variantsOf.empty();
  if (!isAnyAsked && !ask.isDatabaseAsked) return showRead();
  reader_.run([this, ask = std::move(ask), version = version_, sequences, selected](
                  store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    auto answer = std::make_shared<MonitorResponse>(readMonitor(store, ask, isStale));
    const bool areVariantsRead = !ask.variantsOf.empty() && answer->error.empty();
    return [this, answer, version, sequences, selected, areVariantsRead] {
      if (areVariantsRead) variantsOf_ = selected;
      for (auto& [id, names] : answer->names)
        names_[id] = {std::move(names), version, sequences.at(id)};
      const bool areTasksNew = !answer->tasks.empty();
      tasks_.merge(answer->tasks);
      takeNotes(std::move(answer->notes), sequences);
      for (CurveReadResponse& curve : answer->curves) {
        curve.version = version;
        const auto known = sequences.find(curve.key.run);
        curve.changeSequence = known == sequences.end() ? 0 : known->second;
      }
      take(*answer);
      if (areTasksNew) showCurrent();  // the unit of its throughput
    };
  });
}

void MonitorPage::readAllAgain() {
  reader_.cancel();
  isFailing_ = false;
  read();
}

void MonitorPage::take(MonitorResponse& answer) {
  if (answer.hasDatabase) {
    hasDatabase_ = true;
    databaseUuid_ = answer.databaseUuid;
    rememberUuid(workbench_, databaseUuid_);
    moveNotes();
    readSizes();
  }
  // Runs declare metrics while they start; what is declared stays.
  if (answer.kinds.size() > kinds_.size()) {
    kinds_ = std::move(answer.kinds);
    for (PlotCard* card : cards_) card->setMeaning(metricCard(card->metric(), kinds_));
  }
  for (auto& [key, line] : answer.smoothed)
    if (line.smoothing() == settings_.smoothing) cache_.adopt(key, std::move(line));
  if (!answer.smoothed.empty()) {
    for (PlotCard* card : cards_) {
      applySettings(*card);
      card->plot().refresh();
    }
  }
  std::set<CurveKey> changed;
  QString error = QString::fromStdString(answer.error);
  for (CurveReadResponse& curve : answer.curves) {
    if (!curve.error.empty()) error = QString::fromStdString(curve.error);
    const CurveKey key = curve.key;
    if (cache_.take(std::move(curve))) changed.insert(key);
  }
  if (!error.isEmpty()) {
    isFailing_ = true;
    workbench_.showError(error);
  }
  takeGroups(answer);
  std::set<std::string> now = measured();
  const bool isOtherMeasured = now != measured_;
  measured_ = std::move(now);
  if (pinUsual() || isOtherMeasured) rebuild();
  for (PlotCard* card : cards_) {
    bool isChanged = false, isComplete = true;
    for (const std::int64_t id : workbench_.selection().drawn()) {
      isChanged = isChanged || changed.contains(keyOf(id, *card));
      isComplete = isComplete && isUpToDate(keyOf(id, *card));
    }
    for (const auto& [state, curve] : answer.grouped)
      isChanged = isChanged || state.metric == card->metric();
    if (!isWanted(*card)) {
      card->isStale = card->isStale || isChanged || !isComplete;
    } else if (isChanged || (card->isStale && isComplete)) {
      refreshCard(*card);
    }
  }
  pruneCache();
  // What was left over, and what came into sight meanwhile.
  QMetaObject::invokeMethod(this, &MonitorPage::read, Qt::QueuedConnection);
}

// Everything wanted is there: the cards agree on the range that holds all of it.
void MonitorPage::showRead() {
  for (PlotCard* card : cards_)
    if (card->isStale && isWanted(*card)) refreshCard(*card);
  if (isFollowing_ || isFitWanted_) {
    const Extent linear = extent(false), logarithmic = extent(true);
    for (PlotCard* card : cards_) {
      const Extent& all = card->plot().settings().isLogX ? logarithmic : linear;
      if (!all || !isWanted(*card)) continue;
      const auto [from, to] = *all;
      const PlotAxis& shown = card->plot().xAxis();
      if (shown.lower != from || shown.upper != to) card->plot().showRange(from, to);
    }
  }
  isFitWanted_ = false;
}

void MonitorPage::later() {
  if (!isVisible() || timer_.isActive()) return;
  const qint64 passed = sinceRefresh_.isValid() ? sinceRefresh_.elapsed() : kRefreshMs;
  timer_.start(static_cast<int>(std::max<qint64>(0, kRefreshMs - passed)));
}

void MonitorPage::refreshNow() {
  sinceRefresh_.restart();
  if (!isVisible()) return;
  ++version_;
  isFailing_ = false;
  for (PlotCard* card : cards_) {
    if (isWanted(*card)) continue;
    for (const std::int64_t id : workbench_.selection().drawn())
      card->isStale = card->isStale || !isUpToDate(keyOf(id, *card));
  }
  read();
}

void MonitorPage::refreshCard(PlotCard& card) {
  card.isStale = false;
  giveCurves(card);
  const Extent all = extent(card.plot().settings().isLogX);
  if ((isFollowing_ || isFitWanted_) && all) {
    card.plot().showRange((*all)[0], (*all)[1]);
  } else {
    card.plot().refresh();
  }
}

void MonitorPage::pruneCache() {
  if (cache_.bytes() > cache_.limit()) {
    std::set<CurveKey> shown;
    for (const std::int64_t id : workbench_.selection().drawn())
      for (const PlotCard* card : cards_) shown.insert(keyOf(id, *card));
    cache_.trim(shown);
  }
  metricsAction_->setToolTip(
      tr("Choose the metrics that are pinned to the top.\nCurves in memory: %1 of %2 MB")
          .arg(number(static_cast<double>(cache_.bytes()) / (1 << 20), 1),
               count(static_cast<std::int64_t>(cache_.limit() >> 20))));
}

}  // namespace vitrine::ui

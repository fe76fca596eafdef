// The seeds of a variant as one curve on the Monitor: which runs belong together, and when their
// band is made again.
#include <QActionGroup>
#include <QMenu>
#include <algorithm>
#include <array>
#include <map>

#include "ui/kit/menus.h"
#include "ui/monitor/monitor_page.h"
#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {
namespace {

struct SeedsChoice {
  Spread band;
  const char* text;
};
constexpr std::array kSeedsChoices{
    SeedsChoice{Spread::None, QT_TRANSLATE_NOOP("vitrine::ui::MonitorPage", "Each run")},
    SeedsChoice{Spread::Range,
                QT_TRANSLATE_NOOP("vitrine::ui::MonitorPage", "Mean, minimum to maximum")},
    SeedsChoice{Spread::Deviation,
                QT_TRANSLATE_NOOP("vitrine::ui::MonitorPage", "Mean \u00b1 standard deviation")},
    SeedsChoice{Spread::Interval,
                QT_TRANSLATE_NOOP("vitrine::ui::MonitorPage", "Mean, 95\u2009% interval")}};

/// Adds words of their run to the names that several lines have.
template <class Lines, class Words>
void addWhereTwice(Lines& lines, const Words& words) {
  std::map<QString, int> times;
  for (const auto& line : lines) ++times[line.name];
  for (auto& line : lines)
    if (times[line.name] > 1) line.name += words(line.runs.front());
}

}  // namespace

void MonitorPage::makeSeedsTool() {
  seedsAction_ = new QAction(tr("Seeds: each"), this);
  auto* menu = new QMenu(this);
  menu->setAccessibleName(tr("Seeds"));
  seedsGroup_ = new QActionGroup(this);
  for (const SeedsChoice& choice : kSeedsChoices) {
    QAction* action = menu->addAction(tr(choice.text));
    action->setCheckable(true);
    action->setData(static_cast<int>(choice.band));
    seedsGroup_->addAction(action);
    connect(action, &QAction::triggered, this, [this, band = choice.band] {
      PlotSettings changed = settings_;
      changed.band = band;
      chooseSettings(changed);
    });
  }
  seedsAction_->setMenu(menu);
}

std::vector<MonitorPage::Line> MonitorPage::linesOf(const PlotCard& card) const {
  const std::vector<std::int64_t>& selected = workbench_.selection().drawn();
  std::set<std::int64_t> alone(selected.begin(), selected.end());
  std::vector<Line> lines;
  if (settings_.isGrouped()) {
    for (const RunGroup& group : variants_) {
      // Of the runs of a seed the newest that has measured it.
      std::map<std::uint64_t, std::int64_t> bySeed;
      std::size_t here = 0;
      for (const auto& [seed, run] : group.runs) {
        if (!std::count(selected.begin(), selected.end(), run)) continue;
        ++here;
        if (cache_.curve(keyOf(run, card)).size() > 0) bySeed[seed] = run;
      }
      if (here < 2) continue;
      Line line{group.name, {}};
      for (const auto& [seed, run] : group.runs) alone.erase(run);
      for (const auto& [seed, run] : bySeed) line.runs.push_back(run);
      if (!line.runs.empty()) lines.push_back(std::move(line));
    }
  }
  for (const std::int64_t run : selected)
    if (alone.contains(run)) lines.push_back({runNameOf(workbench_, run), {run}});
  // Seeds of one name may have one colour, too.
  addWhereTwice(lines, [this](std::int64_t run) {
    const store::RunRow* row = workbench_.run(run);
    return row == nullptr ? QString() : tr(", seed %1").arg(row->seed);
  });
  addWhereTwice(lines, [](std::int64_t run) { return tr(", run %1").arg(run); });
  return lines;
}

GroupState MonitorPage::groupState(const PlotCard& card, const Line& line) const {
  GroupState state{card.metric(), line.runs, {}, settings_.x, settings_.band, {}};
  for (const std::int64_t run : line.runs)
    state.sequences.push_back(cache_.curve(keyOf(run, card)).lastSequence());
  if (card.card().isNoisy) state.smoothing = settings_.smoothing;
  return state;
}

std::shared_ptr<const GroupedCurve> MonitorPage::groupOfLine(const PlotCard& card,
                                                             const Line& line) const {
  const auto found = grouped_.find({card.metric(), line.runs});
  if (found == grouped_.end()) return nullptr;
  const auto& [state, curve] = found->second;
  return state.axis == settings_.x && state.spread == settings_.band ? curve : nullptr;
}

std::vector<GroupRequest> MonitorPage::ungrouped(const PlotCard& card) const {
  std::vector<GroupRequest> asks;
  for (const Line& line : linesOf(card)) {
    if (line.runs.size() < 2) continue;
    GroupRequest ask{groupState(card, line), {}};
    const auto found = grouped_.find({card.metric(), line.runs});
    const bool isMade = found != grouped_.end() && found->second.state == ask.state;
    bool isComplete = true;  // else it is made once with all that is being read
    for (const std::int64_t run : line.runs) {
      const CurveKey key = keyOf(run, card);
      isComplete = isComplete && isUpToDate(key);
      ask.curves.push_back(cache_.share(key));
    }
    if (isComplete && !isMade) asks.push_back(std::move(ask));
  }
  return asks;
}

void MonitorPage::takeGroups(MonitorResponse& answer) {
  if (!answer.variants.empty()) {
    variants_ = std::move(answer.variants);
    for (PlotCard* card : cards_) card->isStale = true;
  }
  for (const auto& [state, curve] : answer.grouped)
    grouped_[{state.metric, state.runs}] = {state, curve};
  for (PlotCard* card : cards_) {
    for (const auto& [state, curve] : answer.grouped)
      if (state.metric == card->metric()) applySettings(*card);
  }
}

void MonitorPage::giveLegend(PlotCard& card) {
  // The list of runs does not show which of them are one curve.
  card.setLegend(card.plot().curves(), !workbench_.isRunListVisible() || card.plot().hasGroups());
}

}  // namespace vitrine::ui

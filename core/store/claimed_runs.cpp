#include "core/store/claimed_runs.h"

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/cell_text.h"
#include "core/base/curve_band.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// A finished run as its file says, and its measured values.
struct Candidate {
  std::int64_t run = 0;
  std::uint64_t seed = 0;
  double value = 0;
  RunCurve curve;  ///< over steps, where its mean is measured
  Json conditions;
};

/// Runs of one side under one set of conditions: the newest of each seed.
using BySeed = std::map<std::uint64_t, const Candidate*>;

struct Group {
  BySeed better, worse;
  std::int64_t newest = 0;

  /// Seeds that give a value.
  [[nodiscard]] std::size_t seeds(bool isPaired) const {
    if (!isPaired) return better.size();
    std::size_t common = 0;
    for (const auto& [seed, run] : better) common += worse.count(seed);
    return common;
  }
};

/// The values of `one` that are compared; their mean is that over the steps that `other` has, too,
/// if there is one.
double measuredValue(const Claim& claim, const Candidate& one, const Candidate* other) {
  if (claim.measure != ClaimMeasure::Mean) return one.value;
  std::vector<const RunCurve*> curves{&one.curve};
  if (other != nullptr) curves.push_back(&other->curve);
  return meanOver(one.curve, lastShare(commonPlaces(curves), claim.window));
}

std::map<std::uint64_t, double> valuesOf(const Claim& claim, const BySeed& runs,
                                         const BySeed& others) {
  std::map<std::uint64_t, double> values;
  for (const auto& [seed, run] : runs) {
    const auto other = others.find(seed);
    values[seed] = measuredValue(claim, *run, other == others.end() ? nullptr : other->second);
  }
  return values;
}

class ClaimedRuns {
 public:
  /// \param direction  in which the metric reaches a target
  ClaimedRuns(const QueryFunction& query, const Claim& claim, const ClaimedExperiment& experiment,
              Direction direction)
      : query_(query), claim_(claim), experiment_(experiment), direction_(direction) {}

  std::vector<Candidate> of(const std::vector<RunRow>& rows, const std::string& name) {
    std::vector<RunRow> named;
    for (const RunRow& row : rows) {
      if (row.experiment == experiment_.title() && (row.variant == name || row.stage == name))
        named.push_back(row);
    }
    const std::vector<ComparedRun> runs = comparedRuns(query_, named);
    const Measurements measured = measure(query_, runs, {claim_.metric}, {}, {});
    const auto& values = measured.values.at(claim_.metric);
    std::vector<Candidate> candidates;
    for (const ComparedRun& run : runs) {
      const auto value = values.find(run.row.id);
      const std::string deviation =
          experiment_.deviation(run.config, run.row.variant, run.row.stage);
      if (run.row.state != RunState::Done) {
        exclude(run.row.id, toString(run.row.state));
      } else if (!deviation.empty()) {
        exclude(run.row.id, "with " + deviation + " as in the file");
      } else if (value == values.end()) {
        exclude(run.row.id, "without a value");
      } else {
        candidates.push_back({run.row.id, run.row.seed, value->second.last, RunCurve(),
                              experiment_.conditions(run.config, claim_)});
      }
    }
    return candidates;
  }

  /// Takes the measured values from the curves of both sides: one query. A run that does not reach
  /// the target is left out.
  void readCurves(std::vector<Candidate>& better, std::vector<Candidate>& worse) {
    std::set<std::int64_t> ids;
    for (const auto* side : {&better, &worse})
      for (const Candidate& one : *side) ids.insert(one.run);
    if (ids.empty()) return;
    const char* place = claim_.measure == ClaimMeasure::TimeTo ? "time" : "step";
    const RunStore::Table points =
        query_("SELECT run_id, " + std::string(place) + ", value FROM metrics WHERE run_id IN (" +
               vitrine::joined(ids, [](std::int64_t id) { return std::to_string(id); }) +
               ") AND name = " + quotedSql(claim_.metric) + " ORDER BY run_id, step");
    std::map<std::int64_t, RunCurve> curves;
    for (const auto& row : points.rows) {
      if (!row[1].is_number()) continue;
      const double value =
          row[2].is_number() ? row[2].get<double>() : std::numeric_limits<double>::quiet_NaN();
      curves[row[0].get<std::int64_t>()].add(row[1].get<double>(), value);
    }
    for (auto* side : {&better, &worse}) {
      for (Candidate& one : *side) one.curve = curves[one.run];
      if (claim_.target) keepReaching(*side);
    }
  }

  void exclude(std::int64_t run, const std::string& reason) { leftOut_[reason].insert(run); }

  std::string leftOut() const {
    std::string text;
    for (const auto& [reason, runs] : leftOut_)
      text += (text.empty() ? "" : "; ") + std::to_string(runs.size()) + " " + reason;
    return text;
  }

 private:
  void keepReaching(std::vector<Candidate>& candidates) {
    std::vector<Candidate> reaching;
    for (Candidate& one : candidates) {
      const std::optional<double> reached = placeReaching(one.curve, *claim_.target, direction_);
      if (!reached) {
        exclude(one.run, "not reaching " + formatReal(*claim_.target));
        continue;
      }
      one.value = *reached;
      reaching.push_back(std::move(one));
    }
    candidates = std::move(reaching);
  }

  const QueryFunction& query_;
  const Claim& claim_;
  const ClaimedExperiment& experiment_;
  Direction direction_;
  std::map<std::string, std::set<std::int64_t>> leftOut_;
};

}  // namespace

MetricFormat claimFormat(const Claim& claim, const MetricKinds& kinds) {
  if (claim.target) return {};
  MetricFormat format = metricFormat(claim.metric, kindOf(kinds, claim.metric));
  if (!claim.above) format.arePoints = format.isPercent;
  return format;
}

Judgement judgeClaim(const QueryFunction& query, const std::vector<RunRow>& rows,
                     const Claim& claim, const ClaimedExperiment& experiment) {
  const bool isPaired = !claim.above;
  const Direction direction =
      claim.target ? kindOf(metricKinds(query), claim.metric).direction : Direction::None;
  if (claim.target && direction == Direction::None) {
    Judgement none = judge(claim, {}, {});
    none.reason = "it is not known which values of " + claim.metric + " are better";
    return none;
  }
  ClaimedRuns runs(query, claim, experiment, direction);
  for (const std::string& side : {claim.better, claim.worse}) {
    if (side.empty() || experiment.has(side)) continue;
    Judgement none = judge(claim, {}, {});
    none.reason = "the experiment has no variant or stage '" + side + "'";
    return none;
  }
  std::vector<Candidate> better = runs.of(rows, claim.better);
  std::vector<Candidate> worse = isPaired ? runs.of(rows, claim.worse) : std::vector<Candidate>();
  if (claim.measure != ClaimMeasure::Last) runs.readCurves(better, worse);
  std::map<std::string, Group> groups;
  const auto add = [&](const std::vector<Candidate>& side, BySeed Group::*member) {
    for (const Candidate& one : side) {
      Group& group = groups[dumpJson(one.conditions)];
      const Candidate*& newest = (group.*member)[one.seed];
      if (newest == nullptr || newest->run < one.run) newest = &one;
      group.newest = std::max(group.newest, one.run);
    }
  };
  add(better, &Group::better);
  add(worse, &Group::worse);
  const Group* chosen = nullptr;
  for (const auto& [conditions, group] : groups) {
    if (chosen == nullptr || std::pair(group.seeds(isPaired), group.newest) >
                                 std::pair(chosen->seeds(isPaired), chosen->newest))
      chosen = &group;
  }
  if (chosen == nullptr) {
    Judgement none = judge(claim, {}, {});
    none.leftOut = runs.leftOut();
    return none;
  }
  const Candidate& any =
      chosen->better.empty() ? *chosen->worse.begin()->second : *chosen->better.begin()->second;
  const auto exclude = [&](const std::vector<Candidate>& side, const BySeed& counted) {
    for (const Candidate& one : side) {
      const auto found = counted.find(one.seed);
      if (found != counted.end() && found->second == &one) continue;
      const std::vector<Difference> other = difference(any.conditions, one.conditions);
      runs.exclude(one.run, other.empty()
                                 ? "repeated with the same seed (the newest counts)"
                                 : "with another " + other.front().key + " than the others");
    }
  };
  exclude(better, chosen->better);
  exclude(worse, chosen->worse);
  Judgement judgement = judge(claim, valuesOf(claim, chosen->better, chosen->worse),
                              valuesOf(claim, chosen->worse, chosen->better));
  judgement.leftOut = runs.leftOut();
  return judgement;
}

}  // namespace vitrine::store

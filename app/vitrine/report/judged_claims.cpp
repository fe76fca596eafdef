#include "app/vitrine/report/judged_claims.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"
#include "core/store/claimed_runs.h"

namespace vitrine::app {

std::vector<JudgedClaim> judgedClaims(store::RunReader& store, const std::filesystem::path& file) {
  std::vector<Problem> problems;
  std::vector<Claim> claims = readClaims(readTextFile(file), file.string(), problems);
  if (!problems.empty()) {
    std::string sentences;
    for (const Problem& problem : problems)
      sentences += (sentences.empty() ? "" : "\n") + problem.sentence();
    throw ConfigError(sentences);
  }
  const std::vector<store::RunRow> runs = store.runs();
  std::vector<JudgedClaim> judged;
  const store::QueryFunction query = [&](const std::string& sql) { return store.query(sql); };
  const store::MetricKinds kinds = metricKinds(query);
  for (Claim& claim : claims) {
    const std::string path = (file.parent_path() / claim.experiment).string();
    const ClaimedExperiment experiment(readTextFile(path), path);
    Judgement judgement = judgeClaim(query, runs, claim, experiment);
    const store::MetricFormat format = store::claimFormat(claim, kinds);
    judged.push_back({std::move(claim), experiment.title(), std::move(judgement), format});
  }
  return judged;
}

std::string relationText(const Claim& claim, const store::MetricFormat& format) {
  const auto written = [&format](double value) {
    return format.isPercent ? formatReal(100 * value, 6) + ' ' + format.unit() : formatReal(value);
  };
  if (claim.above) return claim.better + " >= " + written(*claim.above);
  return claim.better + " - " + claim.worse +
         (claim.margin == 0 ? " > 0" : " >= " + written(claim.margin));
}

std::string measuredText(const Judgement& judgement, const store::MetricFormat& format) {
  const SampleStatistics& s = judgement.statistics;
  if (s.count == 0) return "";
  const double factor = format.isPercent ? 100 : 1;
  const int decimals = s.count > 1 ? decimalsFor(halfWidth(s) * factor) : -1;
  const auto written = [&](double value) {
    return store::metricNumber(format, value * factor, decimals);
  };
  std::string text = written(s.mean);
  if (s.count > 1)
    text += " [" + written(s.interval.lower) + ", " + written(s.interval.upper) + "]";
  return format.isPercent ? text + ' ' + format.unit() : text;
}

std::string whyText(const Judgement& judgement) {
  return judgement.reason +
         (judgement.leftOut.empty() ? "" : "; not counted: " + judgement.leftOut);
}

}  // namespace vitrine::app

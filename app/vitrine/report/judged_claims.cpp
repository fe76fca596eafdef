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
  for (Claim& claim : claims) {
    const std::string path = (file.parent_path() / claim.experiment).string();
    const ClaimedExperiment experiment(readTextFile(path), path);
    Judgement judgement = judgeClaim([&](const std::string& sql) { return store.query(sql); }, runs,
                                     claim, experiment);
    judged.push_back({std::move(claim), experiment.title(), std::move(judgement)});
  }
  return judged;
}

std::string relationText(const Claim& claim) {
  if (claim.above) return claim.better + " >= " + formatReal(*claim.above);
  return claim.better + " - " + claim.worse +
         (claim.margin == 0 ? " > 0" : " >= " + formatReal(claim.margin));
}

std::string measuredText(const Judgement& judgement) {
  const SampleStatistics& s = judgement.statistics;
  if (s.count == 0) return "";
  const std::string mean = formatReal(s.mean, 4);
  if (s.count == 1) return mean;
  return mean + " [" + formatReal(s.interval.lower, 4) + ", " + formatReal(s.interval.upper, 4) +
         "]";
}

std::string whyText(const Judgement& judgement) {
  return judgement.reason +
         (judgement.leftOut.empty() ? "" : "; not counted: " + judgement.leftOut);
}

}  // namespace vitrine::app

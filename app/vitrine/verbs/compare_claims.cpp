#include "app/vitrine/verbs/compare_claims.h"

#include <filesystem>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/claims.h"
#include "core/files/checkpoint_folder.h"
#include "core/store/claimed_runs.h"

namespace vitrine::app {

namespace {

namespace fs = std::filesystem;

std::string relation(const Claim& claim) {
  if (claim.above) return claim.better + " >= " + formatReal(*claim.above);
  return claim.better + " - " + claim.worse +
         (claim.margin == 0 ? " > 0" : " >= " + formatReal(claim.margin));
}

std::string measured(const Judgement& judgement) {
  const SampleStatistics& s = judgement.statistics;
  if (s.count == 0) return "";
  const std::string mean = formatReal(s.mean, 4);
  if (s.count == 1) return mean;
  return mean + " [" + formatReal(s.interval.lower, 4) + ", " + formatReal(s.interval.upper, 4) +
         "]";
}

std::string why(const Judgement& judgement) {
  return judgement.reason +
         (judgement.leftOut.empty() ? "" : "; not counted: " + judgement.leftOut);
}

}  // namespace

int judgeClaims(const CommandLine& line, const std::string& file) {
  std::vector<Problem> problems;
  const std::vector<Claim> claims = readClaims(readTextFile(file), file, problems);
  if (!problems.empty()) {
    std::string sentences;
    for (const Problem& problem : problems)
      sentences += (sentences.empty() ? "" : "\n") + problem.sentence();
    throw ConfigError(sentences);
  }
  store::RunStore store = openStoreForReading(line);
  const std::vector<store::RunRow> runs = store.runs();
  Json out = Json::array();
  Table table{{"claim", "verdict", "n", "metric", "relation", "measured", "why"}, {}};
  for (const Claim& claim : claims) {
    const std::string path = (fs::path(file).parent_path() / claim.experiment).string();
    const ClaimedExperiment experiment(readTextFile(path), path);
    const Judgement judgement = judgeClaim([&](const std::string& sql) { return store.query(sql); },
                                           runs, claim, experiment);
    const SampleStatistics& statistics = judgement.statistics;
    out.push_back({{"claim", claim.name},
                   {"source", claim.source},
                   {"experiment", experiment.title()},
                   {"metric", claim.metric},
                   {"relation", relation(claim)},
                   {"verdict", toString(judgement.verdict)},
                   {"n", statistics.count},
                   {"mean", finite(statistics.mean)},
                   {"lower", finite(statistics.interval.lower)},
                   {"upper", finite(statistics.interval.upper)},
                   {"why", judgement.reason},
                   {"left_out", judgement.leftOut},
                   {"note", claim.note}});
    table.rows.push_back({claim.name, toString(judgement.verdict), statistics.count, claim.metric,
                          relation(claim), measured(judgement), why(judgement)});
  }
  if (line.wantsJson()) {
    print(out);
  } else {
    print(table, formatOf(line));
  }
  return 0;
}

}  // namespace vitrine::app

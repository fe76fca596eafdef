#include "app/vitrine/report/compare_claims.h"

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/report/judged_claims.h"

namespace vitrine::app {

int judgeClaims(const CommandLine& line, const std::string& file) {
  store::RunStore store = openStoreForReading(line);
  Json out = Json::array();
  Table table{{"claim", "verdict", "n", "metric", "relation", "measured", "why"}, {}};
  for (const JudgedClaim& judged : judgedClaims(store, file)) {
    const auto& [claim, experiment, judgement, known] = judged;
    // Other programs read the values as they are stored.
    const store::MetricFormat format = line.wantsCsv() ? store::MetricFormat{} : known;
    const SampleStatistics& statistics = judgement.statistics;
    out.push_back({{"claim", claim.name},
                   {"source", claim.source},
                   {"experiment", experiment},
                   {"metric", claim.metric},
                   {"measure", toString(claim.measure)},
                   {"window", claim.window},
                   {"target", claim.target ? Json(*claim.target) : Json(nullptr)},
                   {"relation", relationText(claim, {})},
                   {"verdict", toString(judgement.verdict)},
                   {"n", statistics.count},
                   {"mean", finite(statistics.mean)},
                   {"lower", finite(statistics.interval.lower)},
                   {"upper", finite(statistics.interval.upper)},
                   {"why", judgement.reason},
                   {"left_out", judgement.leftOut},
                   {"note", claim.note}});
    table.rows.push_back({claim.name, toString(judgement.verdict), statistics.count,
                          measureText(claim), relationText(claim, format),
                          measuredText(judgement, format), whyText(judgement)});
  }
  if (line.wantsJson()) {
    print(out);
  } else {
    print(table, formatOf(line));
  }
  return 0;
}

}  // namespace vitrine::app

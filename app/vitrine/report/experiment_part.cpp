#include "app/vitrine/report/experiment_part.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/vitrine/report/judged_claims.h"
#include "app/vitrine/report/stored_json.h"
#include "core/artifact/map_image.h"
#include "core/artifact/predictions.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/experiment.h"
#include "core/config/lookup.h"
#include "core/config/telling.h"
#include "core/store/experiment_folder.h"
#include "core/store/metrics/metric_family.h"
#include "core/store/metrics/metric_titles.h"
#include "core/store/run_facts.h"

namespace vitrine::app {

namespace {

/// "Accuracy, test", as the task named it where that is compared.
std::string titleOf(const Ablation& ablation, const std::string& metric) {
  const auto meaning = ablation.measured.meanings.find(metric);
  return store::metricTitle(
             metric, meaning == ablation.measured.meanings.end() ? "" : meaning->second.title)
      .title;
}

namespace fs = std::filesystem;

constexpr std::size_t kMostCurves = 4, kMostArtifacts = 12;
constexpr std::size_t kMostTiles = 12;  ///< variants side by side

std::string valueText(const Json* value) {
  return value == nullptr || value->is_null() ? "none" : plainText(*value);
}

std::string unitText(const store::MetricMeaning& meaning) {
  if (meaning.unit == "fraction") return " %";
  return meaning.unit.empty() || meaning.unit == "1" ? "" : " " + meaning.unit;
}

Html chartsOf(const Html& figures) { return Html::element("div", {{"class", "charts"}}, figures); }

/// Everything that is said of one experiment is read here once.
class Part {
 public:
  Part(store::RunReader& store, const std::vector<store::RunRow>& rows, const PartOptions& options,
       FigureDrawer& figures)
      : store_(store),
        rows_(rows),
        options_(options),
        figures_(figures),
        query_([&store](const std::string& sql) { return store.query(sql); }),
        ablation_(readAblation(query_, rows, {})) {}

  [[nodiscard]] Html overview() const;
  [[nodiscard]] Html configuration();
  [[nodiscard]] Html results();
  [[nodiscard]] Html curves();
  /// Scores of analyses against the numbers in their names. \param points  of each metric, at most
  [[nodiscard]] Html families(const std::map<std::string, std::int64_t>& points);
  [[nodiscard]] Html artifacts();
  [[nodiscard]] Html claims();

 private:
  /// The name of a variant; of all but the first of one name with what it has and the first has
  /// not.
  [[nodiscard]] std::string nameAt(std::size_t variant) const;
  /// The run that stands for a variant in pictures: the first that is done, else the first.
  [[nodiscard]] const store::RunRow& shownRun(std::size_t variant) const;
  [[nodiscard]] std::vector<std::string> uuids() const;
  [[nodiscard]] HtmlTable::Cell resultCell(std::size_t variant, const std::string& metric,
                                           const ColumnStyle& style) const;
  [[nodiscard]] HtmlTable::Cell timeCell(std::size_t variant,
                                         const std::map<std::int64_t, double>& seconds) const;
  [[nodiscard]] std::map<std::int64_t, double> runningTimes();
  [[nodiscard]] Html published(const fs::path& folder);

  store::RunReader& store_;
  const std::vector<store::RunRow>& rows_;
  const PartOptions& options_;
  FigureDrawer& figures_;
  store::QueryFunction query_;
  Ablation ablation_;
};

std::string Part::nameAt(std::size_t variant) const {
  const std::vector<store::VariantGroup>& all = ablation_.variants;
  const std::string name = nameOf(all[variant]);
  const auto first =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return nameOf(each) == name; });
  if (first == all.begin() + static_cast<std::ptrdiff_t>(variant)) return name;
  const std::string changes =
      tellingText(tellingDifferences({&first->config, &all[variant].config}, 0)[1]);
  return changes.empty() ? name : name + ", " + changes;
}

const store::RunRow& Part::shownRun(std::size_t variant) const {
  const std::vector<std::size_t>& runs = ablation_.variants[variant].runs;
  for (const std::size_t run : runs) {
    if (ablation_.runs[run].row.state == store::RunState::Done) return ablation_.runs[run].row;
  }
  return ablation_.runs[runs.front()].row;
}

std::vector<std::string> Part::uuids() const {
  std::vector<std::string> all;
  for (const store::RunRow& row : rows_) all.push_back(row.uuid);
  return all;
}

Html Part::overview() const {
  std::map<std::string, int> states;
  std::set<std::uint64_t> seeds;
  for (const store::RunRow& row : rows_) {
    ++states[toString(row.state)];
    seeds.insert(row.seed);
  }
  std::string text = std::to_string(rows_.size()) + (rows_.size() == 1 ? " run: " : " runs: ");
  text += joined(
      states, [](const auto& state) { return std::to_string(state.second) + " " + state.first; });
  if (ablation_.variants.size() > 1)
    text += "; " + std::to_string(ablation_.variants.size()) + " variants";
  text += seeds.size() == 1 ? "; seed " : "; seeds ";
  text += joined(seeds, [](std::uint64_t seed) { return std::to_string(seed); });
  return Html::element("p", Html(text + "."));
}

/// Whether an experiment sets the values of this layer for some of its runs alone. It does so by
/// its variants, stages, sweep and selection, or from the command line.
bool isOfSomeRuns(const std::string& layer) {
  return layer.starts_with("variant ") || layer.starts_with("stage ") || layer == "sweep" ||
         layer == "select" || layer == "command line";
}

/// The keys of those layers whose values differ; every other value is in the resolved configuration
/// below.
Html Part::configuration() {
  const Json& first = ablation_.variants.front().config;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < ablation_.variants.size(); ++i) {
    const Json origins = store_.origins(shownRun(i).id);
    for (const auto& [key, origin] : origins.items()) {
      const bool isChosen = isOfSomeRuns(wordAt(origin, "layer"));
      if (isChosen && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  std::erase_if(keys, [&](const std::string& key) {
    const std::string text = valueText(valueAt(first, key));
    return std::all_of(ablation_.variants.begin(), ablation_.variants.end(), [&](const auto& each) {
      return valueText(valueAt(each.config, key)) == text;
    });
  });
  Html content;
  if (!keys.empty()) {
    HtmlTable table{{"Key"}, {}, "What differs between the variants"};
    for (std::size_t i = 0; i < ablation_.variants.size(); ++i) table.columns.push_back(nameAt(i));
    for (const std::string& key : keys) {
      std::vector<HtmlTable::Cell> row{codeCell(key)};
      for (const store::VariantGroup& variant : ablation_.variants)
        row.push_back(textCell(valueText(valueAt(variant.config, key))));
      table.add(std::move(row));
    }
    content += toHtml(table);
  }
  for (std::size_t i = 0; i < ablation_.variants.size(); ++i) {
    content +=
        folded("Resolved configuration of " + nameAt(i), toToml(store_.config(shownRun(i).id)));
  }
  return section("Configuration", content);
}

HtmlTable::Cell Part::resultCell(std::size_t variant, const std::string& metric,
                                 const ColumnStyle& style) const {
  const store::MetricMeaning& meaning = ablation_.measured.meanings.at(metric);
  const SampleStatistics own = ablation_.sample(variant, metric).statistics;
  if (own.count == 0) return numberCell("\u2014");
  Html content(meanText(own, style) + unitText(meaning));
  content += Html::element(
      "small", Html("n = " + std::to_string(own.count) + (own.count > 1 ? "" : ", no interval")));
  if (variant > 0) {
    const std::string text =
        differenceText(ablation_.difference(variant, metric), meaning.direction, style);
    if (!text.empty()) content += Html::element("small", Html(text));
  }
  return {content, true};
}

HtmlTable::Cell Part::timeCell(std::size_t variant,
                               const std::map<std::int64_t, double>& seconds) const {
  double sum = 0;
  int count = 0;
  for (const std::size_t run : ablation_.variants[variant].runs) {
    const store::RunRow& row = ablation_.runs[run].row;
    const auto found = seconds.find(row.id);
    if (row.state != store::RunState::Done || found == seconds.end()) continue;
    sum += found->second;
    ++count;
  }
  return numberCell(count == 0 ? "\u2014" : formatDuration(sum / count));
}

/// Running time of each run up to its last loss, evaluations between included.
std::map<std::int64_t, double> Part::runningTimes() {
  std::set<std::int64_t> runs;
  for (const store::RunRow& row : rows_) runs.insert(row.id);
  return store::runningTimes(query_, runs, store::kTrainLoss);
}

Html Part::results() {
  const std::map<std::int64_t, double> times = runningTimes();
  HtmlTable table{{"Variant", "Runs"}, {}, ""};
  std::vector<ColumnStyle> styles;
  for (const std::string& metric : ablation_.metrics) {
    table.columns.push_back(titleOf(ablation_, metric));
    styles.push_back(columnStyle(ablation_, metric));
  }
  table.columns.emplace_back("Time of a run");
  for (std::size_t i = 0; i < ablation_.variants.size(); ++i) {
    std::vector<HtmlTable::Cell> row{textCell(nameAt(i)),
                                     textCell(statesText(ablation_.variants[i], ablation_.runs))};
    for (std::size_t m = 0; m < styles.size(); ++m)
      row.push_back(resultCell(i, ablation_.metrics[m], styles[m]));
    row.push_back(timeCell(i, times));
    table.add(std::move(row));
  }
  Html content = toHtml(table);
  std::string note =
      "Last value of each run: mean over seeds \u00b1 half of the 95 % interval (Student's t).";
  if (ablation_.variants.size() > 1)
    note += " Second line: difference to " + nameAt(0) + ", paired by seed.";
  if (const std::string leftOut = leftOutSentence(ablation_); !leftOut.empty())
    note += " " + firstLine(leftOut) + ".";
  content += Html::element("p", {{"class", "note"}}, Html(note));
  return section("Results", content);
}

Html Part::curves() {
  // A metric with fewer points is a table's.
  constexpr std::int64_t kLeastPoints = 3;
  std::vector<std::string> metrics{store::kTrainLoss};
  metrics.insert(metrics.end(), ablation_.metrics.begin(), ablation_.metrics.end());
  std::map<std::string, std::int64_t> points;
  for (std::size_t i = 0; i < ablation_.variants.size(); ++i) {
    for (const store::MetricSummary& summary : store_.summaries(shownRun(i).id))
      points[summary.name] = std::max(points[summary.name], summary.count);
  }
  Html content;
  std::size_t drawn = 0;
  for (const std::string& metric : metrics) {
    const auto found = points.find(metric);
    if (found == points.end() || found->second < kLeastPoints || drawn == kMostCurves) continue;
    ++drawn;
    const bool isCompared = rows_.size() > 1;
    const Json view = isCompared
                          ? Json{{"view", "table"}, {"picture", "curves"}, {"metrics", {metric}}}
                          : Json{{"card", metric}, {"follow", true}};
    content += figures_.draw(
        {titleOf(ablation_, metric) + (isCompared && rows_.size() > ablation_.variants.size()
                                           ? ", mean and 95 % interval over seeds"
                                           : ""),
         isCompared ? "compare" : "monitor", uuids(), view});
  }
  content += families(points);
  return content.isEmpty() ? Html() : section("Curves", chartsOf(content));
}

Html Part::families(const std::map<std::string, std::int64_t>& points) {
  Html content;
  if (rows_.size() < 2) return content;
  std::vector<std::string> names;
  for (const auto& [metric, count] : points) names.push_back(metric);
  const std::vector<store::MetricFamily> all = store::metricFamilies(names);
  for (std::size_t i = 0; i < all.size() && i < kMostCurves; ++i) {
    const std::string& any = all[i].members.begin()->second;
    content +=
        figures_.draw({titleOf(ablation_, all[i].name) + ", " + all[i].over, "compare", uuids(),
                       Json{{"view", "table"}, {"picture", "curves"}, {"metrics", {any}}}});
  }
  return content;
}

Html Part::artifacts() {
  struct Kind {
    std::string analysis, name, kind;
    std::int64_t step = 0;
    std::vector<std::string> runs;
  };
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < ablation_.variants.size(); ++i) {
    const store::RunRow& run = shownRun(i);
    const std::vector<store::ArtifactRow> artifacts = store_.artifacts(run.id);
    for (const store::ArtifactRow& artifact : artifacts) {
      // Rows to be binned, not a picture.
      if (artifact.kind == artifact_kind::kPredictions) continue;
      const bool isBelowMap =  // which shows it
          std::any_of(artifacts.begin(), artifacts.end(), [&](const store::ArtifactRow& map) {
            return map.kind == artifact_kind::kAttention && map.analysis == artifact.analysis &&
                   isImageOf(artifact.name, map.name);
          });
      if (isBelowMap) continue;
      auto found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& each) {
        return each.analysis == artifact.analysis && each.kind == artifact.kind;
      });
      if (found == kinds.end())
        found = kinds.insert(kinds.end(), {artifact.analysis, artifact.name, artifact.kind, 0, {}});
      if (found->name != artifact.name) continue;
      found->step = std::max(found->step, artifact.step);
      if (std::find(found->runs.begin(), found->runs.end(), run.uuid) == found->runs.end())
        found->runs.push_back(run.uuid);
    }
  }
  Html content;
  for (std::size_t i = 0; i < kinds.size() && i < kMostArtifacts; ++i) {
    const Kind& kind = kinds[i];
    const std::string title = kind.analysis + ": " + kind.name;
    if (kind.runs.size() > 1 && kind.runs.size() <= kMostTiles) {
      content += figures_.draw(
          {title + ", newest step and own settings of each, one scale", "compare", kind.runs,
           Json{{"view", "artifacts"}, {"artifact", kind.analysis + "/" + kind.name}}, true});
      continue;
    }
    content += figures_.draw({title + ", step " + std::to_string(kind.step), "artifacts", kind.runs,
                              Json{{"analysis", kind.analysis}, {"name", kind.name}},
                              kind.runs.size() > 1});
  }
  return content.isEmpty() ? Html() : section("Spectra and artifacts", chartsOf(content));
}

Html Part::published(const fs::path& folder) {
  std::error_code none;
  if (folder.empty() || !fs::exists(folder / "published.toml", none) || rows_.size() < 2) return {};
  // None of its rows need name a variant of this experiment.
  return figures_.draw({"Published numbers next to ours", "compare", uuids(),
                        Json{{"view", "published"}}, true, true});
}

Html Part::claims() {
  std::vector<fs::path> roots{studioProgram().parent_path().parent_path() /
                              "share/vitrine/experiments"};
  roots.emplace_back(VITRINE_SOURCE_FOLDER "/experiments");
  const std::string& title = rows_.front().experiment;
  const fs::path folder = store::folderOfExperiment(title, roots);
  const fs::path file = options_.claims  ? *options_.claims
                        : folder.empty() ? fs::path()
                                         : folder / "claims.toml";
  std::error_code none;
  Html content;
  if (!file.empty() && (options_.claims || fs::exists(file, none))) {
    HtmlTable table{
        {"Claim", "Verdict", "n", "Measured", "Relation", "Metric", "Source", "Why"}, {}, ""};
    for (const JudgedClaim& judged : judgedClaims(store_, file)) {
      if (judged.experiment != title) continue;
      const std::string verdict = toString(judged.judgement.verdict);
      table.add({textCell(judged.claim.name),
                 {Html::element("strong", {{"class", verdict}}, Html(verdict)), false},
                 numberCell(std::to_string(judged.judgement.statistics.count)),
                 textCell(measuredText(judged.judgement, judged.format)),
                 textCell(relationText(judged.claim, judged.format)),
                 codeCell(measureText(judged.claim)),
                 textCell(judged.claim.source),
                 textCell(whyText(judged.judgement) +
                          (judged.claim.note.empty() ? "" : "; " + judged.claim.note))});
    }
    if (!table.rows.empty()) content += toHtml(table);
  }
  if (content.isEmpty()) {
    content += Html::element(
        "p", Html("No claim is made about this experiment: no claims.toml next to its "
                  "file names it."));
  }
  content += published(folder);
  return section("Claims", content);
}

}  // namespace

Html section(const std::string& title, const Html& content) {
  Html all = Html::element("h3", Html(title));
  all += content;
  return Html::element("section", all);
}

Html experimentPart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                    const std::string& anchor, const PartOptions& options, FigureDrawer& figures) {
  Part part(store, rows, options, figures);
  Html all = Html::element("h2", Html(rows.front().experiment));
  all += part.overview();
  all += part.results();
  all += part.curves();
  all += part.artifacts();
  all += samplesPart(store, rows, options.mostImages);
  all += part.claims();
  all += part.configuration();  // long: after what came out
  all += remakePart(store, rows, options.reportName);
  return Html::element("article", {{"id", anchor}}, all);
}

}  // namespace vitrine::app

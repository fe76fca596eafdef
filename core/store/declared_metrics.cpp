#include "core/store/declared_metrics.h"

#include "core/store/sqlite/database.h"

namespace vitrine::store {

namespace {

enum class There { No, Untitled, Same, Other };

There isThere(Database& database, const MetricDeclaration& metric) {
  Statement row =
      database.prepare("SELECT unit, direction, title FROM metric_kind WHERE pattern = ?");
  if (!row.with(metric.pattern).step()) return There::No;
  if (row.text(0) != metric.unit || row.text(1) != metric.direction) return There::Other;
  return row.text(2).empty() && !metric.title.empty() ? There::Untitled : There::Same;
}

}  // namespace

std::vector<std::string> declareMetrics(RunStore& store,
                                        const std::vector<MetricDeclaration>& metrics) {
  std::vector<std::string> others;
  std::vector<const MetricDeclaration*> missing;
  if (metrics.empty()) return others;
  Database& database = store.connection();
  for (const MetricDeclaration& metric : metrics) {
    const There there = isThere(database, metric);
    if (there == There::No || there == There::Untitled) missing.push_back(&metric);
    if (there == There::Other) others.push_back(metric.pattern);
  }
  if (missing.empty()) return others;  // the usual run writes nothing
  database.write([&] {
    for (const MetricDeclaration* metric : missing) {
      database.run(
          "INSERT INTO metric_kind(pattern, unit, direction, definition, title) VALUES (?, ?, "
          "?, ?, ?) ON CONFLICT(pattern) DO UPDATE SET title = excluded.title WHERE title = ''",
          metric->pattern, metric->unit, metric->direction, metric->definition, metric->title);
    }
  });
  return others;
}

}  // namespace vitrine::store

// vitrine show: everything about one run.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/cli/task_cards.h"
#include "core/base/cell_text.h"
#include "core/config/config.h"
#include "core/store/tables/run_marks.h"

namespace vitrine::app {

namespace {

/// What the throughput of a run counts: "images".
std::string unitOf(store::RunStore& store, std::int64_t run) {
  const store::TaskCards cards = describedTaskCards();
  return store::runCard(store::cardOf(cards, store::taskOf(store.config(run))),
                        store.metricNames(run), {})
      .unit;
}

Json describe(store::RunStore& store, const store::RunRow& run) {
  Json out = Json::object();
  out["id"] = run.id;
  out["uuid"] = run.uuid;
  out["experiment"] = run.experiment;
  out["name"] = run.name;
  out["variant"] = run.variant;
  out["stage"] = run.stage;
  out["seed"] = run.seed;
  out["state"] = toString(run.state);
  out["reason"] = run.reason;
  out["created_at"] = run.createdAt;
  out["started_at"] = run.startedAt;
  out["finished_at"] = run.finishedAt;
  out["device"] = run.device;
  out["commit"] = run.commit;
  out["step"] = run.step;
  out["total_steps"] = run.totalSteps;
  out["epoch"] = finite(run.epoch);
  out[unitOf(store, run.id) + "_per_second"] = finite(run.imagesPerSecond);
  out["memory_bytes"] = run.memoryBytes;
  out["log"] = run.logFile;
  out["note"] = store.note(run.id);
  out["tags"] = store.tags(run.id);
  const store::RunMarks marks = store::marksByRun(store)[run.id];
  out["archived"] = marks.isArchived;
  out["baseline"] = marks.isBaseline;
  out["colour"] = marks.colour == 0 ? Json(nullptr) : Json(marks.colour);
  out["config"] = store.config(run.id);
  out["init"] = store.init(run.id);
  out["selection"] = store.selection(run.id);
  out["environment"] = store.environment(run.id);
  Json needs = Json::array();
  for (const store::RunDependency& need : store.dependencies(run.id)) {
    needs.push_back({{"kind", need.kind},
                     {"name", need.name},
                     {"run", need.uuid},
                     {"checkpoint", need.checkpoint}});
  }
  out["needs"] = needs;

  Json metrics = Json::array();
  for (const store::MetricSummary& metric : store.summaries(run.id)) {
    metrics.push_back({{"name", metric.name},
                       {"count", metric.count},
                       {"last", finite(metric.last)},
                       {"last_step", metric.lastStep},
                       {"minimum", finite(metric.minimum)},
                       {"minimum_step", metric.minimumStep},
                       {"maximum", finite(metric.maximum)},
                       {"maximum_step", metric.maximumStep}});
  }
  out["metrics"] = metrics;
  Json segments = Json::array();
  for (const store::SegmentRow& segment : store.segments(run.id)) {
    segments.push_back(
        {{"number", segment.number},
         {"first_step", segment.firstStep},
         {"last_step", segment.lastStep < 0 ? Json(nullptr) : Json(segment.lastStep)},
         {"resumed_from", segment.resumedFrom},
         {"started_at", segment.startedAt}});
  }
  out["segments"] = segments;
  Json checkpoints = Json::array();
  for (const store::CheckpointRow& checkpoint : store.checkpoints(run.id)) {
    checkpoints.push_back({{"step", checkpoint.step},
                           {"bytes", checkpoint.bytes},
                           {"folder", checkpoint.folder},
                           {"best", checkpoint.isBest},
                           {"latest", checkpoint.isLatest}});
  }
  out["checkpoints"] = checkpoints;
  Json artifacts = Json::array();
  for (const store::ArtifactRow& artifact : store.artifacts(run.id)) {
    artifacts.push_back({{"id", artifact.id},
                         {"step", artifact.step},
                         {"analysis", artifact.analysis},
                         {"name", artifact.name},
                         {"kind", artifact.kind},
                         {"bytes", artifact.bytes}});
  }
  out["artifacts"] = artifacts;
  Json events = Json::array();
  for (const store::EventRow& event : store.events(run.id)) {
    events.push_back(
        {{"at", event.at}, {"step", event.step}, {"kind", event.kind}, {"text", event.text}});
  }
  out["events"] = events;
  return out;
}

/// Objects of one list as a table; the columns are the keys of the first.
std::string section(const std::string& title, const Json& rows) {
  if (rows.empty()) return "";
  Table table;
  for (const auto& [key, value] : rows.front().items()) table.columns.push_back(key);
  for (const Json& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const std::string& column : table.columns) cells.push_back(row.at(column));
  }
  return "\n" + title + "\n" + toText(table);
}

std::string forPeople(const Json& run) {
  Table facts{{"run", std::to_string(run.at("id").get<std::int64_t>())}, {}};
  for (const auto& [key, value] : run.items()) {
    const bool isEmpty = value.is_null() || value == "" || value == Json(false) ||
                         (value.is_structured() && value.empty());
    if (key == "id" || value.is_object() || isEmpty) continue;
    if (value.is_array() && value.front().is_object()) continue;
    facts.rows.push_back({key, plainText(value)});
  }
  std::string text = toText(facts);
  for (const char* part : {"config", "init", "environment"}) {
    if (!run.at(part).is_object() || run.at(part).empty()) continue;
    Table table{{part, "value"}, {}};
    for (const auto& [key, value] : flatten(run.at(part)))
      table.rows.push_back({key, plainText(value)});
    text += "\n" + toText(table);
  }
  for (const char* part : {"needs", "metrics", "segments", "checkpoints", "artifacts", "events"})
    text += section(part, run.at(part));
  return text;
}

}  // namespace

int showVerb(const Arguments& arguments) {
  CommandLine line("show", {"vitrine show 3", "vitrine show 3 --json"});
  std::int64_t id = 0;
  line.app().add_option("id", id, "the run")->required()->check(runNumberProblem)->type_name("ID");
  line.parse(arguments);
  store::RunStore store = openStoreToShow(line, Missing::Refuse);
  const Json run = describe(store, store.run(id));
  if (line.wantsJson()) {
    print(run);
  } else {
    print(forPeople(run));
  }
  return 0;
}

}  // namespace vitrine::app

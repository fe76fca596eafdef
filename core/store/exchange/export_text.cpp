// The CSV and JSON Lines forms of an export. Views decide what counts: superseded points are left
// out.
#include <QByteArray>
#include <cmath>

#include "core/base/cell_text.h"
#include "core/base/text.h"
#include "core/store/exchange/export_forms.h"
#include "core/store/maintenance/new_file.h"
#include "core/store/metrics/metrics.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// JSON has no word for these: they are spelled as text.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(formatReal(value)); }

std::string base64(std::span<const std::byte> bytes) {
  return QByteArray::fromRawData(reinterpret_cast<const char*>(bytes.data()),
                                 static_cast<qsizetype>(bytes.size()))
      .toBase64()
      .toStdString();
}

class Lines {
 public:
  explicit Lines(const ExportTask& task) : out_(task.target, task.file) {}
  void write(const Json& object) { out_.write(dumpJson(object) + "\n"); }
  void close() { out_.close(); }

 private:
  Appender out_;
};

Json text(const Statement& row, int column) { return cleanUtf8(row.text(column)); }

void writeRun(Database& database, const RunRow& run, Lines& lines) {
  Json object = {{"type", "run"},
                 {"run", run.uuid},
                 {"id", run.id},
                 {"experiment", run.experiment},
                 {"variant", run.variant},
                 {"stage", run.stage},
                 {"name", run.name},
                 {"seed", run.seed},
                 {"state", toString(run.state)},
                 {"reason", run.reason},
                 {"created_at", run.createdAt},
                 {"started_at", run.startedAt},
                 {"finished_at", run.finishedAt},
                 {"device", run.device},
                 {"commit", run.commit},
                 {"step", run.step}};
  {
    Statement row = database.prepare(
        "SELECT (SELECT uuid FROM run p WHERE p.id = r.depends_on), c.config, c.init, (SELECT text "
        "FROM note n WHERE n.run_id = r.id), c.selection FROM run r JOIN run_config c ON c.run_id "
        "= "
        "r.id WHERE "
        "r.id = ?");
    if (row.with(run.id).step()) {
      object["depends_on"] = row.isNull(0) ? Json(nullptr) : text(row, 0);
      object["config"] =
          parseJson(row.text(1), "the configuration of run " + std::to_string(run.id));
      object["init"] = parseJson(row.text(2), "the start of run " + std::to_string(run.id));
      object["note"] = row.isNull(3) ? Json("") : text(row, 3);
      object["selection"] =
          parseJson(row.text(4), "the selection of run " + std::to_string(run.id));
    }
  }
  object["needs"] = database.rows(
      "SELECT kind, name, uuid, checkpoint FROM run_dependency WHERE run_id = ? ORDER BY kind, "
      "name",
      [](const Statement& row) {
        return Json{{"kind", text(row, 0)},
                    {"name", text(row, 1)},
                    {"run", text(row, 2)},
                    {"checkpoint", text(row, 3)}};
      },
      run.id);
  object["tags"] = database.rows(
      "SELECT tag FROM tag WHERE run_id = ? ORDER BY tag",
      [](const Statement& row) { return text(row, 0); }, run.id);
  object["curve_notes"] = database.rows(
      "SELECT metric, step, text FROM curve_note WHERE run_id = ? ORDER BY metric, step, text",
      [](const Statement& row) {
        return Json{{"metric", text(row, 0)}, {"step", row.integer(1)}, {"text", text(row, 2)}};
      },
      run.id);
  object["image_tags"] = database.rows(
      "SELECT step, sha256, tag FROM image_tag WHERE run_id = ? ORDER BY step, sha256, tag",
      [](const Statement& row) {
        return Json{{"step", row.integer(0)}, {"sha256", text(row, 1)}, {"tag", text(row, 2)}};
      },
      run.id);
  object["marks"] = Json::object();
  database.each(
      "SELECT field, value FROM run_mark WHERE run_id = ? ORDER BY field",
      [&](const Statement& row) { object["marks"][cleanUtf8(row.text(0))] = text(row, 1); },
      run.id);
  lines.write(object);

  database.each(
      "SELECT number, first_step, last_step, resumed_from, started_at, environment FROM segment "
      "WHERE run_id = ? ORDER BY number",
      [&](const Statement& row) {
        lines.write({{"type", "segment"},
                     {"run", run.uuid},
                     {"number", row.integer(0)},
                     {"first_step", row.integer(1)},
                     {"last_step", row.isNull(2) ? Json(nullptr) : Json(row.integer(2))},
                     {"resumed_from", row.integer(3)},
                     {"started_at", text(row, 4)},
                     {"environment",
                      parseJson(row.text(5), "the environment of run " + std::to_string(run.id))}});
      },
      run.id);
}

void writeBlobs(const ExportTask& task, const RunRow& run, Lines& lines) {
  task.database.each(
      "SELECT step, at, kind, text, data FROM event WHERE run_id = ? ORDER BY id",
      [&](const Statement& row) {
        lines.write({{"type", "event"},
                     {"run", run.uuid},
                     {"step", row.integer(0)},
                     {"at", text(row, 1)},
                     {"kind", text(row, 2)},
                     {"text", text(row, 3)},
                     {"data", parseJson(row.text(4),
                                        "the data of an event of run " + std::to_string(run.id))}});
      },
      run.id);
  task.database.each(
      "SELECT step, analysis, name, kind, meta, data FROM artifacts WHERE run_id = ? ORDER BY id",
      [&](const Statement& row) {
        lines.write({{"type", "artifact"},
                     {"run", run.uuid},
                     {"step", row.integer(0)},
                     {"analysis", text(row, 1)},
                     {"name", text(row, 2)},
                     {"kind", text(row, 3)},
                     {"meta", parseJson(row.text(4), "the description of an artifact of run " +
                                                         std::to_string(run.id))},
                     {"base64", base64(row.blob(5))}});
        ++task.report.artifacts;
      },
      run.id);
  task.database.each(
      "SELECT step, recipe, seed, width, height, sha256, png FROM generated_images WHERE run_id = "
      "? "
      "ORDER BY id",
      [&](const Statement& row) {
        lines.write({{"type", "image"},
                     {"run", run.uuid},
                     {"step", row.integer(0)},
                     {"recipe", parseJson(row.text(1), "the recipe of an image of run " +
                                                           std::to_string(run.id))},
                     {"seed", text(row, 2)},
                     {"width", row.integer(3)},
                     {"height", row.integer(4)},
                     {"sha256", text(row, 5)},
                     {"base64", base64(row.blob(6))}});
        ++task.report.images;
      },
      run.id);
  task.database.each(
      "SELECT step, recipe, seed, prompt, text FROM generated_texts WHERE run_id = ? ORDER BY id",
      [&](const Statement& row) {
        lines.write({{"type", "text"},
                     {"run", run.uuid},
                     {"step", row.integer(0)},
                     {"recipe", parseJson(row.text(1),
                                          "the recipe of a text of run " + std::to_string(run.id))},
                     {"seed", text(row, 2)},
                     {"prompt", text(row, 3)},
                     {"text", text(row, 4)}});
        ++task.report.texts;
      },
      run.id);
}

}  // namespace

void exportCsv(const ExportTask& task) {
  Appender out(task.target, task.file);
  out.write("run_id,uuid,experiment,run,segment,metric,step,epoch,time,value\r\n");
  for (std::size_t i = 0; i < task.runs.size(); ++i) {
    task.tell(i);
    const RunRow& run = task.runs[i];
    const std::string start = std::to_string(run.id) + "," + run.uuid + "," +
                              csvCell(run.experiment) + "," + csvCell(run.name) + ",";
    task.database.read([&] {
      for (const MetricSummary& summary : readSummaries(task.database, run.id)) {
        for (const MetricPoint& point : readPoints(task.database, run.id, summary.name, 0)) {
          out.write(start + std::to_string(point.segment) + "," + csvCell(summary.name) + "," +
                    std::to_string(point.step) + "," + formatReal(point.epoch) + "," +
                    formatReal(point.time) + "," + formatReal(point.value) + "\r\n");
          ++task.report.points;
        }
      }
    });
  }
  out.close();
  task.report.notes.push_back(
      "CSV holds the points of metrics; configurations, artifacts, images and texts are in .jsonl "
      "and "
      ".vitrine");
}

void exportJsonLines(const ExportTask& task) {
  Lines lines(task);
  for (std::size_t i = 0; i < task.runs.size(); ++i) {
    task.tell(i);
    task.database.read([&] {
      const RunRow run = readRun(task.database, task.runs[i].id);
      writeRun(task.database, run, lines);
      for (const MetricSummary& summary : readSummaries(task.database, run.id)) {
        for (const MetricPoint& point : readPoints(task.database, run.id, summary.name, 0)) {
          lines.write({{"type", "metric"},
                       {"run", run.uuid},
                       {"name", summary.name},
                       {"segment", point.segment},
                       {"step", point.step},
                       {"epoch", number(point.epoch)},
                       {"time", number(point.time)},
                       {"value", number(point.value)}});
          ++task.report.points;
        }
      }
      writeBlobs(task, run, lines);
    });
  }
  lines.close();
}

}  // namespace vitrine::store

#include "ui/sql/sql_docs.h"

#include <QObject>
#include <algorithm>
#include <map>

namespace vitrine::ui {
namespace {

constexpr const char* kRunMeaning = "Id of the run, as runs.id; choosing a row selects the run";
constexpr const char* kStepMeaning = "Optimizer steps completed";

struct ColumnText {
  const char* name;
  const char* meaning;
};

SqlViewDoc viewDoc(const char* name, const char* meaning, const std::vector<ColumnText>& columns) {
  SqlViewDoc doc{QString::fromLatin1(name), QObject::tr(meaning), {}};
  for (const ColumnText& column : columns)
    doc.columns.push_back({QString::fromLatin1(column.name), QObject::tr(column.meaning)});
  return doc;
}

std::vector<SqlViewDoc> makeViewDocs() {
  std::vector<SqlViewDoc> all;
  all.push_back(viewDoc(
      "runs", "One row per run",
      {{"id", "Number of the run in this database; never used again"},
       {"uuid", "The same in every database that the run was copied to"},
       {"experiment", "Title of its experiment"},
       {"variant", "Name of its variant in an ablation, empty without"},
       {"name", "Name in the list of runs"},
       {"seed", "Seed of initial values, order of samples and augmentation"},
       {"state",
        "queued, starting, running, pausing, paused, stopping, stopped, done, failed or "
        "interrupted"},
       {"created_at", "UTC, ISO 8601"},
       {"started_at", "UTC; NULL before the first start"},
       {"finished_at", "UTC; NULL while it can continue"},
       {"device", "cpu or cuda:N of the last start"},
       {"commit_hash", "Commit of the program that computed it"},
       {"config", "The resolved configuration, JSON: json_extract(config, '$.model.width')"}}));
  all.push_back(viewDoc("metrics",
                        "One row per point that counts; give run_id and name, both are indexed",
                        {{"run_id", kRunMeaning},
                         {"segment", "Which start or resume of the run it belongs to, from 1"},
                         {"name", "split/quantity: train/loss, test/top1"},
                         {"step", kStepMeaning},
                         {"epoch", "Samples seen by the size of the training split"},
                         {"time", "Seconds of running time over all segments"},
                         {"value", "Fractions, never percent; NULL where it was not a number"}}));
  all.push_back(viewDoc("metric_summaries",
                        "One row per metric of a run, kept up to date with every write",
                        {{"run_id", kRunMeaning},
                         {"name", "split/quantity: train/loss, test/top1"},
                         {"count", "Points"},
                         {"first_step", "Step of the first point"},
                         {"last_step", "Step of the last point"},
                         {"last", "Value of the last point"},
                         {"minimum", "Smallest value; values that are not numbers do not count"},
                         {"maximum", "Largest value; values that are not numbers do not count"},
                         {"minimum_step", "Step of the smallest value"},
                         {"maximum_step", "Step of the largest value"}}));
  all.push_back(
      viewDoc("parameters", "One row per leaf of a run's configuration",
              {{"run_id", kRunMeaning},
               {"key", "Dotted: model.width"},
               {"value", "Number or text; 1 and 0 for true and false, NULL for absent"}}));
  all.push_back(viewDoc("curve_notes", "One row per note that a user wrote on a curve",
                        {{"run_id", kRunMeaning},
                         {"metric", "Metric of the curve: train/loss, or the stem of several"},
                         {"step", kStepMeaning},
                         {"text", "Text of the note"}}));
  all.push_back(viewDoc("image_tags",
                        "One row per star or tag that a user put on a generated image",
                        {{"run_id", kRunMeaning},
                         {"step", kStepMeaning},
                         {"sha256", "Hash of the pixels: generated_images.sha256"},
                         {"tag", "The tag; * is the star"}}));
  all.push_back(viewDoc("run_marks", "One row per mark that a user gave a run",
                        {{"run_id", kRunMeaning},
                         {"field", "archived, baseline or colour"},
                         {"value", "yes, or the number of the colour in the palette"}}));
  all.push_back(viewDoc("artifacts", "One row per picture or table that an analysis made",
                        {{"id", "Number of the artifact"},
                         {"run_id", kRunMeaning},
                         {"step", kStepMeaning},
                         {"analysis", "Which analysis made it: attention_rank"},
                         {"name", "Its name within the analysis"},
                         {"kind",
                          "curve, heatmap, matrix, image, image_grid, table, histogram, "
                          "reliability, spectrum or attention"},
                         {"meta", "JSON with at least version, dtype and shape"},
                         {"data", "Little-endian, C order; PNG for images, JSON for tables"}}));
  all.push_back(viewDoc("spectra", "One row per singular value of an attention matrix",
                        {{"run_id", kRunMeaning},
                         {"step", kStepMeaning},
                         {"analysis", "Which analysis made it"},
                         {"layer", "From 0, as in the model"},
                         {"head", "From 0"},
                         {"image", "Number of the probe image"},
                         {"attention", "softmax or effective (after a mask)"},
                         {"position", "From 0, the largest value first"},
                         {"value", "Singular value"},
                         {"cumulative", "Share of the sum up to this position"}}));
  all.push_back(viewDoc("attention_maps", "One row an attention matrix of a layer and head",
                        {{"run_id", kRunMeaning},
                         {"step", kStepMeaning},
                         {"layer", "From 0, as in the model"},
                         {"head", "From 0"},
                         {"image", "Number of the probe image"},
                         {"split", "train, validation or test"},
                         {"kind", "softmax, effective (after a mask) or signed"},
                         {"rows", "Queries"},
                         {"columns", "Keys"},
                         {"data", "Little-endian float32 [rows, columns]"}}));
  all.push_back(viewDoc("calibration_bins", "One row per bin of a reliability diagram",
                        {{"run_id", kRunMeaning},
                         {"step", kStepMeaning},
                         {"analysis", "Which analysis made it"},
                         {"split", "train, validation or test"},
                         {"binning", "equal_width or equal_mass"},
                         {"bin", "From 0"},
                         {"lower", "Lower edge, confidence in [0, 1]"},
                         {"upper", "Upper edge"},
                         {"count", "Samples in the bin"},
                         {"confidence", "Mean confidence of the samples"},
                         {"accuracy", "Share of them that are right"}}));
  all.push_back(viewDoc("generated_images", "One row an image that a generative run made",
                        {{"id", "Number of the image"},
                         {"run_id", kRunMeaning},
                         {"step", kStepMeaning},
                         {"recipe", "JSON: all that is needed to make it again"},
                         {"seed", "Seed of its noise"},
                         {"width", "Pixels"},
                         {"height", "Pixels"},
                         {"sha256", "Of the pixels"},
                         {"png", "The image"}}));
  all.push_back(viewDoc("generated_texts", "One row per text that a generative run made",
                        {{"id", "Number of the text"},
                         {"run_id", kRunMeaning},
                         {"step", kStepMeaning},
                         {"recipe", "JSON: all that is needed to make it again"},
                         {"seed", "Seed of its draws"},
                         {"prompt", "Start of the text"},
                         {"text", "Text of the model"}}));
  all.push_back(viewDoc("queue", "One row per run in the queue, in the order of starting",
                        {{"place", "From 1, in the order of starting"},
                         {"run_id", kRunMeaning},
                         {"name", "Name of the run"},
                         {"state", "As runs.state"},
                         {"priority", "Higher goes first"},
                         {"device", "Where it is to run; NULL for anywhere"},
                         {"time_limit", "Seconds; NULL for none"},
                         {"depends_on", "Run that has to be done first"},
                         {"enqueued_at", "UTC"},
                         {"attempts", "Starts so far"},
                         {"held", "1 while it is paused"}}));
  return all;
}

}  // namespace

const std::vector<SqlViewDoc>& sqlViewDocs() {
  static const std::vector<SqlViewDoc> all = makeViewDocs();
  return all;
}

const SqlViewDoc* findSqlView(const QString& name) {
  const auto& all = sqlViewDocs();
  const auto found = std::find_if(all.begin(), all.end(), [&name](const SqlViewDoc& view) {
    return view.name.compare(name, Qt::CaseInsensitive) == 0;
  });
  return found == all.end() ? nullptr : &*found;
}

QString sqlTableMeaning(const QString& name) {
  static const std::map<QString, const char*> all{
      {QStringLiteral("meta"), "A fact about the file"},
      {QStringLiteral("counter"), "Grows with every change of a run"},
      {QStringLiteral("numbers"), "0 to 999, for decoding in SQL"},
      {QStringLiteral("experiment"), "An experiment: title and text of its file"},
      {QStringLiteral("run"), "A run: names, state, progress, worker"},
      {QStringLiteral("queue_entry"), "A run that is in the queue"},
      {QStringLiteral("queue_state"), "The queue itself"},
      {QStringLiteral("deleted_run"), "A run that was deleted"},
      {QStringLiteral("run_config"), "Resolved configuration and where each value came from"},
      {QStringLiteral("run_parameter"), "A leaf of the configuration"},
      {QStringLiteral("segment"), "A start or resume of a run"},
      {QStringLiteral("metric_name"), "A name of a metric that occurs"},
      {QStringLiteral("metric_kind"), "Unit, direction and definition by name pattern"},
      {QStringLiteral("metric_summary"), "Statistics of one metric of one run"},
      {QStringLiteral("metric_tail"), "A point that is not packed yet"},
      {QStringLiteral("clock_chunk"), "Up to 1,000 moments that several metrics share"},
      {QStringLiteral("metric_chunk"), "Values of one metric at the moments of a clock"},
      {QStringLiteral("metric_bucket"), "Points most of which were thinned out"},
      {QStringLiteral("event"), "Something that happened to a run"},
      {QStringLiteral("artifact"), "Result of an analysis"},
      {QStringLiteral("checkpoint"), "A checkpoint folder"},
      {QStringLiteral("generated_image"), "An image a generative run made"},
      {QStringLiteral("generated_text"), "A text a generative run made"},
      {QStringLiteral("run_dependency"), "Another run that a run needs"},
      {QStringLiteral("note"), "Note of a run"},
      {QStringLiteral("tag"), "A tag of a run"},
      {QStringLiteral("curve_note"), "A note on a curve of a run"},
      {QStringLiteral("image_tag"), "A star or tag on a generated image"},
      {QStringLiteral("run_mark"), "A mark of a run: archived, baseline, colour"},
      {QStringLiteral("edit"), "A name, note or list of tags or notes that a run had"},
  };
  const auto found = all.find(name);
  return found == all.end() ? QString() : QObject::tr(found->second);
}

const std::vector<SqlSample>& sqlSamples() {
  static const std::vector<SqlSample> all{
      {QObject::tr("Newest runs"),
       QStringLiteral("SELECT id AS run_id, experiment, name, seed, state, started_at, device\n"
                      "FROM runs ORDER BY id DESC LIMIT 100")},
      {QObject::tr("Best run of each experiment"),
       QStringLiteral("-- test/top1 stands for the metric that your task is judged by.\n"
                      "SELECT experiment, run_id, name, round(best, 4) AS best_top1, at_step\n"
                      "FROM (SELECT r.experiment, r.id AS run_id, r.name, m.maximum AS best,\n"
                      "             m.maximum_step AS at_step,\n"
                      "             rank() OVER (PARTITION BY r.experiment\n"
                      "                          ORDER BY m.maximum DESC) AS place\n"
                      "      FROM runs r JOIN metric_summaries m\n"
                      "        ON m.run_id = r.id AND m.name = 'test/top1')\n"
                      "WHERE place = 1 ORDER BY best_top1 DESC")},
      {QObject::tr("Curve of the current run"),
       QStringLiteral("-- :run is the run that is selected in the list, :runs all selected ones.\n"
                      "SELECT step, value AS loss FROM metrics\n"
                      "WHERE run_id = :run AND name = 'train/loss' ORDER BY step")},
      {QObject::tr("Curves of the selected runs"),
       QStringLiteral("-- test/top1 stands for the metric that your task is judged by.\n"
                      "SELECT run_id, step, value AS top1 FROM metrics\n"
                      "WHERE run_id IN :runs AND name = 'test/top1' ORDER BY run_id, step")},
      {QObject::tr("Difference to the first variant, paired by seed"),
       QStringLiteral(
           "-- test/top1 stands for the metric that your task is judged by.\n"
           "WITH score AS (\n"
           "  SELECT r.experiment, r.variant, r.seed, r.id AS run_id, m.last AS top1,\n"
           "         first_value(r.variant) OVER (PARTITION BY r.experiment ORDER BY r.id) AS "
           "base\n"
           "  FROM runs r JOIN metric_summaries m ON m.run_id = r.id AND m.name = 'test/top1'\n"
           "  WHERE r.state = 'done')\n"
           "SELECT a.experiment, a.variant, a.base, count(*) AS seeds,\n"
           "       avg(a.top1 - b.top1) AS difference,\n"
           "       min(a.top1 - b.top1) AS smallest, max(a.top1 - b.top1) AS largest\n"
           "FROM score a JOIN score b ON b.experiment = a.experiment AND b.variant = a.base\n"
           "                         AND b.seed = a.seed\n"
           "WHERE a.variant <> a.base\n"
           "GROUP BY a.experiment, a.variant ORDER BY a.experiment, difference DESC")},
      {QObject::tr("Largest artifacts"),
       QStringLiteral("SELECT a.run_id, r.name AS run, a.analysis, a.name, a.kind, a.step,\n"
                      "       length(a.data) AS bytes\n"
                      "FROM artifacts a JOIN runs r ON r.id = a.run_id\n"
                      "ORDER BY bytes DESC LIMIT 50")},
      {QObject::tr("Calibration bins of the selected runs"),
       QStringLiteral("SELECT run_id, step, split, binning, bin, lower, upper, count,\n"
                      "       confidence, accuracy, accuracy - confidence AS gap\n"
                      "FROM calibration_bins WHERE run_id IN :runs\n"
                      "ORDER BY run_id, step, bin")},
      {QObject::tr("Slowest runs"),
       QStringLiteral("SELECT m.run_id, r.name, r.device, m.name AS unit, m.last AS per_second\n"
                      "FROM metric_summaries m JOIN runs r ON r.id = m.run_id\n"
                      "WHERE m.name GLOB 'system/*_per_second'\n"
                      "ORDER BY m.name, m.last LIMIT 50")},
      {QObject::tr("Differences between the selected runs"),
       QStringLiteral("SELECT key, count(DISTINCT coalesce(value, 'none')) AS different_values,\n"
                      "       group_concat(DISTINCT coalesce(value, 'none')) AS seen\n"
                      "FROM parameters WHERE run_id IN :runs\n"
                      "GROUP BY key HAVING different_values > 1 ORDER BY key")},
      {QObject::tr("Attention rank at 80 %"),
       QStringLiteral("SELECT layer, head, min(position) + 1 AS rank80 FROM spectra\n"
                      "WHERE run_id = :run AND cumulative >= 0.8\n"
                      "  AND step = (SELECT max(step) FROM spectra WHERE run_id = :run)\n"
                      "GROUP BY layer, head")},
  };
  return all;
}

}  // namespace vitrine::ui

#include "core/store/maintenance/run_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/maintenance/thinning.h"
#include "core/store/metrics/metrics.h"
#include "core/store/run_store.h"
#include "core/store/tables/curve_notes.h"
#include "core/store/tables/image_tags.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_marks.h"

namespace vitrine::store {

namespace {

constexpr std::size_t kMostProblems = 20;  // of one run

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

class RunCheck {
 public:
  RunCheck(Database& database, std::int64_t run) : database_(database), run_(run) {}

  std::vector<std::string> all() {
    try {
      json("run_config", "config");
      json("run_config", "origins");
      json("run_config", "init");
      json("run_config", "selection");
      json("segment", "environment");
      json("event", "data");
      json("artifact", "meta");
      json("generated_image", "recipe");
      json("generated_text", "recipe");
      if (count("SELECT count(*) FROM run_config WHERE run_id = ?") != 1)
        report("lacks its configuration");
      segments();
      for (const char* table : {"metric_tail", "clock_chunk", "metric_chunk"}) {
        if (count(std::string("SELECT count(*) FROM ") + table +
                  " t WHERE run_id = ? AND NOT EXISTS (SELECT 1 FROM segment s WHERE s.run_id = "
                  "t.run_id AND s.number = t.segment)") > 0) {
          report(std::string("has rows in ") + table + " that belong to no segment");
        }
      }
      clocks();
      chunks();
      summaries();
      curveNotes();
      imageTags();
      marks();
    } catch (const StoreError& error) {
      report(std::string("cannot be read: ") + error.what());
    }
    return std::move(problems_);
  }

 private:
  void report(const std::string& what) {
    if (problems_.size() < kMostProblems) problems_.push_back(nameOf(run_) + " " + what);
  }

  std::int64_t count(const std::string& sql) { return database_.integer(sql, run_); }

  void json(const char* table, const char* column) {
    Statement row =
        database_.prepare(std::string("SELECT ") + column + " FROM " + table + " WHERE run_id = ?");
    row.with(run_);
    while (row.step()) {
      if (isJson(row.text(0))) continue;
      report(std::string("has a ") + column + " in " + table + " that is not JSON of at most " +
             std::to_string(kDeepestJson) + " levels");
      return;
    }
  }

  void segments() {
    Statement row =
        database_.prepare("SELECT number FROM segment WHERE run_id = ? ORDER BY number");
    row.with(run_);
    for (std::int64_t expected = 1; row.step(); ++expected) {
      if (row.integer(0) != expected) {
        report("lacks segment " + std::to_string(expected));
        return;
      }
    }
  }

  void curveNotes() {
    const std::int64_t notes = count("SELECT count(*) FROM curve_note WHERE run_id = ?");
    if (notes > static_cast<std::int64_t>(kMostCurveNotes))
      return report("has " + std::to_string(notes) + " notes on its curves");
    Statement row = database_.prepare("SELECT metric, step, text FROM curve_note WHERE run_id = ?");
    row.with(run_);
    while (row.step()) {
      try {
        checkCurveNotes({{row.text(0), row.integer(1), row.text(2)}});
      } catch (const ConfigError& error) {
        return report(std::string("has a note that it may not have: ") + error.what());
      }
    }
  }

  void imageTags() {
    const std::int64_t tags = count("SELECT count(*) FROM image_tag WHERE run_id = ?");
    if (tags > static_cast<std::int64_t>(kMostImageTags))
      return report("has " + std::to_string(tags) + " tags on its images");
    try {
      checkImageTags(readImageTags(database_, run_));
    } catch (const ConfigError& error) {
      report(std::string("has a tag on an image that it may not have: ") + error.what());
    }
  }

  void marks() {
    Statement row = database_.prepare("SELECT field, value FROM run_mark WHERE run_id = ?");
    row.with(run_);
    while (row.step()) {
      const auto field = runFieldFromString(row.text(0));
      try {
        if (field) checkMark(*field, row.text(1));
      } catch (const ConfigError& error) {
        return report(std::string("has a mark that it may not have: ") + error.what());
      }
    }
  }

  void clocks() {
    database_.each(
        std::string("SELECT k.id, k.segment, ") + kClockColumns +
            " FROM clock_chunk k WHERE k.run_id = ?",
        [&](const Statement& row) {
          const std::int64_t id = row.integer(0);
          Clock clock{.segment = row.integer(1)};
          const std::int64_t moments = row.integer(2);
          if (moments < 1 || moments > static_cast<std::int64_t>(chunk::kRows)) {
            report("has a clock of " + std::to_string(moments) + " moments");
          } else {
            clock.count = moments;
            clock.lastSequence = chunk::unpackClock(readClock(row, 2)).back().sequence;
          }
          clocks_.emplace(id, clock);
        },
        run_);
  }

  void chunks() {
    Statement row = database_.prepare(
        "SELECT c.clock_id, c.segment, c.count, c.last_sequence, c.minimum, c.maximum, c.data, "
        "n.name FROM metric_chunk c JOIN metric_name n ON n.id = c.metric_id WHERE c.run_id = ?");
    row.with(run_);
    while (row.step()) {
      const std::string what = "has a chunk of '" + shown(row.text(7)) + "' ";
      const auto clock = clocks_.find(row.integer(0));
      if (clock == clocks_.end()) {
        report(what + "whose clock belongs to another run");
        continue;
      }
      const std::vector<double> values = chunk::unpackValues(row.blob(6));
      const auto size = static_cast<std::int64_t>(values.size());
      if (size != row.integer(2) || size != clock->second.count) {
        report(what + "of " + std::to_string(size) + " values, where its row says " +
               std::to_string(row.integer(2)) + " and its clock " +
               std::to_string(clock->second.count));
        continue;
      }
      if (row.integer(1) != clock->second.segment || row.integer(3) != clock->second.lastSequence)
        report(what + "that does not agree with its clock");
      ValueRange range;
      for (const double value : values) range.add(value);
      if (!isSame(range.lowest, row.real(4)) || !isSame(range.highest, row.real(5)))
        report(what + "whose minimum or maximum is not that of its values");
    }
  }

  void summaries() {
    struct Row {
      std::string name;
      std::int64_t metric, count, first, last, tail, minimumStep, maximumStep;
      double lastValue, minimum, maximum;
    };
    const std::vector<Row> rows = database_.rows(
        "SELECT n.name, m.metric_id, m.count, m.first_step, m.last_step, m.tail_rows, "
        "m.minimum_step, m.maximum_step, m.last, m.minimum, m.maximum FROM metric_summary m JOIN "
        "metric_name n ON n.id = m.metric_id WHERE m.run_id = ?",
        [](const Statement& row) {
          return Row{row.text(0),    row.integer(1), row.integer(2), row.integer(3),
                     row.integer(4), row.integer(5), row.integer(6), row.integer(7),
                     row.real(8),    row.real(9),    row.real(10)};
        },
        run_);
    for (const Row& row : rows) check(row);
    const std::string without =
        "SELECT count(*) FROM (SELECT metric_id FROM metric_tail WHERE run_id = ?1 UNION SELECT "
        "metric_id FROM metric_chunk WHERE run_id = ?1) WHERE metric_id NOT IN (SELECT metric_id "
        "FROM metric_summary WHERE run_id = ?1)";
    if (count(without) > 0) report("has points of a metric without a summary");
  }

  template <typename Row>
  void check(const Row& row) {
    const std::int64_t tail = database_.integer(
        "SELECT count(*) FROM metric_tail WHERE run_id = ? AND metric_id = ?", run_, row.metric);
    if (tail != row.tail) {
      report("has " + std::to_string(tail) + " points of '" + shown(row.name) +
             "' that are not packed, where its summary says " + std::to_string(row.tail));
    }
    const std::vector<MetricPoint> points = readPoints(database_, run_, row.name, 0);
    const auto count =
        static_cast<std::int64_t>(points.size()) + thinnedOut(database_, run_, row.metric);
    bool isRight = count == row.count;
    if (isRight && !points.empty()) {
      ValueRange range;
      bool hasLowest = false, hasHighest = false;
      for (const MetricPoint& point : points) {
        hasLowest |= point.step == row.minimumStep && point.value == row.minimum;
        hasHighest |= point.step == row.maximumStep && point.value == row.maximum;
        range.add(point.value);
      }
      isRight = points.front().step == row.first && points.back().step == row.last &&
                isSame(points.back().value, row.lastValue) && isSame(range.lowest, row.minimum) &&
                isSame(range.highest, row.maximum) &&
                (std::isnan(range.lowest) || (hasLowest && hasHighest));
    }
    if (!isRight)
      report("has a summary of '" + shown(row.name) + "' that is not that of its points");
  }

  struct Clock {
    std::int64_t count = 0, segment = 0, lastSequence = 0;
  };

  Database& database_;
  std::int64_t run_;
  std::map<std::int64_t, Clock> clocks_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> runProblems(Database& database, std::int64_t id) {
  return RunCheck(database, id).all();
}

namespace {

/// Whether a checkpoint after `step` lies in the folder of a run.
bool hasNewerCheckpoint(const std::filesystem::path& folder, std::int64_t step) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    constexpr std::string_view kStart = "step-";
    if (!name.starts_with(kStart)) continue;
    const auto found = parseNumber<std::int64_t>(std::string_view(name).substr(kStart.size()));
    std::error_code ignored;
    if (found && *found > step &&
        std::filesystem::is_regular_file(entry->path() / "manifest.json", ignored)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void markRemovedCheckpoints(Database& database, std::int64_t run) {
  const std::filesystem::path files = filesFolder(database.file());
  const std::string folder = runFolderName(readRun(database, run).uuid);
  std::vector<std::int64_t> gone;
  database.each(
      "SELECT folder, step FROM checkpoint WHERE run_id = ? AND removed_at = ''",
      [&](const Statement& row) {
        std::error_code error;
        const std::string path = row.text(0);
        if (isPlainPath(path, folder) &&
            !std::filesystem::is_regular_file(files / path / "manifest.json", error) &&
            hasNewerCheckpoint(files / folder, row.integer(1))) {
          gone.push_back(row.integer(1));
        }
      },
      run);
  for (const std::int64_t step : gone) {
    database.run("UPDATE checkpoint SET removed_at = ? WHERE run_id = ? AND step = ?", utcNow(),
                 run, step);
  }
}

std::vector<std::string> fileProblems(Database& database, std::int64_t id,
                                      const std::filesystem::path& files) {
  std::vector<std::string> problems;
  const RunRow run = readRun(database, id);
  const std::string folder = runFolderName(run.uuid);
  if (!run.logFile.empty() && !isPlainPath(run.logFile, folder)) {
    problems.push_back(nameOf(id) + " names the log '" + shown(run.logFile) +
                       "', which is not in the run's folder");
  }
  const bool hasNoEnd = isAlive(run.state) || run.state == RunState::Interrupted;
  Statement row = database.prepare(
      "SELECT folder, step FROM checkpoint WHERE run_id = ? AND removed_at = '' ORDER BY step");
  row.with(id);
  while (row.step()) {
    const std::string path = row.text(0);
    const std::string what =
        nameOf(id) + ": the checkpoint of step " + std::to_string(row.integer(1));
    if (!isPlainPath(path, folder)) {
      problems.push_back(what + " names the folder '" + shown(path) + "', which is not the run's");
      continue;
    }
    std::error_code error;
    if (!std::filesystem::is_regular_file(files / path / "manifest.json", error) &&
        !(hasNoEnd && hasNewerCheckpoint(files / folder, row.integer(1)))) {
      problems.push_back(what + " is not in '" + (files / path).string() + "'");
    }
  }
  return problems;
}

bool isPlainPath(const std::string& path, const std::string& folder) {
  constexpr std::size_t kLongest = 1000, kLongestName = 200, kDeepest = 8;
  if (path.size() > kLongest || !path.starts_with(folder + "/")) return false;
  std::size_t depth = 0;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view name = std::string_view(path).substr(start, end - start);
    if (name.empty() || name.size() > kLongestName || name.front() == '.' || ++depth > kDeepest)
      return false;
    for (const char c : name) {
      const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
      if (!isPlain) return false;
    }
    start = end + 1;
  }
  return true;
}

}  // namespace vitrine::store

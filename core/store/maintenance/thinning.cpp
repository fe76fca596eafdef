#include "core/store/maintenance/thinning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/metrics/metrics.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace {

constexpr std::size_t kWorthPacking = 16;

struct Point {
  chunk::Moment moment;
  double value = 0;
};

/// One point, or what an earlier thinning left of several: the smallest part of a bucket.
struct Item {
  std::vector<Point> points;  ///< that are there
  std::int64_t firstSequence = 0, lastSequence = 0, firstStep = 0, lastStep = 0;
  std::int64_t count = 0, nans = 0;
};

struct Bucket {
  Item all;
  std::vector<Point> kept;
};

class RunThinning {
 public:
  RunThinning(Database& database, std::int64_t run, std::int64_t bucket)
      : database_(database), run_(run), bucket_(bucket) {
    database_.each(
        "SELECT number, shown_above, shown_to FROM segment WHERE run_id = ? ORDER BY number",
        [&](const Statement& row) {
          segments_[row.integer(0)] = {row.integer(1), row.integer(2)};
          borders_.insert({row.integer(1), row.integer(2)});
        },
        run);
    // A resume begins at a checkpoint and cuts what came after: no bucket may lie across.
    for (const std::int64_t step : database_.integers(
             "SELECT step FROM checkpoint WHERE run_id = ? AND removed_at = '' ORDER BY step", run))
      borders_.insert(step);
  }

  enum class Mode { Look, Do };
  /// Within a snapshot, or a transaction where something is done.
  void all(Mode mode) {
    for (const std::int64_t metric : database_.integers(
             "SELECT metric_id FROM metric_summary WHERE run_id = ? ORDER BY 1", run_)) {
      for (const auto& entry : segments_) thin(metric, entry.first, mode);
    }
    if (mode == Mode::Look || after == before) return;
    packMetrics(database_, run_, kWorthPacking);
    database_.run(
        "UPDATE metric_summary SET tail_rows = (SELECT count(*) FROM metric_tail t WHERE "
        "t.run_id = metric_summary.run_id AND t.metric_id = metric_summary.metric_id) WHERE "
        "run_id = ?",
        run_);
    database_.run(
        "DELETE FROM clock_chunk WHERE run_id = ?1 AND id NOT IN (SELECT clock_id FROM "
        "metric_chunk WHERE run_id = ?1)",
        run_);
    EventRecord event{readRun(database_, run_).step, "thinned",
                      formatCount(before - after) + " of " + formatCount(before) +
                          " points were taken out: of every " + formatCount(bucket_) +
                          " the lowest and the highest stay",
                      Json::object()};
    event.data["bucket"] = bucket_;
    event.data["before"] = before;
    event.data["after"] = after;
    addEvent(database_, run_, lastSegment(database_, run_), event);
    touch(database_, run_);
  }

  std::int64_t before = 0, after = 0;  ///< points

 private:
  std::vector<Point> pointsOf(std::int64_t metric, std::int64_t segment) {
    std::vector<Point> points;
    database_.each(
        std::string("SELECT c.data, ") + kClockColumns +
            " FROM metric_chunk c JOIN clock_chunk k ON k.id = c.clock_id WHERE c.run_id = ? AND "
            "c.metric_id = ? AND c.segment = ? ORDER BY c.last_sequence",
        [&](const Statement& row) {
          const auto moments = chunk::unpackClock(readClock(row, 1));
          const auto values = chunk::unpackValues(row.blob(0));
          if (values.size() != moments.size()) {
            throw StoreError(nameOf(run_) + " has a chunk whose values do not fit its clock; the " +
                             "database is damaged: see `vitrine db check`");
          }
          for (std::size_t i = 0; i < values.size(); ++i) points.push_back({moments[i], values[i]});
        },
        run_, metric, segment);
    database_.each(
        "SELECT sequence, step, time, epoch, value, kind FROM metric_tail WHERE run_id = ? AND "
        "metric_id = ? AND segment = ? ORDER BY sequence",
        [&](const Statement& row) {
          points.push_back({{row.integer(0), row.integer(1), row.integer(2), row.integer(3)},
                            tailValue(row, 4, 5)});
        },
        run_, metric, segment);
    return points;
  }

  /// In the order of writing; what an earlier thinning left of several points is one item.
  std::vector<Item> itemsOf(std::int64_t metric, std::int64_t segment) {
    const std::string what = "a bucket of points of run " + std::to_string(run_);
    const std::vector<Item> earlier = database_.rows(
        "SELECT first_sequence, last_sequence, first_step, last_step, count, nans FROM "
        "metric_bucket WHERE run_id = ? AND metric_id = ? AND segment = ? ORDER BY first_sequence",
        [&](const Statement& row) {
          return Item{{},
                      row.integer(0),
                      row.integer(1),
                      row.integer(2),
                      row.integer(3),
                      counted(row.integer(4), what),
                      counted(row.integer(5), what)};
        },
        run_, metric, segment);
    std::vector<Item> items;
    std::size_t next = 0;
    for (const Point& point : pointsOf(metric, segment)) {
      const std::int64_t sequence = point.moment.sequence;
      while (next < earlier.size() && sequence > earlier[next].lastSequence) ++next;
      const bool isIn = next < earlier.size() && sequence >= earlier[next].firstSequence;
      if (isIn && !items.empty() && items.back().firstSequence == earlier[next].firstSequence) {
        items.back().points.push_back(point);
      } else if (isIn) {
        items.push_back(earlier[next]);
        items.back().points.push_back(point);
      } else {
        const std::int64_t step = point.moment.step;
        items.push_back({{point}, sequence, sequence, step, step, 1, std::isnan(point.value)});
      }
    }
    return items;
  }

  /// Which part of the run a step lies in: buckets lie within one.
  std::int64_t partOf(std::int64_t step) const {
    const auto border = borders_.lower_bound(step);
    return border == borders_.end() ? std::numeric_limits<std::int64_t>::max() : *border;
  }

  /// Sequences of the first and the last point of each part, by step: summaries name them. Steps
  /// need not come in order.
  std::set<std::int64_t> endsOf(const std::vector<Item>& items) const {
    std::map<std::int64_t, std::pair<chunk::Moment, chunk::Moment>> ends;  // by part
    for (const Item& item : items) {
      for (const Point& point : item.points) {
        const chunk::Moment& moment = point.moment;
        auto& [first, last] = ends.try_emplace(partOf(moment.step), moment, moment).first->second;
        if (moment.step < first.step) first = moment;
        if (moment.step >= last.step) last = moment;
      }
    }
    std::set<std::int64_t> sequences;
    for (const auto& entry : ends)
      sequences.insert({entry.second.first.sequence, entry.second.second.sequence});
    return sequences;
  }

  static void choose(Bucket& bucket, const std::set<std::int64_t>& ends) {
    const std::vector<Point>& points = bucket.all.points;
    std::set<std::size_t> kept;
    std::size_t lowest = points.size(), highest = points.size(), nan = points.size();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double value = points[i].value;
      if (std::isnan(value)) {
        if (nan == points.size()) nan = i;
        continue;
      }
      if (lowest == points.size() || value < points[lowest].value) lowest = i;
      if (highest == points.size() || value > points[highest].value) highest = i;
    }
    for (const std::size_t i : {lowest, highest, nan}) {
      if (i < points.size()) kept.insert(i);
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (ends.contains(points[i].moment.sequence)) kept.insert(i);
    }
    for (const std::size_t i : kept) bucket.kept.push_back(points[i]);
  }

  void thin(std::int64_t metric, std::int64_t segment, Mode mode) {
    const std::vector<Item> items = itemsOf(metric, segment);
    std::vector<Bucket> buckets;
    const auto isFull = [&](const Bucket& bucket, const Item& item) {
      return bucket.all.count + item.count > bucket_ ||
             partOf(bucket.all.firstStep) != partOf(item.firstStep);
    };
    for (const Item& item : items) {
      if (buckets.empty() || isFull(buckets.back(), item)) {
        buckets.push_back({item, {}});
        continue;
      }
      Item& all = buckets.back().all;
      all.points.insert(all.points.end(), item.points.begin(), item.points.end());
      all.lastSequence = item.lastSequence;
      all.firstStep = std::min(all.firstStep, item.firstStep);
      all.lastStep = std::max(all.lastStep, item.lastStep);
      all.count += item.count;
      all.nans += item.nans;
    }
    std::int64_t mine = 0, left = 0;
    const std::set<std::int64_t> ends = endsOf(items);
    for (Bucket& bucket : buckets) {
      choose(bucket, ends);
      mine += static_cast<std::int64_t>(bucket.all.points.size());
      left += static_cast<std::int64_t>(bucket.kept.size());
    }
    before += mine;
    after += left;
    if (mode == Mode::Do && left < mine) store(metric, segment, buckets);
  }

  void store(std::int64_t metric, std::int64_t segment, const std::vector<Bucket>& buckets) {
    for (const char* table : {"metric_chunk", "metric_tail", "metric_bucket"}) {
      database_.run(std::string("DELETE FROM ") + table +
                        " WHERE run_id = ? AND metric_id = ? AND segment = ?",
                    run_, metric, segment);
    }
    Statement point = database_.prepare(
        "INSERT INTO metric_tail(run_id, metric_id, sequence, segment, step, time, epoch, value, "
        "kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    Statement row = database_.prepare(
        "INSERT INTO metric_bucket(run_id, metric_id, first_sequence, last_sequence, segment, "
        "first_step, last_step, count, kept, nans, minimum, maximum) VALUES (?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?)");
    for (const Bucket& bucket : buckets) {
      ValueRange range;
      for (const Point& kept : bucket.kept) {
        const double value = kept.value;
        point
            .with(run_, metric, kept.moment.sequence, segment, kept.moment.step, kept.moment.time,
                  kept.moment.epoch, value, tailKind(value))
            .run();
        sqlite3_reset(point.handle());
        range.add(value);
      }
      const auto kept = static_cast<std::int64_t>(bucket.kept.size());
      if (kept == bucket.all.count) continue;  // nothing is missing
      row.with(run_, metric, bucket.all.firstSequence, bucket.all.lastSequence, segment,
               bucket.all.firstStep, bucket.all.lastStep, bucket.all.count, kept, bucket.all.nans,
               range.lowest, range.highest)
          .run();
      sqlite3_reset(row.handle());
    }
  }

  Database& database_;
  const std::int64_t run_, bucket_;
  std::map<std::int64_t, ShownSteps> segments_;
  std::set<std::int64_t> borders_;  ///< last steps of parts
};

/// Within a snapshot, or a transaction where something is done. One that is in progress is looked
/// at only.
ThinnedRun thinOne(Database& database, std::int64_t run, std::int64_t bucket,
                   RunThinning::Mode mode) {
  const RunRow row = readRun(database, run);
  ThinnedRun result{.run = run, .name = row.name};
  if (isAlive(row.state)) {
    result.refusal = "it is " + toString(row.state) + "; wait for its end or stop it";
    mode = RunThinning::Mode::Look;
  }
  RunThinning thinning(database, run, bucket);
  thinning.all(mode);
  result.before = thinning.before;
  result.after = result.refusal.empty() ? thinning.after : thinning.before;
  return result;
}

void requireBucket(std::int64_t bucket) {
  if (bucket >= kSmallestBucket) return;
  throw ConfigError("of every " + std::to_string(bucket) +
                    " points there is nothing to remove; use " + std::to_string(kSmallestBucket) +
                    " or more");
}

}  // namespace

std::vector<ThinnedRun> planThinning(const std::filesystem::path& database,
                                     std::span<const std::int64_t> runs, std::int64_t bucket) {
  requireBucket(bucket);
  Database from(database, Database::Access::Read);
  openSchema(from);
  std::vector<ThinnedRun> plan;
  for (const std::int64_t run : runs)
    plan.push_back(from.read([&] { return thinOne(from, run, bucket, RunThinning::Mode::Look); }));
  return plan;
}

std::vector<ThinnedRun> thinRuns(const std::filesystem::path& database,
                                 std::span<const std::int64_t> runs, std::int64_t bucket,
                                 const std::function<void(const ThinnedRun&)>& progress) {
  requireBucket(bucket);
  Database to(database, Database::Access::Write);
  openSchema(to);
  for (const std::int64_t run : runs) static_cast<void>(readRun(to, run));  // all or none
  std::vector<ThinnedRun> report;
  for (const std::int64_t run : runs) {
    report.push_back(to.write([&] { return thinOne(to, run, bucket, RunThinning::Mode::Do); }));
    if (progress) progress(report.back());
  }
  return report;
}

std::vector<std::int64_t> runsEndedBefore(const std::filesystem::path& database,
                                          const std::string& utc) {
  Database from(database, Database::Access::Read);
  openSchema(from);
  return from.integers(
      "SELECT id FROM run r WHERE state NOT IN ('queued', 'starting', 'running', 'pausing', "
      "'stopping') AND finished_at <> '' AND finished_at < ? AND EXISTS (SELECT 1 FROM "
      "metric_summary m WHERE m.run_id = r.id) ORDER BY id",
      utc);
}

std::int64_t thinnedOut(Database& database, std::int64_t run, std::int64_t metric) {
  return database.integer(
      "SELECT coalesce(sum(b.count - b.kept), 0) FROM metric_bucket b JOIN segment s ON s.run_id = "
      "b.run_id AND s.number = b.segment WHERE b.run_id = ? AND b.metric_id = ? AND b.first_step > "
      "s.shown_above AND b.last_step <= s.shown_to",
      run, metric);
}

void countThinnedOut(Database& database, std::int64_t run) {
  for (const std::int64_t metric :
       database.integers("SELECT DISTINCT metric_id FROM metric_bucket WHERE run_id = ?", run)) {
    database.run("UPDATE metric_summary SET count = count + ? WHERE run_id = ? AND metric_id = ?",
                 thinnedOut(database, run, metric), run, metric);
  }
}

}  // namespace vitrine::store

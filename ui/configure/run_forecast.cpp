#include "ui/configure/run_forecast.h"

#include <QDateTime>
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "core/config/config.h"
#include "ui/shell/page.h"

namespace vitrine::ui {

/// What decides how long a step takes and how many there are.
struct RunWorkload {
  std::string architecture, dataset, device;
  std::int64_t batch = 0, accumulate = 1;
  std::optional<std::int64_t> steps;
  std::optional<double> epochs;
  std::optional<std::int64_t> samples;
};

namespace {

constexpr std::size_t kMostForecast = 5000;  // runs of a plan that are looked at
constexpr std::size_t kMostAlike = 5;        // runs a time is taken from

std::uint64_t hashOf(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a, the same on every machine
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

RunWorkload workloadOf(const Json& config) {
  RunWorkload work;
  const auto at = [&](const char* section, const char* key) {
    const auto table = config.find(section);
    if (table == config.end() || !table->is_object()) return Json();
    const auto value = table->find(key);
    return value == table->end() ? Json() : *value;
  };
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  work.architecture = text(at("model", "architecture"));
  work.dataset = text(at("data", "dataset"));
  work.device = text(at("train", "device"));
  if (const Json value = at("train", "batch_size"); value.is_number())
    work.batch = value.get<std::int64_t>();
  if (const Json value = at("train", "accumulate"); value.is_number_integer())
    work.accumulate = std::max<std::int64_t>(value.get<std::int64_t>(), 1);
  if (const Json value = at("train", "steps"); value.is_number())
    work.steps = value.get<std::int64_t>();
  if (const Json value = at("train", "epochs"); value.is_number())
    work.epochs = value.get<double>();
  if (const Json value = at("data", "train_samples"); value.is_number())
    work.samples = value.get<std::int64_t>();
  return work;
}

double secondsBetween(const std::string& from, const std::string& to) {
  const QDateTime start = QDateTime::fromString(QString::fromStdString(from), Qt::ISODateWithMs);
  const QDateTime end = QDateTime::fromString(QString::fromStdString(to), Qt::ISODateWithMs);
  return start.isValid() && end.isValid() ? static_cast<double>(start.msecsTo(end)) / 1000.0 : 0;
}

QString runNumbers(const std::vector<std::int64_t>& ids) {
  QStringList words;
  for (const std::int64_t id : ids) words << QStringLiteral("#%1").arg(id);
  if (words.size() == 1) return QStringLiteral("run ") + words.front();
  const QString last = words.takeLast();
  return QStringLiteral("runs ") + words.join(QStringLiteral(", ")) + QStringLiteral(" and ") +
         last;
}

}  // namespace

ConfigPrint printOf(const Json& config) {
  ConfigPrint print;
  for (const auto& [key, value] : flatten(config)) {
    if (key != "model.preset" && !value.is_null())
      print.emplace_back(hashOf(key), hashOf(value.dump()));
  }
  std::sort(print.begin(), print.end());
  return print;
}

int differingKeys(const ConfigPrint& a, const ConfigPrint& b) {
  int differing = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->first < right->first)) {
      ++differing;
      ++left;
    } else if (left == a.end() || right->first < left->first) {
      ++differing;
      ++right;
    } else {
      differing += left->second != right->second ? 1 : 0;
      ++left;
      ++right;
    }
  }
  return differing;
}

struct RunForecaster::Memory {
  struct Known {
    ConfigPrint print, withoutSeed, model;
    RunWorkload work;
    std::uint64_t seed = 0;
    double operations = 0, deviceSeconds = 0;  ///< as recorded, 0 where they were not
  };
  std::map<std::int64_t, Known> runs;

  void read(RunStore& store, const std::map<std::int64_t, RunRow>& rows,
            const std::atomic<bool>& isStale) {
    const std::int64_t last = runs.empty() ? 0 : runs.rbegin()->first;
    bool isNew = false;
    for (const auto& [id, row] : rows) isNew = isNew || id > last;
    if (!isNew) return;
    const RunStore::Table table =
        store.query("SELECT run_id, config FROM run_config WHERE run_id > " + std::to_string(last) +
                    " ORDER BY run_id");
    for (const std::vector<Json>& row : table.rows) {
      if (isStale) return;  // what was read stays; the next job goes on from there
      const Json config = Json::parse(row[1].get<std::string>(), nullptr, false);
      if (!config.is_object()) continue;
      Known known;
      known.print = printOf(config);
      known.work = workloadOf(config);
      known.model = printOf(config.value("model", Json::object()));
      Json plain = config;
      if (plain.contains("train") && plain["train"].is_object()) {
        if (plain["train"].contains("seed") && plain["train"]["seed"].is_number_unsigned())
          known.seed = plain["train"]["seed"].get<std::uint64_t>();
        plain["train"].erase("seed");
      }
      known.withoutSeed = printOf(plain);
      runs.emplace(row[0].get<std::int64_t>(), std::move(known));
    }
  }

  void readSpeeds(RunStore& store) {
    for (const auto& [id, value] : store.lastValues("system/flops")) {
      if (const auto found = runs.find(id); found != runs.end()) found->second.operations = value;
    }
    for (const auto& [id, value] : store.lastValues("system/device_seconds")) {
      if (const auto found = runs.find(id); found != runs.end())
        found->second.deviceSeconds = value;
    }
  }
};

namespace {

/// One question, answered.
template <class Known>
class Forecasting {
 public:
  Forecasting(const std::map<std::int64_t, Known>& known,
              const std::map<std::int64_t, RunRow>& rows, const Json& report)
      : known_(known), rows_(rows) {
    if (!report.is_object()) return;
    if (const auto runs = report.find("runs"); runs != report.end() && runs->is_array()) {
      for (const Json& run : *runs)
        totals_.push_back(run.is_object() ? run.value("totals", Json()) : Json());
    } else if (const auto totals = report.find("totals"); totals != report.end()) {
      totals_.push_back(*totals);
    }
  }

  Forecast answer(const Plan& plan, const std::atomic<bool>& isStale) {
    Forecast forecast;
    std::map<ConfigPrint, int> seen;
    std::vector<std::int64_t> timedBy;
    bool isMeasured = false, isEstimated = false, isByOperations = false;
    for (std::size_t i = 0; i < std::min(plan.runs.size(), kMostForecast) && !isStale; ++i) {
      const PlannedRun& run = plan.runs[i];
      const ConfigPrint print = printOf(run.config);
      RunForecast one;
      const auto [place, isFirst] = seen.emplace(print, static_cast<int>(i));
      if (!isFirst) one.sameAs = place->second;
      one.existing = equalTo(print);
      if (i == 0) nearestTo(print, run.config, forecast);
      time(run, i, one, timedBy, isByOperations);
      memory(run, i, one, isMeasured, isEstimated);
      if (one.seconds > 0) {
        forecast.seconds += one.seconds;
        ++forecast.timed;
      }
      forecast.memoryBytes = std::max(forecast.memoryBytes, one.memoryBytes);
      forecast.runs.push_back(one);
    }
    std::sort(timedBy.begin(), timedBy.end());
    timedBy.erase(std::unique(timedBy.begin(), timedBy.end()), timedBy.end());
    if (!timedBy.empty()) {
      if (timedBy.size() > kMostAlike)
        timedBy.erase(timedBy.begin(), timedBy.end() - static_cast<std::ptrdiff_t>(kMostAlike));
      forecast.timeSource =
          (isByOperations
               ? QStringLiteral("estimated from the operations of the model at the speed of %1")
               : QStringLiteral("from %1: same architecture, batch size and device"))
              .arg(runNumbers(timedBy));
    }
    forecast.memorySource = isMeasured && isEstimated ? QStringLiteral("measured and estimated")
                            : isMeasured  ? QStringLiteral("measured in runs like these")
                            : isEstimated ? QStringLiteral("estimated from the model")
                                          : QString();
    return forecast;
  }

 private:
  [[nodiscard]] std::int64_t equalTo(const ConfigPrint& print) const {
    for (auto one = known_.rbegin(); one != known_.rend(); ++one) {
      if (one->second.print == print && rows_.count(one->first) > 0) return one->first;
    }
    return 0;
  }

  void nearestTo(const ConfigPrint& print, const Json& config, Forecast& forecast) const {
    Json plain = config;
    if (plain.contains("train") && plain["train"].is_object()) plain["train"].erase("seed");
    const ConfigPrint withoutSeed = printOf(plain);
    std::vector<std::uint64_t> taken;
    for (const auto& [id, one] : known_) {
      if (rows_.count(id) == 0) continue;
      const int keys = differingKeys(print, one.print);
      if (forecast.nearest == 0 ||
          keys <= forecast.nearestKeys) {  // ids grow: the newest of equals
        forecast.nearest = id;
        forecast.nearestKeys = keys;
      }
      if (one.withoutSeed == withoutSeed) taken.push_back(one.seed);
    }
    while (std::find(taken.begin(), taken.end(), forecast.freeSeed) != taken.end())
      ++forecast.freeSeed;
  }

  /// Steps of a run: said, or its epochs times what earlier runs had in one.
  [[nodiscard]] std::int64_t stepsOf(const RunWorkload& work) const {
    if (work.steps) return *work.steps;
    if (!work.epochs || work.batch <= 0) return 0;
    const double perStep = static_cast<double>(work.batch * work.accumulate);
    if (work.samples)
      return std::llround(std::ceil(static_cast<double>(*work.samples) / perStep) * *work.epochs);
    for (auto one = known_.rbegin(); one != known_.rend(); ++one) {
      const auto row = rows_.find(one->first);
      const RunWorkload& other = one->second.work;
      if (row == rows_.end() || other.dataset != work.dataset || other.samples ||
          other.batch <= 0 || row->second.totalSteps <= 0 || row->second.totalEpochs <= 0)
        continue;
      const double samples = static_cast<double>(row->second.totalSteps) / row->second.totalEpochs *
                             static_cast<double>(other.batch * other.accumulate);
      return std::llround(samples / perStep * *work.epochs);
    }
    return 0;
  }

  /// Of a run that got somewhere: all its time where it went in one go, else that of its steps.
  [[nodiscard]] static double secondsPerStep(const RunRow& row, const RunWorkload& work) {
    if (row.step < 20) return 0;
    const double bySpeed =
        row.imagesPerSecond > 0
            ? static_cast<double>(work.batch * work.accumulate) / row.imagesPerSecond
            : 0;
    if (row.state != RunState::Done) return bySpeed;
    const double whole =
        secondsBetween(row.startedAt, row.finishedAt) / static_cast<double>(row.step);
    return whole > 0 && (bySpeed <= 0 || whole < 3 * bySpeed) ? whole : bySpeed;
  }

  void time(const PlannedRun& run, std::size_t place, RunForecast& one,
            std::vector<std::int64_t>& timedBy, bool& isByOperations) const {
    const RunWorkload work = workloadOf(run.config);
    one.steps = stepsOf(work);
    if (one.steps <= 0) return;
    struct Alike {
      int keys;
      std::int64_t id;
      double seconds;
    };
    const ConfigPrint model = printOf(run.config.value("model", Json::object()));
    std::vector<Alike> alike;
    for (const auto& [id, known] : known_) {
      const auto row = rows_.find(id);
      if (row == rows_.end() || known.work.architecture != work.architecture ||
          known.work.batch != work.batch || known.work.device != work.device)
        continue;
      if (const double seconds = secondsPerStep(row->second, known.work); seconds > 0)
        alike.push_back({differingKeys(model, known.model), id, seconds});
    }
    if (!alike.empty()) {
      // The ones whose model is closest; of those the newest few.
      std::sort(alike.begin(), alike.end(), [](const Alike& a, const Alike& b) {
        return a.keys != b.keys ? a.keys < b.keys : a.id > b.id;
      });
      double sum = 0;
      std::size_t used = 0;
      for (; used < std::min(alike.size(), kMostAlike) && alike[used].keys == alike[0].keys;
           ++used) {
        sum += alike[used].seconds;
        timedBy.push_back(alike[used].id);
      }
      one.seconds = sum / static_cast<double>(used) * static_cast<double>(one.steps);
      return;
    }
    byOperations(work, place, one, timedBy, isByOperations);
  }

  [[nodiscard]] Json totalsOf(std::size_t place) const {
    return place < totals_.size() ? totals_[place] : Json();
  }

  /// Forward and backward: three times the operations of a picture, at a speed that was measured.
  void byOperations(const RunWorkload& work, std::size_t place, RunForecast& one,
                    std::vector<std::int64_t>& timedBy, bool& isByOperations) const {
    const Json totals = totalsOf(place);
    const double operations = totals.is_object() ? totals.value("flops", 0.0) : 0;
    if (operations <= 0) return;
    for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
      if (known->second.work.device != work.device || known->second.operations <= 0 ||
          known->second.deviceSeconds <= 0 || rows_.count(known->first) == 0)
        continue;
      const double speed = known->second.operations / known->second.deviceSeconds;
      one.seconds = 3 * operations * static_cast<double>(work.batch * work.accumulate) / speed *
                    static_cast<double>(one.steps);
      timedBy.push_back(known->first);
      isByOperations = true;
      return;
    }
  }

  void memory(const PlannedRun& run, std::size_t place, RunForecast& one, bool& isMeasured,
              bool& isEstimated) const {
    const RunWorkload work = workloadOf(run.config);
    const ConfigPrint model = printOf(run.config.value("model", Json::object()));
    for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
      const auto row = rows_.find(known->first);
      if (row == rows_.end() || row->second.memoryBytes <= 0 || known->second.model != model ||
          known->second.work.batch != work.batch || known->second.work.device != work.device)
        continue;
      one.memoryBytes = static_cast<double>(row->second.memoryBytes);
      isMeasured = true;
      return;
    }
    const Json totals = totalsOf(place);
    if (totals.is_object()) one.memoryBytes = totals.value("memory_bytes", 0.0);
    isEstimated = isEstimated || one.memoryBytes > 0;
  }

  const std::map<std::int64_t, Known>& known_;
  const std::map<std::int64_t, RunRow>& rows_;
  std::vector<Json> totals_;  ///< per run of the plan, as far as `vitrine check` said
};

}  // namespace

RunForecaster::RunForecaster(Workbench& workbench, QObject* parent)
    : QObject(parent),
      workbench_(workbench),
      memory_(std::make_shared<Memory>()),
      background_(workbench.store().file()) {
  connect(&background_, &Background::failed, this, &RunForecaster::failed);
}

void RunForecaster::ask(std::shared_ptr<const Plan> plan, const Json& report) {
  auto rows = std::make_shared<std::map<std::int64_t, RunRow>>(workbench_.runs());
  background_.run([this, memory = memory_, plan = std::move(plan), rows, report](
                      RunStore& store, const std::atomic<bool>& isStale) -> Background::Finish {
    memory->read(store, *rows, isStale);
    memory->readSpeeds(store);
    auto forecast = std::make_shared<Forecast>(
        Forecasting<Memory::Known>(memory->runs, *rows, report).answer(*plan, isStale));
    return [this, forecast] { Q_EMIT answered(*forecast); };
  });
}

}  // namespace vitrine::ui

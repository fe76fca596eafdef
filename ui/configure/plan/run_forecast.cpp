#include "ui/configure/plan/run_forecast.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>

#include "core/base/read_json.h"
#include "core/config/config.h"
#include "core/config/lookup.h"
#include "core/store/run_card.h"
#include "core/store/run_facts.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page.h"
#include "ui/workbench/run_seconds.h"

namespace vitrine::ui {

/// What decides how long a step takes and how many there are.
struct RunWorkload {
  std::string task, architecture, preset, dataset, device;
  std::int64_t batch = 0, accumulate = 1;
  std::optional<std::int64_t> steps;
  std::optional<double> epochs;
  std::optional<std::int64_t> samples;
  double share = 1;  ///< of those samples, or of all, that training reads
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
  const auto at = [&](const char* key) {
    const Json* value = valueAt(config, key);
    return value == nullptr ? Json() : *value;
  };
  work.task = store::taskOf(config);
  work.architecture = textAt(config, "model.architecture");
  work.preset = textAt(config, "model.preset");
  work.dataset = textAt(config, "data.dataset");
  work.device = textAt(config, "train.device");
  if (const Json value = at("train.batch_size"); value.is_number())
    work.batch = value.get<std::int64_t>();
  if (const Json value = at("train.accumulate"); value.is_number_integer())
    work.accumulate = std::max<std::int64_t>(value.get<std::int64_t>(), 1);
  if (const Json value = at("train.steps"); value.is_number())
    work.steps = value.get<std::int64_t>();
  if (const Json value = at("train.epochs"); value.is_number())
    work.epochs = value.get<double>();
  if (const Json value = at("data.train_samples"); value.is_number()) {
    work.samples = value.get<std::int64_t>();
  } else if (const Json share = at("data.train_share"); share.is_number()) {
    work.share = share.get<double>();
  }
  if (const Json value = at("data.holdout"); value.is_number())
    work.share *= 1 - value.get<double>();
  return work;
}

QString runNumbers(const std::vector<std::int64_t>& ids) {
  QStringList words;
  for (const std::int64_t id : ids) words << QStringLiteral("#%1").arg(id);
  if (words.size() == 1) return QObject::tr("run ") + words.front();
  const QString last = words.takeLast();
  return QObject::tr("runs ") + words.join(QStringLiteral(", ")) + QObject::tr(" and ") + last;
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
  };
  std::map<std::int64_t, Known> runs;

  void read(store::RunReader& store, const std::map<std::int64_t, store::RunRow>& rows,
            const std::atomic<bool>& isStale) {
    const std::int64_t last = runs.empty() ? 0 : runs.rbegin()->first;
    bool isNew = false;
    for (const auto& [id, row] : rows) isNew = isNew || id > last;
    if (!isNew) return;
    for (const auto& [run, text] : configsAfter(store, last)) {
      if (isStale) return;  // what was read stays; the next job continues from there
      const Json config = readJson(text);
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
      runs.emplace(run, std::move(known));
    }
  }
};

namespace {

/// One question, answered.
template <class Known>
class Forecasting {
 public:
  Forecasting(const std::map<std::int64_t, Known>& known,
              const std::map<std::int64_t, store::RunRow>& rows,
              const std::map<std::int64_t, double>& operations, const store::TaskCards& cards,
              const Json& report)
      : known_(known), rows_(rows), operations_(operations), cards_(cards) {
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
    bool isMeasured = false, isEstimated = false;
    QStringList bases;
    for (std::size_t i = 0; i < std::min(plan.runs.size(), kMostForecast) && !isStale; ++i) {
      const PlannedRun& run = plan.runs[i];
      const ConfigPrint print = printOf(run.config);
      RunForecast one;
      const auto [place, isFirst] = seen.emplace(print, static_cast<int>(i));
      if (!isFirst) one.sameAs = place->second;
      one.existing = equalTo(print);
      if (i == 0) nearestTo(print, run.config, forecast);
      time(run, i, one, forecast);
      memory(run, i, one, isMeasured, isEstimated);
      if (one.seconds > 0) {
        forecast.seconds += one.seconds;
        ++forecast.timed;
        if (!bases.contains(one.basis)) bases << one.basis;
      }
      forecast.memoryBytes = std::max(forecast.memoryBytes, one.memoryBytes);
      forecast.runs.push_back(one);
    }
    if (bases.size() < 3) {
      forecast.timeSource = bases.join(QObject::tr(", and "));
    } else {
      forecast.timeSource = QObject::tr(
          "from earlier runs on the same device, for each run as its "
          "tool tip says");
    }
    forecast.memorySource = isMeasured && isEstimated ? QObject::tr("measured and estimated")
                            : isMeasured              ? QObject::tr("measured in runs like these")
                            : isEstimated             ? QObject::tr("estimated from the model")
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
    if (work.samples) {
      const double used = std::round(static_cast<double>(*work.samples) * work.share);
      return std::llround(std::ceil(used / perStep) * *work.epochs);
    }
    for (auto one = known_.rbegin(); one != known_.rend(); ++one) {
      const auto row = rows_.find(one->first);
      const RunWorkload& other = one->second.work;
      if (row == rows_.end() || other.dataset != work.dataset || other.samples ||
          other.share <= 0 || other.batch <= 0 || row->second.totalSteps <= 0 ||
          row->second.totalEpochs <= 0)
        continue;
      const double samples = static_cast<double>(row->second.totalSteps) / row->second.totalEpochs *
                             static_cast<double>(other.batch * other.accumulate);
      return std::llround(samples * work.share / other.share / perStep * *work.epochs);
    }
    return 0;
  }

  /// Of a run that got somewhere: all its time where it went in one go, else that of its steps.
  [[nodiscard]] double secondsPerStep(const store::RunRow& row, const RunWorkload& work) const {
    if (row.step < 20) return 0;
    double bySpeed = 0;
    if (!store::countsSamples(store::cardOf(cards_, work.task))) {
      const std::int64_t left = row.totalSteps - row.step;
      if (left > 0 && row.remainingSeconds > 0)
        bySpeed = row.remainingSeconds / static_cast<double>(left);
    } else if (row.imagesPerSecond > 0) {
      bySpeed = samplesPerStep(work) / row.imagesPerSecond;
    }
    if (row.state != store::RunState::Done) return bySpeed;
    const double whole = secondsOf(row) / static_cast<double>(row.step);
    return whole > 0 && (bySpeed <= 0 || whole < 3 * bySpeed) ? whole : bySpeed;
  }

  /// The device a run was made on: what it asked for, or where that was left open what it got.
  [[nodiscard]] std::string deviceOf(const store::RunRow& row, const RunWorkload& work) const {
    return work.device != "auto" || row.device.empty() ? work.device
                                                       : row.device.substr(0, row.device.find(' '));
  }

  /// Operations of one sample, forward; 0 where unknown.
  [[nodiscard]] double operationsOf(std::int64_t run) const {
    const auto found = operations_.find(run);
    return found == operations_.end() ? 0 : found->second;
  }

  static double samplesPerStep(const RunWorkload& work) {
    return static_cast<double>(work.batch * work.accumulate);
  }

  /// A run that was made, and how far it is from the one to come.
  struct Alike {
    bool isOtherArchitecture = false;
    int keys = 0;  ///< of the model that differ
    bool isOtherBatch = false;
    std::int64_t id = 0;
    double secondsPerStep = 0;

    [[nodiscard]] auto distance() const {
      return std::tuple(isOtherArchitecture, keys, isOtherBatch);
    }
    bool operator<(const Alike& other) const {
      return distance() != other.distance() ? distance() < other.distance() : id > other.id;
    }
  };

  void time(const PlannedRun& run, std::size_t place, RunForecast& one, Forecast& forecast) const {
    const RunWorkload work = workloadOf(run.config);
    one.steps = stepsOf(work);
    const ConfigPrint model = printOf(run.config.value("model", Json::object()));
    std::vector<Alike> alike;
    for (const auto& [id, known] : known_) {
      const auto row = rows_.find(id);
      if (row == rows_.end() ||
          (known.work.device != work.device && deviceOf(row->second, known.work) != work.device))
        continue;
      const bool isOther = known.work.architecture != work.architecture;
      const double seconds = secondsPerStep(row->second, known.work);
      if (seconds <= 0 || samplesPerStep(known.work) <= 0) continue;
      alike.push_back({isOther, isOther ? 0 : differingKeys(model, known.model),
                       samplesPerStep(known.work) != samplesPerStep(work), id, seconds});
    }
    std::sort(alike.begin(), alike.end());
    if (alike.empty() || one.steps <= 0) {
      if (forecast.unknown.isEmpty()) forecast.unknown = whatWouldTell(work, one.steps);
      return;
    }
    const Alike& best = alike.front();
    const double mine = operationsAt(place), its = operationsOf(best.id);
    const bool isOtherModel = best.isOtherArchitecture || best.keys > 0;
    // Asked for once: what the reference costs, so that another model is not taken for this one.
    if (isOtherModel && mine > 0 && operations_.count(best.id) == 0) forecast.reference = best.id;
    const bool isByOperations = isOtherModel && mine > 0 && its > 0;
    if (best.isOtherArchitecture && !isByOperations) {  // nothing says how the two compare
      if (forecast.unknown.isEmpty()) forecast.unknown = whatWouldTell(work, one.steps);
      return;
    }
    const RunWorkload& from = known_.at(best.id).work;
    double sum = 0;
    std::vector<std::int64_t> used;
    for (const Alike& other : alike) {
      const auto& known = known_.at(other.id);
      if (used.size() == kMostAlike || other.distance() != best.distance() ||
          known.model != known_.at(best.id).model ||
          samplesPerStep(known.work) != samplesPerStep(from))
        continue;
      sum += other.secondsPerStep;
      used.push_back(other.id);
    }
    double perStep = sum / static_cast<double>(used.size());
    if (best.isOtherBatch) perStep *= samplesPerStep(work) / samplesPerStep(from);
    if (isByOperations) perStep *= mine / its;
    one.seconds = perStep * static_cast<double>(one.steps);
    one.basis = basisOf(best, used, from, isByOperations);
  }

  /// "from 3 runs of NAME/tiny on cpu (#3, #5 and #9), other batch size": never without its ground.
  [[nodiscard]] QString basisOf(const Alike& best, std::vector<std::int64_t> used,
                                const RunWorkload& from, bool isByOperations) const {
    std::sort(used.begin(), used.end());
    const bool isOtherModel = best.isOtherArchitecture || best.keys > 0;
    if (!isOtherModel && !best.isOtherBatch)
      return QObject::tr("from %1: same model, batch size and device").arg(runNumbers(used));
    QStringList others;
    if (best.isOtherArchitecture) {
      others << QObject::tr("another architecture");
    } else if (best.keys > 0) {
      others << QObject::tr("other settings of the model");
    }
    if (best.isOtherBatch) others << QObject::tr("other batch size");
    const QString how = isByOperations      ? QObject::tr("scaled by the operations of a step")
                        : best.isOtherBatch ? QObject::tr("scaled by the samples of a step")
                                            : QString();
    return QObject::tr("from %1 of %2 on %3 (%4), %5%6%7")
        .arg(counted(static_cast<std::int64_t>(used.size()), QObject::tr("run"),
                     QObject::tr("runs")),
             QString::fromStdString(from.preset.empty() ? from.architecture : from.preset),
             QString::fromStdString(deviceOf(rows_.at(best.id), from)),
             runNumbers(used).section(QLatin1Char(' '), 1), others.join(QObject::tr(" and ")),
             how.isEmpty() ? QString() : QStringLiteral(", "), how);
  }

  [[nodiscard]] QString whatWouldTell(const RunWorkload& work, std::int64_t steps) const {
    const QString model = QString::fromStdString(work.architecture);
    const QString device = QString::fromStdString(work.device);
    if (steps <= 0) {
      return QObject::tr("Time unknown until a first run on %1; set train.steps to estimate")
          .arg(QString::fromStdString(work.dataset));
    }
    // Runs of other architectures say nothing about this one.
    return QObject::tr("Time unknown until %1 has run 20 steps on %2").arg(model, device);
  }

  [[nodiscard]] Json totalsOf(std::size_t place) const {
    return place < totals_.size() ? totals_[place] : Json();
  }
  [[nodiscard]] double operationsAt(std::size_t place) const {
    const Json totals = totalsOf(place);
    return totals.is_object() ? totals.value("flops", 0.0) : 0;
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
  const std::map<std::int64_t, store::RunRow>& rows_;
  const std::map<std::int64_t, double>& operations_;
  const store::TaskCards& cards_;
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
  auto rows = std::make_shared<std::map<std::int64_t, store::RunRow>>(workbench_.runs());
  background_.run(
      [this, memory = memory_, plan = std::move(plan), rows, report, operations = operations_,
       cards = workbench_.cards()](store::RunReader& store,
                                   const std::atomic<bool>& isStale) -> Background::Finish {
        memory->read(store, *rows, isStale);
        auto forecast = std::make_shared<Forecast>(
            Forecasting<Memory::Known>(memory->runs, *rows, operations, cards, report)
                .answer(*plan, isStale));
        return [this, forecast] { Q_EMIT answered(*forecast); };
      });
}

void RunForecaster::setOperations(std::int64_t run, double operations) {
  operations_[run] = operations;
}

}  // namespace vitrine::ui

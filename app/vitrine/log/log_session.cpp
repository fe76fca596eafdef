#include "app/vitrine/log/log_session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "app/vitrine/log/log_fields.h"
#include "app/vitrine/run/signals.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/parse_number.h"
#include "core/base/text.h"
#include "core/jobs/launcher.h"
#include "core/store/declared_metrics.h"
#include "core/store/run_card.h"
#include "core/store/run_facts.h"
#include "core/store/script_runs.h"

namespace vitrine::app {

namespace {

constexpr const char* kUnit = "samples";

const char* wordOf(Request request) {
  static constexpr std::array kWords = {"", "checkpoint", "pause", "interrupt", "stop"};
  return kWords.at(static_cast<std::size_t>(request));
}

/// The run with that id or UUID.
store::RunRow runOf(store::RunStore& store, const std::string& which) {
  if (const auto id = parseNumber<std::int64_t>(which)) return store.run(*id);
  const auto found = store.runByUuid(which);
  if (!found) throw NotFoundError("there is no run " + shorten(which, 60) + " in this database");
  return *found;
}

Json environmentOf(const RunLine& line) {
  Json environment = line.environment;
  if (!environment.contains(store::kScriptKey) || !environment[store::kScriptKey].is_string())
    environment[store::kScriptKey] = "";
  environment["host"] = store::thisWorker().host;
  if (!environment.contains("versions") || !environment["versions"].is_object())
    environment["versions"] = Json::object();
  environment["versions"]["vitrine"] = VITRINE_VERSION;
  environment["seeds"] = {{"run", line.seed}};
  return environment;
}

}  // namespace

LogSession::LogSession(store::RunStore& store, Respond respond)
    : store_(store), respond_(std::move(respond)) {}

LogSession::~LogSession() { setSignalledRun(nullptr); }

void LogSession::take(std::string_view text) {
  if (hasEnded_) throw BadLine("the run has ended; start `vitrine log` again for another one");
  const Json line = logLine(text);
  const std::string type = typeOf(line);
  if (!hasRun()) {
    if (type != "run")
      throw BadLine("'type' is '" + shorten(type, 60) +
                    "'; the first line has to be of type 'run'");
    return begin(runLine(line));
  }
  if (type == "metrics") return takeMetrics(metricsLine(line));
  if (type == "metric") return declare(metricLine(line));
  if (type == "image") return sink_->artifact(imageLine(line));
  if (type == "table") return sink_->artifact(tableLine(line));
  if (type == "matrix") return sink_->artifact(matrixLine(line));
  if (type == "sample") return sink_->image(sampleLine(line));
  if (type == "text") return sink_->text(textLine(line));
  if (type == "finish") return finish(finishLine(line));
  if (type == "event") {
    const EventRecord event = eventLine(line);
    log_->line("step " + std::to_string(event.step) + ": " + event.text);
    return sink_->event(event);
  }
  if (type == "print") return log_->line(printLine(line));
  if (type == "flush") {
    unanswered_.push_back(flushLine(line));
    return flush();
  }
  throw BadLine("'type' is '" + shorten(type, 60) +
                "'; it has to be metrics, metric, image, table, matrix, sample, text, event, "
                "print, flush or finish");
}

std::int64_t LogSession::newRun(const RunLine& line) {
  store::NewRun run{
      .name = line.name, .variant = line.variant, .seed = line.seed, .config = line.config};
  // Compare takes runs together whose configurations differ in the seed alone.
  if (!run.config.contains("seed")) run.config["seed"] = line.seed;
  const std::int64_t id =
      store_.addRuns(store_.experiment(line.experiment, ""), {std::move(run)}).front();
  if (!line.tags.empty()) store_.setTags(id, line.tags);
  if (!line.note.empty()) store_.setNote(id, line.note);
  return id;
}

std::int64_t LogSession::knownRun(const RunLine& line) {
  store_.reapLostRuns();
  const store::RunRow run = runOf(store_, line.resume);
  if (!store::scriptOf(store_, run.id))
    throw RefusedError(store::nameOf(run.id) + " was not logged by a script; `vitrine resume " +
                       std::to_string(run.id) + "` continues it");
  static_cast<void>(store_.claim(run.id));
  return run.id;
}

void LogSession::continueBehind(const RunLine& line) {
  std::int64_t last = 0;
  for (const store::MetricSummary& metric : store_.summaries(run_)) {
    last = std::max(last, metric.lastStep);
    const auto query = [this](const std::string& sql) { return store_.query(sql); };
    for (const auto& [run, time] : store::runningTimes(query, {run_}, metric.name))
      timeBefore_ = std::max(timeBefore_, time);
  }
  firstStep_ = line.atStep.value_or(last);
}

void LogSession::begin(RunLine line) {
  const bool isResumed = !line.resume.empty();
  const std::int64_t id = isResumed ? knownRun(line) : newRun(line);
  run_ = id;
  if (isResumed) continueBehind(line);
  const store::RunRow row = store_.run(id);
  name_ = row.name;
  line.seed = row.seed;
  const std::string folder = store::runFolderName(row.uuid);
  log_.emplace(store::filesFolder(store_.file()) / folder / "run.log", kUnit);
  const std::int64_t segment =
      store_.openSegment(id, firstStep_, store::thisWorker(), environmentOf(line));
  store_.setLogFile(id, folder + "/run.log");
  setSignalledRun(&control_);
  sink_ = std::make_unique<store::StoreSink>(store_.file(), id, segment, control_);
  start_ = Clock::now();
  progress_.step = firstStep_;
  progress_.totalSteps = line.totalSteps > 0 ? line.totalSteps : isResumed ? row.totalSteps : 0;
  progress_.loss = progress_.remainingSeconds = std::numeric_limits<double>::quiet_NaN();
  sink_->progress(progress_);
  EventRecord event{.step = firstStep_,
                    .kind = isResumed ? "resumed" : "started",
                    .text = isResumed ? "the script continues" : "the script begins"};
  sink_->event(event);
  log_->line(store::nameOf(id) + " in " + store_.file().string() + ": " + name_ +
             (isResumed ? ", continuing at step " + std::to_string(firstStep_) : ""));
  respond_({{"type", "run"},
            {"id", id},
            {"uuid", row.uuid},
            {"experiment", row.experiment},
            {"name", name_},
            {"step", firstStep_},
            {"database", store_.file().string()}});
}

void LogSession::takeMetrics(MetricRecord record) {
  const double ownTime = std::chrono::duration<double>(Clock::now() - start_).count();
  record.time = timeBefore_ + (std::isnan(record.time) ? ownTime : record.time);
  progress_.step = std::max(progress_.step, record.step);
  progress_.epoch = std::max(progress_.epoch, record.epoch);
  for (const auto& [name, value] : record.values) {
    if (name == store::kTrainLoss) progress_.loss = value;
    if (name == "system/images_per_second" || name == "system/samples_per_second")
      progress_.imagesPerSecond = std::isfinite(value) ? value : 0;
    if (name == "system/memory" && value >= 0 && value < 1e18)
      progress_.memoryBytes = static_cast<std::int64_t>(value);
  }
  const auto done = static_cast<double>(progress_.step - firstStep_);
  const auto left = static_cast<double>(progress_.totalSteps - progress_.step);
  if (progress_.totalSteps > 0 && done > 0)
    progress_.remainingSeconds = std::max(0.0, left) * ownTime / done;
  sink_->progress(progress_);
  sink_->metrics(record);
}

void LogSession::declare(const MetricDeclaration& metric) {
  try {
    for (const std::string& pattern : store::declareMetrics(store_, {metric}))
      log_->line("warning: this database knows the metrics '" + pattern +
                 "' with another unit or direction; they are shown as the database has it");
  } catch (const StoreError& error) {
    // How a metric is shown is not worth the run.
    log_->line(std::string("warning: the meaning of '") + metric.pattern +
               "' was not recorded: " + error.what());
  }
}

void LogSession::tellRequests() {
  if (hasEnded_ || sink_ == nullptr) return;
  if (!unanswered_.empty()) flush();
  if (control_.request() == Request::Interrupt && told_ != Request::Interrupt) {
    // `vitrine stop` writes the request and sends a signal: look what was written before the
    // script is informed.
    flush();
  }
  const Request request = control_.request();
  if (request == Request::None || request == told_) return;
  respond_({{"type", "request"}, {"request", wordOf(request)}});
  if (request == Request::Checkpoint)
    control_.served();
  else
    told_ = request;
}

void LogSession::flush() {
  if (sink_ == nullptr) return;
  try {
    sink_->flush();
  } catch (const StoreError&) {
    // The writer has said so and keeps the records; reading more of them can wait a little.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return;
  }
  for (const Json& id : std::exchange(unanswered_, {})) respond_({{"type", "flushed"}, {"id", id}});
}

void LogSession::finish(const FinishLine& line) {
  store::RunState state = store::runStateFromString(line.state);
  std::string reason = line.reason;
  if (state == store::RunState::Stopped && reason.empty()) reason = "stopped on request";
  if (state == store::RunState::Failed && reason.empty()) reason = "its script reported a failure";
  if (state == store::RunState::Done) reason.clear();
  end(state, reason);
}

void LogSession::end(store::RunState state, const std::string& reason) {
  if (hasEnded_ || !hasRun()) return;
  if (sink_ != nullptr) {
    if (state == store::RunState::Done) {
      EventRecord event{.step = progress_.step, .kind = "finished"};
      progress_.remainingSeconds = 0;
      sink_->event(event);
      sink_->progress(progress_);
    }
    flush();
  }
  setSignalledRun(nullptr);
  sink_.reset();
  hasEnded_ = true;
  state_ = jobs::endRun(store_, run_, state, reason);
  const std::string stands = state_ == state ? reason : store_.run(run_).reason;
  if (log_)
    log_->line(store::nameOf(run_) + " is " + toString(state_) +
               (stands.empty() ? "" : ": " + stands));
  respond_({{"type", "finished"}, {"id", run_}, {"state", toString(state_)}, {"reason", stands}});
}

}  // namespace vitrine::app

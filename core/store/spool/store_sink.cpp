#include "core/store/spool/store_sink.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/store/metrics/metric_batch.h"
#include "core/store/metrics/metrics.h"
#include "core/store/run_store.h"
#include "core/store/spool/spool.h"
#include "core/store/sqlite/database.h"
#include "core/store/tables/storable.h"

namespace vitrine::store {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRound = std::chrono::milliseconds(500);
constexpr auto kHeartbeat = std::chrono::seconds(5);

template <typename T>
void moveAll(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

void moveAll(RunStore::Batch& from, RunStore::Batch& to) {
  moveAll(from.metrics, to.metrics);
  moveAll(from.events, to.events);
  moveAll(from.artifacts, to.artifacts);
  moveAll(from.images, to.images);
  moveAll(from.texts, to.texts);
  moveAll(from.checkpoints, to.checkpoints);
  if (from.progress) to.progress = std::exchange(from.progress, std::nullopt);
}

bool isEmpty(const RunStore::Batch& batch) {
  return batch.metrics.empty() && batch.events.empty() && batch.artifacts.empty() &&
         batch.images.empty() && batch.texts.empty() && batch.checkpoints.empty() &&
         !batch.progress;
}

}  // namespace

struct StoreSink::State {
  State(const std::filesystem::path& database, std::int64_t run, std::int64_t segment,
        RunControl& control, SpoolSettings spool)
      : store_(database, OpenMode::ReadWrite),
        run_(run),
        segment_(segment),
        control_(control),
        retry_(spool.retry) {
    // A wrong segment is the caller's mistake and should be heard of now, not from a thread.
    store_.append(run_, segment_, {});
    SpoolFile::Settings settings = SpoolFile::usualSettings();
    settings.reserve = spool.reserve;
    if (!spool.elsewhere.empty()) settings.elsewhere = std::move(spool.elsewhere);
    spool_.emplace(store_.connection(), run_, segment_, std::move(settings));
    lastCommit_ = Clock::now();
    thread_ = std::thread([this] { work(); });
  }

  void work();
  /// Removes results that can never be stored, whatever the database's state.
  void dropWhatCannotBeStored() noexcept;
  /// Writes the waiting results, or only a heartbeat. Returns why it could not, or "".
  std::string save();
  /// Stores all that was taken, in one transaction.
  void append();
  /// Makes records of the metrics that were taken: they have to wait.
  void keepMetrics() noexcept;
  /// Into the side file. \returns  whether all of it is durable there
  bool spool(const std::string& why);
  void warn(const std::string& why);
  void pollRequest();

  // Of the writer thread alone.
  RunStore store_;
  const std::int64_t run_, segment_;
  RunControl& control_;
  RunStore::Batch fresh_;    ///< of this round, while it is looked through
  MetricBatch taken_;        ///< not tried to store yet, unless memory is short
  RunStore::Batch unsaved_;  ///< all else, and the metrics that could not be stored
  Clock::time_point lastCommit_;
  bool isWarned_ = false;
  bool isCheckpointAsked_ = false;  ///< and the request in the row could not be taken back
  const std::chrono::milliseconds retry_;
  Clock::time_point nextTry_;  ///< of a database that could not be written
  bool isLast_ = false;
  std::optional<Spool> spool_;

  std::atomic<std::int64_t> commits_{0};
  std::atomic<std::uint64_t> waitingBytes_{0};

  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  RunStore::Batch waiting_;  ///< handed over, not yet taken by the thread
  MetricBatch waitingMetrics_;
  std::int64_t roundsStarted_ = 0, roundsFinished_ = 0;
  std::string error_;  ///< of the last round, "" when all was written
  bool isHurried_ = false, isEnding_ = false;

  std::thread thread_;
};

void StoreSink::State::append() {
  Database& database = store_.connection();
  database.write([&] {
    appendMetrics(database, run_, segment_, taken_);
    store_.append(run_, segment_, unsaved_);
  });
}

void StoreSink::State::dropWhatCannotBeStored() noexcept {
  try {
    const std::uint64_t limit = store_.connection().mostRowBytes();
    const auto isTooLong = [limit](const std::string& name) { return name.size() > limit / 2; };
    const std::vector<std::string>& names = taken_.names();
    if (std::any_of(names.begin(), names.end(), isTooLong)) {
      taken_.appendTo(fresh_.metrics);
      taken_.clear();
    }
    dropUnstorable(fresh_, limit);
  } catch (const std::bad_alloc&) {  // then the failed store reports it
  }
  moveAll(fresh_, unsaved_);
}

void StoreSink::State::keepMetrics() noexcept {
  try {
    taken_.appendTo(unsaved_.metrics);
    taken_.clear();
  } catch (const std::bad_alloc&) {  // they stay as they are
  }
}

std::string StoreSink::State::save() {
  const bool isWaiting = !spool_->isEmpty();
  if (isEmpty(unsaved_) && taken_.isEmpty() && !isWaiting &&
      Clock::now() - lastCommit_ < kHeartbeat) {
    return {};
  }
  // Behind what waits already.
  if (isWaiting || !unsaved_.metrics.empty()) keepMetrics();
  if (isWaiting && !isLast_ && Clock::now() < nextTry_ && spool("")) return {};
  try {
    spool_->store();
    waitingBytes_ = 0;
    append();
  } catch (const UnwritableError& error) {
    nextTry_ = Clock::now() + retry_;
    keepMetrics();
    if (spool(error.what())) return {};
    warn(error.what());
    return error.what();
  } catch (const std::exception& error) {
    keepMetrics();
    warn(error.what());
    return error.what();
  }
  if (isWarned_ || isWaiting) log::info("the database can be written again; nothing was lost");
  isWarned_ = false;
  unsaved_ = {};
  taken_.clear();
  lastCommit_ = Clock::now();
  ++commits_;
  return {};
}

void StoreSink::State::warn(const std::string& why) {
  if (isWarned_) return;
  log::warning(why + "; results are kept in memory until it can be written");
  isWarned_ = true;
}

bool StoreSink::State::spool(const std::string& why) {
  if (isEmpty(unsaved_)) return true;
  const bool isFirst = spool_->isEmpty();
  const bool isAll = spool_->take(unsaved_, why);
  waitingBytes_ = spool_->bytes();
  if (isFirst && !spool_->isEmpty()) {
    log::warning(why + "; the run continues, its results wait in '" +
                 spoolFolder(store_.file()).string() + "' until it can be written");
  }
  return isAll;
}

void StoreSink::State::pollRequest() {
  try {
    const std::string request = store_.request(run_);
    if (request == "stop") {
      control_.ask(Request::Stop);
    } else if (request == "pause") {
      control_.ask(Request::Pause);
    } else if (request == "checkpoint") {
      if (!isCheckpointAsked_) control_.ask(Request::Checkpoint);
      isCheckpointAsked_ = true;
      // Only this one: a stop that came meanwhile stays.
      store_.forgetCheckpointRequest(run_);
      isCheckpointAsked_ = false;
    }
  } catch (const UnwritableError&) {  // results meet the same and say so
  } catch (const std::exception& error) {
    if (!isWarned_) log::warning(error.what());
    isWarned_ = true;
  }
}

void StoreSink::State::work() {
  Clock::time_point next = Clock::now() + kRound;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait_until(lock, next, [&] { return isHurried_ || isEnding_; });
    isHurried_ = false;
    const bool isLast = isEnding_;
    isLast_ = isLast;
    ++roundsStarted_;
    moveAll(waiting_, fresh_);
    if (taken_.isEmpty()) taken_.swap(waitingMetrics_);
    lock.unlock();
    dropWhatCannotBeStored();
    std::string error = save();
    if (!isLast) pollRequest();
    lock.lock();
    error_ = std::move(error);
    ++roundsFinished_;
    finished_.notify_all();
    if (isLast) return;
    next = Clock::now() + kRound;
  }
}

StoreSink::StoreSink(const std::filesystem::path& database, std::int64_t run, std::int64_t segment,
                     RunControl& control, SpoolSettings spool)
    : state_(std::make_unique<State>(database, run, segment, control, std::move(spool))) {}

StoreSink::~StoreSink() {
  {
    const std::lock_guard lock(state_->mutex_);
    state_->isEnding_ = true;
  }
  state_->wake_.notify_all();
  state_->thread_.join();
  // Whatever the matter with the database is, a file next to it may outlive it.
  if (!isEmpty(state_->unsaved_)) state_->spool(state_->error_);
  if (!state_->spool_->isEmpty()) {
    log::warning("results of run " + std::to_string(state_->run_) + " wait in '" +
                 spoolFolder(state_->store_.file()).string() +
                 "'; they are stored when the database is opened next");
  }
  if (!isEmpty(state_->unsaved_)) {
    log::error(
        "results of run " + std::to_string(state_->run_) + " could not be stored and are lost (" +
        std::to_string(state_->unsaved_.metrics.size()) + " metric records): " + state_->error_);
  }
}

void StoreSink::metrics(const MetricRecord& record) {
  const std::lock_guard lock(state_->mutex_);
  state_->waitingMetrics_.add(record);
}

void StoreSink::event(const EventRecord& record) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.events.push_back(record);
}

void StoreSink::artifact(Artifact artifact) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.artifacts.push_back(std::move(artifact));
}

void StoreSink::image(GeneratedImage image) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.images.push_back(std::move(image));
}

void StoreSink::text(GeneratedText text) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.texts.push_back(std::move(text));
}

void StoreSink::progress(const ProgressRecord& record) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.progress = record;
}

void StoreSink::checkpoint(const CheckpointRecord& record) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.checkpoints.push_back(record);
}

void StoreSink::flush() {
  std::unique_lock lock(state_->mutex_);
  // A round that starts from now on takes all that was handed over.
  const std::int64_t round = state_->roundsStarted_ + 1;
  state_->isHurried_ = true;
  state_->wake_.notify_all();
  state_->finished_.wait(lock, [&] { return state_->roundsFinished_ >= round; });
  if (!state_->error_.empty()) throw StoreError(state_->error_);
}

std::int64_t StoreSink::commits() const noexcept { return state_->commits_.load(); }

std::uint64_t StoreSink::waitingBytes() const noexcept { return state_->waitingBytes_.load(); }

}  // namespace vitrine::store

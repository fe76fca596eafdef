#include "core/store/store_sink.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/store/database.h"
#include "core/store/run_store.h"

namespace vitrine {

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
  moveAll(from.checkpoints, to.checkpoints);
  if (from.progress) to.progress = std::exchange(from.progress, std::nullopt);
}

bool isEmpty(const RunStore::Batch& batch) {
  return batch.metrics.empty() && batch.events.empty() && batch.artifacts.empty() &&
         batch.checkpoints.empty() && !batch.progress;
}

}  // namespace

struct StoreSink::State {
  State(const std::filesystem::path& database, std::int64_t run, std::int64_t segment,
        RunControl& control)
      : store_(database, OpenMode::ReadWrite), run_(run), segment_(segment), control_(control) {
    // A wrong segment is the caller's mistake and should be heard of now, not from a thread.
    store_.append(run_, segment_, {});
    lastCommit_ = Clock::now();
    thread_ = std::thread([this] { work(); });
  }

  void work();
  /// Writes what is waiting, or only a heartbeat. Returns why it could not, or "".
  std::string save();
  void pollRequest();

  // Of the writer thread alone.
  RunStore store_;
  const std::int64_t run_, segment_;
  RunControl& control_;
  RunStore::Batch unsaved_;
  Clock::time_point lastCommit_;
  bool isWarned_ = false;

  std::atomic<std::int64_t> commits_{0};

  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  RunStore::Batch waiting_;  ///< handed over, not yet taken by the thread
  std::int64_t roundsStarted_ = 0, roundsFinished_ = 0;
  std::string error_;  ///< of the last round, "" when all was written
  bool isHurried_ = false, isEnding_ = false;

  std::thread thread_;
};

std::string StoreSink::State::save() {
  if (isEmpty(unsaved_) && Clock::now() - lastCommit_ < kHeartbeat) return {};
  try {
    store_.append(run_, segment_, unsaved_);
  } catch (const std::exception& error) {
    if (!isWarned_) {
      log::warning(std::string(error.what()) +
                   "; results are kept in memory until it can be written");
      isWarned_ = true;
    }
    return error.what();
  }
  if (isWarned_) log::info("the database can be written again; nothing was lost");
  isWarned_ = false;
  unsaved_ = {};
  lastCommit_ = Clock::now();
  ++commits_;
  return {};
}

void StoreSink::State::pollRequest() {
  try {
    const std::string request = store_.request(run_);
    if (request == "stop") {
      control_.ask(Request::Stop);
    } else if (request == "pause") {
      control_.ask(Request::Pause);
    } else if (request == "checkpoint") {
      control_.ask(Request::Checkpoint);
      // Only this one: a stop that came meanwhile stays.
      store_.database_->write([&] {
        store_.database_
            ->prepare("UPDATE run SET request = '' WHERE id = ? AND request = 'checkpoint'")
            .with(run_)
            .run();
      });
    }
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
    ++roundsStarted_;
    moveAll(waiting_, unsaved_);
    lock.unlock();
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
                     RunControl& control)
    : state_(std::make_unique<State>(database, run, segment, control)) {}

StoreSink::~StoreSink() {
  {
    const std::lock_guard lock(state_->mutex_);
    state_->isEnding_ = true;
  }
  state_->wake_.notify_all();
  state_->thread_.join();
  if (!isEmpty(state_->unsaved_)) {
    log::error(
        "results of run " + std::to_string(state_->run_) + " could not be stored and are lost (" +
        std::to_string(state_->unsaved_.metrics.size()) + " metric records): " + state_->error_);
  }
}

void StoreSink::metrics(const MetricRecord& record) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.metrics.push_back(record);
}

void StoreSink::event(const EventRecord& record) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.events.push_back(record);
}

void StoreSink::artifact(Artifact artifact) {
  const std::lock_guard lock(state_->mutex_);
  state_->waiting_.artifacts.push_back(std::move(artifact));
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

}  // namespace vitrine

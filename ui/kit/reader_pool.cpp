#include "ui/kit/reader_pool.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace vitrine::ui {

/// Touched under the mutex of the pool.
struct ReaderPool::Line::State {
  std::optional<Job> waiting;
  std::shared_ptr<std::atomic<bool>> isStale;  ///< of the job that runs; null when none does

  /// \returns  the job that waited: it is destroyed without the mutex
  std::optional<Job> drop() {
    if (isStale) isStale->store(true);
    return std::exchange(waiting, std::nullopt);
  }
};

struct ReaderPool::State {
  std::filesystem::path database;
  std::size_t most;
  std::mutex mutex;
  std::condition_variable wanted, ended;
  std::deque<Line::State*> ready;  ///< lines whose job waits while none of theirs runs
  std::vector<std::thread> threads;
  std::size_t idle = 0;  ///< threads without a job
  bool isEnding = false;
};

std::shared_ptr<ReaderPool> ReaderPool::of(const std::filesystem::path& database) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::weak_ptr<ReaderPool>> pools;
  const std::lock_guard lock(mutex);
  std::erase_if(pools, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ReaderPool>& known = pools[database];
  std::shared_ptr<ReaderPool> pool = known.lock();
  if (!pool) known = pool = std::make_shared<ReaderPool>(database);
  return pool;
}

ReaderPool::ReaderPool(std::filesystem::path database, std::size_t most)
    : state_(std::make_unique<State>()) {
  state_->database = std::move(database);
  state_->most = most;
}

ReaderPool::~ReaderPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->isEnding = true;
  }
  state_->wanted.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void ReaderPool::work() {
  State& pool = *state_;
  Connection connection(pool.database);
  std::unique_lock lock(pool.mutex);
  for (;;) {
    ++pool.idle;
    pool.wanted.wait(lock, [&] { return pool.isEnding || !pool.ready.empty(); });
    --pool.idle;
    if (pool.isEnding) return;
    Line::State& line = *pool.ready.front();
    pool.ready.pop_front();
    std::optional<Job> job = std::exchange(line.waiting, std::nullopt);
    const auto isStale = line.isStale = std::make_shared<std::atomic<bool>>(false);
    lock.unlock();
    (*job)(connection, *isStale);
    job.reset();
    lock.lock();
    line.isStale.reset();
    if (line.waiting) pool.ready.push_back(&line);
    pool.ended.notify_all();
  }
}

ReaderPool::Line::Line(std::shared_ptr<ReaderPool> pool)
    : pool_(std::move(pool)), state_(std::make_unique<State>()) {}

ReaderPool::Line::~Line() {
  cancel();
  wait();
}

void ReaderPool::Line::run(Job job) {
  ReaderPool::State& pool = *pool_->state_;
  std::optional<Job> dropped;
  {
    const std::lock_guard lock(pool.mutex);
    dropped = state_->drop();
    state_->waiting = std::move(job);
    // One that was dropped was in the row already; one that runs puts its line there when it ends.
    if (!dropped && !state_->isStale) pool.ready.push_back(state_.get());
    if (pool.ready.size() > pool.idle && pool.threads.size() < pool.most)
      pool.threads.emplace_back([owner = pool_.get()] { owner->work(); });
  }
  pool.wanted.notify_one();
}

void ReaderPool::Line::cancel() {
  ReaderPool::State& pool = *pool_->state_;
  std::optional<Job> dropped;
  const std::lock_guard lock(pool.mutex);
  dropped = state_->drop();
  std::erase(pool.ready, state_.get());
}

void ReaderPool::Line::wait() {
  ReaderPool::State& pool = *pool_->state_;
  std::unique_lock lock(pool.mutex);
  pool.ended.wait(lock, [this] { return !state_->waiting && !state_->isStale; });
}

}  // namespace vitrine::ui

#include "core/data/loader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/text.h"

namespace vitrine {

BatchStream::~BatchStream() = default;
BatchMaker::~BatchMaker() = default;

namespace {

using Clock = std::chrono::steady_clock;

void check(const LoaderOptions& options) {
  const auto refuse = [](const std::string& what, std::int64_t value) {
    throw ConfigError("a loader cannot have " + what + " " + std::to_string(value));
  };
  if (options.batchSize < 1) refuse("a batch size of", options.batchSize);
  if (options.workers < 0) refuse("a number of workers of", options.workers);
  if (options.repeats < 1) refuse("a number of repeats of", options.repeats);
  if (options.prefetch < 1) refuse("a number of prefetched batches of", options.prefetch);
}

class Loader final : public BatchStream {
 public:
  Loader(std::function<std::unique_ptr<BatchMaker>()> makeMaker, const LoaderOptions& options,
         std::int64_t firstBatch)
      : makeMaker_(std::move(makeMaker)),
        options_(options),
        order_(options.seed, "order"),
        consumed_(firstBatch),
        claimed_(firstBatch) {
    count_ = options.samples ? std::ssize(*options.samples) : options.size;
    perEpoch_ = options.dropLast ? count_ / options.batchSize
                                 : (count_ + options.batchSize - 1) / options.batchSize;
    if (perEpoch_ < 1) {
      throw ConfigError("the " + toString(options.split) + " split has " + formatCount(count_) +
                        " samples, too few for a batch of " + std::to_string(options.batchSize));
    }
    if (firstBatch < 0)
      throw ConfigError("a loader cannot start at batch " + std::to_string(firstBatch));
    slots_.resize(static_cast<std::size_t>(options.prefetch));
    for (int i = 0; i < options.workers; ++i)
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }

  ~Loader() override {
    for (std::jthread& worker : workers_) worker.request_stop();
    workers_.clear();  // joins, before anything they use goes
  }

  Batch next() override {
    const Clock::time_point start = Clock::now();
    Batch batch;
    if (workers_.empty()) {
      if (!maker_) maker_ = makeMaker_();
      batch = prepare(consumed_, *maker_);
      ++consumed_;
    } else {
      std::unique_lock lock(mutex_);
      Slot& slot = slots_[slotOf(consumed_)];
      ready_.wait(lock, [&] { return slot.isFull; });
      if (slot.error) std::rethrow_exception(slot.error);
      batch = std::exchange(slot.batch, {});
      slot.isFull = false;
      ++consumed_;
      room_.notify_one();
    }
    waited_ += std::chrono::duration<double>(Clock::now() - start).count();
    return batch;
  }

  std::int64_t batchesPerEpoch() const noexcept override { return perEpoch_; }
  std::int64_t samplesPerEpoch() const noexcept override {
    return options_.dropLast ? perEpoch_ * options_.batchSize : count_;
  }
  double waited() const noexcept override { return waited_; }

 private:
  using Order = std::shared_ptr<const std::vector<std::int64_t>>;  // null: as stored
  struct Slot {
    bool isFull = false;
    Batch batch;
    std::exception_ptr error;
  };

  [[nodiscard]] std::size_t slotOf(std::int64_t batch) const noexcept {
    return static_cast<std::size_t>(batch) % slots_.size();
  }

  /// The order of an epoch, made once; a ring of batches touches few epochs at a time.
  Order orderOf(std::int64_t epoch) {
    if (!options_.shuffle) return nullptr;
    const std::lock_guard lock(orderMutex_);
    for (const auto& [known, order] : orders_) {
      if (known == epoch) return order;
    }
    orders_.emplace_back(epoch, std::make_shared<const std::vector<std::int64_t>>(permutation(
                                    order_, static_cast<std::uint64_t>(epoch), count_)));
    if (orders_.size() > 2) orders_.pop_front();
    return orders_.back().second;
  }

  /// Batch `index` over all epochs. Touches nothing that threads share but the dataset.
  Batch prepare(std::int64_t index, BatchMaker& maker) {
    const std::int64_t epoch = index / perEpoch_, number = index % perEpoch_;
    const std::int64_t first = number * options_.batchSize;
    const Order order = orderOf(epoch);
    std::vector<std::int64_t> ids(
        static_cast<std::size_t>(std::min(options_.batchSize, count_ - first)));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t at = first + static_cast<std::int64_t>(i);
      const std::int64_t source = repeatedPlace(at, options_.repeats, count_);
      const std::int64_t place = order ? (*order)[static_cast<std::size_t>(source)] : source;
      ids[i] = options_.samples ? (*options_.samples)[static_cast<std::size_t>(place)] : place;
    }
    return maker.make(ids, epoch, number);
  }

  void work(const std::stop_token& stop) {
    std::unique_ptr<BatchMaker> maker;
    for (;;) {
      std::int64_t index = 0;
      {
        std::unique_lock lock(mutex_);
        const bool mayGo = room_.wait(lock, stop, [&] {
          return claimed_ < consumed_ + static_cast<std::int64_t>(slots_.size());
        });
        if (!mayGo || stop.stop_requested()) return;
        index = claimed_++;
      }
      Batch batch;
      std::exception_ptr error;
      try {
        if (!maker) maker = makeMaker_();
        batch = prepare(index, *maker);
      } catch (...) {
        error = std::current_exception();
        batch = {};
      }
      {
        const std::lock_guard lock(mutex_);
        Slot& slot = slots_[slotOf(index)];
        slot = {true, std::move(batch), error};
      }
      ready_.notify_one();
      if (error) return;  // the stream ends here: next() throws from now on
    }
  }

  std::function<std::unique_ptr<BatchMaker>()> makeMaker_;
  LoaderOptions options_;
  RandomStream order_;
  std::int64_t count_ = 0, perEpoch_ = 0;
  std::unique_ptr<BatchMaker> maker_;  // of the calling thread

  std::mutex orderMutex_;
  std::deque<std::pair<std::int64_t, Order>> orders_;

  std::mutex mutex_;  // guards what follows while there are workers
  std::condition_variable ready_;
  std::condition_variable_any room_;
  std::vector<Slot> slots_;
  std::int64_t consumed_, claimed_;  // batches over all epochs
  double waited_ = 0;

  std::vector<std::jthread> workers_;
};

}  // namespace

std::int64_t repeatedPlace(std::int64_t at, std::int64_t repeats, std::int64_t count,
                           std::int64_t replica, std::int64_t replicas) noexcept {
  return (replica + at * replicas) % (count * repeats) / repeats;
}

std::unique_ptr<BatchStream> makeLoader(std::function<std::unique_ptr<BatchMaker>()> makeMaker,
                                        const LoaderOptions& options, std::int64_t firstBatch) {
  check(options);
  return std::make_unique<Loader>(std::move(makeMaker), options, firstBatch);
}

}  // namespace vitrine

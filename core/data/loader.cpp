#include "core/data/loader.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/data/image_transform.h"

namespace vitrine {

BatchStream::~BatchStream() = default;

namespace {

using Clock = std::chrono::steady_clock;

void check(const LoaderOptions& options) {
  const auto refuse = [](const std::string& what, std::int64_t value) {
    throw ConfigError("a loader cannot have " + what + " " + std::to_string(value));
  };
  if (options.batchSize < 1) refuse("a batch size of", options.batchSize);
  if (options.workers < 0) refuse("a number of workers of", options.workers);
  if (options.prefetch < 1) refuse("a number of prefetched batches of", options.prefetch);
  if (options.augmentation.cropPadding < 0)
    refuse("a crop padding of", options.augmentation.cropPadding);
  if (!(options.augmentation.flip >= 0 && options.augmentation.flip <= 1)) {
    throw ConfigError("the probability of a flip must lie in [0, 1], not be " +
                      formatReal(options.augmentation.flip));
  }
}

ImageTransform makeTransform(const Dataset& dataset, const LoaderOptions& options) {
  return {dataset.info(), options.height, options.width, options.augmentation.mean,
          options.augmentation.deviation};
}

/// Everything one thread needs to prepare a sample, made once.
struct Bench {
  explicit Bench(const Dataset& dataset, const LoaderOptions& options)
      : transform(makeTransform(dataset, options)),
        bytes(static_cast<std::size_t>(transform.inputSize())) {}
  ImageTransform transform;
  std::vector<std::uint8_t> bytes;
};

/// Tensors of a full batch, used again as soon as nobody else holds them.
class BufferPool {
 public:
  BufferPool(std::int64_t batch, const DatasetInfo& info, const ImageTransform& transform)
      : imageShape_{batch, info.channels, transform.height(), transform.width()}, batch_(batch) {}

  struct Buffers {
    at::Tensor images, labels;
  };
  [[nodiscard]] Buffers take() {
    for (const Buffers& buffers : all_) {
      if (isFree(buffers.images) && isFree(buffers.labels)) return buffers;
    }
    all_.push_back({at::empty(imageShape_, at::kFloat), at::empty({batch_}, at::kLong)});
    return all_.back();
  }

 private:
  // A narrowed or reshaped view, or what autograd saved, counts on the storage.
  static bool isFree(const at::Tensor& tensor) {
    return tensor.use_count() == 1 && tensor.storage().use_count() == 1;
  }
  std::vector<std::int64_t> imageShape_;
  std::int64_t batch_;
  std::deque<Buffers> all_;
};

class Loader final : public BatchStream {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, Split split, const LoaderOptions& options,
         std::int64_t firstBatch)
      : dataset_(std::move(dataset)),
        split_(split),
        options_(options),
        order_(options.seed, "order"),
        augment_(options.seed, "augment"),
        bench_(*dataset_, options),
        pool_(options.batchSize, dataset_->info(), bench_.transform),
        consumed_(firstBatch),
        claimed_(firstBatch) {
    count_ = options.samples ? static_cast<std::int64_t>(options.samples->size())
                             : dataset_->size(split);
    perEpoch_ = options.dropLast ? count_ / options.batchSize
                                 : (count_ + options.batchSize - 1) / options.batchSize;
    if (perEpoch_ < 1) {
      throw ConfigError("the " + toString(split) + " split has " + formatCount(count_) +
                        " samples, too few for a batch of " + std::to_string(options.batchSize));
    }
    if (firstBatch < 0)
      throw ConfigError("a loader cannot start at batch " + std::to_string(firstBatch));
    slots_.resize(static_cast<std::size_t>(options.prefetch));
    for (int i = 0; i < options.workers; ++i) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  ~Loader() override {
    for (std::jthread& worker : workers_) worker.request_stop();
    workers_.clear();  // joins, before anything they use goes
  }

  Batch next() override {
    const Clock::time_point start = Clock::now();
    Batch batch;
    if (workers_.empty()) {
      const BufferPool::Buffers buffers = pool_.take();
      batch = prepare(consumed_, orderOf(consumed_ / perEpoch_), buffers, bench_);
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
  Batch prepare(std::int64_t index, const Order& order, const BufferPool::Buffers& buffers,
                Bench& bench) const {
    const std::int64_t epoch = index / perEpoch_;
    const std::int64_t first = index % perEpoch_ * options_.batchSize;
    const std::int64_t size = std::min(options_.batchSize, count_ - first);
    Batch batch;
    batch.sampleIds.resize(static_cast<std::size_t>(size));
    auto* pixels = buffers.images.mutable_data_ptr<float>();
    auto* labels = buffers.labels.mutable_data_ptr<std::int64_t>();
    const auto imageSize = static_cast<std::size_t>(bench.transform.outputSize());
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t place = order ? (*order)[static_cast<std::size_t>(first + i)] : first + i;
      const std::int64_t id =
          options_.samples ? (*options_.samples)[static_cast<std::size_t>(place)] : place;
      batch.sampleIds[static_cast<std::size_t>(i)] = id;
      labels[i] = dataset_->read(split_, id, bench.bytes);
      const Placement placement = options_.augment
                                      ? drawPlacement(augment_, static_cast<std::uint64_t>(epoch),
                                                      id, options_.augmentation)
                                      : Placement{};
      bench.transform.apply(bench.bytes, placement,
                            {pixels + static_cast<std::size_t>(i) * imageSize, imageSize});
    }
    const bool isFull = size == options_.batchSize;
    batch.fields["image"] = isFull ? buffers.images : buffers.images.narrow(0, 0, size);
    batch.fields["label"] = isFull ? buffers.labels : buffers.labels.narrow(0, 0, size);
    return batch;
  }

  void work(const std::stop_token& stop) {
    std::optional<Bench> bench;
    for (;;) {
      std::int64_t index = 0;
      BufferPool::Buffers buffers;
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
        if (!bench) bench.emplace(*dataset_, options_);
        {
          const std::lock_guard lock(mutex_);
          buffers = pool_.take();
        }
        batch = prepare(index, orderOf(index / perEpoch_), buffers, *bench);
      } catch (...) {
        error = std::current_exception();
        batch = {};
      }
      buffers = {};
      {
        const std::lock_guard lock(mutex_);
        Slot& slot = slots_[slotOf(index)];
        slot = {true, std::move(batch), error};
      }
      ready_.notify_one();
      if (error) return;  // the stream ends here: next() throws from now on
    }
  }

  std::shared_ptr<const Dataset> dataset_;
  Split split_;
  LoaderOptions options_;
  RandomStream order_, augment_;
  std::int64_t count_ = 0, perEpoch_ = 0;
  Bench bench_;  // of the calling thread

  std::mutex orderMutex_;
  std::deque<std::pair<std::int64_t, Order>> orders_;

  std::mutex mutex_;  // guards what follows while there are workers
  std::condition_variable ready_;
  std::condition_variable_any room_;
  BufferPool pool_;
  std::vector<Slot> slots_;
  std::int64_t consumed_, claimed_;  // batches over all epochs
  double waited_ = 0;

  std::vector<std::jthread> workers_;
};

}  // namespace

std::unique_ptr<BatchStream> makeLoader(std::shared_ptr<const Dataset> dataset, Split split,
                                        const LoaderOptions& options, std::int64_t firstBatch) {
  check(options);
  return std::make_unique<Loader>(std::move(dataset), split, options, firstBatch);
}

Batch readBatch(const Dataset& dataset, Split split, std::span<const std::int64_t> ids,
                const LoaderOptions& options) {
  check(options);
  Bench bench(dataset, options);
  const std::int64_t size = dataset.size(split);
  const auto count = static_cast<std::int64_t>(ids.size());
  Batch batch;
  batch.sampleIds.assign(ids.begin(), ids.end());
  at::Tensor images =
      at::empty({count, dataset.info().channels, bench.transform.height(), bench.transform.width()},
                at::kFloat);
  at::Tensor labels = at::empty({count}, at::kLong);
  const auto imageSize = static_cast<std::size_t>(bench.transform.outputSize());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t id = ids[static_cast<std::size_t>(i)];
    if (id < 0 || id >= size) {
      throw ConfigError("the " + toString(split) + " split has images 0 to " +
                        std::to_string(size - 1) + "; there is no image " + std::to_string(id));
    }
    labels.mutable_data_ptr<std::int64_t>()[i] = dataset.read(split, id, bench.bytes);
    bench.transform.apply(
        bench.bytes, {},
        {images.mutable_data_ptr<float>() + static_cast<std::size_t>(i) * imageSize, imageSize});
  }
  batch.fields["image"] = std::move(images);
  batch.fields["label"] = std::move(labels);
  return batch;
}

}  // namespace vitrine

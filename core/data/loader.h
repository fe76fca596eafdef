// Batches over epochs: worker threads, order, prefetch. What comes out depends on seed and epoch
// alone, never on the number of threads or on where a run was resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/data/batch.h"
#include "core/data/dataset.h"

namespace vitrine {

/// Endless stream of batches over epochs.
class VITRINE_ENGINE_EXPORT BatchStream {
 public:
  virtual ~BatchStream();
  /// The next batch; waits for a worker when none is ready.
  virtual Batch next() = 0;
  [[nodiscard]] virtual std::int64_t batchesPerEpoch() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t samplesPerEpoch() const noexcept = 0;
  /// Seconds spent waiting in next() so far.
  [[nodiscard]] virtual double waited() const noexcept = 0;
};

/// Prepares one batch of given samples. One object per thread.
class VITRINE_ENGINE_EXPORT BatchMaker {
 public:
  virtual ~BatchMaker();
  /// \param number  of the batch within its epoch
  virtual Batch make(std::span<const std::int64_t> ids, std::int64_t epoch,
                     std::int64_t number) = 0;
};

struct LoaderOptions {
  std::int64_t batchSize = 128;
  int workers = 1;   ///< threads; 0 prepares each batch when asked for it
  int prefetch = 4;  ///< batches kept ready
  std::uint64_t seed = 0;
  bool shuffle = false;   ///< `order` stream, by epoch
  bool dropLast = false;  ///< leave out a last batch that is not full
  /// Each sample comes so many times in a row; an epoch is as long as without, so it has fewer
  /// different samples.
  std::int64_t repeats = 1;
  /// Ids of the samples that are used, in this order; null: all of the split.
  std::shared_ptr<const std::vector<std::int64_t>> samples;
  Split split = Split::Train;  ///< for messages
  std::int64_t size = 0;       ///< samples of the split
};

/// Repeated augmentation (Hoffer et al. 2020): where in the order of an epoch the sample `at` of
/// one of several replicas comes from. Each sample is repeated, the list goes round, and replica r
/// takes its elements r, r + replicas, ...
///
/// \param count  samples of the order
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t repeatedPlace(std::int64_t at,
                                                               std::int64_t repeats,
                                                               std::int64_t count,
                                                               std::int64_t replica = 0,
                                                               std::int64_t replicas = 1) noexcept;

/// \param makeMaker   called once in each thread
/// \param firstBatch  batches already consumed over all epochs: where a resumed run continues
/// \throws ConfigError  an option cannot be, or there are too few samples for a batch
[[nodiscard]] VITRINE_ENGINE_EXPORT std::unique_ptr<BatchStream> makeLoader(
    std::function<std::unique_ptr<BatchMaker>()> makeMaker, const LoaderOptions& options,
    std::int64_t firstBatch = 0);

}  // namespace vitrine

// Batches from a dataset: worker threads, prefetch, augmentation. What comes out depends on seed and epoch alone, never on
// the number of threads or on where a run was resumed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/data/dataset.h"

namespace vitrine {

/// What is done to a training image; evaluation only normalises.
struct Augmentation {
  std::int64_t cropPadding = 0;  ///< pixels of zero padding on each side before a random crop back to size; 0: no crop
  double flip = 0;               ///< probability of mirroring left to right
  std::vector<double> mean, deviation;  ///< per channel, of pixels in [0, 1]; empty: 0 and 1
};

struct LoaderOptions {
  std::int64_t batchSize = 128;
  int workers = 1;           ///< threads; 0 prepares each batch when asked for it
  int prefetch = 4;          ///< batches kept ready
  std::uint64_t seed = 0;
  bool shuffle = false;      ///< `order` stream, by epoch
  bool dropLast = false;     ///< leave out a last batch that is not full
  bool augment = false;
  /// Ids of the samples that are used, in this order; null: all of the split.
  std::shared_ptr<const std::vector<std::int64_t>> samples;
  std::int64_t height = 0, width = 0;  ///< wanted size; 0: as stored. Otherwise bilinear, antialiased when smaller
  Augmentation augmentation;
};

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

/// \param firstBatch  batches already consumed over all epochs: where a resumed run goes on
[[nodiscard]] VITRINE_ENGINE_EXPORT std::unique_ptr<BatchStream> makeLoader(std::shared_ptr<const Dataset> dataset,
                                                                           Split split, const LoaderOptions& options,
                                                                           std::int64_t firstBatch = 0);
/// One batch of given samples, normalised, not augmented: for probes.
[[nodiscard]] VITRINE_ENGINE_EXPORT Batch readBatch(const Dataset& dataset, Split split,
                                                    std::span<const std::int64_t> ids, const LoaderOptions& options);

}  // namespace vitrine

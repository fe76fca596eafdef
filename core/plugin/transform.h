// Transforms: items of `[data.pipeline]` that change samples or batches in the loader's threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/data/batch.h"
#include "core/data/dataset.h"
#include "core/data/sample.h"

namespace vitrine {

/// The random numbers of one transform for one sample or batch. They depend on the run's seed, the
/// transform, the epoch and the id alone; `lane` tells several draws apart.
class VITRINE_ENGINE_EXPORT Draws {
 public:
  /// \param id  of the sample within its split, or the number of the batch within its epoch
  Draws(const RandomStream& stream, std::int64_t epoch, std::int64_t id) noexcept
      : stream_(&stream),
        epoch_(static_cast<std::uint64_t>(epoch)),
        id_(static_cast<std::uint64_t>(id)) {}
  /// In [0, 1).
  [[nodiscard]] double uniform(std::uint32_t lane) const noexcept {
    return stream_->uniform(epoch_, id_, lane);
  }
  /// In [0, bound).
  [[nodiscard]] std::int64_t below(std::int64_t bound, std::uint32_t lane) const noexcept {
    return static_cast<std::int64_t>(
        stream_->below(static_cast<std::uint64_t>(bound), epoch_, id_, lane));
  }
  [[nodiscard]] double normal(std::uint32_t lane) const noexcept {
    return stream_->normal(epoch_, id_, lane);
  }

 private:
  const RandomStream* stream_;
  std::uint64_t epoch_, id_;
};

/// Changes one sample. One object per thread: it may own scratch memory.
class VITRINE_ENGINE_EXPORT SampleTransform {
 public:
  virtual ~SampleTransform();
  virtual void apply(Sample& sample, const Draws& draws) = 0;
};

/// Changes a batch. One object per thread. It may write into the tensors it is given.
class VITRINE_ENGINE_EXPORT BatchTransform {
 public:
  virtual ~BatchTransform();
  virtual void apply(Batch& batch, const Draws& draws) = 0;
};

/// What a transform is made for.
struct TransformContext {
  std::vector<SampleField> fields;  ///< of the samples that reach it
  const DatasetInfo* dataset = nullptr;
  /// Image size that the model takes, height and width in pixels; 0 where it takes any.
  std::array<std::int64_t, 2> imageSize{0, 0};
};

/// A kind of transform. Its card's `needs` are the fields it reads, its `offers` those it adds. A
/// need that the samples lack is refused before anything below is called.
class VITRINE_ENGINE_EXPORT Transform {
 public:
  virtual ~Transform();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// The fields of a sample or batch behind it. Here: those before it.
  /// \throws ConfigError  it cannot work on these fields
  [[nodiscard]] virtual std::vector<SampleField> fields(const Config& config,
                                                        const TransformContext& context) const;
  /// Called once in each thread. Exactly one of the two is not null.
  [[nodiscard]] virtual std::unique_ptr<SampleTransform> forSamples(
      const Config& config, const TransformContext& context) const;
  [[nodiscard]] virtual std::unique_ptr<BatchTransform> forBatches(
      const Config& config, const TransformContext& context) const;
  /// The name of its random stream. Here: "augment/<id>". A second one of its kind in a pipeline
  /// draws from "<name>/2".
  [[nodiscard]] virtual std::string stream() const;
};

}  // namespace vitrine

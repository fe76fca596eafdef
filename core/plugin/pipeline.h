// A run's samples: the part of a split that is used, its transforms, and its batches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/config.h"
#include "core/data/loader.h"
#include "core/data/used_samples.h"
#include "core/plugin/transform.h"

namespace vitrine {

class Registry;

/// Whether transforms are those of training or of everything else.
enum class Phase { Train, Evaluate };

struct StreamOptions {
  std::int64_t batchSize = 128;
  int workers = 1;              ///< threads; 0 prepares each batch when asked for it
  bool isTraining = false;      ///< shuffled by epoch, full batches only, the training transforms
  std::int64_t firstBatch = 0;  ///< batches consumed over all epochs: where a resumed run continues
  std::int64_t limit = 0;       ///< samples at most, the first of those used; 0: all
};

/// Built once per run from `[data]`. Thread-safe. The registry outlives it, and it its streams.
class VITRINE_ENGINE_EXPORT Pipeline {
 public:
  /// What a model takes; 0 where it takes any.
  struct ImageShape {
    std::array<std::int64_t, 2> imageSize{0, 0};  ///< height and width in pixels
    std::int64_t channels = 0;
  };

  /// \param data  resolved: the subset keys, `augment`, `normalize`, `pipeline` and the data set's
  /// \param seed  of the run: orders, augmentation, the training subset
  /// \throws NotFoundError  a transform that no plugin brings
  /// \throws ConfigError    a setting is wrong, a transform lacks a field, the model takes other
  ///                        channels
  Pipeline(const Registry& registry, const Config& data, std::shared_ptr<const Dataset> dataset,
           std::uint64_t seed, const ImageShape& wanted);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  [[nodiscard]] const Dataset& dataset() const noexcept { return *dataset_; }
  [[nodiscard]] const DatasetInfo& info() const noexcept { return dataset_->info(); }
  /// The lists of transforms, each with all its settings: {"train": [...], "evaluate": [...]}.
  [[nodiscard]] const Json& plan() const noexcept { return plan_; }
  /// The fields of a batch, each without the batch axis.
  [[nodiscard]] const std::vector<SampleField>& fields(Phase phase = Phase::Evaluate) const;
  /// \throws ConfigError  there is no such field: names those there are
  [[nodiscard]] const SampleField& field(const std::string& name,
                                         Phase phase = Phase::Evaluate) const;

  /// Which samples of each split the run uses, and which splits its evaluations read.
  [[nodiscard]] const UsedSamples& samples() const noexcept { return samples_; }

  [[nodiscard]] std::unique_ptr<BatchStream> stream(Split split,
                                                    const StreamOptions& options) const;
  /// One batch of given samples, as evaluation sees them.
  /// \throws ConfigError  the split has no such sample
  [[nodiscard]] Batch read(Split split, std::span<const std::int64_t> ids) const;

 private:
  struct Stage;
  struct List {
    std::vector<Stage> stages;
    std::size_t sampleStages = 0;      // the first ones; the others change batches
    std::vector<SampleField> samples;  // fields behind those
    std::vector<SampleField> fields;   // behind all
  };
  class Maker;

  [[nodiscard]] List build(const Registry& registry, Json& plan, const ImageShape& wanted,
                           std::uint64_t seed) const;
  void checkChannels(const ImageShape& wanted) const;
  [[nodiscard]] const List& listOf(Phase phase) const noexcept {
    return phase == Phase::Train ? train_ : evaluate_;
  }

  std::shared_ptr<const Dataset> dataset_;
  std::uint64_t seed_;
  std::int64_t repeats_;  // of each training sample
  UsedSamples samples_;
  Json plan_;
  List train_, evaluate_;
};

/// The pipeline of a run. \param config  resolved, all sections; the model's image size and
/// channels are those it says \returns  nullptr without a data set
[[nodiscard]] VITRINE_ENGINE_EXPORT std::shared_ptr<const Pipeline> makePipeline(
    const Registry& registry, const Config& config, std::shared_ptr<const Dataset> dataset,
    std::uint64_t seed);

}  // namespace vitrine

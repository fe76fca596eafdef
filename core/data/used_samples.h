// Samples of a data set that a run uses, by purpose. They are parts of splits, a held-out part of
// the training split, and the splits that evaluations read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/config/config.h"
#include "core/data/dataset.h"

namespace vitrine {

/// Settings of these keys of `[data]`: train_samples or train_share, test_samples or test_share,
/// subset, subset_seed, holdout and evaluate_splits. The last two may be absent; holdout is the
/// share of each class's training samples that becomes the validation split. Thread-safe.
class VITRINE_ENGINE_EXPORT UsedSamples {
 public:
  /// \param seed  of the run: it draws the training samples unless `subset_seed` does
  /// \throws ConfigError  evaluate_splits names a split that has no samples
  UsedSamples(std::shared_ptr<const Dataset> dataset, const Config& data, std::uint64_t seed);

  /// The split of the data set that holds the samples of `split`: Train for a held-out part.
  [[nodiscard]] Split stored(Split split) const noexcept;
  /// Ids within the stored split, ascending; null: all of it.
  /// \throws ConfigError  a held-out part leaves nothing on one side
  [[nodiscard]] std::shared_ptr<const std::vector<std::int64_t>> of(Split split) const;
  [[nodiscard]] std::int64_t size(Split split) const;  ///< samples that are used
  /// `count` samples of the classes in turn, the same for every run; all when there are no more.
  /// With a held-out part, the run's seed draws those of train and validation, and no sample is in
  /// both.
  [[nodiscard]] std::vector<std::int64_t> choose(Split split, std::int64_t count) const;
  /// Splits that evaluations read: validation, then test, as far as there are.
  [[nodiscard]] std::vector<Split> evaluated() const;

 private:
  using Ids = std::vector<std::int64_t>;
  [[nodiscard]] Ids draw(Split split, std::int64_t count, std::uint64_t seed) const;
  [[nodiscard]] std::int64_t usedForTraining() const;
  [[nodiscard]] Ids heldOut() const;
  [[nodiscard]] Ids held(bool isOut) const;
  [[nodiscard]] std::int64_t limitOf(Split split) const;
  void chooseEvaluated(const std::vector<std::string>& names);
  void warnOfMissingClasses(Split split, const Ids& samples) const;

  std::shared_ptr<const Dataset> dataset_;
  Config data_;
  std::uint64_t trainingSeed_;
  bool isStratified_;
  double holdout_;
  std::vector<Split> evaluated_;  // as the configuration lists them; empty: all there are
  mutable std::mutex mutex_;
  mutable std::array<std::shared_ptr<const Ids>, 3> samples_;  // by Split
};

}  // namespace vitrine

// Divergence of training: its detection, the reaction, and the record of it. Knows no
// torch.
//
// A step diverges when its loss or gradient norm is not finite, or at the `spike_steps`-th spike in
// a row. A spike is a loss above `loss_factor`, or a gradient norm above `gradient_factor`, times
// its median over the last `window` applied steps. Rolling back is the recipe of PaLM (Chowdhery et
// al. 2022, section 5.1). It continues from the last good checkpoint, without the batches between
// it and the spike.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <optional>

#include "core/base/json.h"
#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine::train {

struct DivergenceOptions {
  enum class Policy {
    Stop,      ///< the run fails; its checkpoints stay as they are
    Rollback,  ///< it continues from the last good checkpoint, with the batches after this one
    Skip,      ///< the step changes nothing, and the next one follows
  };
  Policy policy = Policy::Stop;
  std::optional<double> lossFactor, gradientFactor;  ///< none: a finite value is not a spike
  std::int64_t window = 100;
  std::int64_t spikeSteps = 1;
  std::int64_t maxRollbacks = 3;  ///< of one run
  std::int64_t maxSkipped = 10;   ///< steps in a row

  [[nodiscard]] bool hasSpikes() const noexcept { return lossFactor || gradientFactor; }
};
/// Reads `divergence` of a table of trainSchema(); keys that an old run lacks have their defaults.
[[nodiscard]] VITRINE_ENGINE_EXPORT DivergenceOptions divergenceFrom(const Config& train);

/// Above these a step is a spike.
struct SpikeLimits {
  double loss = std::numeric_limits<double>::infinity();
  double gradientNorm = std::numeric_limits<double>::infinity();
};

/// The running medians. Limits of a step depend on readings at least kDelay steps older, which are
/// always read back before. A resumed run therefore has the same limits, bit for bit.
class VITRINE_ENGINE_EXPORT DivergenceWatch {
 public:
  static constexpr std::int64_t kDelay = 8;

  explicit DivergenceWatch(const DivergenceOptions& options) : options_(options) {}
  /// \param step  the one that is about to be made, counted from 1
  [[nodiscard]] SpikeLimits limits(std::int64_t step) const;
  /// Takes the values that were read back of a step, in order.
  void heard(std::int64_t step, double loss, double gradientNorm, bool isApplied,
             const SpikeLimits& limits);

  [[nodiscard]] std::int64_t skippedInRow() const noexcept { return skippedInRow_; }
  [[nodiscard]] std::int64_t spikesInRow() const noexcept { return spikesInRow_; }
  [[nodiscard]] static bool isSpike(double loss, double gradientNorm, const SpikeLimits& limits);

  /// For a checkpoint; null where there is nothing to remember.
  [[nodiscard]] Json state() const;
  /// \throws FileError  not what state() gave
  void restore(const Json& state);

 private:
  struct Reading {
    std::int64_t step = 0;
    double loss = 0, gradientNorm = 0;
  };
  DivergenceOptions options_;
  std::deque<Reading> readings_;  ///< of steps that were applied
  std::int64_t skippedInRow_ = 0, spikesInRow_ = 0;
};

/// The last rollback of a run: `rollback.json` next to its checkpoints. A process that dies before
/// the next checkpoint thus does not meet the same batches again.
struct Rollback {
  std::int64_t number = 0;           ///< from 1
  std::int64_t fromStep = 0;         ///< the step that diverged, counted as if it had completed
  std::int64_t toStep = 0;           ///< of the checkpoint; 0: the beginning
  std::int64_t batchesConsumed = 0;  ///< where the data stream continues
};
/// \throws FileError  it cannot be written
VITRINE_ENGINE_EXPORT void writeRollback(const std::filesystem::path& runFolder,
                                         const Rollback& rollback);
/// None where the run has not been rolled back. \throws FileError  it is damaged
[[nodiscard]] VITRINE_ENGINE_EXPORT std::optional<Rollback> readRollback(
    const std::filesystem::path& runFolder);

}  // namespace vitrine::train

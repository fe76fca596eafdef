// The interface of a schedule in a plugin: the learning rate after the warm-up.
#pragma once

#include <cstdint>
#include <functional>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine {

/// Where a run is.
struct DecayPoint {
  double progress = 0;          ///< of the decay, 0 to 1: warm-up steps count as `schedule` says
  std::int64_t step = 0;        ///< optimizer steps completed
  std::int64_t totalSteps = 0;  ///< of the run
};

/// The learning rate without warm-up: a pure function, so that a resumed run continues as it would.
using Decay = std::function<double(const DecayPoint&)>;

/// A schedule, by its name in `[train] schedule`. Its card's schema has its own keys besides name,
/// the warm-up's, spans_warmup and ends_at_last_step.
class VITRINE_ENGINE_EXPORT ScheduleItem {
 public:
  virtual ~ScheduleItem();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// \param config  the table `schedule`, with every key of the schema
  /// \param base    peak learning rate
  /// \throws ConfigError  what the schema's rules cannot say
  [[nodiscard]] virtual Decay open(const Config& config, double base) const = 0;
};

}  // namespace vitrine

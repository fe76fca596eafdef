#include "core/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/train/train_config.h"
#include "core/train/training_items.h"
#include "core/train/update/update_rules.h"

namespace vitrine::train {

Decay constantDecay(const Config&, double base) {
  return [base](const DecayPoint&) { return base; };
}

Decay linearDecay(const Config& config, double base) {
  return [minimum = config.real("minimum"), base](const DecayPoint& at) {
    return minimum + (base - minimum) * (1 - at.progress);
  };
}

Decay cosineDecay(const Config& config, double base) {
  return [minimum = config.real("minimum"), base](const DecayPoint& at) {
    const double span = base - minimum;
    return minimum + span * 0.5 * (1 + std::cos(std::numbers::pi * at.progress));
  };
}

Decay polyDecay(const Config& config, double base) {
  return
      [minimum = config.real("minimum"), power = config.real("power"), base](const DecayPoint& at) {
        return minimum + (base - minimum) * std::pow(1 - at.progress, power);
      };
}

Decay stepDecay(const Config& config, double base) {
  std::vector<std::int64_t> milestones;
  if (config.has("milestones")) milestones = config.integers("milestones");
  return [milestones = std::move(milestones), gamma = config.real("gamma"),
          base](const DecayPoint& at) {
    const auto passed = std::count_if(milestones.begin(), milestones.end(),
                                      [&](std::int64_t each) { return at.step >= each; });
    return base * std::pow(gamma, static_cast<double>(passed));
  };
}

Schedule scheduleFrom(const ScheduleItem& item, const Config& stored, std::int64_t stepsPerEpoch) {
  const Config train = withTrainDefaults(stored);
  Schedule schedule{.base = train.real("optimizer.learning_rate")};
  schedule.decay = item.open(withItemDefaults(item.card(), train.table("schedule")), schedule.base);
  const std::string warmUp = train.text("schedule.warmup_kind");
  schedule.warmUp = warmUp == "inclusive"     ? Schedule::WarmUp::Inclusive
                    : warmUp == "independent" ? Schedule::WarmUp::Independent
                                              : Schedule::WarmUp::ZeroBased;
  schedule.warmUpStart = train.real("schedule.warmup_start");
  schedule.spansWarmUp = train.flag("schedule.spans_warmup");
  schedule.endsAtLastStep = train.flag("schedule.ends_at_last_step");
  const auto steps = train.maybeInteger("schedule.warmup_steps");
  schedule.warmUpSteps =
      steps
          ? *steps
          : std::llround(train.real("schedule.warmup_epochs") * static_cast<double>(stepsPerEpoch));
  return schedule;
}

double learningRate(const Schedule& schedule, std::int64_t step, std::int64_t totalSteps) {
  const auto at = static_cast<double>(step);
  const auto warm = static_cast<double>(schedule.warmUpSteps);
  const bool isWarming = step < schedule.warmUpSteps;
  const auto ramp = [&](double share) {
    return schedule.warmUpStart + (1 - schedule.warmUpStart) * share;
  };
  if (isWarming && schedule.warmUp == Schedule::WarmUp::Inclusive)
    return schedule.base * ramp(warm > 1 ? at / (warm - 1) : 0);
  if (isWarming && schedule.warmUp == Schedule::WarmUp::Independent)
    return schedule.base * ramp(at / warm);
  const double begin = schedule.spansWarmUp ? 0 : warm;
  const double rest = static_cast<double>(totalSteps) - begin - (schedule.endsAtLastStep ? 1 : 0);
  const double progress = rest > 0 ? std::clamp((at - begin) / rest, 0.0, 1.0) : 0.0;
  const double rate = schedule.decay({progress, step, totalSteps});
  return isWarming ? rate * ramp(at / warm) : rate;
}

}  // namespace vitrine::train

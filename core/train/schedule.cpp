#include "core/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/train/train_config.h"

namespace vitrine {

Schedule scheduleFrom(const Config& stored, std::int64_t stepsPerEpoch) {
  const Config train = withTrainDefaults(stored);
  Schedule schedule;
  schedule.base = train.real("optimizer.learning_rate");
  schedule.minimum = train.real("schedule.minimum");
  const std::string name = train.text("schedule.name");
  schedule.kind = name == "constant" ? Schedule::Kind::Constant
                  : name == "linear" ? Schedule::Kind::Linear
                  : name == "poly"   ? Schedule::Kind::Poly
                  : name == "step"   ? Schedule::Kind::Step
                                     : Schedule::Kind::Cosine;
  const std::string warmUp = train.text("schedule.warmup_kind");
  schedule.warmUp = warmUp == "inclusive"     ? Schedule::WarmUp::Inclusive
                    : warmUp == "independent" ? Schedule::WarmUp::Independent
                                              : Schedule::WarmUp::ZeroBased;
  schedule.warmUpStart = train.real("schedule.warmup_start");
  schedule.power = train.real("schedule.power");
  schedule.gamma = train.real("schedule.gamma");
  if (train.has("schedule.milestones"))
    schedule.milestones = train.integers("schedule.milestones");
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
  if (isWarming && schedule.warmUp == Schedule::WarmUp::Inclusive) {
    return schedule.base * ramp(warm > 1 ? at / (warm - 1) : 0);
  }
  if (isWarming && schedule.warmUp == Schedule::WarmUp::Independent) {
    return schedule.base * ramp(at / warm);
  }
  const double begin = schedule.spansWarmUp ? 0 : warm;
  const double rest = static_cast<double>(totalSteps) - begin - (schedule.endsAtLastStep ? 1 : 0);
  const double progress = rest > 0 ? std::clamp((at - begin) / rest, 0.0, 1.0) : 0.0;
  const double span = schedule.base - schedule.minimum;
  double rate = schedule.base;
  switch (schedule.kind) {
    case Schedule::Kind::Constant:
      break;
    case Schedule::Kind::Linear:
      rate = schedule.minimum + span * (1 - progress);
      break;
    case Schedule::Kind::Cosine:
      rate = schedule.minimum + span * 0.5 * (1 + std::cos(std::numbers::pi * progress));
      break;
    case Schedule::Kind::Poly:
      rate = schedule.minimum + span * std::pow(1 - progress, schedule.power);
      break;
    case Schedule::Kind::Step: {
      const auto passed = std::count_if(schedule.milestones.begin(), schedule.milestones.end(),
                                        [&](std::int64_t milestone) { return step >= milestone; });
      rate = schedule.base * std::pow(schedule.gamma, static_cast<double>(passed));
      break;
    }
  }
  return isWarming ? rate * ramp(at / warm) : rate;
}

double learningRate(const Config& train, std::int64_t step, std::int64_t totalSteps,
                    std::int64_t stepsPerEpoch) {
  return learningRate(scheduleFrom(train, stepsPerEpoch), step, totalSteps);
}

}  // namespace vitrine

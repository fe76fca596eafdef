#include "core/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vitrine {

Schedule scheduleFrom(const Config& train, std::int64_t stepsPerEpoch) {
  Schedule schedule;
  schedule.base = train.real("optimizer.learning_rate");
  schedule.minimum = train.real("schedule.minimum");
  const std::string name = train.text("schedule.name");
  schedule.kind = name == "constant" ? Schedule::Kind::Constant
                  : name == "linear" ? Schedule::Kind::Linear
                                     : Schedule::Kind::Cosine;
  schedule.warmUp = train.text("schedule.warmup_kind") == "inclusive" ? Schedule::WarmUp::Inclusive
                                                                      : Schedule::WarmUp::ZeroBased;
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
  if (schedule.warmUp == Schedule::WarmUp::Inclusive && step < schedule.warmUpSteps) {
    return warm > 1 ? schedule.base * at / (warm - 1) : 0;
  }
  const double rest = static_cast<double>(totalSteps) - warm;
  const double progress = rest > 0 ? std::clamp((at - warm) / rest, 0.0, 1.0) : 0.0;
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
  }
  if (schedule.warmUp == Schedule::WarmUp::ZeroBased && step < schedule.warmUpSteps) {
    rate *= at / warm;
  }
  return rate;
}

double learningRate(const Config& train, std::int64_t step, std::int64_t totalSteps,
                    std::int64_t stepsPerEpoch) {
  return learningRate(scheduleFrom(train, stepsPerEpoch), step, totalSteps);
}

}  // namespace vitrine

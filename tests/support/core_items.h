// The optimizers and schedules that core brings, for tests without plugins.
#pragma once

#include <string>

#include "core/config/catalog.h"
#include "core/train/optimizer.h"
#include "core/train/schedule.h"
#include "core/train/training_items.h"

namespace vitrine::test {

inline const Registry& coreItems() {
  static Registry registry;
  static const bool isFilled = (train::addTrainingItems(registry), true);
  static_cast<void>(isFilled);
  return registry;
}

/// The rule of a table like {"name": "sgd", "momentum": 0}; keys that it lacks are as by default,
/// but for the decay, which is 0.
inline train::Optimizer optimizerOf(Json table, std::vector<ParameterGroup> groups) {
  if (!table.contains("name")) table["name"] = "adamw";
  if (!table.contains("weight_decay")) table["weight_decay"] = 0.0;
  const OptimizerItem& item = coreItems().optimizer(table.at("name").get<std::string>());
  return {item, Config(std::move(table)), std::move(groups)};
}

/// The schedule of a table like {"name": "cosine", "minimum": 1e-6} with this base rate.
inline train::Schedule scheduleOf(const Json& table, double base, std::int64_t stepsPerEpoch = 1) {
  Json train = trainSchema().defaults();
  train["optimizer"]["learning_rate"] = base;
  train["schedule"].update(table);
  const ScheduleItem& item =
      coreItems().schedule(train.at("schedule").at("name").get<std::string>());
  return train::scheduleFrom(item, Config(std::move(train)), stepsPerEpoch);
}

}  // namespace vitrine::test

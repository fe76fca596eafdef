#include "core/train/train_config.h"

#include "core/config/catalog.h"

namespace vitrine::train {

Config withTrainDefaults(const Config& train) {
  Json values = trainSchema().defaults();
  values.merge_patch(train.json());  // removes null values, which read as null
  return Config(std::move(values));
}

}  // namespace vitrine::train

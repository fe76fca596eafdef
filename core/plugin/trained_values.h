// Values of [model] that belong to a model's training and stay when it runs on other images.
#pragma once

#include "core/base/json.h"
#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine {

/// An interface that an Architecture may have besides: positions that were trained on one grid are
/// scaled to it on every other one.
class VITRINE_ENGINE_EXPORT KeepsTrainedValues {
 public:
  virtual ~KeepsTrainedValues();
  /// \param trained  the model's resolved table as it was trained
  /// \returns  keys, nested, that a configuration for other images has instead of its own:
  ///           {"grid": {"anchor": [7, 7]}}
  [[nodiscard]] virtual Json trainedValues(const Config& trained) const = 0;
};

}  // namespace vitrine

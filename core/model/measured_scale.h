// Codecs that learn the scale of their latents while they are trained.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/model.h"

namespace vitrine {

/// A codec (LatentCodec) whose scale() is 1 over the deviation of the latents that it made in
/// training. The moments are buffers of its module: a checkpoint has them.
class VITRINE_ENGINE_EXPORT MeasuredScale : public Capability {
 public:
  static constexpr const char* kId = "measured_scale";
  /// Whether the configuration leaves the scale to measuring; else observe() does nothing.
  [[nodiscard]] virtual bool isMeasured() const = 0;
  /// Whether scale() has a value: a number of the configuration, or something was observed. Waits
  /// for the device where it is measured.
  [[nodiscard]] virtual bool isScaleKnown() const = 0;
  /// Called by the task in each training step; never waits for the device.
  /// \param latents  drawn ones, not scaled, of any shape
  virtual void observeLatents(const at::Tensor& latents) = 0;
};

}  // namespace vitrine

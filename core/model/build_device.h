// The device on which models are built. Under a ScopedBuildDevice of kind Meta a model of any size
// is built in an instant. Its parameters have names and shapes, no memory and no values.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "core/engine_export.h"

namespace vitrine {

/// Device of the parameters that are made on this thread now; the CPU unless a ScopedBuildDevice
/// says otherwise.
[[nodiscard]] VITRINE_ENGINE_EXPORT c10::Device buildDevice() noexcept;

/// A float32 tensor of one value on buildDevice(): a parameter before it is initialised.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor builtTensor(at::IntArrayRef shape, double value = 0);

/// Sets buildDevice() for this thread until the end of the scope.
class VITRINE_ENGINE_EXPORT ScopedBuildDevice {
 public:
  explicit ScopedBuildDevice(c10::Device device) noexcept;
  ~ScopedBuildDevice();
  ScopedBuildDevice(const ScopedBuildDevice&) = delete;
  ScopedBuildDevice& operator=(const ScopedBuildDevice&) = delete;

 private:
  c10::Device before_;
};

}  // namespace vitrine

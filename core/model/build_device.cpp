#include "core/model/build_device.h"

#include <ATen/ops/full.h>

namespace vitrine {

namespace {
thread_local c10::Device currentDevice{c10::kCPU};
}  // namespace

c10::Device buildDevice() noexcept { return currentDevice; }

at::Tensor builtTensor(at::IntArrayRef shape, double value) {
  return at::full(shape, value, at::TensorOptions(at::kFloat).device(buildDevice()));
}

ScopedBuildDevice::ScopedBuildDevice(c10::Device device) noexcept : before_(currentDevice) {
  currentDevice = device;
}
ScopedBuildDevice::~ScopedBuildDevice() { currentDevice = before_; }

}  // namespace vitrine

// The device settings of a run: device, threads, precision and the generator of its dropout.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "core/engine_export.h"

namespace vitrine::train {

enum class Precision { Float32, BFloat16, Float16 };
/// \throws ConfigError
[[nodiscard]] VITRINE_ENGINE_EXPORT Precision precisionFrom(const std::string& name);
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string toString(
    Precision precision);  ///< "fp32", "bf16", "fp16"
/// \throws RefusedError  matrix products or convolutions of this precision cannot be had on
/// `device`
VITRINE_ENGINE_EXPORT void requirePrecision(Precision precision, const at::Device& device);

/// "auto" is the first GPU that can be had, else the CPU. Loads the CUDA module only when asked for
/// a GPU.
/// \param name  auto | cpu | cuda | cuda:N
/// \throws ConfigError  a name of no device
/// \throws RefusedError  no such GPU can be had here: says why
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Device resolveDevice(const std::string& name);

/// Whether an error says that the device or the machine has no memory left.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool isShortOfMemory(const std::exception& error);

/// Sets the threads of the computation; none: as many as LibTorch had at the start of the process.
/// \returns the number in force
VITRINE_ENGINE_EXPORT int useThreads(std::optional<std::int64_t> threads);

/// A new generator, never torch's global one.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Generator makeGenerator(const at::Device& device,
                                                                std::uint64_t seed);

/// Matrix products in bfloat16 or float16 while it lives, parameters and sums in float32; nothing
/// for Float32.
class VITRINE_ENGINE_EXPORT AutocastScope {
 public:
  AutocastScope(Precision precision, at::DeviceType device);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  bool isOn_ = false, wasOn_ = false;
  at::DeviceType device_;
  at::ScalarType wasType_;
};

/// Of this thread only: one computing thread at low priority, so that background work leaves the
/// training step alone.
VITRINE_ENGINE_EXPORT void becomeBackgroundThread() noexcept;

struct ProcessMemory {
  std::int64_t peakBytes = 0;      ///< VmHWM
  std::int64_t residentBytes = 0;  ///< VmRSS
};
[[nodiscard]] VITRINE_ENGINE_EXPORT ProcessMemory processMemory();
/// Peak resident size on the CPU, peak allocated on a GPU: bytes.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t peakMemory(const at::Device& device);

/// Conditions of a bit-exact resume.
struct ComputeEnvironment {
  std::string device, libtorch, cpuCapability;
  int threads = 1;
};
[[nodiscard]] VITRINE_ENGINE_EXPORT ComputeEnvironment computeEnvironment(const at::Device& device);

}  // namespace vitrine::train

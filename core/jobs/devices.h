// The devices of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::jobs {

struct Device {
  std::string name;   ///< "cpu", "cuda:0"
  std::string uuid;   ///< of a GPU: "GPU-1b2c..."; "" for the CPU
  std::string title;  ///< "NVIDIA H100 80GB HBM3"
  std::int64_t totalBytes = 0, freeBytes = 0;
  [[nodiscard]] bool isGpu() const noexcept { return !uuid.empty(); }
  /// Names it for every process of this machine: the UUID, or "cpu".
  [[nodiscard]] const std::string& key() const noexcept { return isGpu() ? uuid : name; }
};

/// Source of the list of devices; tests replace it.
class VITRINE_STORE_EXPORT DeviceSource {
 public:
  virtual ~DeviceSource();
  [[nodiscard]] virtual std::vector<Device> devices() = 0;
};

/// The CPU, and the GPUs that `nvidia-smi` lists where that is installed.
class VITRINE_STORE_EXPORT SystemDevices final : public DeviceSource {
 public:
  [[nodiscard]] std::vector<Device> devices() override;
};

/// Lines of `nvidia-smi --query-gpu=index,uuid,memory.total,memory.free,name
/// --format=csv,noheader,nounits`; others are left out.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<Device> parseGpuList(const std::string& text);

/// Whether a run that asks for `wanted` ("", "auto", "cpu", "cuda", "cuda:1", a UUID) may have
/// `device`.
[[nodiscard]] VITRINE_STORE_EXPORT bool fits(const std::string& wanted, const Device& device);

/// Whether a run whose configuration says `configured` ("auto", "cpu", "cuda:1" ...) can be put on
/// `device` ("", "cpu", "cuda", "cuda:1", a UUID).
[[nodiscard]] VITRINE_STORE_EXPORT bool agree(const std::string& configured,
                                              const std::string& device);

/// The value of CUDA_VISIBLE_DEVICES for a run on `device` whose configuration says `configured`
/// ("auto", "cuda:1" ...). It is the UUID of the GPU alone, unless the configuration counts GPUs;
/// "" on the CPU.
[[nodiscard]] VITRINE_STORE_EXPORT std::string visibleDevices(const std::vector<Device>& all,
                                                              const Device& device,
                                                              const std::string& configured);

}  // namespace vitrine::jobs

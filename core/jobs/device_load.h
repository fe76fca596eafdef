// Load of the devices of this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store_export.h"

namespace vitrine::jobs {

struct DeviceLoad {
  std::string name;        ///< "cpu", "cuda:0"
  std::string title;       ///< "AMD EPYC 7763", "NVIDIA H100 80GB HBM3"; "" where it is not known
  int threads = 0;         ///< of the CPU; 0 for others
  double utilisation = 0;  ///< 0 to 1; NaN where it is not known
  double temperature = 0;  ///< degrees Celsius; NaN where it is not known
  std::int64_t usedBytes = 0, totalBytes = 0;
};

class Nvml;

/// Busy and total ticks of all processors together.
struct CpuTicks {
  std::int64_t busy = 0, total = 0;
};

class VITRINE_STORE_EXPORT DeviceReader {
 public:
  DeviceReader();
  ~DeviceReader();
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;

  /// CPU first, then the GPUs of NVIDIA's driver. The use of processors is that since the last
  /// call, and not known at the first. May take a while when a card sleeps: never to be called on
  /// the thread of the window.
  [[nodiscard]] std::vector<DeviceLoad> read();

 private:
  std::unique_ptr<Nvml> nvml_;
  CpuTicks last_;
  std::string model_;
};

/// {name, title, threads, utilisation, temperature, used_bytes, total_bytes}; unknown values are
/// null.
[[nodiscard]] VITRINE_STORE_EXPORT Json toJson(const DeviceLoad& load);
/// Fields that are missing or of another type are as unknown.
[[nodiscard]] VITRINE_STORE_EXPORT DeviceLoad deviceLoadFromJson(const Json& json);

/// The share of their time that the processors were busy between two readings; NaN where that is
/// not known.
[[nodiscard]] VITRINE_STORE_EXPORT double busyBetween(const CpuTicks& before, const CpuTicks& now);
[[nodiscard]] VITRINE_STORE_EXPORT CpuTicks readCpuTicks();
/// The first line of /proc/stat; zeros when it is not one.
[[nodiscard]] VITRINE_STORE_EXPORT CpuTicks parseCpuTicks(const std::string& stat);

/// Bytes in use and in all, from /proc/meminfo.
struct MemoryFacts {
  std::int64_t used = 0, total = 0;
};
[[nodiscard]] VITRINE_STORE_EXPORT MemoryFacts readMemory();
[[nodiscard]] VITRINE_STORE_EXPORT MemoryFacts parseMemory(const std::string& meminfo);

/// "AMD EPYC 7763 64-Core Processor" of /proc/cpuinfo; "" where it names none.
[[nodiscard]] VITRINE_STORE_EXPORT std::string parseCpuModel(const std::string& cpuinfo);

}  // namespace vitrine::jobs

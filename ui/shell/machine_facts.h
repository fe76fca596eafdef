// How busy this machine is, for the bottom bar. Reads /proc; nothing is asked of a driver.
#pragma once

#include <QString>
#include <cstdint>
#include <string>

namespace vitrine::ui {

/// Busy and total ticks of all processors together.
struct CpuTicks {
  std::int64_t busy = 0, total = 0;
};

/// The first line of /proc/stat; zeros when it is not one.
[[nodiscard]] CpuTicks parseCpuTicks(const std::string& stat);
/// Bytes in use and in all, from /proc/meminfo.
struct MemoryFacts {
  std::int64_t used = 0, total = 0;
};
[[nodiscard]] MemoryFacts parseMemory(const std::string& meminfo);

class MachineFacts {
 public:
  /// "CPU 198 % · memory 3.1 / 24 GB · no GPU (driver not found)"; processor use since the last
  /// call.
  [[nodiscard]] QString sentence();

 private:
  CpuTicks last_;
  QString gpu_;
};

}  // namespace vitrine::ui

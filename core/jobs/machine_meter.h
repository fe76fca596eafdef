// The use of the machine by a training process, as metrics of its run.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/catalog.h"
#include "core/jobs/nvml.h"
#include "core/store_export.h"

namespace vitrine::jobs {

struct ProcessUse {
  double cpuSeconds = 0;  ///< of all threads, in the program and in the kernel
  std::int64_t residentBytes = 0;
};
/// \param stat  the content of /proc/PID/stat
/// \returns     nothing where that is not one
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<ProcessUse> parseProcessUse(std::string_view stat);
/// Of this process.
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<ProcessUse> readProcessUse();

/// The place of a device "cuda:1" in the list of the driver.
/// \param visible  the value of CUDA_VISIBLE_DEVICES; nullptr where it is not set
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<std::size_t> cardOf(
    const std::string& device, const char* visible, const std::vector<GpuLoad>& cards);

/// Metrics of a MachineMeter, for the table of metric kinds.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<MetricDeclaration> machineMetrics();

/// Adds its values to points that a run stores anyway: to the first one, then at most every two
/// seconds. In a long run it does so at most every thousandth part of its time. The values depend
/// on the clock; nothing of the run depends on them.
class VITRINE_STORE_EXPORT MachineMeter {
 public:
  using Clock = std::chrono::steady_clock;
  using Values = std::vector<std::pair<std::string, double>>;
  static constexpr std::chrono::duration<double> kLeast = std::chrono::seconds(2);

  /// Measures from here on. \param device  "cpu", "cuda:0"
  explicit MachineMeter(std::string device);
  /// The values for a point of a step; nothing where none are due, or for the step of the last
  /// ones.
  [[nodiscard]] Values read(std::int64_t step);

  [[nodiscard]] bool isDue(std::int64_t step, Clock::time_point now) const;
  /// As read(), of what was measured at `now`.
  [[nodiscard]] Values take(std::int64_t step, Clock::time_point now,
                            const std::optional<ProcessUse>& use,
                            const std::vector<GpuLoad>& cards);

 private:
  std::string device_;
  int cores_;  ///< that this process may use
  std::optional<Nvml> driver_;
  Clock::time_point begin_, last_;
  double lastSeconds_ = 0;  ///< of CPU
  std::optional<std::int64_t> lastStep_;
};

}  // namespace vitrine::jobs

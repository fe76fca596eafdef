// Facts about cards from the NVIDIA driver. Its library is loaded when there is one; nothing is
// linked.
#pragma once

#include <QLibrary>
#include <QString>
#include <cstdint>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::jobs {

struct GpuLoad {
  std::string uuid, title;  ///< "GPU-1b2c...", "NVIDIA H100 80GB HBM3"
  double utilisation = 0;   ///< 0 to 1; NaN where the driver does not say
  double temperature = 0;   ///< degrees Celsius; NaN where the driver does not say
  std::int64_t usedBytes = 0, totalBytes = 0;
};

class VITRINE_STORE_EXPORT Nvml {
 public:
  /// Loads and initialises the library; without one there are no cards.
  explicit Nvml(const QString& library = QStringLiteral("libnvidia-ml.so.1"));
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] bool isThere() const { return isThere_; }
  /// In the order of the driver, which is that of "cuda:0", "cuda:1" in a run. May take a while
  /// when a card sleeps: never to be called on the thread of the window.
  [[nodiscard]] std::vector<GpuLoad> read();

 private:
  template <typename Function>
  [[nodiscard]] Function find(const char* name);

  QLibrary library_;
  bool isThere_ = false;
};

}  // namespace vitrine::jobs

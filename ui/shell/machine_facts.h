// Load of this machine, for the bottom bar. Reads /proc; nothing is asked of a driver.
#pragma once

#include <QString>

#include "core/jobs/device_load.h"

namespace vitrine::ui {

class MachineFacts {
 public:
  /// "CPU 198 % · memory 3.1 / 24 GB · no GPU (driver not found)"; processor use since the last
  /// call.
  [[nodiscard]] QString sentence();

 private:
  jobs::CpuTicks last_;
  QString gpu_;
};

}  // namespace vitrine::ui

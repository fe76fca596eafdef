// Load of this machine, for the bottom bar. Reads /proc; nothing is asked of a driver.
#pragma once

#include <QString>

#include "core/jobs/device_load.h"

namespace vitrine::ui {

class MachineFacts {
 public:
  /// "CPU 99 % · memory 3.1 / 24 GB · no GPU (driver not found)". Use of all cores since the last
  /// call, as on the pages Queue and Monitor.
  [[nodiscard]] QString sentence(const jobs::CpuTicks& now = jobs::readCpuTicks());

 private:
  jobs::CpuTicks last_;
  QString gpu_;
};

}  // namespace vitrine::ui

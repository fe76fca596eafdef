// Load of the devices that compute runs, read in the background or on the other machine.
#pragma once

#include <QObject>
#include <QTimer>
#include <optional>
#include <vector>

#include "core/jobs/device_load.h"
#include "ui/kit/background.h"

namespace vitrine::ui {

class RemoteLink;

class DeviceMonitor : public QObject {
  Q_OBJECT
 public:
  /// \param link  to the machine that computes; nullptr: this one
  explicit DeviceMonitor(RemoteLink* link = nullptr, QObject* parent = nullptr);
  ~DeviceMonitor() override;

  /// CPU first, then GPUs; empty before the first answer.
  [[nodiscard]] const std::vector<jobs::DeviceLoad>& loads() const { return loads_; }
  /// Asks now and every `intervalMs` from here on.
  void start(int intervalMs);
  void stop() { timer_.stop(); }
  /// Two readings, so that the use of processors is known: for pictures and tests.
  void waitUntilIdle();

 Q_SIGNALS:
  void changed();

 private:
  void ask();
  void take(std::vector<jobs::DeviceLoad> loads);

  RemoteLink* link_;
  std::optional<jobs::DeviceReader> reader_;  ///< of this machine; only touched by the tasks
  std::vector<jobs::DeviceLoad> loads_;
  QTimer timer_;
  bool isAsking_ = false;
  Background tasks_;
};

}  // namespace vitrine::ui

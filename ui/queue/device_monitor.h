// How busy the devices of this machine are, asked on a thread of its own.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <vector>

namespace vitrine::ui {

struct DeviceLoad {
  QString name;            ///< "cpu", "cuda:0"
  QString title;           ///< "AMD EPYC 7763, 2 threads", "NVIDIA H100 80GB HBM3"
  double utilisation = 0;  ///< 0 to 1; NaN where it is not known
  double temperature = 0;  ///< degrees Celsius; NaN where it is not known
  std::int64_t usedBytes = 0, totalBytes = 0;
};

class DeviceMonitor : public QObject {
  Q_OBJECT
 public:
  explicit DeviceMonitor(QObject* parent = nullptr);
  ~DeviceMonitor() override;

  /// CPU first, then GPUs; empty before the first answer.
  [[nodiscard]] const std::vector<DeviceLoad>& loads() const { return loads_; }
  /// Asks now and every `intervalMs` from here on.
  void start(int intervalMs);
  void stop() { timer_.stop(); }
  /// Two readings, so that the use of processors is known: for pictures and tests.
  void settle();

 Q_SIGNALS:
  void changed();

 private:
  class Thread;
  void ask();

  std::unique_ptr<Thread> thread_;
  std::vector<DeviceLoad> loads_;
  QTimer timer_;
  bool isAsking_ = false;
};

/// "AMD EPYC 7763 64-Core Processor" of /proc/cpuinfo; "" where it names none.
[[nodiscard]] QString parseCpuModel(const std::string& cpuinfo);

}  // namespace vitrine::ui

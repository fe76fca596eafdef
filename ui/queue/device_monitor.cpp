#include "ui/queue/device_monitor.h"

#include <QCoreApplication>
#include <QFile>
#include <QThread>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "ui/queue/nvml.h"
#include "ui/shell/machine_facts.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kSecondReadingMs = 150;

std::string contentOf(const char* path) {
  QFile file(QString::fromLatin1(path));
  return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

}  // namespace

QString parseCpuModel(const std::string& cpuinfo) {
  std::istringstream in(cpuinfo);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return QString::fromStdString(line.substr(colon + 1)).simplified();
  }
  return {};
}

class DeviceMonitor::Thread : public QThread {
 public:
  Thread() {
    place.moveToThread(this);
    start();
  }
  ~Thread() override {
    QMetaObject::invokeMethod(
        &place, [this] { nvml.reset(); }, Qt::BlockingQueuedConnection);
    quit();
    wait();
  }

  std::vector<DeviceLoad> read() {
    DeviceLoad cpu;
    cpu.name = QStringLiteral("cpu");
    if (model.isEmpty()) {
      model = parseCpuModel(contentOf("/proc/cpuinfo"));
      const QString threads = counted(std::max(1U, std::thread::hardware_concurrency()),
                                      QCoreApplication::translate("DeviceMonitor", "thread"),
                                      QCoreApplication::translate("DeviceMonitor", "threads"));
      model = model.isEmpty() ? threads : model + QStringLiteral(", ") + threads;
    }
    cpu.title = model;
    cpu.utilisation = cpu.temperature = std::numeric_limits<double>::quiet_NaN();
    const CpuTicks now = parseCpuTicks(contentOf("/proc/stat"));
    if (last.total > 0 && now.total > last.total) {
      cpu.utilisation =
          static_cast<double>(now.busy - last.busy) / static_cast<double>(now.total - last.total);
    }
    last = now;
    const MemoryFacts memory = parseMemory(contentOf("/proc/meminfo"));
    cpu.usedBytes = memory.used;
    cpu.totalBytes = memory.total;
    std::vector<DeviceLoad> all{cpu};
    if (!nvml) nvml.emplace();
    int index = 0;
    for (const GpuLoad& gpu : nvml->read()) {
      all.push_back({QStringLiteral("cuda:%1").arg(index++), QString::fromStdString(gpu.title),
                     gpu.utilisation, gpu.temperature, gpu.usedBytes, gpu.totalBytes});
    }
    return all;
  }

  QObject place;
  // Only touched on the thread.
  std::optional<Nvml> nvml;
  CpuTicks last;
  QString model;
};

DeviceMonitor::DeviceMonitor(QObject* parent)
    : QObject(parent), thread_(std::make_unique<Thread>()) {
  connect(&timer_, &QTimer::timeout, this, &DeviceMonitor::ask);
}

DeviceMonitor::~DeviceMonitor() = default;

void DeviceMonitor::start(int intervalMs) {
  ask();
  timer_.start(intervalMs);
}

void DeviceMonitor::ask() {
  if (isAsking_) return;
  isAsking_ = true;
  QMetaObject::invokeMethod(
      &thread_->place,
      [this] {
        QMetaObject::invokeMethod(
            this,
            [this, loads = thread_->read()]() mutable {
              isAsking_ = false;
              loads_ = std::move(loads);
              Q_EMIT changed();
            },
            Qt::QueuedConnection);
      },
      Qt::QueuedConnection);
}

void DeviceMonitor::settle() {
  for (int reading = 0; reading < 2; ++reading) {
    ask();
    QMetaObject::invokeMethod(
        &thread_->place, [] { QThread::msleep(kSecondReadingMs); }, Qt::BlockingQueuedConnection);
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace vitrine::ui

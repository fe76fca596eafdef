#include "ui/queue/device_monitor.h"

#include <QCoreApplication>
#include <QThread>
#include <optional>
#include <utility>

#include "ui/workbench/remote_link.h"

namespace vitrine::ui {
namespace {

constexpr int kSecondReadingMs = 150;

}  // namespace

class DeviceMonitor::Thread : public QThread {
 public:
  Thread() {
    place.moveToThread(this);
    start();
  }
  ~Thread() override {
    QMetaObject::invokeMethod(
        &place, [this] { reader.reset(); }, Qt::BlockingQueuedConnection);
    quit();
    wait();
  }

  std::vector<jobs::DeviceLoad> read() {
    if (!reader) reader.emplace();
    return reader->read();
  }

  QObject place;
  std::optional<jobs::DeviceReader> reader;  ///< only touched on the thread
};

DeviceMonitor::DeviceMonitor(RemoteLink* link, QObject* parent) : QObject(parent), link_(link) {
  if (link_ == nullptr) thread_ = std::make_unique<Thread>();
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
  if (link_ != nullptr) {
    link_->send({{"op", "devices"}}, this, [this](const Json& answer) {
      std::vector<jobs::DeviceLoad> loads;
      const auto devices = answer.find("devices");
      for (const Json& one : devices != answer.end() && devices->is_array() ? *devices : Json())
        loads.push_back(jobs::deviceLoadFromJson(one));
      take(std::move(loads));  // none where there is no link: what was true is no longer known
    });
    return;
  }
  QMetaObject::invokeMethod(
      &thread_->place,
      [this] {
        QMetaObject::invokeMethod(
            this, [this, loads = thread_->read()]() mutable { take(std::move(loads)); },
            Qt::QueuedConnection);
      },
      Qt::QueuedConnection);
}

void DeviceMonitor::take(std::vector<jobs::DeviceLoad> loads) {
  isAsking_ = false;
  loads_ = std::move(loads);
  Q_EMIT changed();
}

void DeviceMonitor::waitUntilIdle() {
  if (thread_ == nullptr) return;
  for (int reading = 0; reading < 2; ++reading) {
    ask();
    QMetaObject::invokeMethod(
        &thread_->place, [] { QThread::msleep(kSecondReadingMs); }, Qt::BlockingQueuedConnection);
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace vitrine::ui

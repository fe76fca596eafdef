#include "ui/queue/device_monitor.h"

#include <QThread>
#include <utility>

#include "ui/kit/value_text.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {
namespace {

constexpr int kSecondReadingMs = 150;

}  // namespace

DeviceMonitor::DeviceMonitor(RemoteLink* link, QObject* parent)
    : QObject(parent), link_(link), tasks_(std::filesystem::path()) {
  connect(&timer_, &QTimer::timeout, this, &DeviceMonitor::ask);
  connect(&tasks_, &Background::failed, this, [this] { take({}); });
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
      for (const Json& one : stateList(answer, "devices"))
        loads.push_back(jobs::deviceLoadFromJson(one));
      take(std::move(loads));  // none where there is no link: what was true is no longer known
    });
    return;
  }
  tasks_.run([this](const std::atomic<bool>&) -> Background::Finish {
    if (!reader_) reader_.emplace();
    return [this, loads = reader_->read()] { take(loads); };
  });
}

void DeviceMonitor::take(std::vector<jobs::DeviceLoad> loads) {
  isAsking_ = false;
  loads_ = std::move(loads);
  Q_EMIT changed();
}

void DeviceMonitor::waitUntilIdle() {
  if (link_ != nullptr) return;
  for (int reading = 0; reading < 2; ++reading) {
    if (reading > 0) QThread::msleep(kSecondReadingMs);
    ask();
    tasks_.waitUntilIdle();
  }
}

}  // namespace vitrine::ui

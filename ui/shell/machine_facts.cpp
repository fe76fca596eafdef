#include "ui/shell/machine_facts.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <algorithm>
#include <sstream>
#include <thread>

#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

QString sayOfMachine(const char* text) { return QCoreApplication::translate("MachineFacts", text); }

std::string contentOf(const char* path) {
  QFile file(QString::fromLatin1(path));
  return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

// The driver says its model under /proc; a node without it means a card nobody can use.
QString gpuSentence() {
  const QDir cards(QStringLiteral("/proc/driver/nvidia/gpus"));
  const QStringList names = cards.entryList(QDir::Dirs | QDir::NoDotAndDotDot);
  if (names.isEmpty()) return sayOfMachine("no GPU (driver not found)");
  QString model = QStringLiteral("GPU");
  QFile file(cards.filePath(names.first()) + QStringLiteral("/information"));
  if (file.open(QIODevice::ReadOnly)) {
    for (const QString& line : QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))) {
      if (line.startsWith(QLatin1String("Model:"))) model = line.mid(6).trimmed();
    }
  }
  return names.size() == 1 ? model : QStringLiteral("%1 \u00d7 %2").arg(names.size()).arg(model);
}

}  // namespace

CpuTicks parseCpuTicks(const std::string& stat) {
  std::istringstream in(stat);
  std::string label;
  in >> label;
  CpuTicks ticks;
  if (label != "cpu") return ticks;
  // user nice system idle iowait irq softirq steal
  std::int64_t value = 0;
  for (int i = 0; i < 8 && in >> value; ++i) {
    ticks.total += value;
    if (i != 3 && i != 4) ticks.busy += value;
  }
  return ticks;
}

MemoryFacts parseMemory(const std::string& meminfo) {
  std::istringstream in(meminfo);
  MemoryFacts facts;
  std::int64_t available = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    std::int64_t kilobytes = 0;
    fields >> name >> kilobytes;
    if (name == "MemTotal:") facts.total = kilobytes * 1024;
    if (name == "MemAvailable:") available = kilobytes * 1024;
  }
  facts.used = std::max<std::int64_t>(facts.total - available, 0);
  return facts;
}

QString MachineFacts::sentence() {
  QStringList parts;
  const CpuTicks now = parseCpuTicks(contentOf("/proc/stat"));
  const std::int64_t total = now.total - last_.total;
  if (last_.total > 0 && total > 0) {
    const double share = static_cast<double>(now.busy - last_.busy) / static_cast<double>(total);
    parts << sayOfMachine("CPU %1").arg(
        percent(share * std::max(1U, std::thread::hardware_concurrency()), 0));
  }
  last_ = now;
  const MemoryFacts memory = parseMemory(contentOf("/proc/meminfo"));
  if (memory.total > 0) {
    parts << sayOfMachine("memory %1 / %2\u2009GB")
                 .arg(number(static_cast<double>(memory.used) / 1e9, 1),
                      number(static_cast<double>(memory.total) / 1e9, 0));
  }
  if (gpu_.isEmpty()) gpu_ = gpuSentence();
  parts << gpu_;
  return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace vitrine::ui

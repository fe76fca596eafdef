#include "ui/shell/machine_facts.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <cmath>

#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

QString sayOfMachine(const char* text) { return QCoreApplication::translate("MachineFacts", text); }

// The driver says its model under /proc; a node without it means an unusable card.
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

QString MachineFacts::sentence(const jobs::CpuTicks& now) {
  QStringList parts;
  if (const double share = busyBetween(last_, now); std::isfinite(share))
    parts << sayOfMachine("CPU %1").arg(percent(share, 0));
  last_ = now;
  const jobs::MemoryFacts memory = jobs::readMemory();
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

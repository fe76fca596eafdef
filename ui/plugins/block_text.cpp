#include "ui/plugins/block_text.h"

#include <QObject>
#include <cmath>
#include <cstdlib>

#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

QString signedCount(std::int64_t value) {
  if (value == 0) return QStringLiteral("0");
  return (value > 0 ? QStringLiteral("+") : QStringLiteral("\u2212")) + count(std::abs(value));
}

QString megaText(double flops) {
  const double mega = flops / 1e6;
  return number(mega, mega >= 100 ? 0 : mega >= 1 ? 2 : 3);
}

QString signedMega(double flops) {
  if (flops == 0) return QStringLiteral("0");
  return (flops > 0 ? QStringLiteral("+") : QStringLiteral("\u2212")) + megaText(std::abs(flops));
}

QString partName(const QString& kind) {
  QString name = kind;
  name.replace(QLatin1Char('_'), QLatin1Char(' '));
  if (name == QLatin1String("rope")) return QObject::tr("rotary positions");
  return name;
}

QString whatText(const std::optional<ModelBlock>& block) {
  if (!block) return QStringLiteral("\u2013");
  return block->what.isEmpty() ? partName(block->kind) : block->what;
}

QString keyText(const Json& value) {
  return value.is_null() ? QStringLiteral("\u2013") : valueText(value);
}

}  // namespace vitrine::ui

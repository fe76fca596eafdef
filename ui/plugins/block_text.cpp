#include "ui/plugins/block_text.h"

#include <cmath>
#include <cstdlib>

#include "core/config/to_toml.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

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
  if (name == QLatin1String("rope")) return QStringLiteral("rotary positions");
  return name;
}

QString whatText(const std::optional<ModelBlock>& block) {
  if (!block) return QStringLiteral("\u2013");
  return block->what.isEmpty() ? partName(block->kind) : block->what;
}

QString keyText(const Json& value) {
  if (value.is_null()) return QStringLiteral("\u2013");
  if (value.is_array() && value.size() == 2 && value[0] == value[1])
    return QString::fromStdString(value[0].dump());
  return QString::fromStdString(value.is_string() ? value.get<std::string>() : tomlValue(value));
}

}  // namespace vitrine::ui

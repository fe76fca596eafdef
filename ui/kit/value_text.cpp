#include "ui/kit/value_text.h"

#include <QStringList>

#include "core/base/cell_text.h"
#include "core/base/text.h"

namespace vitrine::ui {

QString valueText(const Json& value) {
  if (value.is_null()) return QStringLiteral("none");
  if (value.is_number_float()) return QString::fromStdString(formatReal(value.get<double>()));
  if (!value.is_array()) return jsonText(value);
  QStringList parts;
  for (const Json& part : value) parts << valueText(part);
  const bool isSize =
      value.size() == 2 && value[0].is_number_integer() && value[1].is_number_integer();
  if (isSize && value[0] == value[1]) return parts[0];
  return parts.join(isSize ? QStringLiteral(" x ") : QStringLiteral(", "));
}

QString jsonText(const Json& value) { return QString::fromStdString(plainText(value)); }

}  // namespace vitrine::ui

#include "ui/workbench/claims/shown_number.h"

#include <QObject>
#include <cmath>

#include "core/store/metrics/column_decimals.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

int ShownNumber::decimals() const { return count > 1 ? decimalsFor(uncertainty) : -1; }

ShownNumber shownNumber(const SampleStatistics& statistics, const store::MetricFormat& format) {
  const double factor = format.isPercent ? 100 : 1;
  ShownNumber shown{
      .count = statistics.count, .centre = statistics.mean * factor, .format = format};
  if (statistics.count < 2) return shown;
  shown.uncertainty = halfWidth(statistics) * factor;
  shown.lower = shown.centre - shown.uncertainty;
  shown.upper = shown.centre + shown.uncertainty;
  shown.around = ShownNumber::Around::Half;
  return shown;
}

QString numberText(const ShownNumber& shown, int decimals, Signed isSigned) {
  if (shown.count == 0) return QStringLiteral("\u2013");
  if (!std::isfinite(shown.centre)) return QObject::tr("not a number");
  const auto written = [&](double value, bool hasPlus) {
    const double size = std::abs(value);
    QString text = std::isfinite(size)
                       ? QString::fromStdString(store::metricNumber(shown.format, size, decimals))
                       : number(size, 0);
    if (decimals >= 0 && size < 0.5 * std::pow(10, -decimals)) return text;
    if (value < 0) text.prepend(QChar(0x2212));
    if (value > 0 && hasPlus) text.prepend(QLatin1Char('+'));
    return text;
  };
  const QString text = written(shown.centre, isSigned == Signed::Yes);
  switch (shown.around) {
    case ShownNumber::Around::Half:
      return text + QStringLiteral(" \u00b1 ") + written(shown.uncertainty, false);
    case ShownNumber::Around::Ends:
      return QStringLiteral("%1 [%2; %3]")
          .arg(text, written(shown.lower, false), written(shown.upper, false));
    case ShownNumber::Around::Nothing:
      break;
  }
  return text;
}

int columnDecimals(const std::vector<ShownNumber>& column, const store::MetricFormat& format) {
  std::vector<store::ColumnNumber> numbers;
  for (const ShownNumber& shown : column)
    if (shown.count > 0) numbers.push_back({shown.centre, shown.decimals()});
  return store::columnDecimals(numbers, format);
}

QString meanText(const SampleStatistics& statistics, const store::MetricFormat& format) {
  const ShownNumber shown = shownNumber(statistics, format);
  return numberText(shown, shown.decimals(), Signed::No);
}

}  // namespace vitrine::ui

#include "ui/monitor/metric_card.h"

#include <QCoreApplication>
#include <QStringList>

#include "core/store/metrics/metric_titles.h"

namespace vitrine::ui {
namespace {

QString sayOfCard(const char* text) { return QCoreApplication::translate("MetricCard", text); }

// "layer1" is "layer 1".
QString spaced(const QString& part) {
  qsizetype digits = part.size();
  while (digits > 0 && part[digits - 1].isDigit()) --digits;
  if (digits == 0 || digits == part.size()) return part;
  return part.left(digits) + QLatin1Char(' ') + part.mid(digits);
}

// "analysis/<id>/<quantity>/<layer>/<head>", of which the last two may be missing.
void titleOfAnalysis(const QStringList& parts, MetricCard& card) {
  const store::MetricTitle known = store::titleOf(parts[2].toStdString());
  card.title = sayOfCard(known.title.c_str());
  card.decimals = known.isKnown ? known.decimals : 2;
  card.subtitle = known.isKnown ? sayOfCard(known.subtitle.c_str())
                                : QString(parts[1]).replace(QLatin1Char('_'), QLatin1Char(' '));
  if (parts.size() > 3) card.title += QStringLiteral(" / ") + spaced(parts[3]);
  if (parts.size() > 4) {
    card.subtitle = spaced(parts.mid(4).join(QLatin1Char('/')));
  } else if (parts.size() == 4 && parts[3].startsWith(QLatin1String("layer"))) {
    card.subtitle += sayOfCard(", mean over heads");
  }
}

}  // namespace

QString definitionOf(const std::string& metric, const store::MetricKinds& kinds) {
  return QString::fromStdString(store::kindOf(kinds, metric).definition);
}

MetricCard metricCard(const std::string& name, const store::MetricKinds& kinds) {
  MetricCard card;
  QString full = QString::fromStdString(name);
  const bool isAveraged = full.endsWith(QLatin1String("@ema"));
  if (isAveraged) full.chop(4);
  const QStringList parts = full.split(QLatin1Char('/'));
  if (parts.first() == QLatin1String("analysis") && parts.size() > 2) {
    titleOfAnalysis(parts, card);
  } else {
    const store::MetricTitle known = store::titleOf(parts.value(1, parts.value(0)).toStdString());
    card.title = sayOfCard(known.title.c_str());
    card.subtitle = known.isKnown ? sayOfCard(known.subtitle.c_str()) : parts.value(0);
    card.decimals = known.decimals;
    card.isNoisy = !known.followsPlan;
    const QString split = parts.value(0);
    const bool isSplit = split == QLatin1String("train") || split == QLatin1String("validation") ||
                         split == QLatin1String("test");
    if (isSplit && parts.size() > 1) card.title += QStringLiteral(" / ") + split;
    if (parts.size() > 2) {
      card.title += QStringLiteral(" / ") + parts.mid(2).join(QLatin1Char('/'));
      card.subtitle = sayOfCard("part");
    }
  }
  if (isAveraged) card.subtitle += sayOfCard(", averaged weights");
  card.definition = definitionOf(name, kinds);
  return card;
}

}  // namespace vitrine::ui

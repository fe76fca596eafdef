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

}  // namespace

MetricCard metricCard(const std::string& name, const store::MetricKinds& kinds) {
  const store::MetricKind kind = store::kindOf(kinds, name);
  const store::MetricTitle title = store::metricTitle(name, kind.title);
  MetricCard card;
  card.definition = QString::fromStdString(kind.definition);
  card.title = sayOfCard(title.title.c_str());
  card.subtitle = sayOfCard(title.subtitle.c_str());
  card.format = store::metricFormat(name, kind);
  card.isNoisy = !title.followsPlan;
  const store::MetricName parts = store::metricName(name);
  const QStringList inner = QString::fromStdString(parts.part).split(QLatin1Char('/'));
  if (parts.split == "analysis" && !parts.part.empty()) {
    if (!title.isKnown) card.subtitle = QString::fromStdString(parts.quantity).replace('_', ' ');
    if (inner.size() > 2) {  // the card of one head
      const std::string stem = name.substr(0, name.find(inner[1].toStdString()) + inner[1].size());
      card.title = sayOfCard(store::metricTitle(stem, kind.title).title.c_str());
      card.subtitle = spaced(inner.mid(2).join(QLatin1Char('/')));
    } else if (inner.size() == 2 && inner[1].startsWith(QLatin1String("layer"))) {
      card.subtitle += sayOfCard(", mean over heads");
    }
  } else if (!parts.part.empty() && kind.title.empty()) {
    card.subtitle.clear();  // the whole's: the title names the part
  } else if (!title.isKnown) {
    card.subtitle = QString::fromStdString(parts.split);
  }
  return card;
}

}  // namespace vitrine::ui

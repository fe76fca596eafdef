#include "ui/monitor/metric_card.h"

#include <QCoreApplication>
#include <QStringList>
#include <array>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::ui {
namespace {

QString sayOfCard(const char* text) { return QCoreApplication::translate("MetricCard", text); }

struct Quantity {
  const char* key;
  const char* title;
  const char* subtitle;
  int decimals;
};

constexpr std::array kQuantities{
    Quantity{"loss", "loss", "cross-entropy", 4},
    Quantity{"top1", "accuracy", "top-1", 4},
    Quantity{"top5", "accuracy", "top-5", 4},
    Quantity{"ece", "calibration error", "ECE, 15 bins", 4},
    Quantity{"learning_rate", "learning rate", "per step", 8},
    Quantity{"images_per_second", "speed", "images/s", 0},
    Quantity{"mask_alpha", "mask factor", "1 bidirectional, 0 causal", 4},
    Quantity{"gradient_norm", "gradient norm", "before clipping", 4},
    Quantity{"flops", "work", "FLOPs, cumulative", 0},
    Quantity{"device_seconds", "device time", "s, cumulative", 1},
};

}  // namespace

MetricDefinitions metricDefinitions(RunStore& store) {
  MetricDefinitions made;
  try {
    for (const auto& row :
         store.query("SELECT pattern, definition FROM metric_kind ORDER BY id").rows)
      made.emplace_back(row.at(0).get<std::string>(),
                        QString::fromStdString(row.at(1).get<std::string>()));
  } catch (const Error&) {
    made.clear();  // an older file without definitions: the titles stand alone
  }
  return made;
}

QString definitionOf(const std::string& metric, const MetricDefinitions& definitions) {
  for (const auto& [pattern, sentence] : definitions)
    if (matchesGlob(pattern, metric)) return sentence;
  return {};
}

MetricCard metricCard(const std::string& name, const MetricDefinitions& definitions) {
  MetricCard card;
  QString full = QString::fromStdString(name);
  const bool isAveraged = full.endsWith(QLatin1String("@ema"));
  if (isAveraged) full.chop(4);
  const QStringList parts = full.split(QLatin1Char('/'));
  const QString rank = QStringLiteral("analysis/attention_rank/");
  if (full.startsWith(rank) && parts.size() >= 4) {
    const QString quantity = parts[2];
    card.title = quantity == QLatin1String("rank80")
                     ? sayOfCard("rank at 80 %")
                     : QString(quantity).replace(QLatin1Char('_'), QLatin1Char(' '));
    card.title += QStringLiteral(" / ") +
                  QString(parts[3]).replace(QLatin1String("layer"), QLatin1String("layer "));
    card.subtitle = parts.size() > 4
                        ? QString(parts[4]).replace(QLatin1String("head"), QLatin1String("head "))
                        : sayOfCard("singular values, mean over heads");
    card.decimals = 2;
  } else {
    const QString quantity = parts.value(1, parts.value(0));
    card.title = QString(quantity).replace(QLatin1Char('_'), QLatin1Char(' '));
    card.subtitle = parts.value(0);
    for (const Quantity& known : kQuantities) {
      if (quantity != QLatin1String(known.key)) continue;
      card.title = sayOfCard(known.title);
      card.subtitle = sayOfCard(known.subtitle);
      card.decimals = known.decimals;
    }
    const QString split = parts.value(0);
    const bool isSplit = split == QLatin1String("train") || split == QLatin1String("validation") ||
                         split == QLatin1String("test");
    if (isSplit && parts.size() > 1) card.title += QStringLiteral(" / ") + split;
    if (parts.size() > 2) {
      card.title += QStringLiteral(" / ") + parts.mid(2).join(QLatin1Char('/'));
      card.subtitle = sayOfCard("part");
    }
  }
  card.isNoisy = parts.value(1) != QLatin1String("learning_rate") &&
                 parts.value(1) != QLatin1String("mask_alpha");
  if (isAveraged) card.subtitle += sayOfCard(", averaged weights");
  card.definition = definitionOf(name, definitions);
  return card;
}

}  // namespace vitrine::ui

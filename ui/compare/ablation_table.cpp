#include "ui/compare/ablation_table.h"

#include <QFileInfo>
#include <QStringList>
#include <cmath>
#include <map>
#include <set>

#include "core/config/telling.h"
#include "core/store/metrics/metric_titles.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

const QString kNothing = QStringLiteral("\u2013");

QString leftOutSentence(const AblationTable& table) {
  std::map<std::string, std::vector<store::LeftOutRun>> byMetric;
  for (const AblationRow& row : table.rows) {
    for (std::size_t m = 0; m < row.cells.size(); ++m) {
      auto& runs = byMetric[table.metrics[m].name];
      const auto& more = row.cells[m].sample.leftOut;
      runs.insert(runs.end(), more.begin(), more.end());
    }
  }
  const std::string text = leftOutText(byMetric);
  return text.empty() ? QString()
                      : QObject::tr("Not counted: %1.").arg(QString::fromStdString(text));
}

/// What a difference may come from besides the configuration.
QString mixedText(const CompareData& data, const CompareChoice& choice) {
  std::set<std::string> commits, devices;
  for (const store::VariantGroup& variant : data.variants) {
    for (const auto& [seed, run] : seedRuns(variant, data.runs, choice.unfinished)) {
      const auto index = data.find(run);
      if (!index) continue;
      const store::RunRow& row = data.runs[*index].row;
      if (!row.commit.empty()) commits.insert(row.commit);
      if (!row.device.empty()) devices.insert(row.device);
    }
  }
  QStringList parts;
  if (commits.size() > 1) parts << QObject::tr("%1 commits of the code").arg(commits.size());
  if (devices.size() > 1) parts << QObject::tr("%1 devices").arg(devices.size());
  return parts.isEmpty() ? QString()
                         : QObject::tr("The runs come from %1: see Differences.")
                               .arg(parts.join(QObject::tr(" and ")));
}

QString seedsText(const store::VariantSample& sample) {
  QStringList seeds;
  for (const auto& [seed, value] : sample.values) seeds << QString::number(seed);
  return seeds.join(QLatin1Char(' '));
}

QString csvCell(double value) { return std::isfinite(value) ? csvNumber(value) : QString(); }

QString markdownText(QString text) {
  text.replace(QLatin1Char('\\'), QStringLiteral("\\\\"));
  text.replace(QLatin1Char('|'), QStringLiteral("\\|"));
  return text.replace(QLatin1Char('\n'), QLatin1Char(' '));
}

QString metricList(const AblationTable& table) {
  QStringList names;
  for (const AblationMetric& metric : table.metrics) names << QString::fromStdString(metric.name);
  return names.join(QStringLiteral(", "));
}

}  // namespace

QString AblationMetric::title() const {
  const QString unit =
      format.isPercent ? QString::fromLatin1(format.unit()) : QString::fromStdString(meaning.unit);
  const QString text = QString::fromStdString(store::metricTitle(name, meaning.title).title);
  return unit.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, unit);
}

ShownNumber shownNumber(const AblationTable& table, const store::VariantSample& sample,
                        const store::MetricFormat& format) {
  ShownNumber shown = shownNumber(sample.statistics, format);
  if (shown.count < 2 || (table.centre == Centre::Mean && table.spread == Spread::Interval))
    return shown;
  const double factor = format.isPercent ? 100 : 1;
  std::vector<double> values;
  for (const auto& [seed, value] : sample.values) values.push_back(value);
  const Band band = bandOf(values, table.centre, table.spread);
  shown.centre = band.centre * factor;
  if (table.spread == Spread::None) {
    shown.around = ShownNumber::Around::Nothing;
    return shown;
  }
  shown.lower = band.lower * factor;
  shown.upper = band.upper * factor;
  shown.uncertainty = (shown.upper - shown.lower) / 2;
  if (table.spread == Spread::Range || table.spread == Spread::Quartiles)
    shown.around = ShownNumber::Around::Ends;
  return shown;
}

QString differenceText(const SampleStatistics& statistics, const AblationMetric& metric) {
  return numberText(shownNumber(statistics, metric.format), metric.differenceDecimals, Signed::Yes);
}

QString sampleText(const AblationTable& table, const store::VariantSample& sample,
                   const AblationMetric& metric) {
  return numberText(shownNumber(table, sample, metric.format), metric.decimals, Signed::No);
}

QString spreadText(const AblationTable& table) {
  QString around = nameOf(table.spread);
  if (table.spread == Spread::None) return QObject::tr("%1 over seeds").arg(nameOf(table.centre));
  if (table.spread == Spread::Range || table.spread == Spread::Quartiles)
    return QObject::tr("%1 [%2] over seeds").arg(nameOf(table.centre), around);
  if (table.spread == Spread::Interval) around = QObject::tr("half of the %1").arg(around);
  return QObject::tr("\u00b1 %1 over seeds").arg(around);
}

QString outcomeSign(Outcome outcome) {
  switch (outcome) {
    case Outcome::Better:
      return QStringLiteral("\u2713");
    case Outcome::Worse:
      return QStringLiteral("\u2717");
    case Outcome::Higher:
      return QStringLiteral("\u2191");
    case Outcome::Lower:
      return QStringLiteral("\u2193");
    case Outcome::NoClearDifference:
      return QStringLiteral("\u2248");
    case Outcome::Unknown:
      break;
  }
  return {};
}

QString countText(const AblationCell& cell, bool isBaseline) {
  const std::size_t n = cell.sample.statistics.count, pairs = cell.paired.statistics.count;
  return QString::fromStdString(store::countText(n, isBaseline ? n : pairs));
}

QString valueChoiceText(store::ValueChoice choice) {
  switch (choice.value) {
    case store::CurveValue::Last:
      return QObject::tr("last value");
    case store::CurveValue::Best:
      return QObject::tr("best value of each run");
    case store::CurveValue::Minimum:
      return QObject::tr("smallest value of each run");
    case store::CurveValue::Maximum:
      return QObject::tr("largest value of each run");
    case store::CurveValue::AtStep:
      break;
  }
  return QObject::tr("value at step %1").arg(count(choice.step));
}

QString aboutText(const AblationTable& table) {
  QStringList parts{table.value, spreadText(table)};
  // Verdicts are those of the interval, whatever stands behind the values.
  parts << (table.spread == Spread::Interval
                ? QObject::tr("differences paired by seed")
                : QObject::tr("differences paired by seed, with their 95\u2009% interval"));
  return parts.join(QStringLiteral(" \u00b7 "));
}

AblationTable makeAblationTable(const CompareData& data, const CompareChoice& choice) {
  AblationTable table;
  table.experiment = QString::fromStdString(data.experiment);
  table.value = valueChoiceText(choice.value);
  table.centre = choice.centre;
  table.spread = choice.spread;
  for (const std::string& name : data.metrics) {
    const store::MetricMeaning& meaning = data.measured.meanings.at(name);
    table.metrics.push_back(
        {name, meaning, store::metricFormat(name, meaning.unit, meaning.title)});
  }
  if (data.variants.empty()) return table;
  const std::size_t baseline = data.baseline(choice);
  table.baseline = baseline;
  table.baselineLabel = data.labels[baseline];
  std::vector<store::VariantSample> base;
  const auto sample = [&](std::size_t variant, const AblationMetric& metric) {
    return sampleOf(data.variants[variant], data.runs, data.measured.values.at(metric.name),
                    metric.meaning, choice.value, choice.unfinished);
  };
  for (const AblationMetric& metric : table.metrics) base.push_back(sample(baseline, metric));
  std::vector<const Json*> configs;
  for (const store::VariantGroup& one : data.variants) configs.push_back(&one.config);
  const auto changes = tellingDifferences(configs, baseline);
  for (std::size_t i = 0; i < data.variants.size(); ++i) {
    AblationRow row{.variant = i, .label = data.labels[i], .isBaseline = i == baseline};
    if (!row.isBaseline) {
      row.differs = differsText(data, i, baseline);
      row.differsShort = shortDiffersText(data, changes[i]);
    }
    row.runs = QString::fromStdString(statesText(data.variants[i], data.runs));
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      AblationCell cell{.sample = row.isBaseline ? base[m] : sample(i, table.metrics[m])};
      if (!row.isBaseline) {
        cell.paired = pairedDifferences(cell.sample.values, base[m].values);
        cell.outcome = outcomeOf(cell.paired.statistics, table.metrics[m].meaning.direction);
      }
      row.cells.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    AblationMetric& metric = table.metrics[m];
    std::vector<ShownNumber> values, differences;
    for (const AblationRow& row : table.rows) {
      values.push_back(shownNumber(table, row.cells[m].sample, metric.format));
      differences.push_back(shownNumber(row.cells[m].paired.statistics, metric.format));
    }
    metric.decimals = columnDecimals(values, metric.format);
    metric.differenceDecimals = columnDecimals(differences, metric.format);
  }
  table.leftOut = leftOutSentence(table);
  table.mixed = mixedText(data, choice);
  return table;
}

TableOrigin originOf(const CompareData& data, const std::string& databaseFile) {
  TableOrigin origin{.database = QFileInfo(QString::fromStdString(databaseFile)).fileName()};
  QStringList runs;
  for (const store::ComparedRun& run : data.runs) runs << QString::number(run.row.id);
  origin.runs = runs.join(QStringLiteral(", "));
  return origin;
}

QString toCsv(const AblationTable& table, const TableOrigin& origin) {
  QString text = QStringLiteral("# ") + originLine(table, origin) + QLatin1Char('\n');
  QStringList header{QStringLiteral("variant"), QStringLiteral("differs"), QStringLiteral("runs")};
  for (const AblationMetric& metric : table.metrics) {
    const QString name = QString::fromStdString(metric.name);
    for (const char* part : {"mean", "lower", "upper", "sd", "n", "seeds", "difference",
                             "difference_lower", "difference_upper", "pairs", "outcome"})
      header << csvText(name + QLatin1Char(' ') + QLatin1String(part));
  }
  text += header.join(QLatin1Char(',')) + QLatin1Char('\n');
  for (const AblationRow& row : table.rows) {
    QStringList cells{csvText(row.label), csvText(row.differs), csvText(row.runs)};
    for (const AblationCell& cell : row.cells) {
      const SampleStatistics& s = cell.sample.statistics;
      // The baseline has no difference, not one of 0.
      const SampleStatistics d = row.isBaseline ? statisticsOf({}) : cell.paired.statistics;
      cells << csvCell(s.mean) << csvCell(s.interval.lower) << csvCell(s.interval.upper)
            << (s.count > 1 ? csvCell(s.deviation) : QString()) << QString::number(s.count)
            << seedsText(cell.sample) << csvCell(d.mean) << csvCell(d.interval.lower)
            << csvCell(d.interval.upper) << QString::number(d.count)
            << QString::fromStdString(toString(cell.outcome));
    }
    text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
  }
  return text;
}

QString originLine(const AblationTable& table, const TableOrigin& origin) {
  return QObject::tr(
             "Vitrine: %1; database %2; runs %3; %4, %5; values: %6; differences: +- half of the "
             "95 %% interval (Student's t)%7")
      .arg(table.experiment, origin.database, origin.runs, metricList(table), table.value,
           spreadText(table),
           table.leftOut.isEmpty() ? QString() : QStringLiteral("; ") + table.leftOut)
      .replace(QStringLiteral("%%"), QStringLiteral("%"))
      .replace(QChar(0x00b1), QStringLiteral("+-"))
      .replace(QChar(0x2009), QLatin1Char(' '))
      .replace(QLatin1Char('\n'), QLatin1Char(' '));
}

QString toMarkdown(const AblationTable& table, const TableOrigin& origin) {
  QString text = QStringLiteral("| Variant | What differs |");
  QString rule = QStringLiteral("|---|---|");
  for (const AblationMetric& metric : table.metrics) {
    text += QStringLiteral(" %1 | \u0394 paired | n |").arg(markdownText(metric.title()));
    rule += QStringLiteral("---:|---:|---:|");
  }
  text += QLatin1Char('\n') + rule + QLatin1Char('\n');
  for (const AblationRow& row : table.rows) {
    text += QStringLiteral("| %1 | %2 |")
                .arg(markdownText(row.label),
                     row.isBaseline ? QObject::tr("baseline") : markdownText(row.differs));
    for (std::size_t m = 0; m < row.cells.size(); ++m) {
      const AblationCell& cell = row.cells[m];
      const AblationMetric& metric = table.metrics[m];
      QString difference = kNothing;
      if (!row.isBaseline) {
        difference = differenceText(cell.paired.statistics, metric);
        const QString word = QString::fromStdString(toString(cell.outcome));
        if (!word.isEmpty()) difference += QStringLiteral(", ") + word;
      }
      text += QStringLiteral(" %1 | %2 | %3 |")
                  .arg(sampleText(table, cell.sample, metric), difference,
                       countText(cell, row.isBaseline));
    }
    text += QLatin1Char('\n');
  }
  return text + QStringLiteral("\n<!-- ") +
         originLine(table, origin).replace(QStringLiteral("--"), QStringLiteral("- -")) +
         QStringLiteral(" -->\n");
}

}  // namespace vitrine::ui

#include "ui/compare/ablation_table.h"

#include <QFileInfo>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/store/metrics/metric_titles.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

const QString kNothing = QStringLiteral("\u2013");

/// A number with its uncertainty; the minus is the typographic one.
QString withInterval(double value, const SampleStatistics& s, bool isPercent, bool isSigned) {
  if (s.count == 0) return kNothing;
  if (!std::isfinite(s.mean)) return QObject::tr("not a number");
  const double factor = isPercent ? 100 : 1;
  const double half = halfWidth(s) * factor;
  const int decimals = s.count > 1 ? decimalsFor(half) : -1;
  // Without an interval nothing says how many digits mean something: four, as everywhere.
  QString text = decimals < 0 ? shortNumber(std::abs(value * factor))
                              : number(std::abs(value * factor), decimals);
  const bool isZero = decimals >= 0 && std::abs(value * factor) < 0.5 * std::pow(10, -decimals);
  if (value < 0 && !isZero) text.prepend(QChar(0x2212));
  if (value > 0 && !isZero && isSigned) text.prepend(QLatin1Char('+'));
  if (s.count > 1) {
    text +=
        QStringLiteral(" \u00b1 ") + (decimals < 0 ? shortNumber(half) : number(half, decimals));
  }
  return text;
}

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

/// What a difference may come from beside the configuration.
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
                               .arg(parts.join(QStringLiteral(" and ")));
}

QString seedsText(const store::VariantSample& sample) {
  QStringList seeds;
  for (const auto& [seed, value] : sample.values) seeds << QString::number(seed);
  return seeds.join(QLatin1Char(' '));
}

QString csvCell(double value) { return std::isfinite(value) ? csvNumber(value) : QString(); }

/// "$-1.27 \pm 0.17$" from the text of the screen.
QString mathText(QString text) {
  if (text == kNothing) return QStringLiteral("--");
  if (text == QLatin1String("not a number")) return QStringLiteral("n/a");
  text.replace(QChar(0x2212), QLatin1Char('-'));
  text.replace(QChar(0x2009), QStringLiteral("\\,"));
  text.replace(QLatin1Char(','), QStringLiteral("{,}"));
  text.replace(QStringLiteral("\u00b1"), QStringLiteral("\\pm"));
  return QLatin1Char('$') + text + QLatin1Char('$');
}

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

QString originLine(const AblationTable& table, const TableOrigin& origin) {
  return QObject::tr(
             "Vitrine: %1; database %2; runs %3; %4, %5; +- is half of the 95 %% "
             "interval over seeds (Student's t)%6")
      .arg(table.experiment, origin.database, origin.runs, metricList(table), table.value,
           table.leftOut.isEmpty() ? QString() : QStringLiteral("; ") + table.leftOut)
      .replace(QStringLiteral("%%"), QStringLiteral("%"))
      .replace(QLatin1Char('\n'), QLatin1Char(' '));
}

}  // namespace

QString AblationMetric::title() const {
  const QString unit = isPercent ? QStringLiteral("%") : QString::fromStdString(meaning.unit);
  const QString text = QString::fromStdString(store::metricTitle(name, meaning.title).title);
  return unit.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, unit);
}

QString meanText(const SampleStatistics& statistics, bool isPercent) {
  return withInterval(statistics.mean, statistics, isPercent, false);
}

QString differenceText(const SampleStatistics& statistics, bool isPercent) {
  return withInterval(statistics.mean, statistics, isPercent, true);
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
  return isBaseline || pairs == n ? QString::number(n)
                                  : QStringLiteral("%1, %2 paired").arg(n).arg(pairs);
}

QString valueChoiceText(store::ValueChoice choice) {
  switch (choice.value) {
    case store::CurveValue::Last:
      return QStringLiteral("last value");
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

AblationTable makeAblationTable(const CompareData& data, const CompareChoice& choice) {
  AblationTable table;
  table.experiment = QString::fromStdString(data.experiment);
  table.value = valueChoiceText(choice.value);
  for (const std::string& name : data.metrics) {
    const store::MetricMeaning& meaning = data.measured.meanings.at(name);
    table.metrics.push_back({name, meaning, meaning.unit == "fraction"});
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
  for (std::size_t i = 0; i < data.variants.size(); ++i) {
    AblationRow row;
    row.variant = i;
    row.label = data.labels[i];
    row.isBaseline = i == baseline;
    row.differs = row.isBaseline ? QString() : differsText(data, i, baseline);
    row.runs = QString::fromStdString(statesText(data.variants[i], data.runs));
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      AblationCell cell;
      cell.sample = row.isBaseline ? base[m] : sample(i, table.metrics[m]);
      if (!row.isBaseline) {
        cell.paired = pairedDifferences(cell.sample.values, base[m].values);
        cell.outcome = outcomeOf(cell.paired.statistics, table.metrics[m].meaning.direction);
      }
      row.cells.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  table.leftOut = leftOutSentence(table);
  table.mixed = mixedText(data, choice);
  return table;
}

TableOrigin originOf(const CompareData& data, const std::string& databaseFile) {
  TableOrigin origin;
  origin.database = QFileInfo(QString::fromStdString(databaseFile)).fileName();
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
      const SampleStatistics &s = cell.sample.statistics, &d = cell.paired.statistics;
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

QString escapeLatex(const QString& text) {
  QString out;
  for (const QChar c : text) {
    switch (c.unicode()) {
      case u'&':
      case u'%':
      case u'$':
      case u'#':
      case u'_':
      case u'{':
      case u'}':
        out += QLatin1Char('\\');
        out += c;
        break;
      case u'~':
        out += QStringLiteral("\\textasciitilde{}");
        break;
      case u'^':
        out += QStringLiteral("\\textasciicircum{}");
        break;
      case u'\\':
        out += QStringLiteral("\\textbackslash{}");
        break;
      case u'<':
        out += QStringLiteral("\\textless{}");
        break;
      case u'>':
        out += QStringLiteral("\\textgreater{}");
        break;
      case u'[':
      case u']':
        // After \\ a bracket would be an argument.
        out += QLatin1Char('{');
        out += c;
        out += QLatin1Char('}');
        break;
      case 0x2013:
        out += QStringLiteral("--");
        break;
      case 0x2009:
        out += QStringLiteral("\\,");
        break;
      case 0x2212:
        out += QStringLiteral("$-$");
        break;
      case 0x00b1:
        out += QStringLiteral("$\\pm$");
        break;
      case 0x00d7:
        out += QStringLiteral("$\\times$");
        break;
      case 0x203a:
        out += QStringLiteral("/");
        break;
      default:
        out += c.category() == QChar::Other_Control ? QChar(QLatin1Char(' ')) : c;
    }
  }
  return out;
}

QString toLatex(const AblationTable& table, const TableOrigin& origin) {
  QString text = QStringLiteral("% ") + originLine(table, origin) +
                 QStringLiteral("\n% needs \\usepackage{booktabs}\n\\begin{tabular}{ll");
  for (std::size_t i = 0; i < table.metrics.size(); ++i) text += QStringLiteral("rrr");
  text += QStringLiteral("}\n\\toprule\nVariant & What differs");
  for (const AblationMetric& metric : table.metrics) {
    text += QStringLiteral(" & %1 & $\\Delta$ paired & $n$").arg(escapeLatex(metric.title()));
  }
  text += QStringLiteral(" \\\\\n\\midrule\n");
  for (const AblationRow& row : table.rows) {
    text += escapeLatex(row.label) + QStringLiteral(" & ") +
            (row.isBaseline ? QStringLiteral("baseline") : escapeLatex(row.differs));
    for (std::size_t m = 0; m < row.cells.size(); ++m) {
      const AblationCell& cell = row.cells[m];
      const bool isPercent = table.metrics[m].isPercent;
      text += QStringLiteral(" & ") + mathText(meanText(cell.sample.statistics, isPercent)) +
              QStringLiteral(" & ") +
              (row.isBaseline ? QStringLiteral("--")
                              : mathText(differenceText(cell.paired.statistics, isPercent))) +
              QStringLiteral(" & ") + countText(cell, row.isBaseline);
    }
    text += QStringLiteral(" \\\\\n");
  }
  return text + QStringLiteral("\\bottomrule\n\\end{tabular}\n");
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
                     row.isBaseline ? QStringLiteral("baseline") : markdownText(row.differs));
    for (std::size_t m = 0; m < row.cells.size(); ++m) {
      const AblationCell& cell = row.cells[m];
      const bool isPercent = table.metrics[m].isPercent;
      QString difference = kNothing;
      if (!row.isBaseline) {
        difference = differenceText(cell.paired.statistics, isPercent);
        const QString word = QString::fromStdString(toString(cell.outcome));
        if (!word.isEmpty()) difference += QStringLiteral(", ") + word;
      }
      text += QStringLiteral(" %1 | %2 | %3 |")
                  .arg(meanText(cell.sample.statistics, isPercent), difference,
                       countText(cell, row.isBaseline));
    }
    text += QLatin1Char('\n');
  }
  return text + QStringLiteral("\n<!-- ") +
         originLine(table, origin).replace(QStringLiteral("--"), QStringLiteral("- -")) +
         QStringLiteral(" -->\n");
}

}  // namespace vitrine::ui

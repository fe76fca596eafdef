#include "ui/compare/latex_table.h"

#include <QObject>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

/// One column of numbers: a metric, or its paired difference.
struct LatexColumn {
  std::vector<ShownNumber> cells;  ///< per row
  int decimals = -1;
  Signed isSigned = Signed::No;
  std::vector<bool> isBold;  ///< per row
};

/// The rows that read as the best one does.
std::vector<bool> bestRows(const LatexColumn& column, Direction direction) {
  std::vector<bool> isBest(column.cells.size(), false);
  if (direction == Direction::None) return isBest;
  const ShownNumber* best = nullptr;
  for (const ShownNumber& cell : column.cells) {
    if (cell.count == 0 || !std::isfinite(cell.centre)) continue;
    if (best == nullptr || (direction == Direction::Lower) == (cell.centre < best->centre))
      best = &cell;
  }
  if (best == nullptr) return isBest;
  const auto written = [&](const ShownNumber& cell) {
    return store::metricNumber(cell.format, cell.centre, column.decimals);
  };
  for (std::size_t row = 0; row < column.cells.size(); ++row) {
    const ShownNumber& cell = column.cells[row];
    isBest[row] = cell.count > 0 && std::isfinite(cell.centre) && written(cell) == written(*best);
  }
  return isBest;
}

/// "$-1.27 \pm 0.17$" from the text of the screen; the mean alone is bold.
QString mathText(QString text, bool isBold) {
  if (text == QStringLiteral("\u2013")) return QStringLiteral("--");
  if (text == QObject::tr("not a number")) return QStringLiteral("n/a");
  text.replace(QChar(0x2212), QLatin1Char('-'));
  text.replace(QChar(0x2009), QStringLiteral("\\,"));
  text.replace(QLatin1Char(','), QStringLiteral("{,}"));
  text.replace(QStringLiteral("\u00b1"), QStringLiteral("\\pm"));
  if (isBold) {
    const qsizetype end = text.indexOf(QLatin1Char(' '));
    text =
        QStringLiteral("\\mathbf{%1}").arg(text.left(end)) + (end < 0 ? QString() : text.mid(end));
  }
  return QLatin1Char('$') + text + QLatin1Char('$');
}

QString differsOf(const AblationRow& row, LatexChoice::Differs form) {
  if (row.isBaseline) return QStringLiteral("baseline");
  return escapeLatex(form == LatexChoice::Differs::Short ? row.differsShort : row.differs);
}

LatexColumn valuesOf(const AblationTable& table, std::size_t metric, bool isBestBold) {
  LatexColumn column;
  const AblationMetric& one = table.metrics[metric];
  for (const AblationRow& row : table.rows)
    column.cells.push_back(shownNumber(table, row.cells[metric].sample, one.format));
  column.decimals = columnDecimals(column.cells, table.metrics[metric].format);
  column.isBold = bestRows(column, isBestBold ? one.meaning.direction : Direction::None);
  return column;
}

LatexColumn differencesOf(const AblationTable& table, std::size_t metric) {
  LatexColumn column{.isSigned = Signed::Yes};
  for (const AblationRow& row : table.rows) {
    const PairedSample none;
    const PairedSample& paired = row.isBaseline ? none : row.cells[metric].paired;
    column.cells.push_back(shownNumber(paired.statistics, table.metrics[metric].format));
  }
  column.decimals = columnDecimals(column.cells, table.metrics[metric].format);
  column.isBold.assign(table.rows.size(), false);
  return column;
}

QString cellOf(const LatexColumn& column, std::size_t row) {
  return mathText(numberText(column.cells[row], column.decimals, column.isSigned),
                  column.isBold[row]);
}

}  // namespace

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

QString toLatex(const AblationTable& table, const TableOrigin& origin, const LatexChoice& choice) {
  const bool hasDiffers = choice.differs != LatexChoice::Differs::None;
  QString shape = hasDiffers ? QStringLiteral("ll") : QStringLiteral("l");
  QString head = hasDiffers ? QStringLiteral("Variant & What differs") : QStringLiteral("Variant");
  std::vector<QString> lines;
  for (const AblationRow& row : table.rows) {
    lines.push_back(escapeLatex(row.label));
    if (hasDiffers) lines.back() += QStringLiteral(" & ") + differsOf(row, choice.differs);
  }
  for (std::size_t metric = 0; metric < table.metrics.size(); ++metric) {
    const AblationMetric& one = table.metrics[metric];
    if (std::find(choice.withoutMetrics.begin(), choice.withoutMetrics.end(), one.name) !=
        choice.withoutMetrics.end())
      continue;
    const LatexColumn values = valuesOf(table, metric, choice.isBestBold);
    const LatexColumn differences = differencesOf(table, metric);
    shape += QLatin1Char('r');
    head += QStringLiteral(" & ") + escapeLatex(one.title());
    if (choice.hasDifference) {
      shape += QLatin1Char('r');
      head += QStringLiteral(" & $\\Delta$ paired");
    }
    if (choice.hasCount) {
      shape += QLatin1Char('r');
      head += QStringLiteral(" & $n$");
    }
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      lines[row] += QStringLiteral(" & ") + cellOf(values, row);
      if (choice.hasDifference) lines[row] += QStringLiteral(" & ") + cellOf(differences, row);
      if (choice.hasCount)
        lines[row] += QStringLiteral(" & ") +
                      countText(table.rows[row].cells[metric], table.rows[row].isBaseline);
    }
  }
  QString text = QStringLiteral("% %1\n% needs \\usepackage{booktabs}\n\\begin{tabular}{%2}\n")
                     .arg(originLine(table, origin), shape) +
                 QStringLiteral("\\toprule\n") + head + QStringLiteral(" \\\\\n\\midrule\n");
  for (const QString& line : lines) text += line + QStringLiteral(" \\\\\n");
  return text + QStringLiteral("\\bottomrule\n\\end{tabular}\n");
}

}  // namespace vitrine::ui

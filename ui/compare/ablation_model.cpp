#include "ui/compare/ablation_model.h"

#include <QPainter>
#include <QPixmap>
#include <cmath>

#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/kit/fuzzy.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kBeforeMetrics = 2;
constexpr int kPerMetric = 3;

// The key of the curves below: with it they need no legend of their own.
QPixmap swatchOf(std::int64_t series) {
  const double scale = designScale();
  const QSizeF size(26, 12);
  constexpr double kFine = 2;  // a screen of any density
  QPixmap pixmap((size * scale * kFine).toSize());
  pixmap.setDevicePixelRatio(kFine);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(scale, scale);
  drawSeriesKey(painter, QRectF(QPointF(0, 0), size), series, currentTheme());
  return pixmap;
}

QColor outcomeColor(Outcome outcome) {
  if (outcome == Outcome::Better) return themeColors().ok;
  if (outcome == Outcome::Worse) return themeColors().bad;
  return themeColors().text;
}

QString sampleTip(const AblationCell& cell, bool isPercent) {
  QStringList lines;
  for (const auto& [seed, value] : cell.sample.values) {
    lines << QObject::tr("seed %1: %2  (run %3)")
                 .arg(seed)
                 .arg(std::isfinite(value) ? number(isPercent ? value * 100 : value, 4)
                                           : QObject::tr("not a number"))
                 .arg(cell.sample.runs.at(seed));
  }
  for (const store::LeftOutRun& run : cell.sample.leftOut) {
    lines << QObject::tr("seed %1: not counted, %2  (run %3)")
                 .arg(run.seed)
                 .arg(QString::fromStdString(run.reason))
                 .arg(run.run);
  }
  return lines.join(QLatin1Char('\n'));
}

QString pairsTip(const AblationCell& cell, bool isPercent) {
  if (cell.paired.keys.empty()) return QObject::tr("No seed has a value here and in the baseline.");
  QStringList lines;
  for (std::size_t i = 0; i < cell.paired.keys.size(); ++i) {
    const double value = cell.paired.differences[i];
    lines << QObject::tr("seed %1: %2")
                 .arg(cell.paired.keys[i])
                 .arg(std::isfinite(value) ? number(isPercent ? value * 100 : value, 4)
                                           : QObject::tr("not a number"));
  }
  if (cell.paired.keys.size() == 1)
    lines << QObject::tr("One common seed: there is no interval and no verdict.");
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

void AblationModel::setTable(AblationTable table, std::vector<std::int64_t> series) {
  const bool isSameShape =
      table.rows.size() == table_.rows.size() && table.metrics.size() == table_.metrics.size();
  if (!isSameShape) beginResetModel();
  table_ = std::move(table);
  series_ = std::move(series);
  if (!isSameShape) {
    endResetModel();
  } else {
    tellChanged();
  }
}

void AblationModel::setNarrow(bool isNarrow) {
  if (isNarrow == isNarrow_) return;
  isNarrow_ = isNarrow;
  tellChanged();
}

void AblationModel::tellChanged() {
  if (table_.rows.empty()) return;
  Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

AblationModel::Part AblationModel::partOf(int column) const {
  if (column < kBeforeMetrics) return column == 0 ? Part::Variant : Part::Differs;
  if (column >= columnCount() - 1) return Part::Runs;
  switch ((column - kBeforeMetrics) % kPerMetric) {
    case 0:
      return Part::Value;
    case 1:
      return Part::Difference;
    default:
      return Part::Count;
  }
}

int AblationModel::metricOf(int column) const {
  return column < kBeforeMetrics || column >= columnCount() - 1
             ? -1
             : (column - kBeforeMetrics) / kPerMetric;
}

int AblationModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int AblationModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid()
             ? 0
             : kBeforeMetrics + kPerMetric * static_cast<int>(table_.metrics.size()) + 1;
}

QString AblationModel::textOf(const AblationRow& row, int column) const {
  const Part part = partOf(column);
  if (part == Part::Variant) return row.label;
  if (part == Part::Differs) return row.isBaseline ? tr("baseline") : row.differsShort;
  if (part == Part::Runs) return row.runs;
  const auto metric = static_cast<std::size_t>(metricOf(column));
  const AblationCell& cell = row.cells[metric];
  const AblationMetric& one = table_.metrics[metric];
  if (part == Part::Value) return sampleText(table_, cell.sample, one);
  if (part == Part::Count) return countText(cell, row.isBaseline);
  if (row.isBaseline) return QStringLiteral("\u2013");
  QString text = differenceText(cell.paired.statistics, one);
  const QString word = QString::fromStdString(toString(cell.outcome));
  if (!word.isEmpty()) text += QStringLiteral("  ") + outcomeSign(cell.outcome);
  if (!word.isEmpty() && !isNarrow_) text += QLatin1Char(' ') + word;
  return text;
}

QString AblationModel::tipOf(const AblationRow& row, int column) const {
  const Part part = partOf(column);
  if (part == Part::Variant || part == Part::Differs)
    return row.differs.isEmpty() ? row.label : row.label + QLatin1Char('\n') + row.differs;
  if (part == Part::Runs) return row.runs;
  const auto metric = static_cast<std::size_t>(metricOf(column));
  const AblationCell& cell = row.cells[metric];
  const bool isPercent = table_.metrics[metric].format.isPercent;
  if (part != Part::Difference) return sampleTip(cell, isPercent);
  if (row.isBaseline) return tr("The others are compared with this variant.");
  const QString word = isNarrow_ ? QString::fromStdString(toString(cell.outcome)) : QString();
  const QString pairs = pairsTip(cell, isPercent);
  return word.isEmpty() ? pairs : word + QLatin1Char('\n') + pairs;
}

QVariant AblationModel::sortKeyOf(const AblationRow& row, int column) const {
  const Part part = partOf(column);
  if (part == Part::Variant) return row.label;
  if (part == Part::Differs) return row.differsShort;
  if (part == Part::Runs) return row.runs;
  const AblationCell& cell = row.cells[static_cast<std::size_t>(metricOf(column))];
  if (part == Part::Count) return static_cast<int>(cell.sample.values.size());
  const double value = part == Part::Value ? cell.sample.statistics.mean
                                           : (row.isBaseline ? 0.0 : cell.paired.statistics.mean);
  return std::isfinite(value) ? QVariant(value) : QVariant();
}

QVariant AblationModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const AblationRow& row = table_.rows[static_cast<std::size_t>(index.row())];
  const Part part = partOf(index.column());
  switch (role) {
    case Qt::DisplayRole:
      return textOf(row, index.column());
    case kSortRole:
      return sortKeyOf(row, index.column());
    case Qt::ToolTipRole:
      return tipOf(row, index.column());
    case Qt::DecorationRole:
      return part == Part::Variant
                 ? QVariant(swatchOf(series_[static_cast<std::size_t>(index.row())]))
                 : QVariant();
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignVCenter |
                      (part == Part::Variant || part == Part::Differs || part == Part::Runs
                           ? Qt::AlignLeft
                           : Qt::AlignRight));
    case Qt::FontRole: {
      if (part != Part::Variant || !row.isBaseline) return {};
      QFont font = bodyFont();
      font.setWeight(QFont::DemiBold);
      return font;
    }
    case Qt::ForegroundRole:
      if (part == Part::Differs || part == Part::Runs || part == Part::Count)
        return themeColors().muted;
      if (part == Part::Difference)
        return outcomeColor(row.cells[static_cast<std::size_t>(metricOf(index.column()))].outcome);
      return themeColors().text;
    default:
      return {};
  }
}

QString AblationModel::titleOf(int column) const {
  const QString heading =
      headerData(column, Qt::Horizontal, Qt::DisplayRole).toString().simplified();
  const Part part = partOf(column);
  if (table_.metrics.size() < 2 || (part != Part::Difference && part != Part::Count))
    return heading;
  const auto metric = static_cast<std::size_t>(metricOf(column));
  return tr("%1: %2").arg(heading, table_.metrics[metric].title());
}

QVariant AblationModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const Part part = partOf(section);
  const int metric = metricOf(section);
  const bool isText = part == Part::Variant || part == Part::Differs || part == Part::Runs;
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::AlignVCenter | (isText ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const bool isTip = role == Qt::ToolTipRole;
  switch (part) {
    case Part::Variant:
      return isTip ? tr("Runs that differ in their seed alone") : tr("Variant");
    case Part::Differs:
      return isTip ? tr("Configuration keys that differ from the baseline") : tr("What differs");
    case Part::Runs:
      return isTip ? tr("All runs of the variant, whether they are counted or not") : tr("Runs");
    case Part::Count:
      return isTip ? tr("Seeds that the mean is from, and pairs that the difference is "
                        "from where they are fewer; of one seed the newest run counts")
                   : QStringLiteral("n");
    case Part::Difference:
      return isTip ? tr("Mean over common seeds of this variant \u2212 %1 of the same "
                        "seed, \u00b1 half of its 95\u2009% interval (Student's t)")
                         .arg(table_.baselineLabel)
             : isNarrow_ ? tr("Paired\ndifference")
                         : tr("Paired difference");
    case Part::Value:
      break;
  }
  const AblationMetric& one = table_.metrics[static_cast<std::size_t>(metric)];
  if (!isTip) return one.title();
  QString tip = tr("The %1: %2 %3").arg(table_.value, nameOf(table_.centre), spreadText(table_));
  if (!one.meaning.definition.empty())
    tip += QLatin1Char('\n') + QString::fromStdString(one.meaning.definition);
  if (one.meaning.direction != Direction::None)
    tip += one.meaning.direction == Direction::Lower ? tr("\nlower is better")
                                                     : tr("\nhigher is better");
  return tip;
}

AblationOrder::AblationOrder(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(AblationModel::kSortRole);
  setDynamicSortFilter(true);
}

void AblationOrder::setWords(const QString& words) {
  words_ = words.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidateFilter();
}

bool AblationOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(AblationModel::kSortRole), b = right.data(AblationModel::kSortRole);
  if (!a.isValid() || !b.isValid()) {
    // Missing values come last in either direction.
    return a.isValid() == (sortOrder() == Qt::AscendingOrder) && a.isValid() != b.isValid();
  }
  if (a.userType() == QMetaType::QString)
    return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
  return a.toDouble() < b.toDouble();
}

bool AblationOrder::filterAcceptsRow(int row, const QModelIndex& parent) const {
  // The tool tip has every key that differs, the column as many as it has room for.
  QString text;
  for (const int column : {0, 1}) {
    const QModelIndex index = sourceModel()->index(row, column, parent);
    text += index.data().toString() + QLatin1Char(' ') + index.data(Qt::ToolTipRole).toString() +
            QLatin1Char(' ');
  }
  return holdsWords(text, words_);
}

}  // namespace vitrine::ui

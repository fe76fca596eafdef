#include "ui/sql/sql_result.h"

#include <QColor>
#include <QFontMetrics>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/cell_text.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/sql/sql_docs.h"
#include "ui/sql/sql_text.h"

namespace vitrine::ui {
namespace {

constexpr qsizetype kCellLength = 200;    // characters of a text that a cell shows
constexpr qsizetype kTipLength = 2'000;   // and a tool tip
constexpr std::size_t kLookedAt = 1'000;  // rows that decide on decimals and alignment

/// A place among all values: NULL first, then numbers, then text, then blobs, as SQLite sorts.
int sqlRank(const Json& value) {
  if (value.is_null()) return 0;
  if (value.is_number()) return 1;
  return value.is_string() ? 2 : 3;
}

bool sqlLess(const Json& a, const Json& b) {
  const int left = sqlRank(a), right = sqlRank(b);
  if (left != right) return left < right;
  switch (left) {
    case 1:
      if (a.is_number_integer() && b.is_number_integer())
        return a.get<std::int64_t>() < b.get<std::int64_t>();
      return a.get<double>() < b.get<double>();
    case 2:
      return a.get_ref<const std::string&>() < b.get_ref<const std::string&>();
    case 3:
      return blobBytes(a) < blobBytes(b);
    default:
      return false;
  }
}

QString bytesText(std::int64_t bytes) {
  if (bytes < 1'000) return QStringLiteral("%1\u202fB").arg(bytes);
  if (bytes < 1'000'000)
    return number(static_cast<double>(bytes) / 1e3, 1) + QStringLiteral("\u202fkB");
  return number(static_cast<double>(bytes) / 1e6, 1) + QStringLiteral("\u202fMB");
}

int resultDecimals(double value) {
  const QString text = shortNumber(value);
  const auto dot = text.indexOf(QLatin1Char('.'));
  return dot < 0 || text.contains(QLatin1Char('e')) ? 0 : static_cast<int>(text.size() - dot - 1);
}

/// With places where a long word without spaces, as JSON or a path, may continue in the next line.
QString breakable(const QString& text) {
  constexpr qsizetype kShort = 40;
  if (text.size() <= kShort) return text;
  QString out;
  out.reserve(text.size() * 5 / 4);
  for (const QChar c : text) {
    out += c;
    if (QStringLiteral(",;:/._-").contains(c)) out += QChar(0x200b);
  }
  return out;
}

std::vector<int> everyRow(const store::RunReader::Table& table) {
  std::vector<int> all(table.rows.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

template <typename Cell>
QString delimited(const store::RunReader::Table& table, const std::vector<int>& order,
                  SqlHeader header, QChar between, const Cell& cell) {
  QString text;
  if (header == SqlHeader::Names) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) text += between;
      text += cell(Json(table.columns[i]));
    }
    text += QLatin1Char('\n');
  }
  for (const int row : order) {
    const auto& values = table.rows[static_cast<std::size_t>(row)];
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text += between;
      text += cell(values[i]);
    }
    text += QLatin1Char('\n');
  }
  return text;
}

}  // namespace

std::int64_t blobBytes(const Json& value) {
  return stateInteger(value, "bytes", -1);
}

QString sqlPlain(const Json& value) {
  if (value.is_null()) return {};
  const std::int64_t bytes = blobBytes(value);
  return bytes < 0 ? QString::fromStdString(plainText(value))
                   : QObject::tr("[%1 bytes]").arg(bytes);
}

QString sqlTsv(const store::RunReader::Table& table, const std::vector<int>& order,
               SqlHeader header) {
  return delimited(table, order.empty() ? everyRow(table) : order, header, QLatin1Char('\t'),
                   [](const Json& value) {
                     // A cell must stay a cell.
                     return sqlPlain(value)
                         .replace(QLatin1Char('\t'), QLatin1Char(' '))
                         .replace(QLatin1Char('\n'), QLatin1Char(' '));
                   });
}

QString sqlCsv(const store::RunReader::Table& table, const std::vector<int>& order) {
  return delimited(table, order.empty() ? everyRow(table) : order, SqlHeader::Names,
                   QLatin1Char(','), [](const Json& value) { return csvText(sqlPlain(value)); });
}

QString sqlJsonLines(const store::RunReader::Table& table, const std::vector<int>& order) {
  QString text;
  for (const int row : order.empty() ? everyRow(table) : order) {
    Json line = Json::object();
    const auto& values = table.rows[static_cast<std::size_t>(row)];
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Two columns of one name must not become one.
      std::string name = table.columns[i];
      for (int n = 2; line.contains(name); ++n) name = table.columns[i] + "_" + std::to_string(n);
      line[name] = values[i];
    }
    text += QString::fromStdString(dumpJson(line)) + QLatin1Char('\n');
  }
  return text;
}

std::vector<int> sqlOrder(const store::RunReader::Table& table, int column,
                          Qt::SortOrder direction) {
  std::vector<int> order = everyRow(table);
  if (column < 0 || static_cast<std::size_t>(column) >= table.columns.size()) return order;
  const auto at = static_cast<std::size_t>(column);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Json& left = table.rows[static_cast<std::size_t>(a)][at];
    const Json& right = table.rows[static_cast<std::size_t>(b)][at];
    return direction == Qt::AscendingOrder ? sqlLess(left, right) : sqlLess(right, left);
  });
  return order;
}

void SqlResultModel::setTable(std::shared_ptr<const store::RunReader::Table> table,
                              const QString& statement) {
  beginResetModel();
  table_ = std::move(table);
  order_ = everyRow(*table_);
  columns_.assign(table_->columns.size(), {});
  runColumn_ = -1;
  int plainId = -1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const QString name = QString::fromStdString(table_->columns[i]);
    Column& column = columns_[i];
    column.isIdentifier = name == QLatin1String("id") || name.endsWith(QLatin1String("_id")) ||
                          name == QLatin1String("seed") || name == QLatin1String("run") ||
                          name == QLatin1String("runs");
    if (runColumn_ < 0 && name == QLatin1String("run_id")) runColumn_ = static_cast<int>(i);
    if (plainId < 0 && name == QLatin1String("id")) plainId = static_cast<int>(i);
    double largest = 0, smallest = 1e9;
    bool hasText = false, hasNumber = false;
    for (std::size_t row = 0; row < std::min(table_->rows.size(), kLookedAt); ++row) {
      const Json& value = table_->rows[row][i];
      hasText = hasText || value.is_string();
      hasNumber = hasNumber || value.is_number() || value.is_object();
      if (!value.is_number_float() || !std::isfinite(value.get<double>())) continue;
      const double size = std::abs(value.get<double>());
      column.decimals = std::max(column.decimals, resultDecimals(size));
      largest = std::max(largest, size);
      if (size > 0) smallest = std::min(smallest, size);
    }
    column.isNumeric = hasNumber && !hasText;
    // Numbers of very different sizes have no common decimals.
    if (largest > 1e6 || smallest < 1e-4 || largest > 1e5 * smallest) column.decimals = -1;
  }
  // `id` is a run's where the statement reads runs and nothing else that has ids.
  const bool isAboutRuns =
      sqlReads(statement, QStringLiteral("runs")) || sqlReads(statement, QStringLiteral("run"));
  const bool hasOtherIds = sqlReads(statement, QStringLiteral("artifacts")) ||
                           sqlReads(statement, QStringLiteral("generated_images")) ||
                           sqlReads(statement, QStringLiteral("generated_texts"));
  if (runColumn_ < 0 && plainId >= 0 && isAboutRuns && !hasOtherIds) runColumn_ = plainId;
  endResetModel();
}

const Json& SqlResultModel::value(const QModelIndex& index) const {
  static const Json nothing;
  if (!index.isValid()) return nothing;
  const auto row = static_cast<std::size_t>(order_[static_cast<std::size_t>(index.row())]);
  return table_->rows[row][static_cast<std::size_t>(index.column())];
}

std::int64_t SqlResultModel::runOf(int row) const {
  if (runColumn_ < 0 || row < 0 || row >= rowCount()) return 0;
  const Json& id = value(index(row, runColumn_));
  return id.is_number_integer() ? id.get<std::int64_t>() : 0;
}

bool SqlResultModel::isNumeric(int column) const {
  return column >= 0 && column < columnCount() &&
         columns_[static_cast<std::size_t>(column)].isNumeric;
}

int SqlResultModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int SqlResultModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_->columns.size());
}

QString SqlResultModel::shown(const Json& value, const Column& column) const {
  if (value.is_null()) return QStringLiteral("\u2013");
  if (value.is_string()) {
    QString text = QString::fromStdString(
        value.get_ref<const std::string&>().substr(0, static_cast<std::size_t>(kCellLength) * 4));
    text.replace(QLatin1Char('\n'), QChar(0x23ce)).replace(QLatin1Char('\t'), QLatin1Char(' '));
    if (text.size() > kCellLength) text = text.left(kCellLength) + QChar(0x2026);
    return breakable(text);
  }
  if (value.is_number_integer()) {
    const auto whole = value.get<std::int64_t>();
    return column.isIdentifier ? QString::number(whole) : count(whole);
  }
  if (value.is_number()) {
    const double real = value.get<double>();
    if (std::isinf(real))
      return real > 0 ? QStringLiteral("\u221e") : QStringLiteral("\u2212\u221e");
    return column.decimals < 0 ? shortNumber(real) : number(real, column.decimals);
  }
  const std::int64_t bytes = blobBytes(value);
  return bytes < 0 ? QString::fromStdString(value.dump()) : bytesText(bytes);
}

QVariant SqlResultModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Json& cell = value(index);
  const Column& column = columns_[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      return shown(cell, column);
    case Qt::ToolTipRole: {
      const std::int64_t bytes = blobBytes(cell);
      if (bytes >= 0) return tr("%1 bytes").arg(count(bytes));
      if (cell.is_null()) return tr("NULL: absent");
      const QString text = sqlPlain(cell);
      return text.size() > kTipLength ? text.left(kTipLength) + QChar(0x2026) : text;
    }
    case Qt::TextAlignmentRole:
      return static_cast<int>(
          (column.isNumeric && index.column() != runColumn_ ? Qt::AlignRight : Qt::AlignLeft) |
          Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (cell.is_null() || cell.is_object()) return themeColors().muted;
      return {};
    case Qt::DecorationRole:
      if (index.column() == runColumn_ && cell.is_number_integer() && cell.get<std::int64_t>() > 0)
        return seriesColor(seriesOf(cell.get<std::int64_t>()));
      return {};
    default:
      return {};
  }
}

QVariant SqlResultModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (section < 0) return {};
  if (orientation == Qt::Vertical)
    return role == Qt::DisplayRole ? QVariant(count(section + 1)) : QVariant();
  if (section >= columnCount()) return {};
  const QString name = QString::fromStdString(table_->columns[static_cast<std::size_t>(section)]);
  switch (role) {
    case Qt::DisplayRole:
      return name;
    case Qt::TextAlignmentRole:
      return static_cast<int>(
          (isNumeric(section) && section != runColumn_ ? Qt::AlignRight : Qt::AlignLeft) |
          Qt::AlignVCenter);
    case Qt::ToolTipRole: {
      QStringList meanings;
      for (const SqlViewDoc& view : sqlViewDocs()) {
        for (const SqlColumnDoc& column : view.columns) {
          if (column.name == name && !meanings.contains(column.meaning)) meanings << column.meaning;
        }
      }
      return meanings.size() == 1 ? name + QLatin1Char('\n') + meanings.front() : name;
    }
    default:
      return {};
  }
}

void SqlResultModel::setOrder(std::vector<int> order) {
  if (order.size() != order_.size()) return;
  // Only rows move: the selection is kept by row.
  Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  QModelIndexList after;
  after.reserve(before.size());
  if (!before.isEmpty()) {
    std::vector<int> placeOf(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
      placeOf[static_cast<std::size_t>(order[place])] = static_cast<int>(place);
    for (const QModelIndex& one : before) {
      const int row = order_[static_cast<std::size_t>(one.row())];
      after << createIndex(placeOf[static_cast<std::size_t>(row)], one.column());
    }
  }
  order_ = std::move(order);
  changePersistentIndexList(before, after);
  Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

void SqlResultModel::restyle() {
  if (rowCount() > 0)
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1),
                       {Qt::ForegroundRole, Qt::DecorationRole});
}

}  // namespace vitrine::ui

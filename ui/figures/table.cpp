// Tables, and the plain description of artifacts that have no picture.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

constexpr double kRowHeight = 28;

/// Decimals that four significant digits of this number need.
int decimalsOf(const Json& cell) {
  const QString text = shortNumber(cell.get<double>());
  const qsizetype dot = text.indexOf(QLatin1Char('.'));
  return dot < 0 || text.contains(QLatin1Char('e')) ? 0 : static_cast<int>(text.size() - dot - 1);
}

/// A cell as people read it; \param decimals  of its column, -1: four significant digits
QString cellText(const Json& cell, int decimals = -1) {
  if (cell.is_null()) return QStringLiteral("\u2013");
  if (cell.is_string()) return QString::fromStdString(cell.get<std::string>());
  if (cell.is_number_integer()) return count(cell.get<std::int64_t>());
  if (cell.is_number()) {
    const double value = cell.get<double>();
    return decimals < 0 || !std::isfinite(value) ? shortNumber(value) : number(value, decimals);
  }
  return QString::fromStdString(cell.dump());
}

class TableFigure final : public Figure {
 public:
  TableFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    const Json table = Json::parse(text, nullptr, false);
    if (!table.is_object() || !table.contains("columns") || !table.contains("rows") ||
        !table["columns"].is_array() || !table["rows"].is_array()) {
      throw FileError("a table is JSON with the keys columns and rows");
    }
    for (const Json& column : table["columns"]) columns_ << cellText(column);
    for (const Json& row : table["rows"]) {
      if (!row.is_array() || row.size() != static_cast<std::size_t>(columns_.size())) {
        throw FileError("every row of a table has as many cells as there are columns");
      }
      rows_.push_back(row);
    }
    decimals_.assign(static_cast<std::size_t>(columns_.size()), -1);
    for (std::size_t column = 0; column < decimals_.size(); ++column) {
      double largest = 0, smallest = 1e9;
      for (const Json& row : rows_) {
        if (!row[column].is_number_float() || !std::isfinite(row[column].get<double>())) continue;
        decimals_[column] = std::max(decimals_[column], decimalsOf(row[column]));
        const double size = std::abs(row[column].get<double>());
        largest = std::max(largest, size);
        if (size > 0) smallest = std::min(smallest, size);
      }
      // Numbers of very different sizes have no common decimals.
      if (largest > 1e6 || smallest < 1e-4) decimals_[column] = -1;
    }
  }

  QSize sizeHint() const override {
    return {640, static_cast<int>(52 + kRowHeight * static_cast<double>(std::min<std::size_t>(
                                                        rows_.size() + 1, 24)))};
  }
  QString summary() const override {
    return QStringLiteral("Table of %1 rows: %2")
        .arg(rows_.size())
        .arg(columns_.join(QStringLiteral(", ")));
  }
  QString csv() const override {
    QStringList header;
    for (const QString& column : columns_) header << csvText(column);
    QString text = header.join(QLatin1Char(',')) + QLatin1Char('\n');
    for (const Json& row : rows_) {
      QStringList cells;
      for (const Json& cell : row) {
        if (cell.is_null()) {
          cells << QString();
        } else if (cell.is_number_float()) {
          cells << csvNumber(cell.get<double>());
        } else {
          cells << csvText(
              QString::fromStdString(cell.is_string() ? cell.get<std::string>() : cell.dump()));
        }
      }
      text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return text;
  }

 private:
  void draw(QPainter& painter, const QRectF& area) override {
    const QString title = metaText(meta_, "title");
    const QRectF body = drawHeader(painter, area, title.isEmpty() ? QStringLiteral("Table") : title,
                                   QStringLiteral("%1 rows").arg(rows_.size()));
    const QFont font = inPixels(bodyFont());
    const QFontMetricsF metrics(font);
    const auto total = static_cast<std::size_t>(columns_.size());
    std::vector<double> widths(total, 0);
    std::vector<bool> isNumber(total, !rows_.empty());
    double sum = 0;
    for (std::size_t column = 0; column < total; ++column) {
      widths[column] = metrics.horizontalAdvance(columns_[static_cast<qsizetype>(column)]) + 24;
      for (const Json& row : rows_) {
        widths[column] =
            std::max(widths[column],
                     metrics.horizontalAdvance(cellText(row[column], decimals_[column])) + 24);
        if (!row[column].is_number() && !row[column].is_null()) isNumber[column] = false;
      }
      sum += widths[column];
    }
    if (sum > body.width()) {
      for (double& width : widths) width *= body.width() / sum;
    }
    const int fit = std::max(0, static_cast<int>(body.height() / kRowHeight) - 1);
    int shown = static_cast<int>(rows_.size());
    if (shown > fit) shown = std::max(0, fit - 1);
    painter.setFont(font);
    for (int line = -1; line < shown; ++line) {
      double x = body.left();
      const double y = body.top() + (line + 1) * kRowHeight;
      for (std::size_t column = 0; column < total; ++column) {
        const QString text =
            line < 0 ? columns_[static_cast<qsizetype>(column)]
                     : cellText(rows_[static_cast<std::size_t>(line)][column], decimals_[column]);
        painter.setPen(line < 0 ? tokens().muted : tokens().text);
        drawLine(painter, QRectF(x + 8, y, widths[column] - 16, kRowHeight),
                 (isNumber[column] ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, text);
        if (line >= 0) {
          const QString tip =
              columns_[static_cast<qsizetype>(column)] + QStringLiteral(": ") + text;
          addRegion(QRectF(x, y, widths[column], kRowHeight),
                    [tip](const QPointF&) { return tip; });
        }
        x += widths[column];
      }
      painter.setPen(QPen(line < 0 ? tokens().line : tokens().grid, 1));
      painter.drawLine(QPointF(body.left(), y + kRowHeight - 0.5),
                       QPointF(x, y + kRowHeight - 0.5));
    }
    if (shown < static_cast<int>(rows_.size())) {
      painter.setPen(tokens().muted);
      drawLine(painter,
               QRectF(body.left() + 8, body.top() + (shown + 1) * kRowHeight, body.width() - 16,
                      kRowHeight),
               Qt::AlignLeft | Qt::AlignVCenter,
               QStringLiteral("%1 more rows: enlarge the figure or export CSV")
                   .arg(static_cast<int>(rows_.size()) - shown));
    }
  }

  Json meta_;
  QStringList columns_;
  std::vector<Json> rows_;
  std::vector<int> decimals_;  ///< per column
};

class MetaFigure final : public Figure {
 public:
  MetaFigure(QString sentence, QString problem, const Json& meta, FigureStyle style)
      : Figure(std::move(style)),
        sentence_(std::move(sentence)),
        problem_(std::move(problem)),
        text_(QString::fromStdString(meta.dump(2, ' ', false, Json::error_handler_t::replace))) {}

  QString summary() const override { return sentence_; }
  QString problem() const override { return problem_; }
  QString csv() const override {
    return QStringLiteral("meta\n") + csvText(text_) + QLatin1Char('\n');
  }

 private:
  void draw(QPainter& painter, const QRectF& area) override {
    painter.setFont(inPixels(bodyFont()));
    painter.setPen(problem_.isEmpty() ? tokens().text : tokens().bad);
    QRectF used;
    painter.drawText(area, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, sentence_, &used);
    painter.setFont(inPixels(monoFont()));
    painter.setPen(tokens().muted);
    painter.drawText(area.adjusted(0, used.height() + 12, 0, 0),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWrapAnywhere, text_);
    addRegion(area, [this](const QPointF&) { return sentence_; });
  }

  QString sentence_, problem_, text_;
};

}  // namespace

std::unique_ptr<Figure> makeTable(const Json& meta, std::vector<std::byte> data,
                                  FigureStyle style) {
  return std::make_unique<TableFigure>(meta, data, std::move(style));
}

std::unique_ptr<Figure> makeMetaFigure(const QString& sentence, const QString& problem,
                                       const Json& meta, FigureStyle style) {
  return std::make_unique<MetaFigure>(sentence, problem, meta, std::move(style));
}

}  // namespace vitrine::ui

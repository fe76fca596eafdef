// Tables, and the plain description of artifacts that have no picture.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

constexpr double kRowHeight = 28;
constexpr double kCellRoom = 16;    // beside the text of a cell
constexpr double kAround = 2 * 12;  // margin of a figure
constexpr double kHeader = 28;
constexpr double kWideColumn = 260;
constexpr int kMostCellLines = 6;
constexpr std::size_t kMostWhole = 32;  // rows that a picture of its own size has

/// Decimals that four significant digits of this number need.
int decimalsOf(const Json& cell) {
  const QString text = shortNumber(cell.get<double>());
  const qsizetype dot = text.indexOf(QLatin1Char('.'));
  return dot < 0 || text.contains(QLatin1Char('e')) ? 0 : static_cast<int>(text.size() - dot - 1);
}

// Besides what every kind has, the `meta` of a table may say `about` (right of the title), and name
// cells as [row, column] from 0: `titles` and `notes` (over the whole row, bold or muted),
// `tinted`, `ok`, `bad`; `right`
// ([0, column]) sets a column to the right.

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
    double width = kAround;
    // A long text is worth several lines, not a wide picture.
    for (const double column : columnWidths(QFontMetricsF(bodyLetters())))
      width += std::min(column, kWideColumn);
    width = std::clamp(width, 320.0, 1600.0);
    return QSizeF(width, std::max(leastHeight(width), 160.0)).toSize();
  }
  double leastWidth() const override { return sizeHint().width(); }
  double leastHeight(double width) const override {
    const QFontMetricsF metrics(bodyLetters());
    const std::vector<double> widths = fitted(metrics, width - kAround);
    double height = kAround + kHeader + heightOf(std::nullopt, widths, metrics);
    for (std::size_t row = 0; row < std::min(rows_.size(), kMostWhole); ++row)
      height += heightOf(row, widths, metrics);
    return rows_.size() > kMostWhole ? height + kRowHeight : height;
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
  [[nodiscard]] std::vector<double> columnWidths(const QFontMetricsF& metrics) const {
    std::vector<double> widths;
    for (qsizetype column = 0; column < columns_.size(); ++column) {
      const auto index = static_cast<std::size_t>(column);
      double widest = metrics.horizontalAdvance(columns_[column]);
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (column == 0 && (isIn("titles", row, 0) || isIn("notes", row, 0))) continue;
        const QString text = cellText(rows_[row][index], decimals_[index]);
        widest = std::max(widest, metrics.horizontalAdvance(text));
      }
      widths.push_back(widest + kCellRoom + 8);
    }
    return widths;
  }

  /// Widths that fit into `room`: the widest columns give way, their texts go on in more lines; a
  /// column is no narrower than its longest word, where there is room for all of these.
  [[nodiscard]] std::vector<double> fitted(const QFontMetricsF& metrics, double room) const {
    std::vector<double> widths = columnWidths(metrics);
    double sum = 0;
    for (const double width : widths) sum += width;
    if (sum <= room || widths.empty()) return widths;
    std::vector<double> words(widths.size(), 0);
    double least = 0;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const auto take = [&](const QString& text) {
        for (const QString& word : text.split(QLatin1Char(' ')))
          words[column] = std::max(words[column], metrics.horizontalAdvance(word) + kCellRoom + 2);
      };
      take(columns_[static_cast<qsizetype>(column)]);
      for (std::size_t row = 0; row < std::min(rows_.size(), kMostWhole); ++row) {
        if (!isIn("titles", row, 0) && !isIn("notes", row, 0))
          take(cellText(rows_[row][column], decimals_[column]));
      }
      words[column] = std::min(words[column], widths[column]);
      least += words[column];
    }
    if (least > room) words.assign(words.size(), 0);
    double low = 0, high = room;
    const auto at = [&](double most, std::size_t column) {
      return std::max(std::min(widths[column], most), words[column]);
    };
    for (int step = 0; step < 40; ++step) {
      const double most = (low + high) / 2;
      double all = 0;
      for (std::size_t column = 0; column < widths.size(); ++column) all += at(most, column);
      (all > room ? high : low) = most;
    }
    for (std::size_t column = 0; column < widths.size(); ++column) widths[column] = at(low, column);
    return widths;
  }

  /// How a text breaks in a cell of this width: between words, or anywhere where one is too long.
  static int wrapOf(const QFontMetricsF& metrics, const QString& text, double width) {
    for (const QString& word : text.split(QLatin1Char(' '))) {
      if (metrics.horizontalAdvance(word) > width) return Qt::TextWrapAnywhere;
    }
    return Qt::TextWordWrap;
  }

  [[nodiscard]] static double textHeight(const QFontMetricsF& metrics, const QString& text,
                                         double room) {
    if (metrics.horizontalAdvance(text) <= room + 1) return kRowHeight;
    const QRectF needed =
        metrics.boundingRect(QRectF(0, 0, room, 1e4), wrapOf(metrics, text, room), text);
    return std::max(kRowHeight, std::min(needed.height(), kMostCellLines * metrics.height()) + 10);
  }

  /// Of a row; the header where there is none.
  [[nodiscard]] double heightOf(std::optional<std::size_t> row, const std::vector<double>& widths,
                                const QFontMetricsF& metrics) const {
    if (row && isIn("notes", *row, 0)) {
      double room = -kCellRoom;
      for (const double width : widths) room += width;
      return textHeight(metrics, cellText(rows_[*row][0]), room);
    }
    double height = kRowHeight;
    if (row && isIn("titles", *row, 0)) return height;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const QString text = row ? cellText(rows_[*row][column], decimals_[column])
                               : columns_[static_cast<qsizetype>(column)];
      height = std::max(height, textHeight(metrics, text, widths[column] - kCellRoom));
    }
    return height;
  }

  [[nodiscard]] bool isIn(const char* list, std::size_t row, std::size_t column) const {
    const auto found = meta_.find(list);
    if (!meta_.is_object() || found == meta_.end() || !found->is_array()) return false;
    return std::find(found->begin(), found->end(), Json::array({row, column})) != found->end();
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QString title = metaText(meta_, "title");
    QString about = metaText(meta_, "about");
    if (about.isEmpty()) about = QStringLiteral("%1 rows").arg(rows_.size());
    const QRectF body =
        drawHeader(painter, area, title.isEmpty() ? QStringLiteral("Table") : title, about);
    const QFont font = bodyLetters();
    QFont strong = font;
    strong.setWeight(QFont::DemiBold);
    const QFontMetricsF metrics(font);
    const auto total = static_cast<std::size_t>(columns_.size());
    const std::vector<double> widths = fitted(metrics, body.width());
    std::vector<bool> isRight(total, !rows_.empty());
    for (std::size_t column = 0; column < total; ++column) {
      for (const Json& row : rows_) {
        if (!row[column].is_number() && !row[column].is_null()) isRight[column] = false;
      }
      if (isIn("right", 0, column)) isRight[column] = true;
    }
    double y = body.top();
    double right = body.left();
    for (const double width : widths) right += width;
    std::size_t shown = 0;
    for (std::size_t line = 0; line <= rows_.size(); ++line) {
      const bool isHead = line == 0;
      const double height =
          heightOf(isHead ? std::nullopt : std::optional(line - 1), widths, metrics);
      // What is left out is said in one line more.
      const double after = line == rows_.size() ? 0 : kRowHeight;
      if (!isHead && y + height + after > body.bottom() + 0.5) break;
      if (!isHead) shown = line;
      double x = body.left();
      const bool isTitle = !isHead && isIn("titles", line - 1, 0);
      const bool isNote = !isHead && isIn("notes", line - 1, 0);
      painter.setFont(isTitle ? strong : font);
      for (std::size_t column = 0; column < total; ++column) {
        const QString text = isHead ? columns_[static_cast<qsizetype>(column)]
                                    : cellText(rows_[line - 1][column], decimals_[column]);
        const QRectF cell(x, y, widths[column], height);
        if (!isHead && isIn("tinted", line - 1, column))
          painter.fillRect(cell.adjusted(0, 0, 0, -1), tokens().selection);
        painter.setPen(isHead ? tokens().muted : tokens().text);
        if (!isHead && isIn("ok", line - 1, column)) painter.setPen(tokens().ok);
        if (!isHead && isIn("bad", line - 1, column)) painter.setPen(tokens().bad);
        const QRectF inner = cell.adjusted(kCellRoom / 2, 0, -kCellRoom / 2, 0);
        const int flags = (isRight[column] ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter;
        QRectF place = inner;
        if (isTitle || isNote) place.setRight(right - kCellRoom / 2);
        if (isNote) painter.setPen(tokens().muted);
        if ((isTitle || isNote) && column > 0) {
          // The first cell has the whole row.
        } else if (isTitle || metrics.horizontalAdvance(text) <= place.width() + 1) {
          drawLine(painter, place, flags, text);
        } else {
          // What is longer than a cell may be high is cut at its end, not at both.
          const int wrap = wrapOf(metrics, text, place.width());
          const bool isCut =
              metrics.boundingRect(QRectF(0, 0, place.width(), 1e4), wrap, text).height() >
              height - 8;
          painter.save();
          if (isCut) painter.setClipRect(place.adjusted(0, 5, 0, -5), Qt::IntersectClip);
          painter.drawText(isCut ? place.adjusted(0, 5, 0, 0) : place,
                           (isCut ? Qt::AlignLeft | Qt::AlignTop : flags) | wrap, text);
          painter.restore();
        }
        if (!isHead) {
          const QString tip =
              columns_[static_cast<qsizetype>(column)] + QStringLiteral(": ") + text;
          addRegion(cell, [tip](const QPointF&) { return tip; });
        }
        x += widths[column];
      }
      y += height;
      painter.setPen(QPen(isHead ? tokens().line : tokens().grid, 1));
      painter.drawLine(QPointF(body.left(), y - 0.5), QPointF(right, y - 0.5));
    }
    if (shown < rows_.size()) {
      painter.setPen(tokens().muted);
      painter.setFont(font);
      drawLine(painter,
               QRectF(body.left() + kCellRoom / 2, y, body.width() - kCellRoom, kRowHeight),
               Qt::AlignLeft | Qt::AlignVCenter,
               QStringLiteral("%1 more rows: enlarge the figure or export CSV")
                   .arg(rows_.size() - shown));
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
    painter.setFont(bodyLetters());
    painter.setPen(problem_.isEmpty() ? tokens().text : tokens().bad);
    QRectF used;
    painter.drawText(area, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, sentence_, &used);
    painter.setFont(monoLetters());
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

// Tables, and the plain description of artifacts that have no picture.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include "core/artifact/artifact.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "ui/figures/cell_text.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"
#include "ui/figures/paper.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

// In pixels of letters of full size.
constexpr double kRowHeight = 28;
constexpr double kCellRoom = 16;  // next to the text of a cell
constexpr double kWideColumn = 260;
constexpr int kMostCellLines = 6, kMostOnPaper = 12;
constexpr std::size_t kLargestTable = std::size_t{32}
                                      << 20;  // bytes; read, it takes many times that
constexpr qsizetype kMostMeta = 20'000;       // letters of a description that are laid out
constexpr std::size_t kMostWhole = 32;        // rows that a picture of its own size has

/// Decimals that four significant digits of this number need.
int decimalsOf(const Json& cell) {
  const QString text = shortNumber(cell.get<double>());
  const qsizetype dot = text.indexOf(QLatin1Char('.'));
  return dot < 0 || text.contains(QLatin1Char('e')) ? 0 : static_cast<int>(text.size() - dot - 1);
}

// Besides what every kind has, the `meta` of a table may say `about` (right of the title). It may
// name cells as [row, column] from 0: `titles` and `notes` (over the whole row, bold or muted),
// `tinted`, `ok`, `bad`. `right` ([0, column]) sets a column to the right.

/// A cell as people read it; \param decimals  of its column, -1: four significant digits
QString cellText(const Json& cell, int decimals = -1) {
  if (cell.is_null()) return QStringLiteral("\u2013");
  if (cell.is_number_integer()) return count(cell.get<std::int64_t>());
  if (cell.is_number()) {
    const double value = cell.get<double>();
    return decimals < 0 || !std::isfinite(value) ? shortNumber(value) : number(value, decimals);
  }
  return jsonText(cell);
}

class TableFigure final : public Figure {
 public:
  TableFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    if (data.size() > kLargestTable) {
      throw FileError("it has " + formatCount(data.size()) +
                      " bytes, and at most " + formatCount(kLargestTable) + " can be drawn");
    }
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    const Json table = readJson(text);
    if (!stateMember(table, "columns").is_array() || !stateMember(table, "rows").is_array())
      throw FileError("a table is JSON with the keys columns and rows");
    for (const Json& column : table["columns"]) columns_ << cellText(column);
    for (const Json& row : table["rows"]) {
      if (!row.is_array() || row.size() != static_cast<std::size_t>(columns_.size()))
        throw FileError("every row of a table has as many cells as there are columns");
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
    for (const double column : columnWidths()) width += std::min(column, kWideColumn);
    width = std::clamp(width, 320.0, 1600.0);
    return QSizeF(width, std::max(leastHeight(width), 160.0)).toSize();
  }
  double leastWidth() const override { return sizeHint().width(); }
  double leastHeight(double width) const override {
    const Layout layout = layoutIn(width - kAround);
    double height = heightOf(std::nullopt, layout);
    for (std::size_t row = 0; row < std::min(rows_.size(), kMostWhole); ++row)
      height += heightOf(row, layout);
    if (rows_.size() > kMostWhole) height += kRowHeight;
    return kAround + headerHeight(width - kAround, title(), about()) + layout.scale * height;
  }
  double fittingHeight(double width) const override { return leastHeight(width); }
  bool breaksWords(double width) const override { return layoutIn(width - kAround).isBroken; }
  QString summary() const override {
    return QObject::tr("Table of %1 rows: %2")
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
          cells << csvText(jsonText(cell));
        }
      }
      text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return text;
  }

 private:
  static constexpr double kAround = 2 * kMargin;
  const QFontMetricsF metrics_{bodyLetters()};

  /// How the cells fit into a width: all of them are painted smaller by `scale`, and everything
  /// else here is in the pixels before that.
  struct Layout {
    double scale = 1;
    std::vector<double> widths;  ///< of the columns
    bool isBroken = false;       ///< inside of words
  };

  [[nodiscard]] QString title() const {
    const QString own = metaText(meta_, "title");
    return own.isEmpty() ? QObject::tr("Table") : own;
  }
  [[nodiscard]] QString about() const {
    const QString own = metaText(meta_, "about");
    return own.isEmpty() ? QObject::tr("%1 rows").arg(rows_.size()) : own;
  }

  /// Of a row; the header where there is none.
  [[nodiscard]] QString textOf(std::optional<std::size_t> row, std::size_t column) const {
    return row ? cellText(rows_[*row][column], decimals_[column])
               : columns_[static_cast<qsizetype>(column)];
  }
  [[nodiscard]] bool isWholeRow(std::size_t row) const {
    return isIn("titles", row, 0) || isIn("notes", row, 0);
  }

  [[nodiscard]] std::vector<double> columnWidths() const {
    std::vector<double> widths;
    for (std::size_t column = 0; column < decimals_.size(); ++column) {
      double widest = metrics_.horizontalAdvance(textOf(std::nullopt, column));
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (column == 0 && isWholeRow(row)) continue;
        widest = std::max(widest, metrics_.horizontalAdvance(textOf(row, column)));
      }
      widths.push_back(widest + kCellRoom + 8);
    }
    return widths;
  }

  /// The widths of columns no narrower than their longest piece; a heading always may continue
  /// after a sign.
  [[nodiscard]] std::vector<double> pieceWidths(CellPiece piece) const {
    std::vector<double> widths;
    for (std::size_t column = 0; column < decimals_.size(); ++column) {
      const CellPiece ofHead = piece == CellPiece::Word ? CellPiece::Part : piece;
      double longest = longestPiece(metrics_, textOf(std::nullopt, column), ofHead);
      for (std::size_t row = 0; row < std::min(rows_.size(), kMostWhole); ++row) {
        if (!isWholeRow(row))
          longest = std::max(longest, longestPiece(metrics_, textOf(row, column), piece));
      }
      widths.push_back(longest + kCellRoom + 2);
    }
    return widths;
  }

  /// In this order: texts continue in more lines, letters become smaller, words are broken after a
  /// sign, then anywhere, and numbers last.
  [[nodiscard]] Layout layoutIn(double room) const {
    constexpr double kStep = 0.05, kLeastOnScreen = 11.0 / 13;
    const double full = bodyLetters().pixelSize() * style().pointsPerPixel;  // points
    const double least =
        style().isOnPaper() ? std::min(1.0, FigurePaper::kLeastPoints / full) : kLeastOnScreen;
    Layout layout{.widths = columnWidths()};
    if (layout.widths.empty() || sumOf(layout.widths) <= room) return layout;
    std::vector<double> words = pieceWidths(CellPiece::Word);
    while (sumOf(words) > room / layout.scale && layout.scale > least)
      layout.scale = std::max(layout.scale - kStep, least);
    const double inside = room / layout.scale;
    if (sumOf(words) > inside) {
      words = pieceWidths(CellPiece::Part);
      layout.isBroken = sumOf(words) > inside;
      if (layout.isBroken) words = pieceWidths(CellPiece::Number);
      if (sumOf(words) > inside) words.assign(words.size(), 0);
    }
    layout.widths = fitted(std::move(layout.widths), words, inside);
    return layout;
  }

  [[nodiscard]] static double sumOf(const std::vector<double>& widths) {
    return std::accumulate(widths.begin(), widths.end(), 0.0);
  }

  /// Widths that fit into `room`: the widest columns give way, but none below its `least`.
  [[nodiscard]] static std::vector<double> fitted(std::vector<double> widths,
                                                  const std::vector<double>& least, double room) {
    if (sumOf(widths) <= room) return widths;
    double low = 0, high = room;
    const auto at = [&](double most, std::size_t column) {
      return std::min(std::max(most, least[column]), widths[column]);
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

  /// On paper nothing can be enlarged or pointed at.
  [[nodiscard]] int mostLines() const {
    return style().isOnPaper() ? kMostOnPaper : kMostCellLines;
  }

  [[nodiscard]] double textHeight(const QString& text, double room) const {
    if (metrics_.horizontalAdvance(text) <= room + 1) return kRowHeight;
    const auto lines = std::min<qsizetype>(cellLines(metrics_, text, room).size(), mostLines());
    return std::max(kRowHeight, static_cast<double>(lines) * metrics_.height() + 10);
  }

  /// Of a row; the header where there is none.
  [[nodiscard]] double heightOf(std::optional<std::size_t> row, const Layout& layout) const {
    if (row && isIn("notes", *row, 0))
      return textHeight(cellText(rows_[*row][0]), sumOf(layout.widths) - kCellRoom);
    double height = kRowHeight;
    if (row && isIn("titles", *row, 0)) return height;
    for (std::size_t column = 0; column < layout.widths.size(); ++column)
      height = std::max(height, textHeight(textOf(row, column), layout.widths[column] - kCellRoom));
    return height;
  }

  [[nodiscard]] bool isIn(const char* list, std::size_t row, std::size_t column) const {
    const Json& cells = stateList(meta_, list);
    return std::find(cells.begin(), cells.end(), Json::array({row, column})) != cells.end();
  }

  [[nodiscard]] std::vector<bool> rightColumns() const {
    std::vector<bool> isRight(decimals_.size(), !rows_.empty());
    for (std::size_t column = 0; column < isRight.size(); ++column) {
      for (const Json& row : rows_) {
        if (!row[column].is_number() && !row[column].is_null()) isRight[column] = false;
      }
      if (isIn("right", 0, column)) isRight[column] = true;
    }
    return isRight;
  }

  /// \param flags  of a text in one line
  void drawCellText(QPainter& painter, const QRectF& place, int flags, const QString& text) const {
    if (metrics_.horizontalAdvance(text) <= place.width() + 1) {
      drawLine(painter, place, flags, text);
      return;
    }
    QStringList lines = cellLines(metrics_, text, place.width());
    if (lines.size() > mostLines()) {
      lines.resize(mostLines());
      lines.last() += QChar(0x2026);
    }
    const double height = static_cast<double>(lines.size()) * metrics_.height();
    QRectF line(place.left(), place.center().y() - height / 2, place.width(), metrics_.height());
    for (const QString& one : lines) {
      drawLine(painter, line, flags, one);
      line.translate(0, metrics_.height());
    }
  }

  void draw(QPainter& painter, const QRectF& area) override {
    QRectF body = drawHeader(painter, area, title(), about());
    const Layout layout = layoutIn(body.width());
    const QFont font = bodyLetters();
    QFont strong = font;
    strong.setWeight(QFont::DemiBold);
    const std::vector<bool> isRight = rightColumns();
    const QPointF corner = body.topLeft();
    const double scale = layout.scale;
    painter.save();
    painter.translate(corner);
    painter.scale(scale, scale);
    body = QRectF(QPointF(0, 0), body.size() / scale);
    double y = 0;
    const double right = sumOf(layout.widths);
    std::size_t shown = 0;
    for (std::size_t line = 0; line <= rows_.size(); ++line) {
      const std::optional<std::size_t> row = line == 0 ? std::nullopt : std::optional(line - 1);
      const double height = heightOf(row, layout);
      // One more line says how many rows are missing.
      const double after = line == rows_.size() ? 0 : kRowHeight;
      if (row && y + height + after > body.bottom() + 0.5) break;
      if (row) shown = line;
      double x = 0;
      const bool isTitle = row && isIn("titles", *row, 0);
      const bool isNote = row && isIn("notes", *row, 0);
      painter.setFont(isTitle ? strong : font);
      for (std::size_t column = 0; column < layout.widths.size(); ++column) {
        const QString text = textOf(row, column);
        const QRectF cell(x, y, layout.widths[column], height);
        if (row && isIn("tinted", *row, column))
          painter.fillRect(cell.adjusted(0, 0, 0, -1), themeColors().selection);
        painter.setPen(!row || isNote ? themeColors().muted : themeColors().text);
        if (row && isIn("ok", *row, column)) painter.setPen(themeColors().ok);
        if (row && isIn("bad", *row, column)) painter.setPen(themeColors().bad);
        QRectF place = cell.adjusted(kCellRoom / 2, 0, -kCellRoom / 2, 0);
        const int flags = (isRight[column] ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter;
        if (isTitle || isNote) place.setRight(right - kCellRoom / 2);
        if (isTitle && column == 0) {
          drawLine(painter, place, flags, text);
        } else if ((!isTitle && !isNote) || column == 0) {
          drawCellText(painter, place, flags, text);
        }
        if (row) {
          const QString tip =
              columns_[static_cast<qsizetype>(column)] + QStringLiteral(": ") + text;
          addRegion({corner + cell.topLeft() * scale, cell.size() * scale},
                    [tip](const QPointF&) { return tip; });
        }
        x += layout.widths[column];
      }
      y += height;
      painter.setPen(QPen(row ? themeColors().grid : themeColors().line, 1));
      painter.drawLine(QPointF(0, y - 0.5), QPointF(right, y - 0.5));
    }
    if (shown < rows_.size()) {
      painter.setPen(themeColors().muted);
      painter.setFont(font);
      drawLine(painter, QRectF(kCellRoom / 2, y, body.width() - kCellRoom, kRowHeight),
               Qt::AlignLeft | Qt::AlignVCenter,
               QObject::tr("%1 more rows: enlarge the figure or export CSV")
                   .arg(rows_.size() - shown));
    }
    painter.restore();
  }

  Json meta_;
  QStringList columns_;
  std::vector<Json> rows_;
  std::vector<int> decimals_;  ///< per column
};

class MetaFigure final : public Figure {
 public:
  MetaFigure(QString sentence, QString error, const Json& meta, FigureStyle style)
      : Figure(std::move(style)),
        sentence_(std::move(sentence)),
        error_(std::move(error)),
        text_(QString::fromStdString(dumpJson(meta, 2))) {}

  QString summary() const override { return sentence_; }
  QString error() const override { return error_; }
  QString csv() const override {
    return QStringLiteral("meta\n") + csvText(text_) + QLatin1Char('\n');
  }

 private:
  void draw(QPainter& painter, const QRectF& area) override {
    painter.setFont(bodyLetters());
    painter.setPen(error_.isEmpty() ? themeColors().text : themeColors().bad);
    QRectF used;
    painter.drawText(area, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, sentence_, &used);
    painter.setFont(monoLetters());
    painter.setPen(themeColors().muted);
    painter.drawText(area.adjusted(0, used.height() + 12, 0, 0),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWrapAnywhere, text_.left(kMostMeta));
    addRegion(area, [this](const QPointF&) { return sentence_; });
  }

  QString sentence_, error_, text_;
};

}  // namespace

std::unique_ptr<Figure> makeTable(const Json& meta, std::vector<std::byte> data,
                                  FigureStyle style) {
  return std::make_unique<TableFigure>(meta, data, std::move(style));
}

std::unique_ptr<Figure> makeMetaFigure(const QString& sentence, const QString& error,
                                       const Json& meta, FigureStyle style) {
  return std::make_unique<MetaFigure>(sentence, error, meta, std::move(style));
}

}  // namespace vitrine::ui

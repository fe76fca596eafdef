#include "ui/compare/compare_figures.h"

#include <QObject>
#include <algorithm>

#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

/// A row of texts.
Json cellsOf(const QStringList& texts) {
  Json cells = Json::array();
  for (const QString& text : texts) cells.push_back(text.toStdString());
  return cells;
}

std::unique_ptr<Figure> textTable(const Json& meta, const Json& columns, const Json& rows,
                                  const FigureStyle& style) {
  const std::string text = Json{{"columns", columns}, {"rows", rows}}.dump();
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return makeTable(meta, {bytes, bytes + text.size()}, style);
}

QString csvLine(const QStringList& cells) {
  QStringList out;
  for (const QString& cell : cells) out << csvText(cell);
  return out.join(QLatin1Char(',')) + QLatin1Char('\n');
}

/// Tables one below the other as one picture, with a CSV of its own.
class TablesFigure final : public Figure {
 public:
  TablesFigure(std::vector<std::unique_ptr<Figure>> tables, QString csv, FigureStyle style)
      : Figure(std::move(style)), tables_(std::move(tables)), csv_(std::move(csv)) {
    give();
  }

  QSize sizeHint() const override {
    QSize size(0, 0);
    for (const auto& table : tables_) {
      const QSize one = table->sizeHint();
      size = {std::max(size.width(), one.width()), size.height() + one.height()};
    }
    return size;
  }
  double leastWidth() const override { return sizeHint().width(); }
  double leastHeight(double width) const override {
    double height = 0;
    for (const auto& table : tables_) height += table->leastHeight(width);
    return height;
  }
  double fittingHeight(double width) const override { return leastHeight(width); }
  bool breaksWords(double width) const override {
    return std::any_of(tables_.begin(), tables_.end(),
                       [width](const auto& table) { return table->breaksWords(width); });
  }
  void setStyle(const FigureStyle& style) override {
    Figure::setStyle(style);
    give();
  }
  QString summary() const override {
    QStringList summaries;
    for (const auto& table : tables_) summaries << table->summary();
    return summaries.join(QStringLiteral("; "));
  }
  QString csv() const override { return csv_; }

 private:
  /// The style of the whole, whose title only the first one has.
  void give() {
    FigureStyle shown = style();
    for (const auto& table : tables_) {
      table->setStyle(shown);
      shown.title.clear();
    }
  }
  void draw(QPainter& painter, const QRectF& area) override {
    // Each has a margin of its own.
    const QRectF whole = area.adjusted(-kMargin, -kMargin, kMargin, kMargin);
    double all = 0;
    for (const auto& table : tables_) all += table->leastHeight(whole.width());
    double top = whole.top();
    for (const auto& table : tables_) {
      const double share = table->leastHeight(whole.width()) / std::max(all, 1.0);
      QRectF place(whole.left(), top, whole.width(), whole.height() * share);
      if (table == tables_.back()) place.setBottom(whole.bottom());
      table->paint(painter, place);
      const Figure* inner = table.get();
      addRegion(place, [inner](const QPointF& point) { return inner->describeAt(point); });
      top = place.bottom();
    }
  }

  std::vector<std::unique_ptr<Figure>> tables_;
  QString csv_;
};

std::unique_ptr<Figure> oneTable(std::unique_ptr<Figure> table, QString csv, FigureStyle style) {
  std::vector<std::unique_ptr<Figure>> tables;
  tables.push_back(std::move(table));
  return std::make_unique<TablesFigure>(std::move(tables), std::move(csv), std::move(style));
}

}  // namespace

std::unique_ptr<Figure> makeAblationFigure(const AblationTable& table, const TableOrigin& origin,
                                           FigureStyle style) {
  Json columns = cellsOf({QObject::tr("Variant"), QObject::tr("What differs")});
  Json right = Json::array();
  for (const AblationMetric& metric : table.metrics) {
    for (const std::size_t column : {columns.size(), columns.size() + 1, columns.size() + 2})
      right.push_back({0, column});
    columns.push_back(metric.title().toStdString());
    columns.push_back(QObject::tr("Paired difference").toStdString());
    columns.push_back("n");
  }
  Json rows = Json::array(), ok = Json::array(), bad = Json::array();
  for (const AblationRow& row : table.rows) {
    Json cells = cellsOf({row.label, row.isBaseline ? QObject::tr("baseline") : row.differsShort});
    for (std::size_t m = 0; m < row.cells.size(); ++m) {
      const AblationCell& cell = row.cells[m];
      const AblationMetric& metric = table.metrics[m];
      cells.push_back(sampleText(table, cell.sample, metric).toStdString());
      QString difference = QStringLiteral("\u2013");
      if (!row.isBaseline) {
        difference = differenceText(cell.paired.statistics, metric) + QStringLiteral("  ") +
                     outcomeSign(cell.outcome) + QLatin1Char(' ') +
                     QString::fromStdString(toString(cell.outcome));
        if (cell.outcome == Outcome::Better) ok.push_back({rows.size(), cells.size()});
        if (cell.outcome == Outcome::Worse) bad.push_back({rows.size(), cells.size()});
      }
      cells.push_back(difference.trimmed().toStdString());
      cells.push_back(countText(cell, row.isBaseline).toStdString());
    }
    rows.push_back(std::move(cells));
  }
  Json notes = Json::array();
  if (!table.leftOut.isEmpty()) {
    Json note = {table.leftOut.toStdString()};
    while (note.size() < columns.size()) note.push_back("");
    notes.push_back({rows.size(), 0});
    rows.push_back(std::move(note));
  }
  const Json meta = {{"title", QObject::tr("Ablation: %1").arg(table.experiment).toStdString()},
                     {"about", aboutText(table).toStdString()},
                     {"right", right},
                     {"notes", notes},
                     {"ok", ok},
                     {"bad", bad}};
  return oneTable(textTable(meta, columns, rows, style), toCsv(table, origin), style);
}

std::unique_ptr<Figure> makeDifferencesFigure(const DifferenceList& list, const CompareData& data,
                                              DifferencesShown shown, FigureStyle style) {
  Json columns = cellsOf({QObject::tr("Key")});
  for (const QString& name : list.names) columns.push_back(name.toStdString());
  Json rows = Json::array(), titles = Json::array(), tinted = Json::array();
  QString csv = csvLine(QStringList{QStringLiteral("section"), QStringLiteral("key")} + list.names +
                        QStringList{QStringLiteral("differs")});
  std::size_t written = 0, all = 0;
  for (const DifferenceSection& section : list.sections) {
    Json head = {section.title.toStdString()};
    while (head.size() < columns.size()) head.push_back("");
    titles.push_back({rows.size(), 0});
    rows.push_back(std::move(head));
    const std::size_t before = written;
    for (const DifferenceRow& row : section.rows) {
      ++all;
      if (shown == DifferencesShown::Only && !row.isDifferent) continue;
      ++written;
      csv += csvLine(QStringList{section.title, row.key} + row.values +
                     QStringList{row.isDifferent ? QStringLiteral("1") : QStringLiteral("0")});
      Json cells = {row.key.toStdString()};
      for (qsizetype i = 0; i < row.values.size(); ++i) {
        if (i > 0 && row.values[i] != row.values[0]) tinted.push_back({rows.size(), cells.size()});
        cells.push_back(row.values[i].toStdString());
      }
      rows.push_back(std::move(cells));
    }
    if (written == before) {
      Json none = cellsOf({QObject::tr("no difference")});
      while (none.size() < columns.size()) none.push_back("");
      rows.push_back(std::move(none));
    }
  }
  const QString title =
      QObject::tr("What differs: %1").arg(QString::fromStdString(data.experiment));
  const Json meta = {{"title", title.toStdString()},
                     {"about", QObject::tr("%1 of %2 keys").arg(written).arg(all).toStdString()},
                     {"titles", titles},
                     {"tinted", tinted}};
  return oneTable(textTable(meta, columns, rows, style), csv, style);
}

std::unique_ptr<Figure> makePublishedFigure(const PublishedTable& table, const CompareData& data,
                                            FigureStyle style) {
  if (table.rows.empty() && table.claims.empty()) return nullptr;
  std::vector<std::unique_ptr<Figure>> tables;
  QString csv;
  if (!table.rows.empty()) {
    Json rows = Json::array(), ok = Json::array(), bad = Json::array(), notes = Json::array();
    QStringList why;  // each said once, below the table
    csv += QStringLiteral(
        "variant,model,metric,paper,ours,ours_lower,ours_upper,n,order,verdict,reasons,place,"
        "conditions\n");
    for (const PublishedRow& row : table.rows) {
      if (row.verdict == PublishedVerdict::Matches) ok.push_back({rows.size(), 7});
      if (row.verdict == PublishedVerdict::Differs) bad.push_back({rows.size(), 7});
      const QString reasons = row.reasons.join(QStringLiteral("; "));
      QString verdict = toString(row.verdict);
      if (!reasons.isEmpty()) {
        if (!why.contains(reasons)) why << reasons;
        verdict += QStringLiteral(" (%1)").arg(why.indexOf(reasons) + 1);
      }
      const QString& label = data.labels[row.variant];
      const auto ours = [&](double value) {
        return row.ours.count == 0 ? QString() : csvNumber(value);
      };
      rows.push_back({label.toStdString(), row.model.toStdString(), row.title.toStdString(),
                      number(row.value, row.decimals).toStdString(), oursText(row).toStdString(),
                      row.ours.count, row.order.toStdString(), verdict.toStdString(),
                      (row.place + QStringLiteral(": ") + row.conditions).toStdString()});
      csv += csvLine({label, row.model, row.metric, csvNumber(row.value), ours(row.ours.mean),
                      ours(row.ours.interval.lower), ours(row.ours.interval.upper),
                      QString::number(row.ours.count), row.order, toString(row.verdict), reasons,
                      row.place, row.conditions});
    }
    for (qsizetype i = 0; i < why.size(); ++i) {
      Json note = {QStringLiteral("(%1) %2").arg(i + 1).arg(why[i]).toStdString()};
      while (note.size() < 9) note.push_back("");
      notes.push_back({rows.size(), 0});
      rows.push_back(std::move(note));
    }
    const Json meta = {{"title", QObject::tr("Published numbers next to ours").toStdString()},
                       {"about", table.paper.toStdString()},
                       {"right", {{0, 3}, {0, 4}, {0, 5}}},
                       {"notes", notes},
                       {"ok", ok},
                       {"bad", bad}};
    const Json columns =
        cellsOf({QObject::tr("Variant"), QObject::tr("Model"), QObject::tr("Metric"),
                 QObject::tr("Paper"), QObject::tr("Ours"), QStringLiteral("n"),
                 QObject::tr("Order"), QObject::tr("Verdict"), QObject::tr("Where")});
    tables.push_back(textTable(meta, columns, rows, style));
  }
  if (!table.claims.empty()) {
    Json rows = Json::array(), ok = Json::array(), bad = Json::array();
    if (!csv.isEmpty()) csv += QLatin1Char('\n');
    csv += claimsCsv(table.claims);
    for (const ClaimRow& row : table.claims) {
      if (row.judgement.verdict == Verdict::Reproduced) ok.push_back({rows.size(), 1});
      if (row.judgement.verdict == Verdict::Contradicted) bad.push_back({rows.size(), 1});
      rows.push_back({row.claim.name, toString(row.judgement.verdict),
                      row.judgement.statistics.count, measuredText(row).toStdString(),
                      thresholdText(row).toStdString(), row.judgement.reason});
    }
    const Json meta = {{"title", QObject::tr("Claims testable at this scale").toStdString()},
                       {"about", QObject::tr("95\u2009% interval over seeds").toStdString()},
                       {"right", {{0, 3}, {0, 4}}},
                       {"ok", ok},
                       {"bad", bad}};
    const Json columns =
        cellsOf({QObject::tr("Claim"), QObject::tr("Verdict"), QStringLiteral("n"),
                 QObject::tr("Measured"), QObject::tr("Margin"), QObject::tr("Why")});
    tables.push_back(textTable(meta, columns, rows, style));
  }
  return std::make_unique<TablesFigure>(std::move(tables), std::move(csv), std::move(style));
}

}  // namespace vitrine::ui

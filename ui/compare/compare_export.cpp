// What the Compare page writes to files and to the clipboard, and the picture it hands out.
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QSaveFile>
#include <QStackedWidget>
#include <QTreeWidget>

#include "core/base/error.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/parallel_view.h"
#include "ui/compare/scatter_chart.h"
#include "ui/figures/figure_view.h"
#include "ui/figures/kinds.h"

namespace vitrine::ui {

namespace {

/// The table as a picture; its CSV is the one of the table, at full precision.
class AblationFigure final : public Figure {
 public:
  AblationFigure(const AblationTable& table, const TableOrigin& origin, FigureStyle style)
      : Figure(std::move(style)), csv_(toCsv(table, origin)) {
    Json columns = {"Variant", "What differs"};
    for (const AblationMetric& metric : table.metrics) {
      columns.push_back(metric.title().toStdString());
      columns.push_back("Paired difference");
      columns.push_back("n");
    }
    Json rows = Json::array();
    for (const AblationRow& row : table.rows) {
      Json cells = {row.label.toStdString(),
                    row.isBaseline ? "baseline" : row.differs.toStdString()};
      for (std::size_t m = 0; m < row.cells.size(); ++m) {
        const AblationCell& cell = row.cells[m];
        const bool isPercent = table.metrics[m].isPercent;
        cells.push_back(meanText(cell.sample.statistics, isPercent).toStdString());
        QString difference = QStringLiteral("\u2013");
        if (!row.isBaseline) {
          difference = differenceText(cell.paired.statistics, isPercent) + QStringLiteral("  ") +
                       outcomeSign(cell.outcome) + QLatin1Char(' ') +
                       QString::fromStdString(toString(cell.outcome));
        }
        cells.push_back(difference.trimmed().toStdString());
        cells.push_back(static_cast<std::int64_t>(cell.sample.values.size()));
      }
      rows.push_back(std::move(cells));
    }
    const std::string text = Json{{"columns", columns}, {"rows", rows}}.dump();
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    inner_ = makeTable({{"title", "Ablation: " + table.experiment.toStdString()}},
                       {bytes, bytes + text.size()}, this->style());
  }
  QSize sizeHint() const override {
    const QSize inner = inner_->sizeHint();
    return {std::max(860, inner.width()), inner.height()};
  }
  QString summary() const override { return inner_->summary(); }
  QString csv() const override { return csv_; }

 private:
  void draw(QPainter& painter, const QRectF& area) override {
    inner_->setStyle(style());
    // It has a margin of its own.
    inner_->paint(painter, area.adjusted(-12, -12, 12, 12));
    addRegion(area, [this](const QPointF& point) { return inner_->describeAt(point); });
  }

  QString csv_;
  std::unique_ptr<Figure> inner_;
};

}  // namespace

std::unique_ptr<Figure> ComparePage::figure() {
  if (data_ == nullptr || stack_->currentIndex() != 0) return nullptr;
  switch (choice_.view) {
    case CompareView::Parallel:
      return parallelView_->figure();
    case CompareView::Scatter:
      return makeLineChart(scatterChart(*data_, choice_));
    case CompareView::Table:
      if (points_ != nullptr && differenceView_->hasFocus())
        return makeLineChart(differenceChart(*data_, choice_, request_, *points_));
      if (points_ != nullptr && curvesView_->hasFocus())
        return makePanels(variantCharts(*data_, choice_, request_, *points_));
      break;
    case CompareView::Differences:
    case CompareView::Published:
      break;
  }
  return std::make_unique<AblationFigure>(
      model_.table(), originOf(*data_, workbench_.store().file().string()), FigureStyle{});
}

QString ComparePage::tableText(TableFormat format) const {
  if (data_ == nullptr) return {};
  const TableOrigin origin = originOf(*data_, workbench_.store().file().string());
  // The rows as they are shown: sorted and filtered.
  AblationTable table = model_.table();
  std::vector<AblationRow> rows;
  for (int row = 0; row < order_.rowCount(); ++row) {
    rows.push_back(
        table.rows[static_cast<std::size_t>(order_.mapToSource(order_.index(row, 0)).row())]);
  }
  table.rows = std::move(rows);
  switch (format) {
    case TableFormat::Csv:
      return toCsv(table, origin);
    case TableFormat::Latex:
      return toLatex(table, origin);
    case TableFormat::Markdown:
      break;
  }
  return toMarkdown(table, origin);
}

void ComparePage::copyTable(TableFormat format) {
  const QString text = tableText(format);
  if (text.isEmpty()) {
    workbench_.say(QStringLiteral("There is no table yet: select runs of an experiment."));
    return;
  }
  QGuiApplication::clipboard()->setText(text);
  workbench_.say(QStringLiteral("The table is on the clipboard."));
}

void ComparePage::exportTable(const QString& file) {
  const TableFormat format =
      file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)   ? TableFormat::Csv
      : file.endsWith(QLatin1String(".tex"), Qt::CaseInsensitive) ? TableFormat::Latex
                                                                  : TableFormat::Markdown;
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly) || out.write(tableText(format).toUtf8()) < 0 ||
      !out.commit()) {
    workbench_.say(QStringLiteral("'%1' cannot be written: %2; choose another folder.")
                       .arg(file, out.errorString()));
    return;
  }
  workbench_.say(QStringLiteral("Wrote %1.").arg(file));
}

void ComparePage::askAndExport(TableFormat format) {
  if (data_ == nullptr) {
    copyTable(format);
    return;
  }
  const QString ending = format == TableFormat::Csv     ? QStringLiteral(".csv")
                         : format == TableFormat::Latex ? QStringLiteral(".tex")
                                                        : QStringLiteral(".md");
  QString file = QFileDialog::getSaveFileName(
      this, QStringLiteral("Save table"), QStringLiteral("ablation") + ending,
      format == TableFormat::Csv     ? QStringLiteral("CSV files (*.csv)")
      : format == TableFormat::Latex ? QStringLiteral("LaTeX files (*.tex)")
                                     : QStringLiteral("Markdown files (*.md)"));
  if (file.isEmpty()) return;
  if (!file.endsWith(ending, Qt::CaseInsensitive)) file += ending;
  exportTable(file);
}

void ComparePage::copyOverrides() {
  if (data_ == nullptr) return;
  if (differences_.runs.size() < 2) {
    differences_ = differenceList(*data_, differedRuns(*data_, choice_, scope_));
  }
  if (differences_.runs.size() < 2) return;
  // Of the column that has the focus; the second where none has.
  const int column = std::max(2, differenceTree_->currentColumn());
  const auto chosen = std::min(static_cast<std::size_t>(column - 1), differences_.runs.size() - 1);
  const QString text = overridesText(*data_, differences_.runs[chosen], differences_.runs.front());
  if (text.isEmpty()) {
    workbench_.say(QStringLiteral("These two runs have equal configurations."));
    return;
  }
  QGuiApplication::clipboard()->setText(text);
  workbench_.say(
      QStringLiteral("On the clipboard: what makes %1 of %2.")
          .arg(differences_.names[static_cast<qsizetype>(chosen)], differences_.names.front()));
}

}  // namespace vitrine::ui

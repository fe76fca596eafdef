// Exports of the Compare page: files, the clipboard and its picture.
#include <QClipboard>
#include <QGuiApplication>
#include <QTreeWidget>

#include "ui/compare/artifact_tiles.h"
#include "ui/compare/compare_figures.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/latex_dialog.h"
#include "ui/compare/latex_table.h"
#include "ui/compare/parallel_view.h"
#include "ui/compare/report/report_bar.h"
#include "ui/compare/scatter_chart.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/questions.h"
#include "ui/workbench/figure_file.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

std::unique_ptr<Figure> ComparePage::figure() {
  if (data_ == nullptr || !stack_->isContentShown()) return nullptr;
  switch (choice_.view) {
    case CompareView::Parallel:
      return parallelView_->figure();
    case CompareView::Scatter:
      return makeLineChart(scatterChart(*data_, choice_));
    case CompareView::Table:
      if (isForest() && choice_.picture != ComparePicture::Table)
        return forestFigure(choice_.picture);
      if (points_ != nullptr && choice_.picture == ComparePicture::Difference)
        return makeLineChart(areChartsThere()
                                 ? charts_->difference
                                 : differenceChart(*data_, choice_, request_, *points_));
      if (points_ != nullptr && choice_.picture == ComparePicture::Curves)
        return makePanels(areChartsThere() ? charts_->panels
                                           : variantCharts(*data_, choice_, request_, *points_));
      break;
    case CompareView::Differences:
      return makeDifferencesFigure(
          differenceList(*data_, differedRuns(*data_, choice_, scope_)), *data_,
          choice_.onlyDifferences ? DifferencesShown::Only : DifferencesShown::All);
    case CompareView::Published:
      return makePublishedFigure(published_, *data_);
    case CompareView::Artifacts:
      return artifactTiles_->figure();
  }
  return makeAblationFigure(shownTable(), originOf(*data_, workbench_.store().file().string()));
}

AblationTable ComparePage::shownTable() const {
  AblationTable table = model_.table();
  std::vector<AblationRow> rows;
  for (int row = 0; row < order_.rowCount(); ++row) {
    rows.push_back(
        table.rows[static_cast<std::size_t>(order_.mapToSource(order_.index(row, 0)).row())]);
  }
  table.rows = std::move(rows);
  return table;
}

QString ComparePage::tableText(TableFormat format) const {
  if (data_ == nullptr) return {};
  const TableOrigin origin = originOf(*data_, workbench_.store().file().string());
  const AblationTable table = shownTable();
  switch (format) {
    case TableFormat::Csv:
      return toCsv(table, origin);
    case TableFormat::Latex:
      return toLatex(table, origin, choice_.latex);
    case TableFormat::Markdown:
      break;
  }
  return toMarkdown(table, origin);
}

void ComparePage::copyTable(TableFormat format) {
  const QString text = tableText(format);
  if (text.isEmpty()) {
    workbench_.showMessage(tr("There is no table yet: select runs of an experiment."));
    return;
  }
  QGuiApplication::clipboard()->setText(text);
  workbench_.showMessage(tr("The table is on the clipboard."));
}

void ComparePage::exportTable(const QString& file) {
  const TableFormat format =
      file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)   ? TableFormat::Csv
      : file.endsWith(QLatin1String(".tex"), Qt::CaseInsensitive) ? TableFormat::Latex
                                                                  : TableFormat::Markdown;
  workbench_.attempt([&] {
    writeFile(file, tableText(format).toUtf8());
    workbench_.showMessage(tr("Wrote %1.").arg(file));
  });
}

void ComparePage::askAndExport(TableFormat format) {
  if (data_ == nullptr) {
    copyTable(format);
    return;
  }
  const QString ending = format == TableFormat::Csv     ? QStringLiteral(".csv")
                         : format == TableFormat::Latex ? QStringLiteral(".tex")
                                                        : QStringLiteral(".md");
  const QString file = askSaveFile(this, tr("Save table"), QStringLiteral("ablation") + ending,
                                   format == TableFormat::Csv     ? tr("CSV files (*.csv)")
                                   : format == TableFormat::Latex ? tr("LaTeX files (*.tex)")
                                                                  : tr("Markdown files (*.md)"));
  if (!file.isEmpty()) exportTable(file);
}

void ComparePage::askLatex() {
  if (data_ == nullptr) {
    copyTable(TableFormat::Latex);  // says that there is none
    return;
  }
  auto* dialog = new LatexDialog(shownTable(), originOf(*data_, workbench_.store().file().string()),
                                 choice_.latex, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  const auto keep = [this](const LatexChoice& latex) {
    change([&](CompareChoice& choice) { choice.latex = latex; });
  };
  connect(dialog, &LatexDialog::copyRequested, this, [this, keep](const LatexChoice& latex) {
    keep(latex);
    copyTable(TableFormat::Latex);
  });
  connect(dialog, &LatexDialog::saveRequested, this, [this, keep](const LatexChoice& latex) {
    keep(latex);
    askAndExport(TableFormat::Latex);
  });
  dialog->open();
}

void ComparePage::askReport() {
  isReportAsked_ = reader_.isBusy();
  if (!isReportAsked_) openReport();
}

void ComparePage::openReport() {
  if (data_ == nullptr || report_->isWriting()) return;
  std::vector<std::int64_t> runs;
  for (const store::ComparedRun& run : data_->runs) runs.push_back(run.row.id);
  report_->ask(runs, QString::fromStdString(data_->experiment));
}

void ComparePage::showReport() {
  const QString whyNot = data_ == nullptr       ? tr("select runs of an experiment")
                         : report_->isWriting() ? tr("a report is being written")
                                                : QString();
  writeReport_->setEnabled(whyNot.isEmpty());
  writeReport_->setProperty(kWhyNot, whyNot);
}

void ComparePage::copyOverrides() {
  if (data_ == nullptr) return;
  if (differences_.runs.size() < 2)
    differences_ = differenceList(*data_, differedRuns(*data_, choice_, scope_));
  if (differences_.runs.size() < 2) return;
  // Of the column that has the focus; the second where none has.
  const int column = std::max(2, differenceTree_->currentColumn());
  const auto chosen = std::min(static_cast<std::size_t>(column - 1), differences_.runs.size() - 1);
  const QString text = overridesText(*data_, differences_.runs[chosen], differences_.runs.front());
  if (text.isEmpty()) {
    workbench_.showMessage(tr("These two runs have equal configurations."));
    return;
  }
  QGuiApplication::clipboard()->setText(text);
  workbench_.showMessage(
      tr("The overrides that turn %2 into %1 are on the clipboard.")
          .arg(differences_.names[static_cast<qsizetype>(chosen)], differences_.names.front()));
}

}  // namespace vitrine::ui

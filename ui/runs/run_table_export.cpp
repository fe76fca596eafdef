// The table of runs as text: for spreadsheets and scripts.
#include <QClipboard>
#include <QDir>
#include <QGuiApplication>
#include <string_view>

#include "core/base/cell_text.h"
#include "core/base/text.h"
#include "ui/kit/questions.h"
#include "ui/runs/run_table.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

/// The heading of a column for scripts: "test/top1", "model.width", "seed", with its unit where the
/// values have one.
std::string csvHeading(const std::string& id) {
  if (id == "duration") return "duration_seconds";
  if (id == "checkpoints") return "checkpoint_bytes";
  for (const std::string_view kind : {"config:", "metric:"})
    if (id.starts_with(kind)) return id.substr(kind.size());
  return id;
}

/// All digits of a number.
std::string csvValue(const RunsModel::Column& column, const RunsModel::Cell& cell) {
  const bool isNumber = cell.order.typeId() == QMetaType::Double && column.id != "created";
  return isNumber ? formatReal(cell.order.toDouble()) : cell.text.toStdString();
}

QByteArray lineOf(const QStringList& cells, bool isCsv) {
  QByteArray line;
  for (const QString& cell : cells) {
    if (!line.isEmpty()) line += isCsv ? ',' : '\t';
    line += isCsv ? QByteArray::fromStdString(csvCell(cell.toStdString()))
                  : cell.simplified().toUtf8();
  }
  return line + '\n';
}

}  // namespace

QByteArray RunTable::text(Form form) {
  if (ids_.empty()) ids_ = usual();
  const bool isCsv = form == Form::Csv;
  const std::vector<RunsModel::Column> columns = columns_.read(ids_);
  QStringList headings = isCsv ? QStringList{QStringLiteral("run"), QStringLiteral("name")}
                               : QStringList{tr("Id"), tr("Run")};
  for (const RunsModel::Column& column : columns)
    headings << (isCsv ? QString::fromStdString(csvHeading(column.id)) : column.title);
  QByteArray lines = lineOf(headings, isCsv);
  const QAbstractItemModel& shown = *view_.model();
  for (int group = 0; group < shown.rowCount(); ++group) {
    const QModelIndex parent = shown.index(group, 0);
    for (int row = 0; row < shown.rowCount(parent); ++row) {
      const QModelIndex at = shown.index(row, 0, parent);
      const std::int64_t run = at.data(RunsModel::IdRole).toLongLong();
      QStringList cells{QString::number(run), at.data(Qt::EditRole).toString()};
      for (const RunsModel::Column& column : columns) {
        const auto cell = column.cells.find(run);
        if (cell == column.cells.end())
          cells << QString();
        else
          cells << (isCsv ? QString::fromStdString(csvValue(column, cell->second))
                          : cell->second.text);
      }
      lines += lineOf(cells, isCsv);
    }
  }
  return lines;
}

void RunTable::copy() {
  workbench_.attempt([&] {
    QGuiApplication::clipboard()->setText(QString::fromUtf8(text(Form::Shown)));
    workbench_.showMessage(tr("Copied the table of runs: paste it into a spreadsheet."));
  });
}

void RunTable::askExport() {
  auto* dialog = makeSaveDialog(view_.window(), tr("Export table of runs"),
                                QStringLiteral("runs.csv"), {tr("Table (*.csv)")});
  connect(dialog, &QFileDialog::fileSelected, this, &RunTable::exportTo);
  dialog->open();
}

void RunTable::exportTo(const QString& file) {
  workbench_.attempt([&] {
    writeFile(file, text(Form::Csv));
    workbench_.showMessage(tr("Saved %1.").arg(QDir::toNativeSeparators(file)));
  });
}

}  // namespace vitrine::ui

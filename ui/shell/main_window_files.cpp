// Files in and out of the window: opened, dropped, imported, exported.
#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QProgressDialog>
#include <algorithm>

#include "core/base/error.h"
#include "ui/kit/menus.h"
#include "ui/kit/questions.h"
#include "ui/shell/inspector.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/shell/weights_dialog.h"
#include "ui/workbench/export_dialog.h"
#include "ui/workbench/recent_databases.h"

namespace vitrine::ui {

void MainWindow::chooseDatabase() {
  const QString chosen = QFileDialog::getOpenFileName(
      this, tr("Open database"),
      QString::fromStdString(workbench_.store().file().parent_path().string()),
      tr("Experiment databases (*.sqlite *.sqlite3 *.db);;All files (*)"));
  if (!chosen.isEmpty()) files_.openDatabase(chosen);
}

void MainWindow::askPlace() {
  QInputDialog dialog(this);
  dialog.setWindowTitle(tr("Open a database on another machine"));
  dialog.setLabelText(
      tr("Where it is. Your own ssh is used, with its keys and host names; Vitrine has to be "
         "installed there."));
  dialog.setTextValue(QStringLiteral("ssh://"));
  dialog.resize(px(460), dialog.sizeHint().height());
  if (auto* field = dialog.findChild<QLineEdit*>()) {
    field->setPlaceholderText(QStringLiteral("ssh://me@lab/data/experiments.sqlite"));
    field->setAccessibleName(tr("Place of the database"));
  }
  if (dialog.exec() == QDialog::Accepted) files_.openDatabase(dialog.textValue().trimmed());
}

void MainWindow::chooseFile() {
  const QString chosen = QFileDialog::getOpenFileName(
      this, tr("Open or import a file"), QString(),
      tr("Files Vitrine knows (*.sqlite *.sqlite3 *.db *.toml *.vitrine *.safetensors "
         "*.safetensors.index.json *tfevents* *.png *.svg *.pdf);;All files (*)"));
  if (!chosen.isEmpty()) files_.open(chosen);
}

void MainWindow::chooseExport() {
  const std::vector<std::int64_t> runs = workbench_.selection().targets();
  if (runs.empty()) return;
  struct Form {
    QString filter, suffix, checkpoints;
  };
  const QString vitrine = QStringLiteral("vitrine"), none = QStringLiteral("none");
  const std::vector<Form> forms{
      {tr("Everything but checkpoints (*.vitrine)"), vitrine, none},
      {tr("Everything with the best checkpoints (*.vitrine)"), vitrine, QStringLiteral("best")},
      {tr("Everything with all checkpoints (*.vitrine)"), vitrine, QStringLiteral("all")},
      {tr("Points of all metrics (*.csv)"), QStringLiteral("csv"), none},
      {tr("All but files, as JSON Lines (*.jsonl)"), QStringLiteral("jsonl"), none},
      {tr("Folder for TensorBoard (*)"), QString(), none}};
  const auto formOf = [forms](const QString& filter) {
    const auto found = std::find_if(forms.begin(), forms.end(),
                                    [&filter](const Form& one) { return one.filter == filter; });
    return found == forms.end() ? forms.front() : *found;
  };
  QStringList filters;
  for (const Form& form : forms) filters << form.filter;
  QFileDialog* dialog = makeSaveDialog(
      this, tr("Export %1").arg(counted(std::ssize(runs), tr("run"), tr("runs"))),
      QStringLiteral("runs"), filters);
  dialog->setOption(QFileDialog::DontConfirmOverwrite);  // an existing file is refused
  dialog->setDefaultSuffix(vitrine);
  connect(dialog, &QFileDialog::filterSelected, dialog, [dialog, formOf](const QString& filter) {
    dialog->setDefaultSuffix(formOf(filter).suffix);
  });
  connect(dialog, &QFileDialog::fileSelected, this,
          [this, dialog, formOf, runs](const QString& file) {
            files_.exportRuns(runs, file, formOf(dialog->selectedNameFilter()).checkpoints);
          });
  dialog->open();
}

QString MainWindow::placeNow() {
  if (RemoteLink* link = workbench_.link()) return link->url();
  return QFileInfo(QString::fromStdString(workbench_.store().file().string())).absoluteFilePath();
}

void MainWindow::openAgain() {
  inspector_->leaveEdits();
  if (!QProcess::startDetached(QCoreApplication::applicationFilePath(),
                               {QStringLiteral("--db"), placeNow()})) {
    workbench_.showError(tr("Cannot start %1.").arg(QCoreApplication::applicationFilePath()));
    return;
  }
  close();
}

void MainWindow::fillRecent() {
  recentMenu_->clear();
  const QString here = placeNow();
  for (const QString& file : recentDatabases()) {
    if (file == here) continue;
    QAction* one =
        recentMenu_->addAction(menuText(fontMetrics().elidedText(file, Qt::ElideMiddle, px(420))));
    one->setToolTip(file);
    connect(one, &QAction::triggered, this, [this, file] { files_.openDatabase(file); });
  }
  if (recentMenu_->isEmpty()) {
    recentMenu_->addAction(tr("No recent database"))->setEnabled(false);
    return;
  }
  recentMenu_->addSeparator();
  connect(recentMenu_->addAction(tr("&Clear this list")), &QAction::triggered, this,
          forgetDatabases);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) {
      event->acceptProposedAction();
      return;
    }
  }
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList dropped;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) dropped << url.toLocalFile();
  }
  event->acceptProposedAction();
  for (const QString& file : dropped) files_.open(file);
}

void MainWindow::showImport(const QString& file) {
  if (importing_ != nullptr) importing_->deleteLater();
  importing_.clear();
  if (file.isEmpty()) return;
  importing_ = new QProgressDialog(tr("Importing %1").arg(QFileInfo(file).fileName()), tr("Cancel"),
                                   0, 0, this);
  importing_->setWindowTitle(tr("Import"));
  importing_->setWindowModality(Qt::NonModal);
  importing_->setMinimumDuration(1000);  // a quick one needs no window
  importing_->setAutoClose(false);
  importing_->setAutoReset(false);
  importing_->setValue(0);
  connect(importing_, &QProgressDialog::canceled, &files_, &FileController::cancelImport);
}

void MainWindow::showWeights(const QString& file) {
  workbench_.attempt([&] {
    auto* dialog = new WeightsDialog(file, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &WeightsDialog::experimentRequested, this,
            [this](const std::string& text) { workbench_.configure(text, QString()); });
    dialog->show();
  });
}

void MainWindow::exportPage() {
  if (Page* page = currentPage())
    exportFigureOf(this, workbench_, *page,
                   pages()[static_cast<std::size_t>(tabs_->currentIndex())].id);
}

bool MainWindow::openFigure(const QString& file) {
  static const QStringList kEndings{QStringLiteral("png"), QStringLiteral("svg"),
                                    QStringLiteral("pdf"), QStringLiteral("csv"),
                                    QStringLiteral("json")};
  if (!kEndings.contains(QFileInfo(file).suffix().toLower())) return false;
  const std::optional<Recipe> recipe = readRecipe(file);
  if (!recipe) return false;
  try {
    selectRunsOf(*recipe, workbench_);
  } catch (const Error& error) {
    workbench_.showError(
        QStringLiteral("%1: %2").arg(QFileInfo(file).fileName(), QString::fromUtf8(error.what())));
    return true;
  }
  const QString id = QString::fromStdString(recipe->page);
  if (!showPage(id)) return true;
  currentPage()->setViewState(recipe->view);
  keepPaper(workbench_, *recipe);
  workbench_.showMessage(
      tr("Opened the chart of %1 with the current data.").arg(QFileInfo(file).fileName()));
  return true;
}

}  // namespace vitrine::ui

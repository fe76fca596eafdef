#include "ui/compare/report/report_bar.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QProgressBar>
#include <QToolButton>
#include <QUrl>
#include <algorithm>
#include <set>

#include "core/base/cell_text.h"
#include "ui/kit/questions.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {

ReportBar::ReportBar(Workbench& workbench, QWidget* parent)
    : QWidget(parent), workbench_(workbench), text_(new ElidedLabel(this)) {
  auto* row = rowIn(this, {}, px(8));
  text_->setProperty("role", QStringLiteral("small"));
  row->addWidget(text_);
  auto* progress = new QProgressBar(this);
  progress->setRange(0, 0);  // how many figures there will be is not known before the end
  progress->setTextVisible(false);
  progress->setAccessibleName(tr("Writing the report"));
  row->addWidget(progress, 1);
  auto* cancel = makeToolButton(tr("Cancel"), tr("Stop writing the report; no file is left"), this);
  connect(cancel, &QToolButton::clicked, this, &ReportBar::cancel);
  row->addWidget(cancel);
  connect(&question_, &HeadlessQuestion::finished, this, &ReportBar::take);
  connect(&question_, &HeadlessQuestion::failed, this, &ReportBar::fail);
  hide();
}

void ReportBar::ask(const std::vector<std::int64_t>& runs, const QString& title) {
  if (const RemoteLink* link = workbench_.link()) {
    workbench_.showError(
        tr("A report is written where the database is: run `vitrine report` on %1.")
            .arg(link->host()));
    return;
  }
  QFileDialog* dialog = makeSaveDialog(
      this, tr("Write report"),
      QString::fromStdString(fileSlug(title.toStdString())) + QStringLiteral(".html"),
      {tr("Web page (*.html)"), tr("PDF (*.pdf)")});
  connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
    dialog->setDefaultSuffix(filter.contains(QLatin1String("*.pdf")) ? QStringLiteral("pdf")
                                                                     : QStringLiteral("html"));
  });
  connect(dialog, &QFileDialog::fileSelected, this,
          [this, runs](const QString& file) { write(runs, file); });
  dialog->open();
}

// Whole experiments by their number, so that the report names them; parts of them run by run.
QStringList ReportBar::subjectOf(const std::vector<std::int64_t>& runs) const {
  const std::set<std::int64_t> wanted(runs.begin(), runs.end());
  std::set<std::int64_t> experiments;
  for (const std::int64_t id : runs) {
    const auto found = workbench_.runs().find(id);
    if (found != workbench_.runs().end()) experiments.insert(found->second.experimentId);
  }
  const bool isWhole = std::ranges::all_of(workbench_.runs(), [&](const auto& entry) {
    return !experiments.contains(entry.second.experimentId) || wanted.contains(entry.first);
  });
  QStringList words;
  if (isWhole) {
    for (const std::int64_t experiment : experiments) words << QString::number(experiment);
    return words;
  }
  for (const std::int64_t run : runs) words << QString::number(run);
  return {QStringLiteral("--run"), words.join(QLatin1Char(','))};
}

void ReportBar::write(const std::vector<std::int64_t>& runs, const QString& file) {
  file_ = QFileInfo(file).absoluteFilePath();
  text_->setText(tr("Writing %1\u2026").arg(QFileInfo(file_).fileName()));
  text_->setWhole(QDir::toNativeSeparators(file_));
  show();
  question_.askAbout(workbench_.store().file(),
                     QStringList{QStringLiteral("report")} + subjectOf(runs) + QStringList{file_});
  // A program that cannot be started has failed by now.
  setVisible(isWriting());
  Q_EMIT changed();
}

void ReportBar::cancel() {
  question_.cancel();
  end();
  workbench_.showMessage(tr("Writing the report was cancelled."));
}

void ReportBar::take(const Json& report) {
  end();
  const bool isWhole = stateList(report, "not_drawn").empty();
  const QString shown = QDir::toNativeSeparators(file_);
  workbench_.offer(isWhole ? tr("Wrote %1.").arg(shown)
                           : tr("Wrote %1. It names what could not be drawn.").arg(shown),
                   tr("Open"),
                   [file = file_] { QDesktopServices::openUrl(QUrl::fromLocalFile(file)); });
}

void ReportBar::fail(const QString& reason) {
  end();
  workbench_.showError(tr("The report was not written: %1").arg(reason));
}

void ReportBar::end() {
  hide();
  Q_EMIT changed();
}

}  // namespace vitrine::ui

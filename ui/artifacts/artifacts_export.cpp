// What the Artifacts page writes to files and to the clipboard.
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>

#include "core/base/error.h"
#include "ui/artifacts/artifacts_page.h"
#include "ui/figures/figure_view.h"
#include "ui/figures/side_by_side.h"

namespace vitrine::ui {

namespace {

constexpr double kExportScale = 3;

}  // namespace

void ArtifactsPage::withExport(const std::function<void(Figure&, QSize)>& use) {
  std::vector<std::pair<QString, Figure*>> figures;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (views_[i]->figure() != nullptr)
      figures.emplace_back(runName(shownRuns_[i]), views_[i]->figure());
  }
  if (figures.empty()) {
    workbench_.say(QStringLiteral("There is no figure to export: choose an artifact in the list."));
    return;
  }
  if (figures.size() == 1) {
    use(*figures.front().second, figures.front().second->sizeHint());
  } else {
    SideBySide all(std::move(figures), 2, style_);
    use(all, all.sizeHint());
  }
  applyStyle();  // regions of the last painting belong to the export: draw again
}

void ArtifactsPage::exportTo(const QString& file) {
  try {
    withExport([&](Figure& figure, QSize size) {
      if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
        figure.savePdf(file, size);
      } else if (file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) {
        figure.saveCsv(file);
      } else {
        figure.savePng(file, size, kExportScale);
      }
      workbench_.say(QStringLiteral("Wrote %1.").arg(file));
    });
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
}

void ArtifactsPage::askAndExport(const QString& ending, const QString& filter) {
  QString offered = QStringLiteral("%1-%2-step%3")
                        .arg(analysis(), name())
                        .arg(shownStep())
                        .replace(QLatin1Char(' '), QLatin1Char('_'));
  offered.replace(QLatin1Char('/'), QLatin1Char('_'));
  QString file =
      QFileDialog::getSaveFileName(this, QStringLiteral("Export figure"), offered + ending, filter);
  if (file.isEmpty()) return;
  if (!file.endsWith(ending, Qt::CaseInsensitive)) file += ending;
  exportTo(file);
}

void ArtifactsPage::copyImage() {
  withExport([&](Figure& figure, QSize size) {
    QGuiApplication::clipboard()->setImage(figure.image(size, 2));
    workbench_.say(QStringLiteral("The figure is on the clipboard."));
  });
}

}  // namespace vitrine::ui

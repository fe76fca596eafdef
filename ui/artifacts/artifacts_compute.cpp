// Analyses of finished runs: which are missing, what they cost, and the computing.
#include <QLabel>
#include <QMenu>
#include <QStackedWidget>
#include <QToolButton>

#include "ui/artifacts/artifacts_page.h"
#include "ui/kit/empty_page.h"
#include "ui/workbench/analyses/analysis_menu.h"

namespace vitrine::ui {

void ArtifactsPage::connectComputing() {
  connect(&computing_, &AnalysisJob::progressed, this, &ArtifactsPage::showComputing);
  connect(&computing_, &AnalysisJob::finished, this, [this](const std::string& analysis) {
    isStale_ = true;  // what was computed is not among the rows
    showArtifact(QString::fromStdString(analysis), QString());
  });
  connect(&computing_, &AnalysisJob::failed, this, [this](const QString& sentence) {
    reload();
    workbench_.showError(sentence);
  });
}

void ArtifactsPage::fillComputeMenu() {
  compute_->menu()->clear();
  std::vector<AnalysedRun> runs;
  for (const std::int64_t run : rowsOf_) {
    const auto config = configs_.find(run);
    const auto rows = rows_.find(run);
    runs.push_back({run, config == configs_.end() ? nullptr : &config->second,
                    rows == rows_.end() ? nullptr : &rows->second});
  }
  fillAnalysisMenu(*compute_->menu(), workbench_, runs,
                   [this](const std::string& analysis, const std::vector<std::int64_t>& missing) {
                     computing_.start(analysis, missing);
                   });
}

void ArtifactsPage::showComputing() {
  const QString& sentence = computing_.sentence();
  computeText_->setText(sentence);
  computeText_->setVisible(!sentence.isEmpty());
  cancelCompute_->setVisible(!sentence.isEmpty());
  compute_->setVisible(sentence.isEmpty());
  if (!sentence.isEmpty() && stack_->currentIndex() == 1)
    empty_->showMessage(sentence, tr("Cancel"));
}

}  // namespace vitrine::ui

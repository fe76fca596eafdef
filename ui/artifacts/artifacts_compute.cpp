// Analyses of finished runs: which are missing, what they cost, and the computing.
#include <QLabel>

#include "ui/artifacts/artifacts_page.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/small_widgets.h"
#include "ui/workbench/analyses/analysis_menu.h"

namespace vitrine::ui {

void ArtifactsPage::connectComputing() {
  connect(analyses_, &AnalysisMenu::progressed, this, &ArtifactsPage::showComputing);
  connect(analyses_, &AnalysisMenu::computed, this, [this](const std::string& analysis) {
    isStale_ = true;  // what was computed is not among the rows
    showArtifact(QString::fromStdString(analysis), QString());
  });
  connect(analyses_, &AnalysisMenu::failed, this, [this](const QString& sentence) {
    reload();
    workbench_.showError(sentence);
  });
}

std::vector<AnalysedRun> ArtifactsPage::analysedRuns() const {
  std::vector<AnalysedRun> runs;
  for (const std::int64_t run : rowsOf_) {
    const auto config = configs_.find(run);
    const auto rows = rows_.find(run);
    runs.push_back({run, config == configs_.end() ? nullptr : &config->second,
                    rows == rows_.end() ? nullptr : &rows->second});
  }
  return runs;
}

void ArtifactsPage::showComputing() {
  const QString sentence = analyses_->sentence();
  sayIn(*computeText_, sentence);
  if (!sentence.isEmpty() && !stack_->isContentShown()) stack_->showEmpty(sentence, tr("Cancel"));
}

}  // namespace vitrine::ui

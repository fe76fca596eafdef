// Reads for the Artifacts page, on threads of its own: the lists of the runs, then the figures that
// are shown. A choice that changes drops what was asked before.
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "ui/artifacts/artifacts_page.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/empty_page.h"
#include "ui/workbench/analyses/analysis_menu.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

/// One figure, made where it was read.
struct ArtifactsPage::Response {
  std::size_t view = 0;
  std::int64_t pixels = 0;  ///< id of the picture, or 0
  Content content;
  std::unique_ptr<Figure> figure;
  QString error;
};

void ArtifactsPage::reload() {
  isStale_ = false;
  lists_.run([this, wanted = runs()](store::RunReader& store,
                                     const std::atomic<bool>& isStale) -> Background::Finish {
    Rows rows;
    std::map<std::int64_t, Json> configs;
    QString failure;
    for (const std::int64_t run : wanted) {
      if (isStale) return {};
      try {
        rows[run] = store.artifacts(run);
        configs[run] = store.config(run);
      } catch (const Error& error) {
        failure = QString::fromUtf8(error.what());
      }
    }
    return [this, wanted, rows = std::move(rows), configs = std::move(configs), failure,
            uuid = databaseUuid(store)] {
      rememberUuid(workbench_, uuid);
      configs_ = configs;
      takeRows(wanted, rows, failure);
    };
  });
}

void ArtifactsPage::takeRows(const std::vector<std::int64_t>& runs, Rows rows,
                             const QString& failure) {
  rows_ = std::move(rows);
  rowsOf_ = runs;
  const std::optional<Chosen> asked = std::exchange(asked_, std::nullopt);
  const bool isEmpty = std::all_of(rows_.begin(), rows_.end(),
                                   [](const auto& entry) { return entry.second.empty(); });
  if (!isEmpty) {
    stack_->showContent();
    showChoice();
    if (asked && chosen_.analysis != asked->analysis) {
      workbench_.showMessage(
          tr("There is no artifact %1/%2 in the selected runs.")
              .arg(QString::fromStdString(asked->analysis), QString::fromStdString(asked->name)));
    }
    return;
  }
  if (!failure.isEmpty()) {
    showEmpty(tr("The artifacts cannot be read: %1").arg(failure), false);
    return;
  }
  if (runs.empty()) {
    showEmpty(tr("Select a run in the list: the results of its analyses are drawn here."), true);
    return;
  }
  const store::RunRow* row = workbench_.run(runs.front());
  const bool isComing =
      row != nullptr && (row->state == store::RunState::Queued || isAlive(row->state));
  showEmpty(isComing ? tr("No results yet. Spectra, attention maps and reliability diagrams "
                          "appear here while the run trains.")
            : canCompute(workbench_, rowsOf_)
                ? tr("This run has no results. Compute an analysis of its newest checkpoint.")
                : tr("This run has no results. Select analyses under Observe when you configure "
                     "the next one."),
            true);
  showComputing();
}

void ArtifactsPage::showEmpty(const QString& sentence, bool hasButton) {
  figures_.cancel();
  stack_->showEmpty(sentence, !hasButton                        ? QString()
                              : canCompute(workbench_, rowsOf_) ? tr("Compute\u2026")
                                                                : tr("New experiment"));
  views_.clear();
  shown_.clear();
  while (QLayoutItem* item = grid_->takeAt(0)) {
    item->widget()->deleteLater();
    delete item;
  }
}

// All that is chosen and not read yet: what was asked before is dropped.
void ArtifactsPage::readFigures() {
  auto answers = std::make_shared<std::vector<Response>>();
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    if (!shown_[i].isMissing() || shown_[i].isCancelled) continue;
    const store::ArtifactRow* row = rowOf(shown_[i].run);
    if (row == nullptr) continue;
    Response& answer = answers->emplace_back();
    answer.view = i;
    answer.pixels = pixelsOf(*row);
    answer.content.id = row->id;
    answer.content.kind = QString::fromStdString(row->kind);
    answer.content.meta = row->meta;
  }
  std::vector<std::int64_t> ids;
  for (const Response& answer : *answers) ids.push_back(answer.content.id);
  // Runs that write ask again and again for the same.
  if (figures_.isBusy() && ids == asking_) return;
  asking_ = ids;
  if (ids.empty()) {
    figures_.cancel();
    return;
  }
  figures_.run(
      [this, answers, style = style_](store::RunReader& store,
                                      const std::atomic<bool>& isStale) -> Background::Finish {
        for (Response& answer : *answers) {
          if (isStale) return {};
          try {
            Content& content = answer.content;
            content.bytes =
                std::make_shared<const std::vector<std::byte>>(store.artifactData(content.id));
            if (answer.pixels != 0) {
              const std::vector<std::byte> png = store.artifactData(answer.pixels);
              content.picture = QImage::fromData(reinterpret_cast<const uchar*>(png.data()),
                                                 static_cast<int>(png.size()), "PNG");
            }
            answer.figure = makeFigure(content.kind, content.meta, *content.bytes, style);
          } catch (const Error& error) {
            answer.error = QString::fromUtf8(error.what());
          }
        }
        return [this, answers] {
          for (Response& answer : *answers) takeFigure(answer);
          applyStyle();
          showMeta();
        };
      });
}

void ArtifactsPage::takeFigure(Response& answer) {
  if (answer.view >= shown_.size() || shown_[answer.view].wanted != answer.content.id) return;
  FigureView& view = *views_[answer.view];
  shown_[answer.view].content = std::move(answer.content);
  view.setFigure(std::move(answer.figure));
  if (!answer.error.isEmpty())
    view.setEmptyText(tr("This artifact cannot be read: %1").arg(answer.error));
}

// A picture of the earlier choice would be mistaken for the present one.
void ArtifactsPage::showWaiting() {
  if (lists_.isBusy() && rowsOf_ != runs()) {
    showEmpty(tr("Reading the results of the analyses\u2026"), false);
    return;
  }
  if (!figures_.isBusy()) return;
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    if (!shown_[i].isMissing() || shown_[i].isCancelled) continue;
    shown_[i].content = {};
    views_[i]->setFigure(nullptr);
    views_[i]->setEmptyText(
        tr("Reading \u201c%1\u201d of step %2\u2026").arg(name(), count(shownStep())));
  }
}

void ArtifactsPage::cancelReading() {
  const bool wasList = lists_.isBusy() && rowsOf_ != runs();
  loading_.cancel();
  isStale_ = true;  // shown again, it reads again
  if (wasList) {
    rowsOf_.clear();
    showEmpty(tr("Reading was cancelled: choose a run to read again."), false);
    return;
  }
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    if (!shown_[i].isMissing()) continue;
    shown_[i].isCancelled = true;
    shown_[i].content = {};
    views_[i]->setFigure(nullptr);
    views_[i]->setEmptyText(
        tr("Reading was cancelled: choose a step or an artifact to read again."));
  }
}

}  // namespace vitrine::ui

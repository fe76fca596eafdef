// Exports of the Artifacts page: its view, its picture and the clipboard.
#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QSignalBlocker>

#include "ui/artifacts/artifacts_page.h"
#include "ui/figures/figure_view.h"
#include "ui/figures/side_by_side.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {

namespace {

constexpr double kClipboardScale = 2;
constexpr int kMostIndex = 1 << 20;  // of layers, heads, images, tokens

/// Two numbers of 0 to 1.
std::optional<std::array<double, 2>> placeInImage(const Json& state, const char* key) {
  const auto place = statePair(stateMember(state, key));
  const auto isShare = [](double one) { return one >= 0 && one <= 1; };
  return place && isShare((*place)[0]) && isShare((*place)[1]) ? place : std::nullopt;
}

}  // namespace

Json ArtifactsPage::viewState() const {
  return {{"analysis", chosen_.analysis},
          {"name", chosen_.name},
          {"step", step_ ? Json(*step_) : Json(nullptr)},
          {"same_scale", sameScale_->isChecked()},
          {"whole_matrix", wholeMatrix_->isChecked()},
          {"image", style_.image},
          {"layer", style_.layer},
          {"head", style_.head},
          {"query", style_.query},
          {"query_at", style_.queryAt ? Json(*style_.queryAt) : Json(nullptr)}};
}

void ArtifactsPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  if (std::string analysis = stateText(state, "analysis"); !analysis.empty()) {
    chosen_ = {std::move(analysis), stateText(state, "name")};
    isAsked_ = true;
  }
  if (state.contains("step")) {
    const std::int64_t step = stateInteger(state, "step", -1);
    step_ = step >= 0 ? std::optional(step) : std::nullopt;
  }
  const QSignalBlocker quietScale(sameScale_), quietMatrix(wholeMatrix_);
  for (const auto& [key, box] :
       {std::pair("same_scale", sameScale_), std::pair("whole_matrix", wholeMatrix_)})
    box->setChecked(stateFlag(state, key, box->isChecked()));
  const auto index = [&state](const char* key, int otherwise) {
    return stateInteger(state, key, -1, kMostIndex, otherwise);
  };
  style_.image = std::max(0, index("image", style_.image));
  style_.layer = std::max(0, index("layer", style_.layer));
  style_.head = std::max(0, index("head", style_.head));
  style_.query = index("query", style_.query);
  style_.queryAt = placeInImage(state, "query_at");
  workbench_.selection().setFocus(workbench_.selection().image(), style_.layer, style_.head);
  workbench_.selection().setStep(step_.value_or(-1));
  if (!isStale_ && !lists_.isBusy() && rowsOf_ == runs()) {
    takeRows(rowsOf_, rows_, QString());  // as they were read
  } else {
    reload();
  }
}

std::unique_ptr<Figure> ArtifactsPage::figure() {
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const Figure* drawn = views_[i]->figure();
    const Content& content = shown_[i].content;
    // A figure that is still being read is not the one of the titles.
    if (drawn == nullptr || content.bytes == nullptr || shown_[i].isMissing()) continue;
    FigureStyle style = drawn->style();
    style.cell.reset();  // where the keyboard is
    figures.emplace_back(runName(shown_[i].run),
                         makeFigure(content.kind, content.meta, *content.bytes, style));
  }
  if (figures.empty()) return nullptr;
  if (figures.size() == 1) return std::move(figures.front().second);
  return std::make_unique<SideBySide>(std::move(figures), 2, style_);
}

QString ArtifactsPage::fileName() const {
  QString name = QStringLiteral("%1-%2-step%3").arg(
      analysis(), this->name(), QString::number(shownStep()));
  return name.replace(QLatin1Char(' '), QLatin1Char('_'))
      .replace(QLatin1Char('/'), QLatin1Char('_'));
}

void ArtifactsPage::exportShown() {
  const std::unique_ptr<Figure> picture = figure();
  if (picture == nullptr) {
    workbench_.showMessage(tr("There is no figure to export: choose an artifact in the list."));
    return;
  }
  exportFigure(this, workbench_, *picture, recipeOf(workbench_, QStringLiteral("artifacts"), *this),
               fileName());
}

void ArtifactsPage::copyImage() {
  const std::unique_ptr<Figure> picture = figure();
  if (picture == nullptr) {
    workbench_.showMessage(tr("There is no figure to copy: choose an artifact in the list."));
    return;
  }
  QGuiApplication::clipboard()->setImage(picture->image(picture->sizeHint(), kClipboardScale));
  workbench_.showMessage(tr("The figure is on the clipboard."));
}

}  // namespace vitrine::ui

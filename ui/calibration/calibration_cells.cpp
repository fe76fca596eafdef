// The confusion matrix of the Calibration page: its classes and its cells, and which cue decides in
// its place.
#include <algorithm>

#include "ui/calibration/calibration_page.h"
#include "ui/figures/figure_view.h"

namespace vitrine::ui {

namespace {

constexpr int kMostClassesDrawn = 100;
constexpr int kMostConfused = 30;  // classes that are drawn of more

/// Among the drawn classes; -1: it is not drawn.
int placeAmong(const std::vector<int>& classes, int wanted) {
  const auto found = std::find(classes.begin(), classes.end(), wanted);
  return found == classes.end() ? -1 : static_cast<int>(found - classes.begin());
}

}  // namespace

ConfusionPicture CalibrationPage::confusionPicture() const {
  const CalibrationRun& run = *current();
  ConfusionPicture picture;
  const std::vector<int> classes = drawnClasses();
  const QString split = QString::fromStdString(textOf(*choice_.which));
  picture.title = std::ssize(classes) == run.predictions->classes
                      ? tr("Confusion, %1").arg(split)
                      : tr("Confusion, %1: the %2 most confused of %3 classes")
                            .arg(split, QString::number(classes.size()),
                                 QString::number(run.predictions->classes));
  picture.about = tr("a cell opens its images");
  for (const int k : classes)
    picture.names << QString::fromStdString(run.predictions->nameOf(k));
  picture.cells = confusionOf(*run.predictions, run.now.confidence, classes);
  picture.label = placeAmong(classes, choice_.label);
  picture.predicted = placeAmong(classes, choice_.predicted);
  return picture;
}

std::vector<int> CalibrationPage::drawnClasses() const {
  const CalibrationRun* run = current();
  if (run == nullptr) return {};
  const int classes = run->predictions->classes;
  return mostConfused(*run->predictions, run->now.confidence,
                      classes > kMostClassesDrawn ? kMostConfused : classes);
}

std::unique_ptr<Figure> CalibrationPage::cueFigure() const {
  CuePicture picture{.title = tr("Shape or texture"),
                     .about = tr("a dot a category, a line the mean")};
  for (const auto& run : shown_) {
    const auto stored = stored_.find(run->run);
    if (stored == stored_.end()) continue;
    const StoredCues* newest = nullptr;
    for (const StoredCues& one : stored->second.cues) {
      if (one.step <= run->step && one.which == *choice_.which &&
          (newest == nullptr || one.step >= newest->step))
        newest = &one;
    }
    if (newest != nullptr) picture.runs.push_back({run->run, runName(run->run), newest->decisions});
  }
  return picture.runs.empty() ? nullptr : makeCueFigure(std::move(picture));
}

void CalibrationPage::showConfusion() {
  if (choice_.hasCues) {
    confusion_->setFigure(cueFigure());
    confusion_->setEmptyText(
        tr("These runs have stored no decisions between shape and texture up to this step. A run "
           "stores them while it trains when shape bias is ticked under Observe. Its test images "
           "need the shape of one class and the texture of another."));
    return;
  }
  confusion_->setFigure(makeConfusionFigure(confusionPicture(), FigureStyle{}));
}

void CalibrationPage::chooseCell(int label, int predicted) {
  const CalibrationRun* run = current();
  if (run == nullptr) return;
  const int last = run->predictions->classes - 1;
  choice_.label = std::clamp(label, 0, last);
  choice_.predicted = std::clamp(predicted, 0, last);
  choice_.bin = -1;
  choice_.hasAllErrors = false;
  showReliability();
  showConfusion();
  showImages();
  Q_EMIT viewChanged();
}

void CalibrationPage::chooseDrawnCell(int row, int column) {
  const std::vector<int> classes = drawnClasses();
  if (classes.empty()) return;
  const int last = static_cast<int>(classes.size()) - 1;
  chooseCell(classes[static_cast<std::size_t>(std::clamp(row, 0, last))],
             classes[static_cast<std::size_t>(std::clamp(column, 0, last))]);
}

void CalibrationPage::moveCell(int right, int down) {
  if (choice_.hasCues) return;  // its categories have no cells
  const std::vector<int> classes = drawnClasses();
  const int row = placeAmong(classes, choice_.label);
  const int column = placeAmong(classes, choice_.predicted);
  if (row < 0 || column < 0)
    chooseDrawnCell(0, 0);
  else
    chooseDrawnCell(row + down, column + right);
}

}  // namespace vitrine::ui

// The widgets of the Artifacts page and what they do.
#include <QAction>
#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "ui/artifacts/artifacts_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"
#include "ui/workbench/analyses/analysis_menu.h"
#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {

QWidget* ArtifactsPage::makeList() {
  auto* panel = paintAs(new QWidget(splitter_), "panel");
  auto* column = columnIn(panel, {});
  tree_ = withName(withRole(new QTreeWidget(panel), "rows"), tr("Artifacts by analysis"));
  tree_->setHeaderHidden(true);
  tree_->setIndentation(px(14));
  tree_->setMinimumSize(px(140), px(96));
  tree_->setUniformRowHeights(true);
  tree_->setTextElideMode(Qt::ElideMiddle);  // times and patches stand at the end of a name
  column->addWidget(tree_, 1);
  auto* below = columnIn(nullptr, {px(8), 0, px(8), px(8)}, px(4));
  analyses_ = new AnalysisMenu(
      workbench_, tr("An analysis of the newest checkpoints of the selected runs"),
      [this] { return analysedRuns(); }, panel);
  below->addWidget(analyses_);
  computeText_ = withRole(new WrapLabel(panel), "small");
  computeText_->hide();
  below->addWidget(computeText_);
  column->addLayout(below);
  connect(tree_, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    if (item == nullptr || item->parent() == nullptr) return;
    chosen_ = {item->data(0, Qt::UserRole).toString().toStdString(),
               item->data(0, Qt::UserRole + 1).toString().toStdString()};
    isAsked_ = true;
    fillSteps();
    Q_EMIT viewChanged();
  });
  return panel;
}

QWidget* ArtifactsPage::makeViewer() {
  auto* viewer = new QWidget(splitter_);
  auto* column = columnIn(viewer, {px(12), px(12), px(12), px(12)}, px(8));
  auto* figures = new QWidget(viewer);
  grid_ = new QGridLayout(figures);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(px(12));
  column->addWidget(figures, 1);
  note_ = withRole(new WrapLabel(viewer), "small");
  column->addWidget(note_);

  auto* card = withRole(new QFrame(viewer), "card");
  auto* rows = columnIn(card, {px(12), px(8), px(12), px(8)}, px(6));
  auto* stepLine = rowIn(nullptr, {}, px(8));
  stepBar_ = new StepBar(tr("Steps at which this artifact was made"), this);
  follow_ = makeToolButton(tr("Follow"), tr("Show the newest, also when a newer one comes"), card);
  follow_->setCheckable(true);
  follow_->setChecked(true);
  stepLine->addWidget(stepBar_, 1);
  stepLine->addWidget(follow_);
  cancel_ = makeToolButton(tr("Cancel"), tr("Stop reading"), card);
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, this, &ArtifactsPage::cancelReading);
  stepLine->addWidget(cancel_);
  rows->addLayout(stepLine);
  meta_ = withRole(new WrapLabel(card), "small");
  meta_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  rows->addWidget(meta_);
  auto* buttonBar = new FlowBar(card);
  FlowRow* buttons = &buttonBar->row();
  sameScale_ = new QCheckBox(tr("Same scale"), card);
  sameScale_->setChecked(true);
  sameScale_->setToolTip(tr("One colour range for all maps and all runs shown"));
  wholeMatrix_ = new QCheckBox(tr("Whole matrix"), card);
  wholeMatrix_->setToolTip(tr("All queries by all keys instead of one query on the patch grid"));
  buttons->addWidget(sameScale_);
  buttons->addWidget(wholeMatrix_);
  open_ = new QToolButton(card);
  open_->setText(tr("Open"));  // showOpen() says where
  open_->hide();
  connect(open_, &QToolButton::clicked, this, &ArtifactsPage::openInstrument);
  buttons->addWidget(open_);
  misclassified_ = makeToolButton(
      tr("Misclassified examples"),
      tr("The images that the run is wrong about, most confident first, on Calibration"), card);
  misclassified_->hide();
  connect(misclassified_, &QToolButton::clicked, this, [this] {
    const std::int64_t current = workbench_.selection().current();
    const bool isDrawn = std::find(rowsOf_.begin(), rowsOf_.end(), current) != rowsOf_.end();
    openImages(isDrawn ? current : rowsOf_.front(), Images::Misclassified);
  });
  buttons->addWidget(misclassified_);
  buttons->addStretch();
  const auto action = [&](const QString& text, const QString& tip, auto use) {
    auto* made = new QAction(text, this);
    made->setToolTip(tip);
    connect(made, &QAction::triggered, this, use);
    figureActions_ << made;
    auto* button = new QToolButton(card);
    button->setDefaultAction(made);
    buttons->addWidget(button);
  };
  action(tr("Copy image"), tr("Copy the figure to the clipboard"), &ArtifactsPage::copyImage);
  action(tr("Export figure\u2026"),
         tr("As PNG, SVG or PDF, or its numbers as CSV; dropped on the window, the file "
            "opens this view again"),
         &ArtifactsPage::exportShown);
  rows->addWidget(buttonBar);
  column->addWidget(card);

  connect(stepBar_, &StepBar::chosen, this, [this](std::int64_t step) {
    step_ = step == stepBar_->steps().back() ? std::nullopt : std::optional(step);
    workbench_.selection().setStep(step_.value_or(-1));
    showFigures();
    Q_EMIT viewChanged();
  });
  connect(follow_, &QToolButton::clicked, this, [this](bool isOn) {
    step_ = isOn || shownStep() < 0 ? std::nullopt : std::optional(shownStep());
    workbench_.selection().setStep(step_.value_or(-1));
    fillSteps();
    Q_EMIT viewChanged();
  });
  for (QCheckBox* box : {sameScale_, wholeMatrix_}) {
    connect(box, &QCheckBox::toggled, this, [this] {
      applyStyle();
      Q_EMIT viewChanged();
    });
  }
  return viewer;
}

}  // namespace vitrine::ui

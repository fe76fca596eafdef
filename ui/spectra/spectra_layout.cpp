// The widgets of the Spectra page and what they do.
#include <QComboBox>
#include <QGridLayout>
#include <QMouseEvent>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "ui/figures/figure_view.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"
#include "ui/spectra/spectra_page.h"

namespace vitrine::ui {

namespace {

/// A drag is a click at every place that it comes through.
class DragView final : public FigureView {
 public:
  using FigureView::FigureView;

 protected:
  void mouseMoveEvent(QMouseEvent* event) override {
    if ((event->buttons() & Qt::LeftButton) == 0) return FigureView::mouseMoveEvent(event);
    QMouseEvent press(QEvent::MouseButtonPress, event->position(), event->globalPosition(),
                      Qt::LeftButton, event->buttons(), event->modifiers());
    mousePressEvent(&press);
  }
};

}  // namespace

QWidget* SpectraPage::makeTools() {
  auto* bar = new FlowBar(content());
  FlowRow* row = &bar->row();
  threshold_ =
      withName(new QSpinBox(this), tr("Threshold of the rank"),
               tr("The rank is the number of singular values that hold this share of their sum. "
                  "Drag the line in the chart, or move it with the arrow keys."));
  threshold_->setRange(1, 100);
  threshold_->setPrefix(tr("Rank at "));
  threshold_->setSuffix(QStringLiteral("\u2009%"));
  threshold_->setValue(80);
  threshold_->setMinimumWidth(px(120));
  connect(threshold_, &QSpinBox::valueChanged, this, [this](int share) {
    if (!isFilling_) chooseThreshold(share / 100.0);
  });
  row->addWidget(threshold_);
  headChoice_ = withName(new QComboBox(this), tr("Heads"),
                         tr("Heads of the large charts: one head, or the mean of its layer"));
  headChoice_->addItems({tr("One head"), tr("Mean of the heads")});
  headChoice_->setMinimumWidth(px(110));
  connect(headChoice_, &QComboBox::activated, this,
          [this](int index) { chooseHead(choice_.layer, index == 1 ? -1 : 0); });
  row->addWidget(headChoice_);
  const auto toggle = [&](const QString& text, const QString& tip, bool isOn) {
    auto* button = makeToolButton(text, tip, this);
    button->setCheckable(true);
    button->setChecked(isOn);
    row->addWidget(button);
    return button;
  };
  log_ = toggle(tr("Log \u03c3"), tr("Logarithm of the singular values in the small charts"), true);
  connect(log_, &QToolButton::clicked, this, [this](bool isOn) {
    choice_.isLog = isOn;
    showHeads();
    Q_EMIT viewChanged();
  });
  values_ = toggle(tr("Values"), tr("Singular values instead of the share they hold"), false);
  connect(values_, &QToolButton::clicked, this, [this](bool isOn) {
    choice_.isValues = isOn;
    showShare();
    Q_EMIT viewChanged();
  });
  sameScale_ = toggle(tr("Same scale"),
                      tr("One scale of singular values for all runs; else each run is drawn as a "
                         "share of its largest"),
                      true);
  connect(sameScale_, &QToolButton::clicked, this, [this](bool isOn) {
    choice_.isSameScale = isOn;
    showHeads();
    showWaterfall();
    Q_EMIT viewChanged();
  });
  meanOfSeeds_ = toggle(tr("Mean of seeds"),
                        tr("Effective and stable rank of all selected runs: the mean of those that "
                           "differ in their seed alone, its 95 % interval, and the difference"),
                        false);
  connect(meanOfSeeds_, &QToolButton::clicked, this, [this](bool isOn) {
    choice_.hasSeeds = isOn;
    readRuns();
    Q_EMIT viewChanged();
  });
  follow_ = toggle(tr("Follow"), tr("Show the newest step, also when a newer one comes"), true);
  connect(follow_, &QToolButton::clicked, this, [this](bool isOn) {
    const std::vector<std::int64_t> all = steps();
    if (isOn || all.empty()) {
      chooseStep(-1);
    } else {
      step_ = shownStep();
      workbench_.selection().setStep(*step_);
      showSteps();
      Q_EMIT viewChanged();
    }
  });
  addTools(*row, QStringLiteral("spectra"),
           tr("As PNG, SVG, PDF or CSV: the heads, or the picture that had the focus last"));
  return bar;
}

FigureView* SpectraPage::makeView(const QString& name, int leastHeight) {
  auto* view = withName(new DragView(content()), name);
  view->setSteered(true);
  view->setMinimumHeight(px(leastHeight));
  return view;
}

void SpectraPage::connectViews() {
  connect(heads_, &FigureView::clicked, this, [this](const FigureTarget& target) {
    if (target.layer >= 0) chooseHead(target.layer, target.head);
  });
  connect(heads_, &FigureView::steered, this, [this](int right, int down) {
    chooseHead(choice_.layer + down, std::max(0, std::max(0, choice_.head) + right));
  });
  connect(heads_, &FigureView::entered, this, [this] { share_->setFocus(); });
  const auto drag = [this](const FigureTarget& target) {
    if (target.queryAt && !choice_.isValues) chooseThreshold((*target.queryAt)[0]);
  };
  connect(share_, &FigureView::clicked, this, drag);
  connect(share_, &FigureView::steered, this, [this](int right, int down) {
    if (down != 0)
      chooseThreshold(choice_.threshold - 0.01 * down);
    else
      chooseHead(choice_.layer, std::max(0, std::max(0, choice_.head) + right));
  });
  const auto pick = [this](const FigureTarget& target) {
    const std::vector<std::int64_t> all = steps();
    if (!target.queryAt || all.empty()) return;
    // The column that is drawn there reaches half way to its neighbours.
    const double wanted = (*target.queryAt)[1] * static_cast<double>(lastStep());
    const auto away = [wanted](std::int64_t step) {
      return std::abs(static_cast<double>(step) - wanted);
    };
    chooseStep(*std::min_element(
        all.begin(), all.end(), [&](std::int64_t a, std::int64_t b) { return away(a) < away(b); }));
  };
  connect(waterfall_, &FigureView::clicked, this, pick);
  connect(waterfall_, &FigureView::steered, this,
          [this](int right, int) { stepBar_->move(right); });
}

void SpectraPage::arrange() {
  if (stackParts({heads_, share_, waterfall_, controls_, stepBar_, effective_, stable_}, 12))
    return;
  grid_->addWidget(heads_, 0, 0, 1, 6);
  grid_->addWidget(share_, 0, 6, 1, 6);
  grid_->addWidget(waterfall_, 1, 0, 1, 7);
  grid_->addWidget(controls_, 1, 7, 1, 5);
  grid_->addWidget(stepBar_, 2, 0, 1, 12);
  grid_->addWidget(effective_, 3, 0, 1, 6);
  grid_->addWidget(stable_, 3, 6, 1, 6);
  for (int column = 0; column < 12; ++column) grid_->setColumnStretch(column, 1);
  grid_->setRowStretch(0, 6);
  grid_->setRowStretch(1, 6);
  grid_->setRowStretch(3, 3);
}

}  // namespace vitrine::ui

// The charts of the Compare page and the controls next to them.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QToolButton>

#include "ui/compare/artifact_tiles.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/family_chart.h"
#include "ui/compare/forest_chart.h"
#include "ui/compare/parallel_view.h"
#include "ui/compare/scatter_chart.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/check_list.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

namespace {

void fillKeys(QComboBox* combo, const QString& what, const CompareData& data) {
  combo->clear();
  combo->addItem(what + QObject::tr(": none"), QString());
  combo->addItem(what + QObject::tr(": variant"), QStringLiteral("variant"));
  combo->addItem(what + QObject::tr(": seed"), QStringLiteral("seed"));
  for (const std::string& key : data.keys) {
    combo->addItem(what + QStringLiteral(": ") + shortKey(key, data.keys),
                   QString::fromStdString(key));
  }
}

void showKey(QComboBox* combo, const std::string& chosen) {
  combo->setCurrentIndex(std::max(0, combo->findData(QString::fromStdString(chosen))));
}

}  // namespace

QWidget* ComparePage::makeCurveTools(QWidget* parent) {
  auto* bar = new FlowBar(parent);
  FlowRow* row = &bar->row();
  axis_ = makeCombo(tr("Horizontal axis"), tr("Horizontal axis of the curves"));
  axis_->addItems({tr("x: step"), tr("x: epoch"), tr("x: time")});
  connect(axis_, &QComboBox::activated, this, [this](int index) {
    change([index](CompareChoice& choice) { choice.axis = static_cast<CurveAxis>(index); });
  });
  centre_ = makeCombo(tr("Aggregate"), tr("Aggregate over seeds"));
  centre_->addItems({tr("mean"), tr("median")});
  connect(centre_, &QComboBox::activated, this, [this](int index) {
    change([index](CompareChoice& choice) {
      choice.centre = static_cast<Centre>(index);
      if (choice.centre == Centre::Mean && choice.spread == Spread::Quartiles)
        choice.spread = Spread::Interval;
    });
  });
  spread_ = makeCombo(tr("Band"),
                      tr("Spread over seeds: around a curve, and behind the means of the table"));
  connect(spread_, &QComboBox::activated, this, [this](int index) {
    const int spread = spread_->itemData(index).toInt();
    change([spread](CompareChoice& choice) { choice.spread = static_cast<Spread>(spread); });
  });
  const auto key = [this](QComboBox*& combo, const QString& name, const QString& tip,
                          std::string CompareChoice::*member) {
    combo = makeCombo(name, tip);
    connect(combo, &QComboBox::activated, this, [this, combo, member](int index) {
      const std::string chosen = combo->itemData(index).toString().toStdString();
      change([&](CompareChoice& choice) { choice.*member = chosen; });
    });
  };
  key(colour_, tr("Colour"),
      tr("Key that sets the colour of a line. Only runs that differ in their seed alone are "
         "ever averaged"),
      &CompareChoice::colour);
  key(dash_, tr("Dash"), tr("Key that sets the dash of a line"), &CompareChoice::dash);
  key(panel_, tr("Panel"), tr("A chart for each value"), &CompareChoice::panel);
  logX_ = makeToggle(tr("log x"), tr("Logarithmic horizontal axis"));
  logY_ = makeToggle(tr("log y"), tr("Logarithmic vertical axis"));
  connect(logX_, &QToolButton::clicked, this,
          [this](bool isOn) { change([isOn](CompareChoice& choice) { choice.isLogX = isOn; }); });
  connect(logY_, &QToolButton::clicked, this,
          [this](bool isOn) { change([isOn](CompareChoice& choice) { choice.isLogY = isOn; }); });
  const std::pair<QComboBox*, int> widths[] = {{axis_, 5},    {centre_, 5}, {spread_, 11},
                                               {colour_, 10}, {dash_, 8},   {panel_, 9}};
  for (const auto& [combo, letters] : widths) {
    combo->setMinimumContentsLength(letters);
    growInRow(combo);
    row->addWidget(combo);
  }
  row->addWidget(logX_);
  row->addWidget(logY_);
  return bar;
}

void ComparePage::fillTools() {
  fillKeys(colour_, tr("colour"), *data_);
  fillKeys(dash_, tr("dash"), *data_);
  fillKeys(panel_, QStringLiteral("panel"), *data_);
  const auto fill = [&](QComboBox* combo, const QString& name) {
    combo->clear();
    for (const Quantity& quantity : data_->quantities) {
      if (quantity.isNumber)
        combo->addItem(name + QStringLiteral(": ") + quantity.name,
                       QString::fromStdString(quantity.id));
    }
  };
  fill(scatterX_, QStringLiteral("x"));
  fill(scatterY_, QStringLiteral("y"));
}

void ComparePage::showCurveTools() {
  axis_->setCurrentIndex(static_cast<int>(choice_.axis));
  centre_->setCurrentIndex(static_cast<int>(choice_.centre));
  spread_->clear();
  const bool isMean = choice_.centre == Centre::Mean;
  for (const Spread spread : {Spread::Interval, Spread::Deviation, Spread::StandardError,
                              Spread::Range, Spread::Quartiles, Spread::None}) {
    const bool isOfMean = spread == Spread::Interval || spread == Spread::Deviation ||
                          spread == Spread::StandardError;
    if (!isMean && isOfMean) continue;
    spread_->addItem(nameOf(spread), static_cast<int>(spread));
  }
  spread_->setCurrentIndex(std::max(0, spread_->findData(static_cast<int>(choice_.spread))));
  showKey(colour_, choice_.colour);
  showKey(dash_, choice_.dash);
  showKey(panel_, choice_.panel);
  logX_->setChecked(choice_.isLogX);
  logY_->setChecked(choice_.isLogY);
  // A forest plot has a row a variant and one axis of numbers.
  for (QWidget* tool : std::initializer_list<QWidget*>{axis_, colour_, dash_, panel_, logX_, logY_})
    tool->setEnabled(!isForest());
}

QWidget* ComparePage::makeParallel() {
  auto* view = new QWidget(views_);
  auto* column = columnIn(view, {}, px(8));
  auto* bar = new FlowBar(view);
  FlowRow* row = &bar->row();
  parallelView_ = new ParallelView(view);
  parallelView_->addAction(exportFigure_);
  parallelView_->setContextMenuPolicy(Qt::ActionsContextMenu);
  connect(parallelView_, &ParallelView::axesChanged, this, &ComparePage::onAxes);
  const auto button = [&](const QString& text, const QString& tip, auto&& use) {
    auto* made = makeToolButton(text, tip, view);
    connect(made, &QToolButton::clicked, this, use);
    row->addWidget(made);
  };
  button(tr("Axes"), tr("Choose the quantities"), [this] { askAxes(); });
  button(tr("Log axis"), tr("The marked axis logarithmic or linear (L)"),
         [this] { parallelView_->toggleLog(); });
  button(tr("Reverse axis"), tr("Swap the ends of the marked axis (F)"),
         [this] { parallelView_->flip(); });
  button(tr("Clear brushes"), tr("Keep all runs again"), [this] { parallelView_->clearBrushes(); });
  row->addStretch();
  auto* hint =
      withRole(new ElidedLabel(
                   tr("Drag along an axis: the runs that pass stay selected in the list."), view),
               "small");
  row->addWidget(hint);
  column->addWidget(bar);
  column->addWidget(parallelView_, 1);
  return view;
}

QWidget* ComparePage::makeArtifacts() {
  artifactTiles_ = new ArtifactTiles(workbench_, views_);
  artifactTiles_->addTileAction(exportFigure_);
  connect(artifactTiles_, &ArtifactTiles::kindChosen, this, [this](const std::string& kind) {
    change([&](CompareChoice& choice) { choice.artifact = kind; });
  });
  connect(&artifactTiles_->reader(), &Background::failed, this, [this](const QString& sentence) {
    workbench_.showError(tr("The artifacts cannot be read: %1").arg(sentence));
  });
  return artifactTiles_;
}

// The first run that is done stands for its variant, else the first.
void ComparePage::showArtifacts() {
  std::vector<ArtifactTiles::Variant> variants;
  for (const std::size_t variant : tableOrder()) {
    const std::vector<std::size_t>& runs = data_->variants[variant].runs;
    const auto done = std::find_if(runs.begin(), runs.end(), [this](std::size_t run) {
      return data_->runs[run].row.state == store::RunState::Done;
    });
    const std::size_t run = done == runs.end() ? runs.front() : *done;
    variants.push_back(
        {data_->labels[variant], data_->runs[run].row.id, seriesOf(*data_, variant)});
  }
  artifactTiles_->show(std::move(variants), choice_.artifact);
  artifactTiles_->applyTheme();
}

bool ComparePage::isForest() const {
  return data_ != nullptr && (data_->family.has_value() || isSingleValued(*data_));
}

std::unique_ptr<Figure> ComparePage::forestFigure(ComparePicture picture,
                                                  const FigureStyle& style) const {
  const bool isDifference = picture == ComparePicture::Difference;
  const AblationTable& table = model_.table();
  const std::vector<std::size_t> rows = tableOrder();
  if (data_->family) {
    return makeLineChart(isDifference ? familyDifferences(*data_, choice_, table, rows)
                                      : familyChart(*data_, choice_, table, rows),
                         style);
  }
  return std::make_unique<ForestFigure>(
      isDifference ? forestDifferences(*data_, table, rows) : forestChart(*data_, table, rows),
      style);
}

void ComparePage::drawForest() {
  FigureStyle style;
  style.legend = FigureLegend::None;  // the rows above are the key
  style.wrapsAbout = true;
  curvesView_->setFigure(forestFigure(ComparePicture::Curves, style));
  differenceView_->setFigure(forestFigure(ComparePicture::Difference, style));
  differenceView_->setVisible(data_->variants.size() > 1);
}

void ComparePage::showParallel() { parallelView_->setChart(parallelChart(*data_, choice_)); }

void ComparePage::onAxes(const std::vector<ParallelAxisChoice>& axes) {
  const bool wasBrushed = parallelChart(*data_, choice_).isBrushed();
  change([&](CompareChoice& choice) { choice.parallel = axes; });
  if (data_ == nullptr) return;  // other metrics: the runs were looked up again, and few are left
  const ParallelChart chart = parallelChart(*data_, choice_);
  if (!chart.isBrushed() && !wasBrushed) return;
  // The runs shown here stay; the list and the other pages get those that are kept.
  isBrushing_ = true;
  brushed_ = chart.isBrushed() ? chart.keptRuns() : std::vector<std::int64_t>();
  const std::vector<std::int64_t>& selected = chart.isBrushed() ? brushed_ : scope_;
  workbench_.selection().setRuns(selected, selected.empty() ? 0 : selected.front());
  isBrushing_ = false;
}

void ComparePage::askAxes() {
  if (data_ == nullptr) return;
  std::vector<ParallelAxisChoice> axes = parallelAxes(*data_, choice_);
  CheckList list{tr("Axes of the parallel coordinates"), tr("Search keys and metrics"),
                 tr("Quantities, from left to right"), CheckList::Order::ByUser};
  const std::vector<Quantity>& all = data_->quantities;
  for (const ParallelAxisChoice& axis : axes) {
    for (const Quantity& quantity : all) {
      if (quantity.id == axis.quantity)
        list.entries.push_back({quantity.id, quantity.name, {}, true});
    }
  }
  for (const Quantity& quantity : all) {
    const bool isOn = std::any_of(axes.begin(), axes.end(), [&](const ParallelAxisChoice& axis) {
      return axis.quantity == quantity.id;
    });
    if (!isOn) list.entries.push_back({quantity.id, quantity.name});
  }
  const auto checked = askCheckList(this, list);
  if (!checked) return;
  std::vector<ParallelAxisChoice> chosen;
  for (const std::string& id : *checked) {
    ParallelAxisChoice axis{id, false, false, std::nullopt};
    for (const ParallelAxisChoice& before : axes) {
      if (before.quantity == id) axis = before;
    }
    chosen.push_back(axis);
  }
  change([&](CompareChoice& choice) { choice.parallel = chosen; });
}

QWidget* ComparePage::makeScatter() {
  auto* view = new QWidget(views_);
  auto* column = columnIn(view, {}, px(8));
  auto* bar = new FlowBar(view);
  FlowRow* row = &bar->row();
  const auto side = [&](const QString& name, QComboBox*& quantity, QComboBox*& better,
                        QToolButton*& log, std::string CompareChoice::*chosen,
                        std::optional<Direction> CompareChoice::*direction,
                        bool CompareChoice::*isLog) {
    quantity =
        makeCombo(tr("Quantity on %1").arg(name), tr("Any number: configuration, metric, cost"));
    connect(quantity, &QComboBox::activated, this, [this, combo = quantity, chosen](int index) {
      const std::string id = combo->itemData(index).toString().toStdString();
      change([&](CompareChoice& choice) { choice.*chosen = id; });
    });
    better = makeCombo(tr("Better on %1").arg(name), tr("Which way is better, for the front"));
    better->addItems({tr("better: automatic"), tr("better: neither"), tr("better: lower"),
                      tr("better: higher")});
    connect(better, &QComboBox::activated, this, [this, direction](int index) {
      change([&](CompareChoice& choice) {
        choice.*direction =
            index == 0 ? std::nullopt : std::optional(static_cast<Direction>(index - 1));
      });
    });
    better->setMinimumContentsLength(15);
    log = makeToggle(tr("log %1").arg(name), tr("Logarithmic axis %1").arg(name));
    connect(log, &QToolButton::clicked, this, [this, isLog](bool isOn) {
      change([&](CompareChoice& choice) { choice.*isLog = isOn; });
    });
    quantity->setMinimumContentsLength(20);
    for (QComboBox* combo : {quantity, better}) {
      growInRow(combo);
      row->addWidget(combo);
    }
    row->addWidget(log);
  };
  side(QStringLiteral("x"), scatterX_, betterX_, scatterLogX_, &CompareChoice::scatterX,
       &CompareChoice::betterX, &CompareChoice::isScatterLogX);
  side(QStringLiteral("y"), scatterY_, betterY_, scatterLogY_, &CompareChoice::scatterY,
       &CompareChoice::betterY, &CompareChoice::isScatterLogY);
  column->addWidget(bar);
  scatterView_ = withName(new FigureView(view), tr("Scatter of the runs"));
  scatterView_->setMinimumHeight(px(240));
  scatterView_->setFocusPolicy(Qt::StrongFocus);
  scatterView_->addAction(exportFigure_);
  scatterView_->setContextMenuPolicy(Qt::ActionsContextMenu);
  column->addWidget(scatterView_, 1);
  return view;
}

void ComparePage::showScatter() {
  scatterView_->setFigure(makeLineChart(scatterChart(*data_, choice_)));
}

void ComparePage::showScatterTools() {
  const ScatterQuantities chosen = scatterQuantities(*data_, choice_);
  scatterX_->setCurrentIndex(scatterX_->findData(QString::fromStdString(chosen.x.id)));
  scatterY_->setCurrentIndex(scatterY_->findData(QString::fromStdString(chosen.y.id)));
  const auto index = [](const std::optional<Direction>& direction) {
    return direction ? static_cast<int>(*direction) + 1 : 0;
  };
  betterX_->setCurrentIndex(index(choice_.betterX));
  betterY_->setCurrentIndex(index(choice_.betterY));
  scatterLogX_->setChecked(choice_.isScatterLogX);
  scatterLogY_->setChecked(choice_.isScatterLogY);
}

}  // namespace vitrine::ui

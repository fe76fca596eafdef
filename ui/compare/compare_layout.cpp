// The widgets of the Compare page: what stands above all views, and the table with its curves.
#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <algorithm>
#include <set>

#include "ui/compare/compare_page.h"
#include "ui/compare/report/report_bar.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/check_list.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/small_widgets.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {

namespace {

constexpr int kMostColumn = 260;  // pixels of the design, where no room is left
constexpr int kLeastRows = 6;     // of the table, whatever the page has room for

}  // namespace

QComboBox* ComparePage::makeCombo(const QString& name, const QString& tip) {
  // Variants of an experiment differ at the end.
  auto* combo = withName(new ElidedComboBox(this, Qt::ElideMiddle), name, tip);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(8);
  combo->setMinimumWidth(px(80));  // in a window that has no room for its letters
  combo->setMaxVisibleItems(20);
  return combo;
}

void ComparePage::growInRow(QWidget* widget) {
  widget->setSizePolicy(QSizePolicy::Expanding, widget->sizePolicy().verticalPolicy());
}

QToolButton* ComparePage::makeToggle(const QString& text, const QString& tip) {
  auto* button = makeToolButton(text, tip, this);
  button->setCheckable(true);
  return button;
}

void ComparePage::makeActions() {
  const auto act = [this](const QString& text, const QString& tip, auto&& use) {
    auto* action = new QAction(text, this);
    action->setToolTip(tip);
    connect(action, &QAction::triggered, this, use);
    tools_ << action;
    return action;
  };
  act(tr("Copy table as Markdown"), tr("The table as it is shown, to the clipboard"),
      [this] { copyTable(TableFormat::Markdown); });
  act(tr("Copy table as LaTeX"), tr("The table as it is shown, for booktabs, to the clipboard"),
      [this] { copyTable(TableFormat::Latex); });
  act(tr("Copy table as CSV"), tr("Full precision, fractions as fractions, to the clipboard"),
      [this] { copyTable(TableFormat::Csv); });
  act(tr("Save table as Markdown\u2026"), tr("To a file"),
      [this] { askAndExport(TableFormat::Markdown); });
  act(tr("Save table as LaTeX\u2026"), tr("Choose its columns, then save or copy it"),
      [this] { askLatex(); });
  act(tr("Save table as CSV\u2026"), tr("To a file"), [this] { askAndExport(TableFormat::Csv); });
  act(tr("Columns of the ablation table\u2026"), tr("Choose the metrics that are columns"),
      [this] { chooseColumns(); });
  act(tr("Use variant as baseline"), tr("Compare with the variant of the current row"),
      [this] { setBaselineFromTable(); });
  act(tr("Copy differences as overrides"), tr("key=value of the current run against the first one"),
      [this] { copyOverrides(); });
  exportFigure_ = new QAction(tr("Export figure\u2026"), this);
  exportFigure_->setToolTip(
      tr("As PNG, SVG, PDF or CSV: the table, or the chart that had the focus last"));
  connect(exportFigure_, &QAction::triggered, this,
          [this] { exportFigureOf(this, workbench_, *this, QStringLiteral("compare")); });
  writeReport_ = new QAction(tr("Report\u2026"), this);
  writeReport_->setToolTip(
      tr("Configuration, results with intervals, figures, samples, claims and environment of "
         "these runs, in one HTML or PDF file"));
  connect(writeReport_, &QAction::triggered, this, &ComparePage::askReport);
  // One button: the tool bar has room for the search on a small screen, too.
  toolMenu_ = new QAction(tr("Table"), this);
  toolMenu_->setToolTip(tr("Columns, baseline, and the table as text"));
  auto* menu = new QMenu(tr("Table"), this);
  menu->setToolTipsVisible(true);
  menu->addActions(tools_);
  menu->addMenu(makeSortMenu());
  toolMenu_->setMenu(menu);
}

QWidget* ComparePage::makeTop() {
  auto* top = new QWidget(stack_->content());
  auto* rows = columnIn(top, {}, px(8));
  auto* firstBar = new FlowBar(top);
  FlowRow* first = &firstBar->row();
  first->setSpacing(px(4));
  const std::pair<const char*, const char*> views[] = {
      {QT_TR_NOOP("Table"), QT_TR_NOOP("Variants with intervals over seeds, and their curves")},
      {QT_TR_NOOP("Parallel"),
       QT_TR_NOOP("Configuration and scores, one line per run; drag along an axis to keep some")},
      {QT_TR_NOOP("Scatter"),
       QT_TR_NOOP("Any two numbers, with the runs that no other beats in both")},
      {QT_TR_NOOP("Differences"), QT_TR_NOOP("Configuration, environment and source side by side")},
      {QT_TR_NOOP("Published"), QT_TR_NOOP("The paper's numbers next to ours")},
      {QT_TR_NOOP("Artifacts"),
       QT_TR_NOOP("Spectra, reliability and samples of the variants side by side")}};
  for (std::size_t i = 0; i < std::size(views); ++i) {
    QToolButton* button = makeToggle(tr(views[i].first), tr(views[i].second));
    connect(button, &QToolButton::clicked, this, [this, i] {
      change([i](CompareChoice& choice) { choice.view = static_cast<CompareView>(i); });
      showChoice();
    });
    viewButtons_.push_back(button);
    first->addWidget(button);
  }
  first->addStretch();
  busy_ = withRole(new QLabel(tr("Reading\u2026"), top), "small");
  busy_->hide();
  first->addWidget(busy_);
  cancel_ = makeToolButton(tr("Cancel"), tr("Stop reading and keep the data that are shown"), top);
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, this, &ComparePage::cancelReading);
  first->addWidget(cancel_);
  unfinished_ = new QCheckBox(tr("Count unfinished runs"), top);
  unfinished_->setToolTip(
      tr("Include the values of unfinished runs. They are not comparable with finished ones unless "
         "you choose a step that all have reached."));
  connect(unfinished_, &QCheckBox::clicked, this, [this](bool isOn) {
    change([isOn](CompareChoice& choice) {
      choice.unfinished = isOn ? store::Unfinished::Counted : store::Unfinished::LeftOut;
    });
  });
  first->addWidget(unfinished_);
  auto* exports = makeToolButton(
      tr("Export"),
      tr("A report, the picture of this view, or the table as Markdown, LaTeX or CSV"), top);
  exports->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(exports);
  menu->addAction(writeReport_);
  menu->addAction(exportFigure_);
  menu->addSeparator();
  for (int i = 0; i < 6; ++i) {
    if (i == 3) menu->addSeparator();
    menu->addAction(tools_[i]);
  }
  exports->setMenu(menu);
  first->addWidget(exports);
  rows->addWidget(firstBar);
  report_ = new ReportBar(workbench_, top);
  connect(report_, &ReportBar::changed, this, &ComparePage::showReport);
  rows->addWidget(report_);
  showReport();

  auto* secondBar = new FlowBar(top);
  FlowRow* second = &secondBar->row();
  metric_ = makeCombo(tr("Metric"), tr("The metric that is compared and drawn; type to search"));
  metric_->setEditable(true);
  metric_->setInsertPolicy(QComboBox::NoInsert);
  metric_->completer()->setFilterMode(Qt::MatchContains);
  metric_->completer()->setCompletionMode(QCompleter::PopupCompletion);
  metric_->setMinimumContentsLength(14);
  connect(metric_, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (isFilling_ || index < 0) return;
    const std::string name = metric_->itemData(index).toString().toStdString();
    change([&](CompareChoice& choice) {
      if (choice.metrics.empty() && data_ != nullptr) choice.metrics = data_->metrics;
      std::erase(choice.metrics, name);
      if (choice.metrics.empty()) {
        choice.metrics.push_back(name);
      } else if (choice.metrics.size() == 1) {
        choice.metrics.front() = name;
      } else {
        choice.metrics.insert(choice.metrics.begin(), name);
      }
    });
  });
  growInRow(metric_);
  second->addWidget(metric_);
  auto* columns = makeToolButton(tr("Columns"), tr("Further metrics"), top);
  connect(columns, &QToolButton::clicked, this, &ComparePage::chooseColumns);
  second->addWidget(columns);
  value_ = makeCombo(tr("Value of a run"), tr("Which value of a run's curve is compared"));
  value_->addItems({tr("Last value"), tr("Best value"), tr("Smallest value"), tr("Largest value"),
                    tr("At step")});
  value_->setMinimumContentsLength(11);
  connect(value_, &QComboBox::activated, this, [this](int index) {
    change([&](CompareChoice& choice) {
      choice.value.value = static_cast<store::CurveValue>(index);
      if (choice.value.value == store::CurveValue::AtStep && choice.value.step == 0 &&
          data_ != nullptr) {
        // As far as all have come.
        std::int64_t least = 0;
        for (const auto& [name, values] : data_->measured.values) {
          for (const auto& [run, value] : values)
            least = least == 0 ? value.lastStep : std::min(least, value.lastStep);
          if (!values.empty()) break;
        }
        choice.value.step = least;
      }
    });
  });
  second->addWidget(value_);
  step_ = withName(new QSpinBox(top), tr("Step"),
                   tr("The newest value up to this step; runs that do not reach it have none"));
  step_->setRange(0, 2'000'000'000);
  step_->setKeyboardTracking(false);
  step_->setGroupSeparatorShown(true);
  connect(step_, &QSpinBox::valueChanged, this, [this](int step) {
    if (!isFilling_) change([step](CompareChoice& choice) { choice.value.step = step; });
  });
  second->addWidget(step_);
  auto* pair = new QWidget(top);
  auto* pairRow = rowIn(pair, {}, px(8));
  auto* against = withRole(new QLabel(tr("Baseline"), pair), "small");
  pairRow->addWidget(against);
  baseline_ = makeCombo(tr("Baseline"), tr("Variant that the others are compared with"));
  baseline_->setMinimumContentsLength(14);
  against->setBuddy(baseline_);
  connect(baseline_, &QComboBox::activated, this, [this](int index) {
    const QString label = baseline_->itemText(index);
    change([&](CompareChoice& choice) { choice.baseline = label.toStdString(); });
  });
  growInRow(baseline_);
  pairRow->addWidget(baseline_, 1);
  second->addWidget(pair);
  filter_ = makeSearchField(tr("Filter variants"), QString(), top);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (!isFilling_) change([&](CompareChoice& choice) { choice.filter = text; });
  });
  filter_->setMinimumWidth(px(150));
  second->addWidget(filter_);
  rows->addWidget(secondBar);
  return top;
}

QWidget* ComparePage::makeTableView() {
  auto* splitter = withRole(new QSplitter(Qt::Vertical, views_), "gap");
  split_ = splitter;
  connect(split_, &QSplitter::splitterMoved, this, [this] { isSplitByHand_ = true; });
  splitter->setChildrenCollapsible(false);
  splitter->setHandleWidth(px(8));
  auto* card = withRole(new QFrame(splitter), "card");
  auto* column = columnIn(card, {1, px(8), 1, px(4)}, px(4));
  auto* heading = rowIn(nullptr, {px(11), 0, px(11), 0}, px(12));
  auto* headline = withRole(new ElidedLabel(card), "title");
  headline_ = headline;
  about_ = withRole(new WrapLabel(card), "small");
  about_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  heading->addWidget(headline_, 1);
  heading->addWidget(about_, 2);
  column->addLayout(heading);
  tableView_ = withName(new QTableView(card), tr("Ablation table"));
  tableView_->setModel(&order_);
  tableView_->setSelectionBehavior(QAbstractItemView::SelectRows);
  tableView_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  tableView_->setShowGrid(false);
  tableView_->setAlternatingRowColors(false);
  tableView_->setWordWrap(false);
  tableView_->setTextElideMode(Qt::ElideMiddle);  // variants of an experiment differ at the end
  tableView_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  tableView_->setTabKeyNavigation(false);
  tableView_->verticalHeader()->hide();
  tableView_->viewport()->installEventFilter(this);
  tableView_->verticalHeader()->setDefaultSectionSize(px(28));
  tableView_->horizontalHeader()->setHighlightSections(false);
  tableView_->horizontalHeader()->setStretchLastSection(true);
  tableView_->horizontalHeader()->setSectionsClickable(true);
  tableView_->horizontalHeader()->setSortIndicatorShown(true);
  connect(tableView_->horizontalHeader(), &QHeaderView::sectionClicked, this, &ComparePage::sortBy);
  connect(tableView_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    if (data_ == nullptr) return;
    choice_.picked.clear();
    for (const QModelIndex& index : tableView_->selectionModel()->selectedRows()) {
      const auto row = static_cast<std::size_t>(order_.mapToSource(index).row());
      choice_.picked.push_back(model_.table().rows[row].label.toStdString());
    }
    if (choice_.view == CompareView::Table) readCurves();
  });
  connect(tableView_, &QTableView::doubleClicked, this, [this] { setBaselineFromTable(); });
  new QShortcut(
      QKeySequence::Copy, tableView_, this, [this] { copyTable(TableFormat::Markdown); },
      Qt::WidgetShortcut);
  tableView_->addAction(tools_[7]);
  tableView_->addAction(tr("Select its runs"), this, [this] { selectRunsOfTable(); })
      ->setToolTip(
          tr("Select the runs of the variant in the list, for Monitor and the other pages"));
  for (int i = 0; i < 3; ++i) tableView_->addAction(tools_[i]);
  tableView_->setContextMenuPolicy(Qt::ActionsContextMenu);
  column->addWidget(tableView_, 1);
  leftOut_ = withRole(new WrapLabel(card), "warn");
  leftOut_->setContentsMargins(px(11), 0, px(11), px(4));
  column->addWidget(leftOut_);
  splitter->addWidget(card);

  auto* charts = new QWidget(splitter);
  auto* below = columnIn(charts, {}, px(8));
  below->addWidget(makeCurveTools(charts));
  pair_ = new QBoxLayout(QBoxLayout::LeftToRight);
  pair_->setSpacing(px(12));
  curvesView_ = withName(new FigureView(charts), tr("Curves of the variants"));
  curvesView_->setFocusPolicy(Qt::StrongFocus);
  curvesView_->setEmptyText(tr("Reading the curves\u2026"));
  differenceView_ = withName(new FigureView(charts), tr("Paired difference to the baseline"));
  differenceView_->setFocusPolicy(Qt::StrongFocus);
  differenceView_->setEmptyText(tr("Reading the curves\u2026"));
  for (FigureView* view : {curvesView_, differenceView_}) {
    view->addAction(exportFigure_);  // a right click gives the chart the focus
    view->setContextMenuPolicy(Qt::ActionsContextMenu);
    view->setMinimumHeight(px(180));
  }
  pair_->addWidget(curvesView_, 1);
  pair_->addWidget(differenceView_, 1);
  below->addLayout(pair_, 1);
  splitter->addWidget(charts);
  splitter->setStretchFactor(0, 2);
  splitter->setStretchFactor(1, 3);
  return splitter;
}

// Where the whole verdicts have no room, their signs stand alone.
bool ComparePage::fitWords() {
  const bool isNarrow = wholeWidth_ > tableView_->viewport()->width();
  if (isNarrow == model_.isNarrow()) return false;
  const QHeaderView* header = tableView_->horizontalHeader();
  for (std::size_t i = 0; i < fitted_.size(); ++i) {
    const int column = static_cast<int>(i);
    if (header->sectionSize(column) == fitted_[i]) fitted_[i] = 0;  // not sized by hand
  }
  model_.setNarrow(isNarrow);
  return true;
}

int ComparePage::wholeWidth() {
  QHeaderView* header = tableView_->horizontalHeader();
  const QAbstractItemView* view = tableView_;
  const bool wasNarrow = model_.isNarrow();
  model_.setNarrow(false);
  int all = 0;
  for (int i = 0; i < model_.columnCount(); ++i) {
    const int heading = header->sectionSizeHint(i), cells = view->sizeHintForColumn(i);
    if (model_.partOf(i) == AblationModel::Part::Differs)
      all += std::max(px(90), heading);
    else if (i + 1 == model_.columnCount())
      all += std::max(cells + px(12), heading);
    else
      all += std::min(std::max(heading, cells) + px(12), px(kMostColumn));
  }
  model_.setNarrow(wasNarrow);
  return all;
}

// Columns grow with what comes in while runs train; one that was sized by hand stays as it is.
void ComparePage::fitColumns() {
  QHeaderView* header = tableView_->horizontalHeader();
  const auto columns = static_cast<std::size_t>(model_.columnCount());
  if (fitted_.size() != columns) fitted_.assign(columns, 0);
  wholeWidth_ = wholeWidth();
  (void)fitWords();
  for (std::size_t i = 0; i < columns; ++i) {
    const int column = static_cast<int>(i), before = header->sectionSize(column);
    if (fitted_[i] > 0 && before != fitted_[i]) continue;
    if (model_.partOf(column) == AblationModel::Part::Differs) continue;
    tableView_->resizeColumnToContents(column);
    const int wanted = std::min(header->sectionSize(column) + px(12), px(kMostColumn));
    header->resizeSection(column, std::max(wanted, fitted_[i]));
    fitted_[i] = header->sectionSize(column);
  }
  fitDiffers();
}

// "What differs" takes what the other columns leave: numbers and verdicts are never cut for it.
// Long names of variants have what is left then.
void ComparePage::fitDiffers() {
  constexpr int kVariant = 0, kDiffers = 1;
  QHeaderView* header = tableView_->horizontalHeader();
  if (model_.columnCount() == 0 || fitted_.size() != static_cast<std::size_t>(header->count()))
    return;
  int& fitted = fitted_[kDiffers];
  if (fitted > 0 && header->sectionSize(kDiffers) != fitted) return;
  const QAbstractItemView* view = tableView_;
  const bool isVariantFitted = header->sectionSize(kVariant) == fitted_[kVariant];
  const int variant = std::max(fitted_[kVariant], view->sizeHintForColumn(kVariant) + px(12));
  if (isVariantFitted) header->resizeSection(kVariant, std::min(variant, px(kMostColumn)));
  int others = 0;
  for (int i = 0; i + 1 < header->count(); ++i)
    if (i != kDiffers) others += header->sectionSize(i);
  // The last column is stretched: what it needs, not what it has.
  header->setStretchLastSection(false);
  const int last =
      std::max({view->sizeHintForColumn(header->count() - 1) + px(12),
                header->sectionSizeHint(header->count() - 1), header->minimumSectionSize()});
  tableView_->resizeColumnToContents(kDiffers);
  const int wanted = header->sectionSize(kDiffers) + px(12);
  const int room = tableView_->viewport()->width() - others - last;
  const int least = std::max(px(90), header->sectionSizeHint(kDiffers));  // its heading is whole
  header->resizeSection(kDiffers, std::clamp(room, least, std::max(least, wanted)));
  if (isVariantFitted) {
    const int left = std::max(0, room - header->sectionSize(kDiffers));
    header->resizeSection(kVariant, std::min(variant, header->sectionSize(kVariant) + left));
    fitted_[kVariant] = header->sectionSize(kVariant);
  }
  header->resizeSection(header->count() - 1, last);
  header->setStretchLastSection(true);
  fitted = header->sectionSize(kDiffers);
}

// The table has the room of its rows, as far as the charts below stay readable. A page that is too
// low for a few rows and the charts scrolls.
void ComparePage::fitTable() {
  if (model_.rowCount() == 0) return;
  const QHeaderView* lines = tableView_->verticalHeader();
  const int frame = tableView_->horizontalHeader()->sizeHint().height() +
                    tableView_->horizontalScrollBar()->sizeHint().height() + px(4);
  const int least = std::min(model_.rowCount(), kLeastRows) * lines->defaultSectionSize() + frame;
  tableView_->setMinimumHeight(least);
  if (isSplitByHand_) return;
  const QWidget *card = split_->widget(0), *charts = split_->widget(1);
  const int around = card->sizeHint().height() - std::max(tableView_->sizeHint().height(), least);
  const int rows = lines->length() + frame;
  const int all = split_->height() - split_->handleWidth();
  const int most = all - std::max(px(260), charts->minimumSizeHint().height());
  const int table = std::clamp(around + rows, card->minimumSizeHint().height(),
                               std::max(most, card->minimumSizeHint().height()));
  split_->setSizes({table, std::max(0, all - table)});
}

void ComparePage::setBaselineFromTable() {
  const QModelIndex index = tableView_->currentIndex();
  if (!index.isValid()) return;
  const int row = order_.mapToSource(index).row();
  const QString label = model_.table().rows[static_cast<std::size_t>(row)].label;
  change([&](CompareChoice& choice) { choice.baseline = label.toStdString(); });
}

void ComparePage::selectRunsOfTable() {
  if (data_ == nullptr) return;
  std::vector<std::int64_t> runs;
  for (const QModelIndex& index : tableView_->selectionModel()->selectedRows()) {
    const auto row = static_cast<std::size_t>(order_.mapToSource(index).row());
    for (const std::size_t run : data_->variants[model_.table().rows[row].variant].runs)
      runs.push_back(data_->runs[run].row.id);
  }
  if (!runs.empty()) workbench_.selection().setRuns(runs, runs.front());
}

void ComparePage::chooseColumns() {
  if (data_ == nullptr) return;
  CheckList list{tr("Columns of the ablation table"), tr("Search metrics"), tr("Metrics")};
  for (const auto& [name, runs] : data_->names) {
    const bool isOn =
        std::find(data_->metrics.begin(), data_->metrics.end(), name) != data_->metrics.end();
    const QString measured = tr("measured in %1 of %2 runs").arg(runs).arg(data_->runs.size());
    list.entries.push_back({name, data_->titleOf(name),
                            QString::fromStdString(name) + QLatin1Char('\n') + measured, isOn});
  }
  const auto answer = askCheckList(this, list);
  if (!answer || data_ == nullptr) return;  // runs may go while the dialog is open
  std::vector<std::string> metrics;
  std::set<std::string> checked(answer->begin(), answer->end());
  // Those that were there keep their order; the first one is drawn.
  for (const std::string& name : data_->metrics) {
    if (checked.erase(name) > 0) metrics.push_back(name);
  }
  metrics.insert(metrics.end(), checked.begin(), checked.end());
  change([&](CompareChoice& choice) { choice.metrics = metrics; });
}

}  // namespace vitrine::ui

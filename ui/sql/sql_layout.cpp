// The widgets of the SQL page.
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

#include "ui/figures/figure_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/sql/sql_docs.h"
#include "ui/sql/sql_editor.h"
#include "ui/sql/sql_page.h"

namespace vitrine::ui {
namespace {

QToolButton* consoleButton(const QString& text, const QString& tip, QWidget* parent) {
  return withName(makeToolButton(text, tip, parent), text);
}

}  // namespace

QWidget* SqlPage::makeEditor() {
  auto* card = withRole(new QFrame(this), "card");
  auto* column = columnIn(card, {1, 1, 1, 1}, 0);
  auto* head = new QWidget(card);
  auto* line = rowIn(head, {px(12), px(8), px(12), px(8)}, px(8));
  runButton_ = withName(new QPushButton(icon(Icon::Play, IconTint::OnAccent), tr("Run"), head),
                        tr("Run the statement"));
  runButton_->setProperty("primary", true);
  runButton_->setIconSize(QSize(px(12), px(12)));
  runButton_->setToolTip(
      tr("Run the selection, or the statement under the cursor, where it only reads: SELECT, WITH, "
         "EXPLAIN"));
  showKeyOf(run_, *runButton_);
  connect(runButton_, &QPushButton::clicked, run_, &QAction::trigger);
  auto* stopButton = withName(new QToolButton(head), tr("Stop the statement"));
  stopButton->setDefaultAction(stop_);
  stopButton->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  stopButton->setIconSize(QSize(px(12), px(12)));
  rows_ = withName(new QComboBox(head), tr("Most rows"),
                   tr("At most this many rows are read; the page says when a result is cut"));
  for (const std::int64_t most : {1'000, 10'000, 100'000, 1'000'000})
    rows_->addItem(tr("%1 rows").arg(count(most)), QVariant::fromValue<qlonglong>(most));
  rows_->setCurrentIndex(2);
  seconds_ = withName(new QComboBox(head), tr("Longest time"),
                      tr("A statement that takes longer is stopped"));
  for (const int most : {10, 30, 120, 600}) seconds_->addItem(tr("%1\u202fs").arg(most), most);
  seconds_->setCurrentIndex(1);
  line->addWidget(runButton_);
  line->addWidget(stopButton);
  line->addStretch();
  line->addWidget(rows_);
  line->addWidget(seconds_);
  column->addWidget(head);
  column->addWidget(makeRule(card));
  editor_ = withRole(new SqlEditor(card), "mono");
  editor_->setFrameShape(QFrame::NoFrame);
  editor_->document()->setDocumentMargin(px(10));
  column->addWidget(editor_, 1);
  connect(editor_, &SqlEditor::runRequested, run_, &QAction::trigger);
  return card;
}

QWidget* SqlPage::makeResult() {
  auto* card = withRole(new QFrame(this), "card");
  auto* column = columnIn(card, {1, 1, 1, 1}, 0);
  auto* head = new QWidget(card);
  auto* line = rowIn(head, {px(12), px(8), px(12), px(8)}, px(4));
  tableButton_ = consoleButton(tr("Table"), tr("The rows as a table"), head);
  chartButton_ = consoleButton(tr("Chart"), tr("The rows as lines or points"), head);
  valueButton_ =
      consoleButton(tr("Value"), tr("All of the current cell: long texts, JSON, images"), head);
  for (QToolButton* one : {tableButton_, chartButton_, valueButton_}) {
    one->setCheckable(true);
    one->setProperty("quiet", true);
  }
  summary_ = withName(withRole(new QLabel(head), "muted"), tr("Result of the statement"));
  notice_ = withName(withRole(new QLabel(head), "warn"), tr("Rows missing from the result"));
  notice_->hide();
  line->addWidget(tableButton_);
  line->addWidget(chartButton_);
  line->addSpacing(px(8));
  line->addWidget(summary_);
  line->addSpacing(px(8));
  line->addWidget(notice_, 1);
  line->addStretch();
  line->addWidget(valueButton_);
  column->addWidget(head);
  column->addWidget(makeRule(card));

  stack_ = new QStackedWidget(card);
  across_ = new QSplitter(stack_);
  across_->setChildrenCollapsible(false);
  across_->setHandleWidth(1);
  table_ = withName(new QTableView(across_), tr("Rows of the result"));
  table_->setModel(&model_);
  table_->setFrameShape(QFrame::NoFrame);
  table_->setFont(bodyFont());
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setSortingEnabled(false);
  table_->setShowGrid(false);
  table_->setWordWrap(true);
  table_->setTabKeyNavigation(false);
  table_->setIconSize(QSize(px(8), px(8)));
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(px(26));
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setSectionsMovable(true);
  table_->horizontalHeader()->setSectionsClickable(true);
  table_->horizontalHeader()->setSortIndicatorShown(true);
  table_->horizontalHeader()->setSortIndicatorClearable(true);
  table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  // A column that is made wider makes its rows lower, and rows move with their order.
  connect(table_->verticalScrollBar(), &QScrollBar::valueChanged, this, &SqlPage::fitRows);
  rowFitter_.setSingleShot(true);
  rowFitter_.setInterval(0);
  connect(&rowFitter_, &QTimer::timeout, this, &SqlPage::fitRows);
  connect(table_->horizontalHeader(), &QHeaderView::sectionResized, &rowFitter_,
          qOverload<>(&QTimer::start));
  connect(&model_, &QAbstractItemModel::layoutChanged, &rowFitter_, qOverload<>(&QTimer::start));
  across_->addWidget(table_);
  across_->addWidget(makeValuePanel());
  across_->setStretchFactor(0, 1);
  across_->setSizes({600, 260});
  stack_->addWidget(across_);
  stack_->addWidget(makeChart());
  empty_ = new EmptyPage(
      tr("The rows of a statement appear here. Write one and press Ctrl+Return, or open a saved "
         "query from the list on the left."),
      tr("Show the newest runs"));
  connect(empty_, &EmptyPage::actionRequested, this, [this] {
    openStatement(sqlSamples().front().sql);
    runRequested();
  });
  stack_->addWidget(makeFitArea(empty_, this));

  auto* broken = new QWidget(stack_);
  auto* inBroken = columnIn(broken, {px(16), px(16), px(16), px(16)}, px(8));
  failure_ = withName(wrappedLabel("error", broken), tr("Why the statement failed"));
  failure_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* copy = consoleButton(tr("Copy the error"), tr("Copy the error to the clipboard"), broken);
  copy->setObjectName(QStringLiteral("copyFailure"));
  inBroken->addWidget(failure_);
  inBroken->addWidget(copy, 0, Qt::AlignLeft);
  inBroken->addStretch();
  stack_->addWidget(broken);

  auto* busy = new QWidget(stack_);
  auto* inBusy = columnIn(busy, {px(16), px(16), px(16), px(16)}, px(8));
  busyText_ = withRole(new QLabel(busy), "muted");
  auto* bar = withName(new QProgressBar(busy), tr("A statement runs"));
  bar->setRange(0, 0);
  bar->setTextVisible(false);
  bar->setMaximumWidth(px(260));
  inBusy->addWidget(busyText_);
  inBusy->addWidget(bar);
  inBusy->addStretch();
  stack_->addWidget(busy);
  column->addWidget(stack_, 1);
  return card;
}

QWidget* SqlPage::makeValuePanel() {
  valuePanel_ = new QWidget(this);
  valuePanel_->setMinimumWidth(px(160));
  auto* column = columnIn(valuePanel_, {px(12), px(8), px(12), px(8)}, px(8));
  valueTitle_ = wrappedLabel("small", valuePanel_);
  valueImage_ = withName(new QLabel(valuePanel_), tr("The image in the current cell"));
  valueImage_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  valueImage_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  valueText_ = withRole(new QPlainTextEdit(valuePanel_), "mono");
  valueText_->setReadOnly(true);
  useMonoFont(*valueText_);
  valueText_->setTabChangesFocus(true);
  valueText_->setAccessibleName(tr("The value of the current cell"));
  column->addWidget(valueTitle_);
  column->addWidget(valueImage_);
  column->addWidget(valueText_, 1);
  valuePanel_->hide();
  return valuePanel_;
}

QWidget* SqlPage::makeChart() {
  auto* chart = new QWidget(this);
  auto* column = columnIn(chart, {}, 0);
  auto* head = new QWidget(chart);
  auto* line = rowIn(head, {px(12), px(8), px(12), px(4)}, px(8));
  const auto named = [&](const QString& text, QWidget* control, const QString& tip) {
    auto* label = withRole(new QLabel(text, head), "muted");
    label->setBuddy(control);
    control->setAccessibleName(text);
    control->setToolTip(tip);
    line->addWidget(label);
    line->addWidget(control);
  };
  const auto choice = [&] {
    auto* box = new QComboBox(head);
    box->setMinimumContentsLength(6);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    return box;
  };
  chartX_ = choice();
  chartGroup_ = choice();
  chartKind_ =
      withName(new QComboBox(head), tr("Lines or points"), tr("Lines join rows in the order of x"));
  chartKind_->addItems({tr("Lines"), tr("Points")});
  chartY_ = new QToolButton(head);
  chartY_->setPopupMode(QToolButton::InstantPopup);
  chartY_->setMenu(new QMenu(chartY_));
  named(tr("x"), chartX_, tr("Column of the horizontal axis"));
  named(tr("y"), chartY_, tr("Columns that are drawn"));
  named(tr("one line per"), chartGroup_, tr("Column whose values make lines of their own"));
  line->addWidget(chartKind_);
  logX_ = consoleButton(tr("log x"), tr("Logarithmic horizontal axis (Shift+L)"), head);
  logY_ = consoleButton(tr("log y"), tr("Logarithmic vertical axis (L)"), head);
  for (QToolButton* one : {logX_, logY_}) {
    one->setCheckable(true);
    line->addWidget(one);
  }
  line->addStretch();
  column->addWidget(head);
  figure_ = withName(new FigureView(chart), tr("Chart of the result"));
  column->addWidget(figure_, 1);

  const auto chosen = [this] {
    if (isFilling_) return;
    SqlChartChoice next = chart_;
    next.x = chartX_->currentData().toString();
    next.group = chartGroup_->currentData().toString();
    next.isPoints = chartKind_->currentIndex() == 1;
    next.xScale = logX_->isChecked() ? AxisScale::Log : AxisScale::Linear;
    next.yScale = logY_->isChecked() ? AxisScale::Log : AxisScale::Linear;
    setChartChoice(next);
    chose();
  };
  for (QComboBox* box : {chartX_, chartGroup_, chartKind_})
    connect(box, &QComboBox::currentIndexChanged, this, chosen);
  for (QToolButton* one : {logX_, logY_}) connect(one, &QToolButton::toggled, this, chosen);
  return chart;
}

}  // namespace vitrine::ui

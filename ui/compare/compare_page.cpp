#include "ui/compare/compare_page.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>
#include <utility>

#include "core/store/tables/run_marks.h"
#include "ui/compare/artifact_tiles.h"
#include "ui/compare/parallel_view.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

namespace {

constexpr int kCompareReloadMs = 1000;  // at most so often while runs write

}  // namespace

ComparePage::ComparePage(Workbench& workbench, QWidget* parent)
    : ReadingPage(parent),
      workbench_(workbench),
      reader_(workbench.store().file()),
      curveReader_(workbench.store().file()),
      chartMaker_(workbench.store().file()),
      publishedReader_(workbench.store().file()),
      loading_({&reader_, &curveReader_, &chartMaker_, &publishedReader_}, kCompareReloadMs),
      stack_(new PageStack(this)),
      views_(new QStackedWidget(stack_->content())) {
  setMinimumSize(240, 140);
  order_.setSourceModel(&model_);
  auto* column = columnIn(stack_->content(), {px(12), px(12), px(12), px(12)}, px(8));
  makeActions();
  column->addWidget(makeTop());
  column->addWidget(views_, 1);
  views_->addWidget(makeTableView());
  views_->addWidget(makeParallel());
  views_->addWidget(makeScatter());
  views_->addWidget(makeDifferences());
  views_->addWidget(makePublished());
  views_->addWidget(makeArtifacts());
  stack_->showEmpty(tr("Reading the runs\u2026"));
  connect(&stack_->empty(), &EmptyPage::actionRequested, this, [this] {
    if (emptyPage_.isEmpty()) {
      reload();
    } else {
      workbench_.showPage(emptyPage_);
    }
  });
  connect(&stack_->empty(), &EmptyPage::cancelRequested, this, &ComparePage::cancelReading);
  keepWheelForFocus(*this);

  connect(&loading_, &LoadingState::again, this, &ComparePage::reload);
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this, [this] {
    isStale_ = true;
    if (isVisible() && !isCancelled_) loading_.readLater();
  });
  connect(&workbench_.selection(), &Selection::runsChanged, this, [this] {
    const std::vector<std::int64_t> before = std::exchange(drawn_, workbench_.selection().drawn());
    // Another run became the current one, which changes nothing here.
    if (isBrushing_ || drawn_ == before) return;
    changed();
  });
  connect(&workbench_, &Workbench::catalogReady, this, [this] {
    isStale_ = true;
    if (isVisible() && !isCancelled_) loading_.readLater();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    if (data_ == nullptr) return;
    charts_.reset();                                   // the runs may have other colours
    differenceTree_->setProperty("only", QVariant());  // its rows keep theirs
    showTable(model_.table());
    showView();
  });
  const auto failed = [this](const QString& sentence) {
    showEmpty(tr("The runs cannot be compared: %1").arg(sentence), tr("Try again"), QString());
  };
  connect(&reader_, &Background::failed, this, failed);
  connect(&curveReader_, &Background::failed, this, failed);
  connect(&chartMaker_, &Background::failed, this, failed);
  connect(&publishedReader_, &Background::failed, this, failed);
  connect(&loading_, &LoadingState::waiting, busy_, &QWidget::show);
  connect(&loading_, &LoadingState::cancellable, this, [this] {
    cancel_->show();
    stack_->empty().setCancelShown(data_ == nullptr);
  });
  connect(&loading_, &LoadingState::done, this, [this] {
    busy_->hide();
    cancel_->hide();
    stack_->empty().setCancelShown(false);
  });
  // Export takes the part that had the focus last.
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget* /*before*/, QWidget* now) {
    if (now == tableView_) takePicture(ComparePicture::Table);
    if (now == curvesView_) takePicture(ComparePicture::Curves);
    if (now == differenceView_) takePicture(ComparePicture::Difference);
  });
  showChoice();
}

ComparePage::~ComparePage() = default;

void ComparePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  fitTable();
  // Two charts side by side where each can still be read.
  pair_->setDirection(width() < px(520) ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

// A stack asks for the room of its largest page: only the one in front counts.
void ComparePage::makeRoomForView() {
  for (int i = 0; i < views_->count(); ++i) {
    const QSizePolicy::Policy policy =
        i == views_->currentIndex() ? QSizePolicy::Preferred : QSizePolicy::Ignored;
    views_->widget(i)->setSizePolicy(policy, policy);
  }
}

void ComparePage::cancelReading() {
  const bool wasCurves = curveReader_.isBusy() || chartMaker_.isBusy();
  loading_.cancel();
  isCancelled_ = true;
  isStale_ = true;  // shown again, it reads again
  if (data_ == nullptr) {
    showEmpty(tr("Reading was cancelled."), tr("Read the runs"), QString());
    return;
  }
  if (wasCurves) {
    for (FigureView* view : {curvesView_, differenceView_}) {
      view->setFigure(nullptr);
      view->setEmptyText(tr("Reading was cancelled: choose a metric or a variant."));
    }
  }
  workbench_.showMessage(tr("Reading was cancelled; the earlier data stay."));
}

void ComparePage::reload() {
  isStale_ = false;
  isCancelled_ = false;
  const Selection& selection = workbench_.selection();
  std::vector<store::RunRow> rows =
      comparedRows(workbench_.runs(), selection.runs(), archivedRuns(workbench_.store()));
  std::erase_if(
      rows, [&selection](const store::RunRow& row) { return selection.hidden().contains(row.id); });
  scope_ = selection.runs();
  drawn_ = selection.drawn();
  if (rows.size() < 2) {
    reader_.cancel();
    curveReader_.cancel();
    chartMaker_.cancel();
    data_.reset();
    showEmpty(workbench_.runs().empty()
                  ? tr("The variants of an experiment are shown side by side here, with intervals "
                       "over their seeds.")
              : selection.hidden().empty()
                  ? tr("Nothing to compare yet: select two runs, or make an experiment "
                       "with variants and seeds.")
                  : tr("Fewer than two of the selected runs are shown: show hidden ones with the "
                       "eye in the list of runs."),
              tr("New experiment"), QStringLiteral("configure"));
    return;
  }
  reader_.run([this, rows, choice = choice_, cards = workbench_.cards()](
                  store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    const store::QueryFunction query = [&](const std::string& sql) { return store.query(sql); };
    auto data = readCompareData(query, rows, choice, isStale, cards);
    if (isStale) return {};
    AblationTable table = makeAblationTable(*data, choice);
    return [this, data = std::move(data), table = std::move(table)] { setData(data, table); };
  });
}

void ComparePage::setData(std::shared_ptr<const CompareData> data, AblationTable table) {
  data_ = std::move(data);
  // What was asked of the curves names variants of the data before.
  curveReader_.cancel();
  chartMaker_.cancel();
  request_ = {};
  points_.reset();
  if (data_->runs.size() < 2) {
    data_.reset();  // the table is still that of the data before
    showEmpty(tr("These runs are not there any more."), tr("Try again"), QString());
    return;
  }
  stack_->showContent();
  showReport();
  fillControls();
  showChoice();
  showTable(std::move(table));
  if (choice_.view == CompareView::Artifacts) artifactTiles_->forget();
  showView();
  readCurves();
  if (std::exchange(isReportAsked_, false)) openReport();
}

void ComparePage::remakeTable() {
  reader_.run([this, data = data_, choice = choice_](
                  store::RunReader&, const std::atomic<bool>&) -> Background::Finish {
    AblationTable table = makeAblationTable(*data, choice);
    return [this, table = std::move(table)] {
      showTable(table);
      showView();
      readCurves();
      if (std::exchange(isReportAsked_, false)) openReport();
    };
  });
}

void ComparePage::showEmpty(const QString& sentence, const QString& button, const QString& page) {
  stack_->showEmpty(sentence, button);
  emptyPage_ = page;
  isReportAsked_ = false;
  showReport();
}

void ComparePage::setViewState(const Json& state) {
  const CompareChoice next = choiceFromJson(state, CompareChoice());
  const QSignalBlocker quiet(this);
  choose(next);
}

void ComparePage::choose(const CompareChoice& choice) {
  if (choice == choice_) return;
  const CompareChoice before = choice_;
  choice_ = choice;
  // The median of a sample has quartiles and a range; the other bands are the mean's.
  if (choice_.centre == Centre::Median &&
      (choice_.spread == Spread::Deviation || choice_.spread == Spread::StandardError ||
       choice_.spread == Spread::Interval))
    choice_.spread = Spread::Quartiles;
  const bool isRead = before.metrics == choice_.metrics && before.value == choice_.value &&
                      neededMetrics(before) == neededMetrics(choice_);
  const bool isTableChanged = before.baseline != choice_.baseline ||
                              before.unfinished != choice_.unfinished ||
                              before.centre != choice_.centre || before.spread != choice_.spread;
  // A table of the data that are here would take the place of what is being read.
  if (!isRead || (isTableChanged && reader_.isBusy())) {
    reload();
  } else if (data_ != nullptr && stack_->isContentShown()) {
    const bool isOrderChanged = before.filter != choice_.filter ||
                                before.sortColumn != choice_.sortColumn ||
                                before.sortOrder != choice_.sortOrder;
    if (isTableChanged) {
      remakeTable();
    } else {
      if (isOrderChanged) orderTable();
      if (before.picked != choice_.picked) pickRows();
      if (isOrderChanged || before.picked != choice_.picked) readCurves();
      showView();
    }
  }
  showChoice();
  Q_EMIT viewChanged();
}

void ComparePage::showChoice() {
  isFilling_ = true;
  views_->setCurrentIndex(static_cast<int>(choice_.view));
  makeRoomForView();
  for (std::size_t i = 0; i < viewButtons_.size(); ++i)
    viewButtons_[i]->setChecked(static_cast<int>(i) == static_cast<int>(choice_.view));
  value_->setCurrentIndex(static_cast<int>(choice_.value.value));
  step_->setVisible(choice_.value.value == store::CurveValue::AtStep);
  step_->setValue(static_cast<int>(std::min<std::int64_t>(choice_.value.step, step_->maximum())));
  unfinished_->setChecked(choice_.unfinished == store::Unfinished::Counted);
  if (filter_->text() != choice_.filter) filter_->setText(choice_.filter);
  onlyDifferences_->setChecked(choice_.onlyDifferences);
  if (data_ != nullptr) {
    const auto& metrics = choice_.metrics.empty() ? data_->metrics : choice_.metrics;
    if (!metrics.empty())
      metric_->setCurrentIndex(metric_->findData(QString::fromStdString(metrics.front())));
    baseline_->setCurrentIndex(static_cast<int>(data_->baseline(choice_)));
    baseline_->setToolTip(tr("%1: the others are compared with it").arg(baseline_->currentText()));
    showCurveTools();
    showScatterTools();
  }
  isFilling_ = false;
}

void ComparePage::fillControls() {
  isFilling_ = true;
  metric_->clear();
  for (const auto& [name, runs] : data_->names) {
    const QString id = QString::fromStdString(name);
    metric_->addItem(data_->titleOf(name), id);
    metric_->setItemData(metric_->count() - 1, id, Qt::ToolTipRole);
  }
  metric_->setEnabled(!data_->names.empty());
  baseline_->clear();
  for (const QString& label : data_->labels) baseline_->addItem(label);
  fillTools();
  isFilling_ = false;
}

void ComparePage::showTable(AblationTable table) {
  std::vector<std::int64_t> series;
  for (std::size_t i = 0; i < data_->variants.size(); ++i) series.push_back(seriesOf(*data_, i));
  headline_->setText(tr("Ablation: %1").arg(table.experiment));
  about_->setText(aboutText(table));
  sayIn(*leftOut_, QStringLiteral("%1 %2").arg(table.leftOut, table.mixed).trimmed());
  model_.setTable(std::move(table), std::move(series));
  orderTable();
  pickRows();
  fitColumns();
  fitTable();
}

void ComparePage::orderTable() {
  order_.setWords(choice_.filter);
  const QSignalBlocker quiet(tableView_->horizontalHeader());
  tableView_->horizontalHeader()->setSortIndicator(choice_.sortColumn, choice_.sortOrder);
  order_.sort(choice_.sortColumn < model_.columnCount() ? choice_.sortColumn : -1,
              choice_.sortOrder);
}

std::vector<std::size_t> ComparePage::tableOrder() const {
  std::vector<std::size_t> all, picked;
  for (int row = 0; row < order_.rowCount(); ++row) {
    const int source = order_.mapToSource(order_.index(row, 0)).row();
    const AblationRow& one = model_.table().rows[static_cast<std::size_t>(source)];
    all.push_back(one.variant);
    if (std::find(choice_.picked.begin(), choice_.picked.end(), one.label.toStdString()) !=
        choice_.picked.end())
      picked.push_back(one.variant);
  }
  return picked.empty() ? all : picked;
}

// The rows that are picked are selected again: a table that was read again has none.
void ComparePage::pickRows() {
  const QSignalBlocker quiet(tableView_->selectionModel());
  QItemSelection rows;
  for (int row = 0; row < order_.rowCount(); ++row) {
    const QModelIndex index = order_.index(row, 0);
    const auto source = static_cast<std::size_t>(order_.mapToSource(index).row());
    const std::string label = model_.table().rows[source].label.toStdString();
    if (std::find(choice_.picked.begin(), choice_.picked.end(), label) != choice_.picked.end())
      rows.select(index, index);
  }
  tableView_->selectionModel()->select(
      rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  tableView_->viewport()->update();
}

void ComparePage::readCurves() {
  if (isForest()) {
    request_ = curveRequest(*data_, choice_, tableOrder());
    curveReader_.cancel();
    chartMaker_.cancel();
    charts_.reset();
    points_.reset();
    showCurves();
    return;
  }
  const std::string before =
      std::exchange(request_, curveRequest(*data_, choice_, tableOrder())).metric;
  const bool isThere = points_ != nullptr && before == request_.metric &&
                       std::all_of(request_.runs.begin(), request_.runs.end(),
                                   [this](std::int64_t run) { return points_->count(run) > 0; });
  if (request_.metric.empty() || isThere) {
    curveReader_.cancel();
    charts_.reset();  // other variants of the same points
    if (points_ == nullptr || !isThere) points_ = std::make_shared<CurvePoints>();
    showCurves();
    return;
  }
  curveReader_.run(
      [this, request = request_](store::RunReader& store,
                                 const std::atomic<bool>& isStale) -> Background::Finish {
        auto points = std::make_shared<CurvePoints>();
        for (const std::int64_t run : request.runs) {
          if (isStale) return {};
          (*points)[run] = store.points(run, request.metric);
        }
        return [this, points = std::move(points)] {
          points_ = points;
          showCurves();
        };
      });
}

bool ComparePage::areChartsThere() const {
  if (charts_ == nullptr || charts_->points != points_) return false;
  CompareChoice made = charts_->choice;  // what has the focus, and which view, is all one to them
  made.picture = choice_.picture;
  made.view = choice_.view;
  made.latex = choice_.latex;
  return made == choice_;
}

// Means over seeds of long curves take longer than a frame.
void ComparePage::showCurves() {
  if (data_ == nullptr || choice_.view != CompareView::Table) return;
  if (isForest()) {
    drawForest();
    return;
  }
  if (points_ == nullptr) return;
  if (areChartsThere()) {
    drawCurves();
    return;
  }
  chartMaker_.run([this, data = data_, choice = choice_, request = request_, points = points_](
                      store::RunReader&, const std::atomic<bool>& isStale) -> Background::Finish {
    auto charts = std::make_shared<Charts>();
    charts->points = points;
    charts->choice = choice;
    charts->panels = variantCharts(*data, choice, request, *points, &isStale);
    charts->difference = differenceChart(*data, choice, request, *points, &isStale);
    if (isStale) return {};
    return [this, charts] {
      charts_ = charts;
      drawCurves();
    };
  });
}

void ComparePage::drawCurves() {
  // The rows above are the key, unless lines differ by something else. Exports have a legend.
  FigureStyle style{.legend = FigureLegend::None, .wrapsAbout = true};
  differenceView_->setFigure(makeLineChart(charts_->difference, style));
  if (choice_.colour != "variant" || !choice_.dash.empty()) style.legend.reset();
  curvesView_->setFigure(makePanels(charts_->panels, style));
  differenceView_->setVisible(data_->variants.size() > 1);
}

void ComparePage::showView() {
  switch (choice_.view) {
    case CompareView::Table:
      showCurves();
      break;
    case CompareView::Parallel:
      showParallel();
      break;
    case CompareView::Scatter:
      showScatter();
      break;
    case CompareView::Differences:
      showDifferences();
      break;
    case CompareView::Published:
      readPublished();
      break;
    case CompareView::Artifacts:
      showArtifacts();
      break;
  }
}

void ComparePage::waitUntilIdle() {
  loading_.forgetLater();
  workbench_.waitForCards();
  reload();
  reader_.waitUntilIdle();
  publishedReader_.waitUntilIdle();
  artifactTiles_->waitUntilIdle();
  curveReader_.waitUntilIdle();
  chartMaker_.waitUntilIdle();
  layOutNow();
}

}  // namespace vitrine::ui

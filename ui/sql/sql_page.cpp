// Asks the database off the window's thread and shows what came back.
#include "ui/sql/sql_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QDateTime>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/store/run_facts.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/icons.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/sql/sql_docs.h"
#include "ui/sql/sql_editor.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {
namespace {

const QString kBookKey = QStringLiteral("sql/book");
const QString kTextKey = QStringLiteral("sql/text");

enum ResultPlace { ShownTable, ShownChart, ShownEmpty, ShownFailure, ShownBusy };

constexpr int kQueryBusyAfterMs = 200;
constexpr int kStoreAfterMs = 2'000;

}  // namespace

struct SqlPage::Outcome {
  QString sql;  ///< as it was written
  std::shared_ptr<const store::RunReader::Table> table =
      std::make_shared<const store::RunReader::Table>();
  QString error;
  std::optional<SqlRange> place;  ///< in `sql`, of what failed
  double seconds = 0;
};

SqlPage::SqlPage(Workbench& workbench, QWidget* parent)
    : Page(parent),
      workbench_(workbench),
      book_(SqlBook::fromText(setting(kBookKey, QString()).toString())),
      runner_(workbench.store().file()),
      reader_(workbench.store().file()),
      sorter_(workbench.store().file()),
      charter_(workbench.store().file()),
      writer_(workbench.store().file()) {
  paintAs(this, "canvas");
  setMinimumSize(420, 300);
  makeActions();
  auto* outer = rowIn(this, {}, 0);
  auto* splitter = new QSplitter(this);
  splitter->setChildrenCollapsible(true);
  splitter->setHandleWidth(1);
  outer->addWidget(makeFitArea(splitter, this));
  side_ = new SqlSide(splitter);
  side_->setMinimumWidth(px(120));
  auto* right = new QWidget(splitter);
  auto* column = columnIn(right, {px(12), px(12), px(12), px(12)});
  right->setMinimumWidth(px(350));  // Run, Stop and the limits, whatever the size of the text
  auto* down = withRole(new QSplitter(Qt::Vertical, right), "gap");  // between the cards
  down->setChildrenCollapsible(false);
  down->setHandleWidth(px(12));
  QWidget* top = makeEditor();
  QWidget* bottom = makeResult();
  top->setMinimumHeight(px(110));
  bottom->setMinimumHeight(px(120));
  down->addWidget(top);
  down->addWidget(bottom);
  down->setStretchFactor(0, 0);
  down->setStretchFactor(1, 1);
  down->setSizes({px(220), px(420)});
  column->addWidget(down);
  splitter->addWidget(side_);
  splitter->addWidget(right);
  splitter->setStretchFactor(0, 0);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({px(230), px(800)});
  setFocusProxy(editor_);  // a key of the page leads to the statement

  side_->showBook(book_);
  const QString begun = setting(kTextKey, QString()).toString();
  editor_->setPlainText(begun.isEmpty() ? sqlSamples().front().sql : begun);

  busyTimer_.setInterval(kQueryBusyAfterMs);
  connect(&busyTimer_, &QTimer::timeout, this, &SqlPage::showBusy);
  storeTimer_.setSingleShot(true);
  storeTimer_.setInterval(kStoreAfterMs);
  connect(&storeTimer_, &QTimer::timeout, this,
          [this] { storeSetting(kTextKey, editor_->toPlainText()); });
  connect(editor_, &QPlainTextEdit::textChanged, &storeTimer_, qOverload<>(&QTimer::start));
  connect(side_, &SqlSide::nameChosen, this, [this](const QString& name) {
    editor_->insertName(name);
    editor_->setFocus();
  });
  connect(side_, &SqlSide::statementChosen, this, &SqlPage::openStatement);
  connect(side_, &SqlSide::forgetRequested, this, &SqlPage::forgetHistory);
  connect(side_, &SqlSide::removeRequested, this, [this](const QString& name) {
    const auto all = book_.saved();
    const auto found = std::find_if(all.begin(), all.end(), [&name](const SqlBook::Saved& one) {
      return !one.isShipped && one.name == name;
    });
    if (found == all.end()) return;
    book_.remove(name);
    storeBook();
    workbench_.showMessage(
        tr("Deleted the query \u201c%1\u201d; its statement is in the editor's history if it was "
           "run.")
            .arg(name));
  });
  connect(side_, &SqlSide::renameRequested, this, [this](const QString& from, const QString& to) {
    if (!book_.rename(from, to.trimmed()))
      workbench_.showMessage(
          tr("\u201c%1\u201d cannot be the name of a query: it is empty or taken.").arg(to));
    // The list is filled again once the editing of its item is over.
    QTimer::singleShot(0, this, [this] { storeBook(); });
  });
  connect(tableButton_, &QToolButton::clicked, this, [this] {
    showChart(false);
    chose();
  });
  connect(chartButton_, &QToolButton::clicked, this, [this] {
    showChart(true);
    chose();
  });
  connect(valueButton_, &QToolButton::toggled, this, [this](bool isOn) {
    valuePanel_->setVisible(isOn);
    showValue();
  });
  connect(findChild<QToolButton*>(QStringLiteral("copyFailure")), &QToolButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(failure_->text()); });
  connect(table_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &SqlPage::sortBy);
  for (Background* work : {&sorter_, &charter_, &writer_}) {
    connect(work, &Background::busyChanged, this, &SqlPage::showWork);
    connect(work, &Background::failed, &workbench_, &Workbench::showError);
  }
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &SqlPage::selectRuns);
  connect(table_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          &SqlPage::showValue);
  connect(table_, &QWidget::customContextMenuRequested, this, &SqlPage::showTableMenu);
  stop_->setProperty(kWhyNot, tr("no statement runs"));
  for (QAction* action : {export_, copyCells_, copyAll_})
    action->setProperty(kWhyNot, tr("there is no result yet"));
  connect(&runner_, &Background::busyChanged, this, [this] {
    const bool isBusy = runner_.isBusy();
    stop_->setEnabled(isBusy);
    if (!isBusy) busyTimer_.stop();
  });
  connect(&runner_, &Background::failed, this, [this](const QString& sentence) {
    Outcome outcome;
    outcome.sql = asked_;
    outcome.error = sentence;
    take(outcome);
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    editor_->restyle();
    model_.restyle();
    side_->showBook(book_);
    if (isChart_) drawChart();
  });
  table_->addAction(copyCells_);
  showState();
}

SqlPage::~SqlPage() {
  if (storeTimer_.isActive()) storeSetting(kTextKey, editor_->toPlainText());
}

void SqlPage::makeActions() {
  run_ =
      addAction(tr("Run the statement"), Qt::CTRL | Qt::Key_Return, this, &SqlPage::runRequested);
  run_->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  stop_ = new QAction(icon(Icon::Stop), tr("Stop the statement"), this);
  stop_->setIconText(tr("Stop"));
  stop_->setToolTip(tr("Stop the statement that runs"));
  stop_->setEnabled(false);
  connect(stop_, &QAction::triggered, this, &SqlPage::stop);
  save_ = new QAction(icon(Icon::Plus), tr("Save query\u2026"), this);
  save_->setToolTip(tr("Save the statement under the cursor by name"));
  connect(save_, &QAction::triggered, this, &SqlPage::askName);
  export_ = new QAction(tr("Export"), this);
  export_->setToolTip(tr("The result as a file, or on the clipboard"));
  copyCells_ = new QAction(icon(Icon::Copy), tr("Copy selected cells"), this);
  copyCells_->setShortcut(QKeySequence::Copy);
  copyCells_->setShortcutContext(Qt::WidgetShortcut);
  connect(copyCells_, &QAction::triggered, this, &SqlPage::copySelection);
  copyAll_ = new QAction(tr("Copy all rows"), this);
  connect(copyAll_, &QAction::triggered, this, &SqlPage::copyAll);
  makeExportMenu();
}

void SqlPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  readSchema();
}

void SqlPage::readSchema() {
  if (isSchemaAsked_) return;
  isSchemaAsked_ = true;
  reader_.run(
      [this](store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
        const store::RunReader::QueryLimits limits{std::chrono::seconds(10), 10'000, &isStale};
        std::vector<SqlObject> objects;
        for (const store::StoredTable& table : storedTables(store, limits)) {
          SqlObject object{QString::fromStdString(table.name), table.isView, {}};
          for (const store::StoredTable::Column& column : table.columns)
            object.columns.push_back(
                {QString::fromStdString(column.name), QString::fromStdString(column.type)});
          objects.push_back(std::move(object));
        }
        QStringList metrics;
        const auto query = [&](const std::string& sql) { return store.query(sql, limits); };
        for (const std::string& name : store::recordedMetrics(query))
          metrics << QString::fromStdString(name);
        return [this, objects, metrics] {
          side_->setObjects(objects);
          SqlEditor::Schema schema{.metrics = metrics};
          for (const SqlObject& object : objects) {
            QStringList& columns = schema.columns[object.name];
            for (const SqlObject::Column& column : object.columns) columns << column.name;
            (object.isView ? schema.views : schema.tables) << object.name;
          }
          editor_->setSchema(std::move(schema));
        };
      });
}

std::size_t SqlPage::rowLimit() const {
  return static_cast<std::size_t>(rows_->currentData().toLongLong());
}
int SqlPage::secondsLimit() const { return seconds_->currentData().toInt(); }

void SqlPage::runRequested() {
  const std::optional<SqlRange> range = editor_->wanted();
  if (!range) {
    showFailure(tr("There is no statement under the cursor; write one, for example SELECT * FROM "
                   "runs."),
                std::nullopt);
    return;
  }
  askedAt_ = range->start;
  const int keptAt = askedAt_;
  const QString sql = editor_->textOf(*range);
  runStatement(sql);
  askedAt_ = keptAt;
}

void SqlPage::runStatement(const QString& sql) {
  askedAt_ = -1;
  asked_ = sql;
  editor_->clearMistake();
  const Selection& selection = workbench_.selection();
  const std::optional<QString> ready = withRuns(sql, selection.current(), selection.runs());
  if (!ready) {
    showFailure(tr("The statement asks for the selected run and none is selected: select one in "
                   "the list of runs."),
                std::nullopt);
    return;
  }
  running_.start();
  busyTimer_.start();
  const std::size_t rows = rowLimit();
  const std::chrono::seconds time(secondsLimit());
  runner_.run([this, sql, statement = ready->toStdString(), rows, time](
                  store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    auto outcome = std::make_shared<Outcome>();
    outcome->sql = sql;
    const auto begin = std::chrono::steady_clock::now();
    try {
      outcome->table = std::make_shared<const store::RunReader::Table>(
          store.query(statement, {time, rows, &isStale}));
    } catch (const store::SqlError& error) {
      outcome->error = QString::fromUtf8(error.what());
      if (error.place) {
        const QString before = QString::fromStdString(statement.substr(0, *error.place));
        outcome->place =
            sqlErrorPlace(sql, QString::fromStdString(statement), static_cast<int>(before.size()));
      }
    } catch (const Error& error) {
      outcome->error = QString::fromUtf8(error.what());
    }
    outcome->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return [this, outcome] { take(*outcome); };
  });
}

void SqlPage::stop() {
  if (!runner_.isBusy()) return;
  runner_.cancel();
  busyTimer_.stop();
  showFailure(tr("The statement was stopped."), std::nullopt);
}

void SqlPage::take(const Outcome& outcome) {
  busyTimer_.stop();
  SqlBook::Past past{.sql = outcome.sql,
                     .at = QDateTime::currentDateTimeUtc().toString(Qt::ISODate),
                     .seconds = outcome.seconds};
  if (outcome.error.isEmpty()) past.rows = static_cast<std::int64_t>(outcome.table->rows.size());
  book_.add(past);
  storeBook();
  if (!outcome.error.isEmpty()) {
    QString sentence = outcome.error;
    if (outcome.place) {
      const QString before = outcome.sql.left(outcome.place->start);
      const auto line = before.count(QLatin1Char('\n')) + 1;
      const auto column = outcome.place->start - (before.lastIndexOf(QLatin1Char('\n')) + 1) + 1;
      sentence += tr(" (line %1, column %2)").arg(line).arg(column);
    }
    showFailure(sentence, outcome.place);
    return;
  }
  failure_->clear();
  shown_ = outcome.sql;
  hasResult_ = true;
  std::shared_ptr<const store::RunReader::Table> old = model_.shared();
  {
    // Another table has no selection, and its runs are not chosen.
    const QSignalBlocker quiet(table_->selectionModel());
    table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    model_.setTable(outcome.table, outcome.sql);
  }
  // What was shown goes in another thread: many rows take their time even for that.
  sorter_.run([old = std::move(old)](const std::atomic<bool>&) mutable -> Background::Finish {
    old.reset();
    return {};
  });
  QString text =
      counted(static_cast<std::int64_t>(outcome.table->rows.size()), tr("row"), tr("rows"));
  text +=
      QStringLiteral(" \u00b7 ") + counted(static_cast<std::int64_t>(outcome.table->columns.size()),
                                           tr("column"), tr("columns"));
  text += QStringLiteral(" \u00b7 ") +
          (outcome.seconds < 1 ? number(outcome.seconds * 1e3, outcome.seconds < 0.01 ? 1 : 0) +
                                     QStringLiteral("\u202fms")
                               : number(outcome.seconds, 1) + QStringLiteral("\u202fs"));
  counts_ = text;
  showWork();
  notice_->setText(outcome.table->isCut
                       ? tr("Cut after %1 rows")
                             .arg(count(static_cast<std::int64_t>(outcome.table->rows.size())))
                       : QString());
  notice_->setToolTip(
      tr("There are more; raise the limit of rows, or narrow the statement with "
         "WHERE or LIMIT"));
  notice_->setVisible(outcome.table->isCut);
  // Another result has other columns to draw; the same one keeps what was chosen.
  if (charted_ && *charted_ != model_.table().columns) chart_.y.clear();
  charted_ = model_.table().columns;
  chart_ = fitSqlChart(chart_, model_.table());
  fillChartControls();
  fitColumns();
  showValue();
  showState();
  chose();
}

void SqlPage::sortBy(int column, Qt::SortOrder direction) {
  sorter_.run([this, table = model_.shared(), column,
               direction](const std::atomic<bool>& isStale) -> Background::Finish {
    if (isStale) return {};
    auto order = std::make_shared<std::vector<int>>(sqlOrder(*table, column, direction));
    return [this, table, order] {
      if (model_.shared() == table) model_.setOrder(std::move(*order));
    };
  });
}

void SqlPage::showWork() {
  if (!hasResult_ || runner_.isBusy() || !failure_->text().isEmpty()) return;
  const QString work = sorter_.isBusy()    ? tr("sorting \u2026")
                       : charter_.isBusy() ? tr("drawing \u2026")
                       : writer_.isBusy()  ? tr("writing \u2026")
                                           : QString();
  summary_->setText(work.isEmpty() ? counts_ : counts_ + QStringLiteral(" \u00b7 ") + work);
}

void SqlPage::showFailure(const QString& sentence, std::optional<SqlRange> place) {
  failure_->setText(sentence.left(1).toUpper() + sentence.mid(1));  // it stands alone here
  if (place && askedAt_ >= 0) editor_->showMistake({askedAt_ + place->start, place->length});
  stack_->setCurrentIndex(ShownFailure);
  notice_->hide();
  summary_->setText(tr("failed"));
  for (QToolButton* one : {tableButton_, chartButton_, valueButton_}) one->setEnabled(hasResult_);
}

void SqlPage::showBusy() {
  busyTimer_.setInterval(kQueryBusyAfterMs);
  if (!runner_.isBusy()) return;
  busyText_->setText(tr("The statement runs: %1\u202fs").arg(running_.elapsed() / 1000));
  summary_->setText(tr("running"));
  notice_->hide();
  stack_->setCurrentIndex(ShownBusy);
}

void SqlPage::showState() {
  for (QToolButton* one : {tableButton_, chartButton_, valueButton_}) one->setEnabled(hasResult_);
  tableButton_->setChecked(!isChart_);
  chartButton_->setChecked(isChart_);
  for (QAction* action : {export_, copyCells_, copyAll_}) action->setEnabled(hasResult_);
  if (!hasResult_) {
    stack_->setCurrentIndex(ShownEmpty);
  } else if (model_.rowCount() == 0) {
    empty_->showMessage(tr("The statement returned no rows."), QString());
    stack_->setCurrentIndex(ShownEmpty);
  } else {
    stack_->setCurrentIndex(isChart_ ? ShownChart : ShownTable);
    if (isChart_) drawChart();
  }
  // What is shown belongs to a statement before the one that failed.
  if (hasResult_ && !failure_->text().isEmpty())
    summary_->setText(tr("earlier result: %1").arg(counts_));
}

QString SqlPage::summary() const { return summary_->text(); }
QString SqlPage::error() const { return failure_->text(); }

void SqlPage::openStatement(const QString& sql) {
  editor_->replaceAll(sql);
  editor_->setFocus();
}

void SqlPage::waitUntilIdle() {
  readSchema();
  reader_.waitUntilIdle();
  runner_.waitUntilIdle();
  for (Background* work : {&sorter_, &charter_, &writer_}) work->waitUntilIdle();
  showValue();
  reader_.waitUntilIdle();
  layOutNow();
}

bool SqlPage::event(QEvent* event) {
  // Elsewhere in the window Ctrl+Return starts runs; on this page it asks.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto& key = *static_cast<QKeyEvent*>(event);
    if (run_->shortcut().matches(QKeySequence(key.keyCombination())) == QKeySequence::ExactMatch) {
      event->accept();
      return true;
    }
  }
  return Page::event(event);
}

void SqlPage::keyPressEvent(QKeyEvent* event) {
  if (run_->shortcut().matches(QKeySequence(event->keyCombination())) == QKeySequence::ExactMatch) {
    run_->trigger();
    return;
  }
  if (isChart_ && event->key() == Qt::Key_L) {
    (event->modifiers().testFlag(Qt::ShiftModifier) ? logX_ : logY_)->toggle();
    return;
  }
  Page::keyPressEvent(event);
}

void SqlPage::chose() {
  if (!isFilling_) Q_EMIT viewChanged();
}

}  // namespace vitrine::ui

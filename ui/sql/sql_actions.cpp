// Actions on a result: copy, export, draw, inspect and save.
#include <QClipboard>
#include <QComboBox>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

#include "core/artifact/artifact.h"
#include "core/base/cell_text.h"
#include "core/base/read_json.h"
#include "core/store/run_facts.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/menus.h"
#include "ui/kit/questions.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/sql/sql_docs.h"
#include "ui/sql/sql_editor.h"
#include "ui/sql/sql_page.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {
namespace {

constexpr int kMeasuredRows = 200;  // rows that decide on the width of columns
constexpr int kWidestColumn = 360;  // design pixels
constexpr std::size_t kFigureRows = 40;
constexpr std::int64_t kLargestPreview = 4'000'000;  // bytes of a PNG that is shown
constexpr std::size_t kMostSelectedRuns = 100;
constexpr int kMostCopiedHere = 1'000;  // rows: more are made into text in another thread

}  // namespace

QList<QAction*> SqlPage::tools() { return {save_, export_}; }

void SqlPage::makeExportMenu() {
  auto* menu = new QMenu(tr("Export"), this);
  menu->addAction(tr("As &CSV\u2026"), this,
                  [this] { askAndExport(QStringLiteral(".csv"), tr("CSV files (*.csv)")); });
  menu->addAction(tr("As &JSON Lines\u2026"), this,
                  [this] { askAndExport(QStringLiteral(".jsonl"), tr("JSON Lines (*.jsonl)")); });
  menu->addAction(copyAll_);
  menu->addAction(copyCells_);
  menu->addAction(tr("Export &figure\u2026"), this,
                  [this] { exportFigureOf(this, workbench_, *this, QStringLiteral("sql")); });
  export_->setMenu(menu);
}

Json SqlPage::viewState() const {
  Json state = Json::object();
  state["statement"] = shown_.toStdString();
  state["show"] = isChart_ ? "chart" : "table";
  state["chart"] = toJson(chart_);
  return state;
}

void SqlPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  isFilling_ = true;
  if (state.contains("chart")) {
    chart_ = sqlChartFromJson(state["chart"]);
    charted_.reset();
  }
  isChart_ = stateWords(state, "show") == QLatin1String("chart");
  isFilling_ = false;
  const QString statement = stateWords(state, "statement");
  if (!statement.isEmpty() && statement != shown_) {
    if (!editor_->toPlainText().contains(statement)) editor_->replaceAll(statement);
    runStatement(statement);
  } else if (hasResult_) {
    chart_ = fitSqlChart(chart_, model_.table());
    fillChartControls();
  }
  showState();
}

std::unique_ptr<Figure> SqlPage::figure() {
  if (!hasResult_ || model_.rowCount() == 0) return nullptr;
  if (isChart_) return makeLineChart(sqlChart(model_.table(), chart_));
  const store::RunReader::Table& table = model_.table();
  Json content = Json::object();
  content["columns"] = table.columns;
  content["rows"] = Json::array();
  for (const int row : model_.order()) {
    if (content["rows"].size() >= kFigureRows) break;
    Json cells = Json::array();
    for (const Json& value : table.rows[static_cast<std::size_t>(row)])
      cells.push_back(value.is_object() ? Json(sqlPlain(value).toStdString()) : value);
    content["rows"].push_back(std::move(cells));
  }
  const std::string bytes = dumpJson(content);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return makeFigure(QString::fromLatin1(artifact_kind::kTable), {{"title", "Result"}},
                    {begin, begin + bytes.size()});
}

QString SqlPage::howToRead() const {
  return tr(
      "The console reads only. The views on the left are documented and stable from version "
      "to version. Hover over a name for its definition, double-click to insert it.\n\n"
      "Ctrl+Return runs the selection or the statement under the cursor. :run stands for the "
      "current run, :runs for all selected runs. A row with a run selects that run "
      "everywhere.\n\n"
      "A result is cut at the limit of rows, and the page says so. An en dash is NULL. Blobs "
      "are shown as their size; Value shows images.");
}

void SqlPage::setChartChoice(const SqlChartChoice& choice) {
  chart_ = hasResult_ ? fitSqlChart(choice, model_.table()) : choice;
  fillChartControls();
  if (isChart_ && hasResult_) drawChart();
}

void SqlPage::showChart(bool isChart) {
  isChart_ = isChart;
  showState();
}

void SqlPage::fillChartControls() {
  isFilling_ = true;
  const QStringList numbers = sqlNumberColumns(model_.table());
  chartX_->clear();
  chartX_->addItem(tr("row number"), QString());
  for (const QString& name : numbers) chartX_->addItem(name, name);
  chartX_->setCurrentIndex(std::max(0, chartX_->findData(chart_.x)));
  chartGroup_->clear();
  chartGroup_->addItem(tr("none"), QString());
  for (const std::string& name : model_.table().columns) {
    const QString column = QString::fromStdString(name);
    chartGroup_->addItem(column, column);
  }
  if (chartGroup_->findData(chart_.group) < 0) chartGroup_->addItem(chart_.group, chart_.group);
  chartGroup_->setCurrentIndex(std::max(0, chartGroup_->findData(chart_.group)));
  chartKind_->setCurrentIndex(chart_.isPoints ? 1 : 0);
  logX_->setChecked(chart_.xScale == AxisScale::Log);
  logY_->setChecked(chart_.yScale == AxisScale::Log);
  QMenu* menu = chartY_->menu();
  menu->clear();
  for (const QString& name : numbers) {
    QAction* one = menu->addAction(menuText(name));
    one->setCheckable(true);
    one->setChecked(chart_.y.contains(name));
    connect(one, &QAction::toggled, this, [this, name](bool isOn) {
      if (isFilling_) return;
      SqlChartChoice next = chart_;
      next.y.removeAll(name);
      if (isOn) next.y << name;
      if (next.y.isEmpty()) return;  // a chart of nothing is useless
      chart_ = next;
      chartY_->setText(chart_.y.join(QStringLiteral(", ")));
      if (isChart_) drawChart();
      chose();
    });
  }
  QString shown = chart_.y.join(QStringLiteral(", "));
  if (shown.size() > 28) shown = shown.left(27) + QChar(0x2026);
  chartY_->setText(shown.isEmpty() ? tr("none") : shown);
  isFilling_ = false;
}

void SqlPage::drawChart() {
  charter_.run([this, table = model_.shared(),
                choice = chart_](const std::atomic<bool>& isStale) -> Background::Finish {
    if (isStale) return {};
    auto chart = std::make_shared<LineChart>(sqlChart(*table, choice));
    return [this, chart] { figure_->setFigure(makeLineChart(std::move(*chart))); };
  });
}

void SqlPage::fitColumns() {
  const QFontMetrics metrics(table_->font());
  const int widest = px(kWidestColumn);
  int sum = 0;
  for (int column = 0; column < model_.columnCount(); ++column) {
    int width = metrics.horizontalAdvance(
                    model_.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()) +
                px(18);
    for (int row = 0; row < std::min(model_.rowCount(), kMeasuredRows); ++row) {
      width = std::max(width, metrics.horizontalAdvance(
                                  model_.index(row, column).data(Qt::DisplayRole).toString()));
      if (width > widest) break;
    }
    width += px(20) + (column == model_.runColumn() ? px(14) : 0);
    table_->setColumnWidth(column, std::min(width, widest));
    sum += table_->columnWidth(column);
  }
  // A last column of text takes the rest of the width; one of numbers stays next to its neighbours.
  const int last = model_.columnCount() - 1;
  const bool canStretch = last >= 0 && !model_.isNumeric(last) && sum < table_->viewport()->width();
  table_->horizontalHeader()->setStretchLastSection(canStretch);
  fitRows();
}

// Those in sight: a result may have a million.
void SqlPage::fitRows() {
  const QFontMetrics metrics(table_->font());
  const int least = table_->verticalHeader()->defaultSectionSize();
  const int first = std::max(0, table_->rowAt(0));
  const int last =
      std::min(model_.rowCount(), first + std::max(table_->viewport()->height() / least, 20) + 1);
  for (int row = first; row < last; ++row) {
    int height = least;
    for (int column = 0; column < model_.columnCount(); ++column) {
      if (model_.isNumeric(column)) continue;
      const int width = table_->columnWidth(column) - px(12);
      const QString text = model_.index(row, column).data(Qt::DisplayRole).toString();
      if (metrics.horizontalAdvance(text) <= width) continue;
      const QRect wrapped =
          metrics.boundingRect(QRect(0, 0, width, 1 << 16), Qt::TextWordWrap, text);
      height = std::max(height, wrapped.height() + least - metrics.height());
    }
    if (table_->rowHeight(row) != height) table_->setRowHeight(row, height);
  }
}

void SqlPage::showValue() {
  if (!valuePanel_->isVisibleTo(this)) return;
  const QModelIndex current = table_->currentIndex();
  valueImage_->hide();
  valueImage_->clear();
  if (!current.isValid()) {
    valueTitle_->setText(tr("Choose a cell: all of its value is shown here."));
    valueText_->clear();
    return;
  }
  const Json& value = model_.value(current);
  const QString name =
      model_.headerData(current.column(), Qt::Horizontal, Qt::DisplayRole).toString();
  const std::int64_t bytes = blobBytes(value);
  if (bytes < 0) {
    QString text = value.is_null() ? tr("NULL") : sqlPlain(value);
    if (value.is_string() &&
        (text.startsWith(QLatin1Char('{')) || text.startsWith(QLatin1Char('[')))) {
      const Json parsed = readJson(value.get<std::string>());
      if (!parsed.is_discarded())
        text = QString::fromStdString(dumpJson(parsed, 2));
    }
    valueTitle_->setText(name);
    valueText_->setPlainText(text);
    return;
  }
  valueTitle_->setText(tr("%1: %2 bytes").arg(name, count(bytes)));
  valueText_->clear();
  // Bytes do not come with the rows: an image is read again by its id.
  const auto& columns = model_.table().columns;
  const auto idColumn = std::find(columns.begin(), columns.end(), "id");
  const bool isGenerated = name == QLatin1String("png");
  if (idColumn == columns.end() || bytes > kLargestPreview ||
      (!isGenerated && name != QLatin1String("data")))
    return;
  const Json& id =
      model_.value(current.siblingAtColumn(static_cast<int>(idColumn - columns.begin())));
  if (!id.is_number_integer()) return;
  const store::PictureView view =
      isGenerated ? store::PictureView::GeneratedImages : store::PictureView::Artifacts;
  reader_.run([this, view, row = id.get<std::int64_t>(), bytes](
                  store::RunReader& store, const std::atomic<bool>&) -> Background::Finish {
    const std::vector<std::byte> found = pictureOf(store, view, row, bytes);
    const QImage image =
        QImage::fromData(QByteArrayView(reinterpret_cast<const char*>(found.data()),
                                        static_cast<qsizetype>(found.size())),
                         "PNG");
    if (image.isNull()) return {};
    return [this, image] {
      const int side = px(220);
      const bool isSmall = image.width() < side && image.height() < side;
      valueImage_->setPixmap(QPixmap::fromImage(
          image.scaled(side, side, Qt::KeepAspectRatio,
                       isSmall ? Qt::FastTransformation : Qt::SmoothTransformation)));
      valueImage_->setVisible(true);
      valueTitle_->setText(valueTitle_->text() +
                           tr(", %1 x %2 px").arg(image.width()).arg(image.height()));
    };
  });
}

void SqlPage::selectRuns() {
  if (model_.runColumn() < 0) return;
  std::vector<std::int64_t> runs;
  for (const QItemSelectionRange& range : table_->selectionModel()->selection()) {
    for (int row = range.top(); row <= range.bottom() && runs.size() < kMostSelectedRuns; ++row) {
      const std::int64_t run = model_.runOf(row);
      if (run > 0 && std::find(runs.begin(), runs.end(), run) == runs.end() &&
          workbench_.runs().count(run) > 0)
        runs.push_back(run);
    }
  }
  if (!runs.empty()) workbench_.selection().setRuns(runs, runs.front());
}

void SqlPage::copySelection() {
  const QItemSelection selection = table_->selectionModel()->selection();
  const bool isAll = selection.size() == 1 && model_.rowCount() > kMostCopiedHere &&
                     selection.front().height() == model_.rowCount() &&
                     selection.front().width() == model_.columnCount();
  if (selection.isEmpty() || isAll) {
    copyAll();
    return;
  }
  int top = model_.rowCount(), bottom = -1, left = model_.columnCount(), right = -1;
  for (const QItemSelectionRange& range : selection) {
    top = std::min(top, range.top());
    bottom = std::max(bottom, range.bottom());
    left = std::min(left, range.left());
    right = std::max(right, range.right());
  }
  const bool isOneCell = top == bottom && left == right;
  store::RunReader::Table cells;
  for (int column = left; column <= right; ++column)
    cells.columns.push_back(model_.table().columns[static_cast<std::size_t>(column)]);
  for (int row = top; row <= bottom; ++row) {
    std::vector<Json> line;
    bool isAny = false;
    for (int column = left; column <= right; ++column) {
      const QModelIndex index = model_.index(row, column);
      const bool isChosen = selection.contains(index);
      isAny = isAny || isChosen;
      line.push_back(isChosen ? model_.value(index) : Json());
    }
    if (isAny) cells.rows.push_back(std::move(line));
  }
  QString text = isOneCell ? sqlPlain(cells.rows[0][0]) : sqlTsv(cells, {}, SqlHeader::Names);
  QGuiApplication::clipboard()->setText(text);
  workbench_.showMessage(isOneCell ? tr("Copied a cell.")
                                   : tr("Copied %1 with their names.")
                                         .arg(counted(static_cast<std::int64_t>(cells.rows.size()),
                                                      tr("row"), tr("rows"))));
}

void SqlPage::copyAll() {
  if (!hasResult_) return;
  writer_.run([this, table = model_.shared(),
               order = model_.order()](const std::atomic<bool>&) -> Background::Finish {
    const QString text = sqlTsv(*table, order, SqlHeader::Names);
    return [this, text, rows = static_cast<std::int64_t>(order.size())] {
      QGuiApplication::clipboard()->setText(text);
      workbench_.showMessage(
          tr("Copied %1 with their names.").arg(counted(rows, tr("row"), tr("rows"))));
    };
  });
}

void SqlPage::exportTo(const QString& file) {
  const bool isLines =
      file.endsWith(QLatin1String(".jsonl")) || file.endsWith(QLatin1String(".ndjson"));
  writer_.run([this, file, isLines, table = model_.shared(),
               order = model_.order()](const std::atomic<bool>&) -> Background::Finish {
    writeFile(file, (isLines ? sqlJsonLines(*table, order) : sqlCsv(*table, order)).toUtf8());
    const QString sentence =
        tr("Wrote %1 to %2.")
            .arg(counted(static_cast<std::int64_t>(order.size()), tr("row"), tr("rows")), file);
    return [this, sentence] { workbench_.showMessage(sentence); };
  });
}

void SqlPage::askAndExport(const QString& ending, const QString& filter) {
  const QString file =
      askSaveFile(this, tr("Export the result"), QStringLiteral("result") + ending, filter);
  if (!file.isEmpty()) exportTo(file);
}

void SqlPage::askName() {
  const auto range = editor_->wanted();
  if (!range) {
    workbench_.showMessage(tr("There is no statement to save; write one first."));
    return;
  }
  const QString name =
      ui::askName(this, tr("Save query"), tr("Name; a query with this name is replaced"));
  if (!name.isEmpty()) saveQuery(name);
}

void SqlPage::saveQuery(const QString& name) {
  const auto range = editor_->wanted();
  if (!range) return;
  book_.save(name, editor_->textOf(*range));
  storeBook();
  side_->showShelf(SqlSide::Shelf::Saved);
  workbench_.showMessage(tr("Saved the query \u201c%1\u201d.").arg(name));
}

void SqlPage::forgetHistory() {
  book_.forgetPast();
  storeBook();
}

void SqlPage::storeBook() {
  storeSetting(QStringLiteral("sql/book"), book_.toText());
  side_->showBook(book_);
}

void SqlPage::showTableMenu(const QPoint& place) {
  QMenu menu(this);
  menu.addAction(copyCells_);
  menu.addAction(copyAll_);
  menu.addSeparator();
  menu.addAction(tr("Show the &value"), this, [this] { valueButton_->setChecked(true); });
  menu.addActions(export_->menu()->actions().mid(0, 2));
  menu.exec(table_->viewport()->mapToGlobal(place));
}

}  // namespace vitrine::ui

// The list of runs as a table: its bar, and the groups that stay closed while rows change.
#include <QBoxLayout>
#include <QMenu>
#include <QShortcut>
#include <initializer_list>

#include "core/base/read_json.h"
#include "ui/kit/menus.h"
#include "ui/kit/settings.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

const QString kClosedExperiments = QStringLiteral("closed_experiments");  // a setting

}  // namespace

/// What only the table has: the way back, its columns, what the header of the dock says of the
/// list.
void RunsPanel::makeTable() {
  tableBar_ = new QWidget;
  auto* bar = rowIn(tableBar_, {px(12), 0, 0, 0}, px(8));
  tableSummary_ = withRole(new QLabel, "small");
  auto* columns = withName(new QPushButton(tr("Columns")), tr("Columns and sorting"));
  auto* menu = new QMenu(columns);
  columns->setMenu(menu);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    emptyMenu(*menu);
    table_->fillMenu(*menu);
  });
  auto* close = withName(new QPushButton(tr("Close table")), tr("Close the table of runs"),
                         tr("Back to the pages (Esc)"));
  connect(close, &QPushButton::clicked, this, &RunsPanel::tableLeft);
  for (QWidget* one : std::initializer_list<QWidget*>{tableSummary_, columns, close})
    bar->addWidget(one);
  tableBar_->hide();
  leave_ = new QShortcut(QKeySequence(Qt::Key_Escape), this);
  leave_->setContext(Qt::WidgetWithChildrenShortcut);
  leave_->setEnabled(false);
  connect(leave_, &QShortcut::activated, this, &RunsPanel::tableLeft);

  table_ = new RunTable(
      workbench_, model_, *proxy_, *view_, *delegate_,
      [this](const std::string& sql) { return workbench_.store().query(sql); }, this);
  const Json kept = readJson(
      setting(databaseSetting(kClosedExperiments, workbench_.store())).toString().toStdString());
  if (kept.is_array()) {
    for (const Json& id : kept)
      if (id.is_number_integer()) closedExperiments_.insert(id.get<std::int64_t>());
  }
  const auto rememberClosed = [this] {
    closed_.clear();
    for (int row = 0; row < proxy_->rowCount(); ++row) {
      const QModelIndex at = proxy_->index(row, 0);
      if (!view_->isExpanded(at)) closed_.insert(at.data(RunsModel::GroupRole).toLongLong());
    }
  };
  const auto openOthers = [this] {
    for (int row = 0; row < proxy_->rowCount(); ++row) openExperiment(proxy_->index(row, 0));
    closed_.clear();
  };
  connect(proxy_, &QAbstractItemModel::modelAboutToBeReset, this, [this, rememberClosed] {
    isApplying_ = true;  // the user did not choose a view without rows
    rememberClosed();
  });
  connect(proxy_, &QAbstractItemModel::modelReset, this, [this, openOthers] {
    isApplying_ = false;
    showSelection();  // before: the current run comes into sight, whose experiment may be closed
    openOthers();
  });
  // Runs go to other groups, of which some are new.
  connect(proxy_, &QAbstractItemModel::layoutAboutToBeChanged, this, rememberClosed);
  connect(proxy_, &QAbstractItemModel::layoutChanged, this, openOthers);
}

void RunsPanel::openExperiment(const QModelIndex& at) {
  const bool isSpanned = !model_.isGrouped();  // means stand next to a group
  if (view_->isFirstColumnSpanned(at.row(), {}) != isSpanned)
    view_->setFirstColumnSpanned(at.row(), {}, isSpanned);
  const bool isClosed = closed_.contains(at.data(RunsModel::GroupRole).toLongLong());
  view_->setExpanded(at, !isClosed && !isKeptClosed(at));
}

bool RunsPanel::isKeptClosed(const QModelIndex& at) const {
  return !isFiltered() && !model_.isGrouped() &&
         closedExperiments_.contains(at.data(RunsModel::GroupRole).toLongLong());
}

void RunsPanel::keepClosed(const QModelIndex& at, bool isClosed) {
  if (isApplying_ || isFiltered() || model_.isGrouped()) return;
  const std::int64_t id = at.data(RunsModel::GroupRole).toLongLong();
  const bool isNew =
      isClosed ? closedExperiments_.insert(id).second : closedExperiments_.erase(id) > 0;
  if (isNew)
    storeSetting(databaseSetting(kClosedExperiments, workbench_.store()),
                 QString::fromStdString(Json(closedExperiments_).dump()));
}

void RunsPanel::setTable(bool isTable) {
  if (isTable == table_->isShown()) return;
  tableBar_->setVisible(isTable);
  leave_->setEnabled(isTable);
  table_->setShown(isTable);
  const QModelIndex current = view_->currentIndex();
  if (current.isValid() && view_->isExpanded(current.parent())) view_->scrollTo(current);
}

}  // namespace vitrine::ui

#include "ui/runs/run_table.h"

#include <QHeaderView>
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "ui/kit/check_list.h"
#include "ui/kit/menus.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/runs/selection_memory.h"

namespace vitrine::ui {
namespace {

constexpr int kNameWidth = 300, kLeastCell = 64, kMostCell = 220;
constexpr const char* kNames = "name";  // the id of the first column

/// Whether runs may be grouped by a column: other values change with each step.
bool canGroup(const std::string& id) { return id != "step" && id != "duration"; }

}  // namespace

RunTable::RunTable(StudioWorkbench& workbench, RunsModel& model, RunsFilter& filter, RunsView& view,
                   RunsDelegate& delegate, store::QueryFunction query, QObject* parent)
    : QObject(parent),
      workbench_(workbench),
      model_(model),
      view_(view),
      delegate_(delegate),
      columns_(workbench.runs(), model, filter.configs(), std::move(query)),
      key_(databaseSetting(QStringLiteral("run_columns"), workbench.store())),
      lookKey_(databaseSetting(QStringLiteral("run_table"), workbench.store())) {
  const Json kept = readJson(setting(key_).toString().toStdString());
  if (kept.is_array()) {
    for (const Json& id : kept) {
      if (id.is_string()) ids_.push_back(id.get<std::string>());
    }
  }
  restoreLook();
  QHeaderView* header = view_.header();
  header->setAccessibleName(tr("Columns of runs"));
  header->setSectionsMovable(false);
  header->setStretchLastSection(false);
  header->setSectionResizeMode(QHeaderView::Stretch);  // of a list: as wide as its place
  header->setSortIndicatorClearable(true);
  header->setSortIndicator(-1, Qt::AscendingOrder);
  header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(header, &QWidget::customContextMenuRequested, this, [this](const QPoint& place) {
    QMenu menu(&view_);
    fillMenu(menu, view_.header()->logicalIndexAt(place));
    menu.exec(view_.header()->mapToGlobal(place));
  });
  connect(header, &QHeaderView::sortIndicatorChanged, this, [this](int section, Qt::SortOrder to) {
    if (!isShown_) return;
    sortSection_ = section;
    order_ = to;
    sortedBy_ = idOf(section);
    keepLook();
  });
  connect(header, &QHeaderView::sectionResized, this, [this](int section, int, int size) {
    if (!isShown_ || isSizing_ || size <= 0) return;
    widths_[idOf(section)] = qRound(size / uiZoom());
    keepLook();
  });
}

std::string RunTable::idOf(int section) const {
  if (section == 0) return kNames;
  return section > 0 ? ids_[static_cast<std::size_t>(section) - 1] : std::string();
}

void RunTable::restoreLook() {
  const Json kept = readJson(setting(lookKey_).toString().toStdString());
  if (!kept.is_object()) return;
  for (const auto& [id, width] : stateTable(kept, "widths").items())
    if (width.is_number_integer()) widths_[id] = std::clamp(width.get<int>(), 16, 2000);
  sortedBy_ = stateText(kept, "sorted_by", sortedBy_);
  sortSection_ = sortedBy_.empty() ? -1 : sortedBy_ == kNames ? 0 : 1;
  if (stateFlag(kept, "is_descending")) order_ = Qt::DescendingOrder;
  groupedBy_ = stateText(kept, "grouped_by", groupedBy_);
}

void RunTable::keepLook() const {
  const Json look = {{"widths", widths_},
                     {"sorted_by", sortedBy_},
                     {"is_descending", order_ == Qt::DescendingOrder},
                     {"grouped_by", groupedBy_}};
  storeSetting(lookKey_, QString::fromStdString(look.dump()));
}

void RunTable::setMainMetrics(std::map<std::int64_t, std::string> metrics) {
  mainMetrics_ = std::move(metrics);
}

std::vector<std::string> RunTable::usual() {
  const auto& runs = workbench_.runs();
  const std::int64_t current = workbench_.selection().current();
  const store::RunRow* looked = workbench_.run(current);
  if (looked == nullptr && !runs.empty()) looked = &runs.rbegin()->second;
  if (looked == nullptr) return columns_.usual(0, "");
  std::map<std::string, int> metrics;
  for (const auto& [id, metric] : mainMetrics_) {
    const store::RunRow* run = workbench_.run(id);
    if (run != nullptr && run->experimentId == looked->experimentId) ++metrics[metric];
  }
  const auto most =
      std::max_element(metrics.begin(), metrics.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return columns_.usual(looked->experimentId, most == metrics.end() ? "" : most->first);
}

void RunTable::setShown(bool isShown) {
  if (isShown == isShown_) return;
  QHeaderView* header = view_.header();
  if (!isShown) {
    isShown_ = false;  // before the header forgets what is sorted
    view_.setSortingEnabled(false);
    header->setSortIndicator(-1, Qt::AscendingOrder);
    view_.sortByColumn(-1, Qt::AscendingOrder);
  }
  isShown_ = isShown;
  isSizing_ = true;
  delegate_.setTable(isShown);
  header->setSectionResizeMode(isShown ? QHeaderView::Interactive : QHeaderView::Stretch);
  view_.setHeaderHidden(!isShown);
  view_.setHorizontalScrollBarPolicy(isShown ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
  if (isShown) {
    show();
  } else {
    model_.setColumns({});
    model_.groupBy({});
    nameView();
  }
  isSizing_ = false;
}

void RunTable::nameView() {
  const QString name = !isShown_            ? tr("Runs by experiment")
                       : model_.isGrouped() ? tr("Table of runs by %1").arg(model_.groupedBy())
                                            : tr("Table of runs by experiment");
  if (view_.accessibleName() != name) view_.setAccessibleName(name);
}

void RunTable::readColumns() {
  std::vector<std::string> ids = ids_;
  const bool isBeside =
      !groupedBy_.empty() && std::find(ids.begin(), ids.end(), groupedBy_) == ids.end();
  if (isBeside) ids.push_back(groupedBy_);
  std::vector<RunsModel::Column> columns = columns_.read(ids);
  std::optional<RunsModel::Column> groups;
  for (const RunsModel::Column& column : columns)
    if (column.id == groupedBy_) groups = column;
  if (isBeside) columns.pop_back();
  model_.setColumns(std::move(columns));
  model_.groupBy(std::move(groups));
  nameView();
}

/// Columns in place of those that are there.
void RunTable::show() {
  isSizing_ = true;
  workbench_.attempt([&] {
    if (ids_.empty()) ids_ = usual();
    readColumns();
  });
  const auto sorted = std::find(ids_.begin(), ids_.end(), sortedBy_);
  int section = sortSection_;
  if (section > 0)
    section = sorted == ids_.end() ? -1 : static_cast<int>(sorted - ids_.begin()) + 1;
  QHeaderView* header = view_.header();
  header->setSortIndicator(section, order_);
  view_.setSortingEnabled(true);
  view_.sortByColumn(section, order_);
  for (int column = 0; column < header->count(); ++column) {
    if (const auto chosen = widths_.find(idOf(column)); chosen != widths_.end()) {
      header->resizeSection(column, qRound(chosen->second * uiZoom()));
    } else if (column == 0) {
      header->resizeSection(column, px(kNameWidth));
    } else {
      header->resizeSection(column, px(kLeastCell));
    }
  }
  widen();
}

void RunTable::widen() {
  if (!isShown_) return;
  isSizing_ = true;
  QHeaderView* header = view_.header();
  for (int column = 1; column < header->count(); ++column) {
    if (widths_.contains(idOf(column))) continue;
    const int before = header->sectionSize(column);
    view_.resizeColumnToContents(column);
    const int most = std::max(before, px(kMostCell));
    header->resizeSection(column, std::clamp(header->sectionSize(column), before, most));
  }
  isSizing_ = false;
}

void RunTable::read() {
  if (!isShown_) return;
  isSizing_ = true;
  workbench_.attempt([&] { readColumns(); });
  isSizing_ = false;
}

void RunTable::keep() const { storeSetting(key_, QString::fromStdString(Json(ids_).dump())); }

void RunTable::setColumns(const std::vector<std::string>& ids) {
  ids_ = ids;
  keep();
  if (isShown_) show();
}

void RunTable::groupBy(const std::string& column) {
  groupedBy_ = column == "experiment" ? std::string() : column;
  keepLook();
  read();
}

void RunTable::askColumns() {
  CheckList list{tr("Columns"), tr("Search columns"), tr("Columns, from left to right"),
                 CheckList::Order::ByUser};
  try {
    std::vector<RunsModel::Column> offered = columns_.offered();
    const auto placeOf = [this](const RunsModel::Column& column) {
      return std::find(ids_.begin(), ids_.end(), column.id) - ids_.begin();
    };
    std::stable_sort(offered.begin(), offered.end(),
                     [&placeOf](const RunsModel::Column& a, const RunsModel::Column& b) {
                       return placeOf(a) < placeOf(b);
                     });
    for (const RunsModel::Column& column : offered) {
      const bool isChosen = std::find(ids_.begin(), ids_.end(), column.id) != ids_.end();
      list.entries.push_back({column.id, column.title, column.tip, isChosen});
    }
  } catch (const Error& error) {
    return workbench_.showError(QString::fromUtf8(error.what()));
  }
  if (const auto chosen = askCheckList(&view_, list)) setColumns(*chosen);
}

void RunTable::fillMenu(QMenu& menu, int section) {
  connect(menu.addAction(tr("&Columns\u2026")), &QAction::triggered, this, &RunTable::askColumns);
  if (section > 0) {
    const std::string id = ids_[static_cast<std::size_t>(section) - 1];
    connect(menu.addAction(tr("&Hide this column")), &QAction::triggered, this, [this, id] {
      std::vector<std::string> left = ids_;
      std::erase(left, id);
      setColumns(left);
    });
    if (id != groupedBy_ && canGroup(id))
      connect(menu.addAction(tr("Gr&oup by this column")), &QAction::triggered, this,
              [this, id] { groupBy(id); });
  }
  if (!groupedBy_.empty())
    connect(menu.addAction(tr("&No groups")), &QAction::triggered, this, [this] { groupBy(""); });
  connect(menu.addAction(tr("De&fault columns")), &QAction::triggered, this, [this] {
    forgetSetting(key_);
    ids_.clear();
    widths_.clear();
    keepLook();
    if (isShown_) show();
  });
  menu.addSeparator();
  connect(menu.addAction(tr("Cop&y table")), &QAction::triggered, this, &RunTable::copy);
  connect(menu.addAction(tr("&Export table\u2026")), &QAction::triggered, this,
          &RunTable::askExport);
  menu.addSeparator();
  QMenu* sort = menu.addMenu(tr("&Sort by"));
  const QHeaderView* header = view_.header();
  const auto add = [this, sort, header](const QString& title, int column) {
    QAction* one = sort->addAction(title);
    one->setCheckable(true);
    one->setChecked(header->sortIndicatorSection() == column);
    connect(one, &QAction::triggered, this, [this, column] {
      // The sorted column again is turned round.
      const bool isAgain = column >= 0 && sortSection_ == column;
      const bool isDown = isAgain && order_ == Qt::AscendingOrder;
      view_.sortByColumn(column, isDown ? Qt::DescendingOrder : Qt::AscendingOrder);
    });
  };
  add(tr("Order of the list"), -1);
  for (int column = 0; column < header->count(); ++column)
    add(menuText(model_.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()), column);
  QMenu* group = menu.addMenu(tr("&Group by"));
  const auto addGroup = [this, group](const QString& title, const std::string& id) {
    QAction* one = group->addAction(title);
    one->setCheckable(true);
    one->setChecked(groupedBy_ == id);
    connect(one, &QAction::triggered, this, [this, id] { groupBy(id); });
  };
  addGroup(tr("Experiment"), "");
  for (const RunsModel::Column& column : model_.columns())
    if (column.id != "experiment" && canGroup(column.id))
      addGroup(menuText(column.title), column.id);
}

}  // namespace vitrine::ui

// Two lines per run; differences are worked out when a row is shown.
#include "ui/configure/plan/planned_runs.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <algorithm>

#include "core/config/config.h"
#include "ui/configure/form/wording.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/kit/icons.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

constexpr int kMostShownRows = 6;

class PlannedRunDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {px(120), px(44)};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const ThemeColors& colours = themeColors();
    painter->save();
    if (option.state.testFlag(QStyle::State_Selected))
      painter->fillRect(option.rect, colours.selection);
    painter->setPen(colours.grid);
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    QRect inside = option.rect.adjusted(px(6), px(4), -px(6), -px(4));
    const bool isOut = index.data(PlannedRuns::ExcludedRole).toBool();
    if (const QVariant tick = index.data(Qt::CheckStateRole); tick.isValid()) {
      const QRect box = tickRect(option.rect);
      paintTick(painter, box, tick.toInt() == Qt::Checked);
      inside.setLeft(box.right() + px(8));
    }
    const QRect above(inside.left(), inside.top(), inside.width(), inside.height() / 2);
    const QRect under(inside.left(), above.bottom() + 1, inside.width(), inside.height() / 2);
    line(painter, above, bodyFont(), isOut ? colours.muted : colours.text, index.data().toString(),
         index.data(PlannedRuns::TimeRole).toString(), colours.muted);
    line(painter, under, smallFont(), colours.muted,
         index.data(PlannedRuns::DiffersRole).toString(),
         index.data(PlannedRuns::NoteRole).toString(),
         // After Start every run of the plan is queued: that is not a warning.
         isOut || index.data(PlannedRuns::ExistingRole).toLongLong() != 0 ? colours.muted
                                                                          : colours.warn);
    if (option.state.testFlag(QStyle::State_HasFocus)) {
      painter->setPen(colours.accent);
      painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    painter->restore();
  }

  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override {
    const bool isClick = event->type() == QEvent::MouseButtonRelease;
    if (!isClick || !index.flags().testFlag(Qt::ItemIsUserCheckable)) return false;
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const QRect row = option.rect;
    const QRect place(row.topLeft(),
                      QSize(tickRect(row).right() + px(6) - row.left(), row.height()));
    if (mouse->button() != Qt::LeftButton || !place.contains(mouse->pos())) return false;
    const bool isOn = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    return model->setData(index, isOn ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
  }

 private:
  /// As the check boxes of the style sheet.
  static void paintTick(QPainter* painter, const QRect& box, bool isOn) {
    const ThemeColors& colours = themeColors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(isOn ? colours.accent : colours.muted);
    painter->setBrush(isOn ? QBrush(colours.accent) : Qt::NoBrush);
    painter->drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), px(3), px(3));
    if (isOn) {
      const QRectF in(box);
      const auto at = [&in](double x, double y) {
        return QPointF(in.left() + x * in.width(), in.top() + y * in.height());
      };
      painter->setPen(QPen(colours.onAccent, px(2), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
      painter->drawPolyline(QPolygonF({at(0.24, 0.53), at(0.43, 0.71), at(0.77, 0.31)}));
    }
    painter->restore();
  }
  static QRect tickRect(const QRect& row) {
    const int side = px(16);
    return {row.left() + px(6), row.top() + (row.height() - side) / 2, side, side};
  }
  static void line(QPainter* painter, const QRect& rect, const QFont& font, const QColor& colour,
                   const QString& left, const QString& right, const QColor& rightColour) {
    painter->setFont(font);
    const int width =
        right.isEmpty() ? 0 : painter->fontMetrics().horizontalAdvance(right) + px(8);
    painter->setPen(rightColour);
    painter->drawText(rect, Qt::AlignRight | Qt::AlignVCenter, right);
    writeLine(*painter, font, colour, rect.adjusted(0, 0, -width, 0), Qt::AlignLeft, left);
  }
};

}  // namespace

void PlannedRuns::setPlan(std::shared_ptr<const Plan> plan) {
  beginResetModel();
  plan_ = std::move(plan);
  rows_.clear();
  std::size_t out = 0;
  for (std::size_t i = 0; i <= plan_->runs.size(); ++i) {
    for (; out < plan_->excluded.size() && plan_->excluded[out].place <= i; ++out)
      rows_.push_back({true, static_cast<int>(out)});
    if (i < plan_->runs.size()) rows_.push_back({false, static_cast<int>(i)});
  }
  forecast_ = {};
  states_.clear();
  differences_.clear();
  endResetModel();
}

void PlannedRuns::setForecast(const Forecast& forecast,
                              const std::map<std::int64_t, store::RunRow>& rows) {
  forecast_ = forecast;
  states_.clear();
  for (const RunForecast& one : forecast_.runs) {
    const auto row = rows.find(one.existing);
    if (row != rows.end())
      states_[one.existing] = QString::fromStdString(toString(row->second.state));
  }
  if (rowCount() > 0) Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

int PlannedRuns::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int PlannedRuns::runAt(int row) const {
  if (row < 0 || row >= rowCount()) return -1;
  const Row& one = rows_[static_cast<std::size_t>(row)];
  return one.isExcluded ? -1 : one.at;
}

int PlannedRuns::excludedAt(int row) const {
  if (row < 0 || row >= rowCount()) return -1;
  const Row& one = rows_[static_cast<std::size_t>(row)];
  return one.isExcluded ? one.at : -1;
}

std::vector<int> PlannedRuns::madeBefore() const {
  std::vector<int> made;
  for (std::size_t i = 0; i < forecast_.runs.size(); ++i) {
    if (forecast_.runs[i].existing != 0) made.push_back(static_cast<int>(i));
  }
  return made;
}

Qt::ItemFlags PlannedRuns::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractListModel::flags(index);
  return index.isValid() && canExclude() ? flags | Qt::ItemIsUserCheckable : flags;
}

bool PlannedRuns::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole || !index.isValid() || !canExclude()) return false;
  const bool isWanted = value.toInt() == Qt::Checked;
  if (const int run = runAt(index.row()); run >= 0 && !isWanted) {
    Q_EMIT excludeRequested({run});
    return true;
  }
  const int out = excludedAt(index.row());
  if (out >= 0 && isWanted) Q_EMIT includeRequested({out});
  return out >= 0 && isWanted;
}

QString PlannedRuns::differs(int row) const {
  if (row == 0) {
    return plan_->runs.size() == 1 ? tr("no changes")
                                   : tr("the first: the others are compared with it");
  }
  if (const auto known = differences_.find(row); known != differences_.end()) return known->second;
  QStringList parts;
  for (const Difference& one :
       difference(plan_->runs.front().config, plan_->runs[static_cast<std::size_t>(row)].config)) {
    const auto dot = one.key.find('.');
    parts << QString::fromStdString(dot == std::string::npos ? one.key : one.key.substr(dot + 1)) +
                 QLatin1Char(' ') + shortValue(one.after);
  }
  const QString text =
      parts.isEmpty() ? tr("nothing differs") : parts.join(QStringLiteral(", "));
  differences_[row] = text;
  return text;
}

QString PlannedRuns::note(int row) const {
  if (static_cast<std::size_t>(row) >= forecast_.runs.size()) return {};
  const RunForecast& one = forecast_.runs[static_cast<std::size_t>(row)];
  if (one.sameAs >= 0) return tr("same as run %1 here").arg(one.sameAs + 1);
  if (const auto state = states_.find(one.existing); state != states_.end())
    return tr("%1 as #%2").arg(state->second).arg(one.existing);
  return {};
}

QVariant PlannedRuns::excludedData(const Row& row, int role) const {
  const ExcludedRun& run = plan_->excluded[static_cast<std::size_t>(row.at)];
  const QString name = QString::fromStdString(run.name);
  switch (role) {
    case Qt::DisplayRole:
      return name;
    case DiffersRole:
      return tr("excluded");
    case ExistingRole:
      return QVariant::fromValue<qlonglong>(0);
    case ExcludedRole:
      return true;
    case Qt::CheckStateRole:
      return Qt::Unchecked;
    case Qt::ToolTipRole:
      return name + tr("\nExcluded in the TOML; select the check box to include it");
    case Qt::AccessibleTextRole:
      return name + tr("; excluded");
    default:
      return {};
  }
}

QVariant PlannedRuns::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& place = rows_[static_cast<std::size_t>(index.row())];
  if (place.isExcluded) return excludedData(place, role);
  const int row = place.at;
  const PlannedRun& run = plan_->runs[static_cast<std::size_t>(row)];
  const QString name = QStringLiteral("%1  %2").arg(row + 1).arg(QString::fromStdString(run.name));
  const bool isKnown = static_cast<std::size_t>(row) < forecast_.runs.size();
  switch (role) {
    case Qt::DisplayRole:
      return name;
    case DiffersRole:
      return differs(row);
    case TimeRole: {
      const double seconds = isKnown ? forecast_.runs[static_cast<std::size_t>(row)].seconds : 0;
      return seconds > 0 ? duration(seconds) : QString();
    }
    case NoteRole:
      return note(row);
    case ExcludedRole:
      return false;
    case Qt::CheckStateRole:
      return canExclude() ? QVariant(Qt::Checked) : QVariant();
    case ExistingRole:
      return QVariant::fromValue<qlonglong>(
          isKnown ? forecast_.runs[static_cast<std::size_t>(row)].existing : 0);
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: {
      QStringList lines{name, differs(row)};
      if (isKnown) {
        const RunForecast& one = forecast_.runs[static_cast<std::size_t>(row)];
        if (one.steps > 0) lines << tr("%1 steps").arg(count(one.steps));
        if (one.seconds > 0)
          lines << QStringLiteral("%1, %2").arg(aboutDuration(one.seconds), one.basis);
      }
      if (const QString text = note(row); !text.isEmpty()) lines << text;
      return lines.join(role == Qt::ToolTipRole ? QStringLiteral("\n") : QStringLiteral("; "));
    }
    default:
      return {};
  }
}

PlannedRunsView::PlannedRunsView(QWidget* parent)
    : QListView(parent), model_(new PlannedRuns(this)) {
  setModel(model_);
  setItemDelegate(new PlannedRunDelegate(this));
  setAccessibleName(tr("Planned runs"));
  setUniformItemSizes(true);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTabKeyNavigation(false);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  connect(model_, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
    keptRow_ = currentIndex().row();
    keptScroll_ = verticalScrollBar()->value();
  });
  connect(model_, &QAbstractItemModel::modelReset, this, [this] {
    setFixedHeight(sizeHint().height());
    updateGeometry();
    if (keptRow_ < 0 || model_->rowCount() == 0) return;
    setCurrentIndex(model_->index(std::min(keptRow_, model_->rowCount() - 1)));
    verticalScrollBar()->setValue(keptScroll_);
  });
  offerMenu(
      this, [] { return tr("Planned runs"); }, [this](QMenu& menu) { fillMenu(menu); });
  connect(model_, &PlannedRuns::excludeRequested, this, &PlannedRunsView::excludeRequested);
  connect(model_, &PlannedRuns::includeRequested, this, &PlannedRunsView::includeRequested);
  connect(this, &QListView::activated, this, [this](const QModelIndex& index) {
    if (const auto run = index.data(PlannedRuns::ExistingRole).toLongLong(); run != 0)
      Q_EMIT runRequested(run);
  });
}

std::vector<int> PlannedRunsView::selected(int (PlannedRuns::*placeOf)(int row) const) const {
  std::vector<int> places;
  for (const QModelIndex& index : selectionModel()->selectedIndexes()) {
    if (const int place = (model_->*placeOf)(index.row()); place >= 0) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  return places;
}

void PlannedRunsView::fillMenu(QMenu& menu) {
  const std::vector<int> runs = selected(&PlannedRuns::runAt);
  const std::vector<int> out = selected(&PlannedRuns::excludedAt);
  const std::vector<int> made = model_->madeBefore();
  const auto add = [&](const QString& text, bool isOn, const QString& why, const auto& act) {
    QAction* action = menu.addAction(text);
    action->setEnabled(isOn);
    if (!isOn) {
      action->setToolTip(why);
      action->setProperty(kWhyNot, why);
    }
    connect(action, &QAction::triggered, this, act);
    return action;
  };
  const auto of = [](const std::vector<int>& rows, const QString& one, const QString& many) {
    return rows.size() < 2 ? one : many.arg(count(static_cast<std::int64_t>(rows.size())));
  };
  menu.setToolTipsVisible(true);
  add(of(runs, tr("Exclude this run"), tr("Exclude %1 runs")),
      model_->canExclude() && !runs.empty(),
      runs.empty() ? tr("select a run that is not excluded")
                   : tr("it is the only run: change the form instead"),
      [this, runs] { Q_EMIT excludeRequested(runs); })
      ->setShortcut(Qt::Key_Delete);
  add(of(out, tr("Include this run"), tr("Include %1 runs")), !out.empty(),
      tr("select a run that is excluded"), [this, out] { Q_EMIT includeRequested(out); });
  add(tr("Exclude runs that exist already"),
      model_->canExclude() && !made.empty() && static_cast<int>(made.size()) < model_->rowCount(),
      made.empty() ? tr("none of these runs exists already") : tr("every run exists already"),
      [this, made] { Q_EMIT excludeRequested(made); });
  menu.addSeparator();
  const auto existing = currentIndex().data(PlannedRuns::ExistingRole).toLongLong();
  add(existing == 0 ? tr("Open the existing run") : tr("Open run #%1").arg(existing),
      existing != 0, tr("this run does not exist yet"),
      [this, existing] { Q_EMIT runRequested(existing); });
  add(tr("Copy the name"), currentIndex().isValid(), QString(), [this] {
    const int run = model_->runAt(currentIndex().row());
    const QString name = currentIndex().data().toString();
    QGuiApplication::clipboard()->setText(run < 0 ? name : name.section(QStringLiteral("  "), 1));
  });
}

void PlannedRunsView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete && model_->canExclude()) {
    const std::vector<int> runs = selected(&PlannedRuns::runAt);
    if (!runs.empty()) Q_EMIT excludeRequested(runs);
    return;
  }
  if (event->key() == Qt::Key_Space && currentIndex().isValid()) {
    const bool isOn = currentIndex().data(Qt::CheckStateRole).toInt() == Qt::Checked;
    model_->setData(currentIndex(), isOn ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
    return;
  }
  QListView::keyPressEvent(event);
}

void PlannedRunsView::contextMenuEvent(QContextMenuEvent* event) {
  if (const QModelIndex under = indexAt(event->pos());
      under.isValid() && !selectionModel()->isSelected(under))
    setCurrentIndex(under);
  QMenu menu(this);
  fillMenu(menu);
  menu.exec(event->globalPos());
}

QSize PlannedRunsView::sizeHint() const {
  return {px(200), px(44) * std::clamp(model_->rowCount(), 1, kMostShownRows) + 2};
}

}  // namespace vitrine::ui

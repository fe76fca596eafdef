// Two lines per run; differences are worked out when a row is shown.
#include "ui/configure/coming_runs.h"

#include <QPainter>
#include <QStyledItemDelegate>

#include "core/config/config.h"
#include "ui/configure/changes_view.h"
#include "ui/shell/run_facts.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kMostShownRows = 6;

class ComingRunDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {px(120), px(44)};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Tokens& colours = tokens();
    painter->save();
    if (option.state.testFlag(QStyle::State_Selected))
      painter->fillRect(option.rect, colours.selection);
    painter->setPen(colours.grid);
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    const QRect inside = option.rect.adjusted(px(6), px(4), -px(6), -px(4));
    const QRect above(inside.left(), inside.top(), inside.width(), inside.height() / 2);
    const QRect under(inside.left(), above.bottom() + 1, inside.width(), inside.height() / 2);
    line(painter, above, bodyFont(), colours.text, index.data().toString(),
         index.data(ComingRuns::TimeRole).toString(), colours.muted);
    line(painter, under, smallFont(), colours.muted, index.data(ComingRuns::DiffersRole).toString(),
         index.data(ComingRuns::NoteRole).toString(), colours.warn);
    if (option.state.testFlag(QStyle::State_HasFocus)) {
      painter->setPen(colours.accent);
      painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    painter->restore();
  }

 private:
  static void line(QPainter* painter, const QRect& rect, const QFont& font, const QColor& colour,
                   const QString& left, const QString& right, const QColor& rightColour) {
    painter->setFont(font);
    const QFontMetrics metrics(font);
    const int width = right.isEmpty() ? 0 : metrics.horizontalAdvance(right) + px(8);
    painter->setPen(rightColour);
    painter->drawText(rect, Qt::AlignRight | Qt::AlignVCenter, right);
    painter->setPen(colour);
    painter->drawText(rect.adjusted(0, 0, -width, 0), Qt::AlignLeft | Qt::AlignVCenter,
                      metrics.elidedText(left, Qt::ElideRight, rect.width() - width));
  }
};

}  // namespace

void ComingRuns::setPlan(std::shared_ptr<const Plan> plan) {
  beginResetModel();
  plan_ = std::move(plan);
  forecast_ = {};
  states_.clear();
  differences_.clear();
  endResetModel();
}

void ComingRuns::setForecast(const Forecast& forecast, const std::map<std::int64_t, RunRow>& rows) {
  forecast_ = forecast;
  states_.clear();
  for (const RunForecast& one : forecast_.runs) {
    const auto row = rows.find(one.existing);
    if (row != rows.end())
      states_[one.existing] = QString::fromStdString(toString(row->second.state));
  }
  if (rowCount() > 0) Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

int ComingRuns::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || plan_ == nullptr ? 0 : static_cast<int>(plan_->runs.size());
}

QString ComingRuns::differs(int row) const {
  if (row == 0) {
    return rowCount() == 1 ? QStringLiteral("as the form says")
                           : QStringLiteral("the first: the others are compared with it");
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
      parts.isEmpty() ? QStringLiteral("nothing differs") : parts.join(QStringLiteral(", "));
  differences_[row] = text;
  return text;
}

QString ComingRuns::note(int row) const {
  if (static_cast<std::size_t>(row) >= forecast_.runs.size()) return {};
  const RunForecast& one = forecast_.runs[static_cast<std::size_t>(row)];
  if (one.sameAs >= 0) return QStringLiteral("same as run %1 here").arg(one.sameAs + 1);
  if (const auto state = states_.find(one.existing); state != states_.end())
    return QStringLiteral("%1 as #%2").arg(state->second).arg(one.existing);
  return {};
}

QVariant ComingRuns::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const int row = index.row();
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
    case ExistingRole:
      return QVariant::fromValue<qlonglong>(
          isKnown ? forecast_.runs[static_cast<std::size_t>(row)].existing : 0);
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: {
      QStringList lines{name, differs(row)};
      if (isKnown) {
        const RunForecast& one = forecast_.runs[static_cast<std::size_t>(row)];
        if (one.steps > 0) lines << QStringLiteral("%1 steps").arg(count(one.steps));
        if (one.seconds > 0)
          lines << QStringLiteral("about %1, %2").arg(duration(one.seconds), forecast_.timeSource);
      }
      if (const QString said = note(row); !said.isEmpty()) lines << said;
      return lines.join(role == Qt::ToolTipRole ? QStringLiteral("\n") : QStringLiteral("; "));
    }
    default:
      return {};
  }
}

ComingRunsView::ComingRunsView(QWidget* parent) : QListView(parent), model_(new ComingRuns(this)) {
  setModel(model_);
  setItemDelegate(new ComingRunDelegate(this));
  setAccessibleName(QStringLiteral("Runs to come"));
  setUniformItemSizes(true);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTabKeyNavigation(false);
  connect(model_, &QAbstractItemModel::modelReset, this, [this] {
    setFixedHeight(sizeHint().height());
    updateGeometry();
  });
  connect(this, &QListView::activated, this, [this](const QModelIndex& index) {
    if (const auto run = index.data(ComingRuns::ExistingRole).toLongLong(); run != 0)
      Q_EMIT runWanted(run);
  });
}

QSize ComingRunsView::sizeHint() const {
  return {px(200), px(44) * std::clamp(model_->rowCount(), 1, kMostShownRows) + 2};
}

}  // namespace vitrine::ui

#include "ui/runs/runs_delegate.h"

#include <QAbstractItemView>
#include <QHelpEvent>
#include <QLineEdit>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>

#include "ui/kit/icons.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_model.h"
#include "ui/runs/runs_view.h"

namespace vitrine::ui {
namespace {

constexpr int kRunHeight = 44;
constexpr int kGroupHeight = 28;
constexpr int kCellHeight = 28;

/// Where the name begins.
int nameLeft(bool isTable) { return px(isTable ? 46 : 26); }

void drawChevron(QPainter* painter, const QPointF& center, bool isOpen) {
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->translate(center);
  if (isOpen) painter->rotate(90);
  const double size = px(3);
  QPainterPath path(QPointF(-size / 2, -size));
  path.lineTo(size / 2, 0);
  path.lineTo(-size / 2, size);
  painter->setPen(QPen(themeColors().muted, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter->drawPath(path);
  painter->restore();
}

/// Open: the pages draw the run. Crossed out: it is selected and hidden. Of other runs it shows
/// under the mouse, faint.
void drawEye(QPainter* painter, const QRect& row, const QStyleOptionViewItem& option,
             bool isHidden) {
  const bool isSelected = option.state.testFlag(QStyle::State_Selected);
  if (!isSelected && !option.state.testFlag(QStyle::State_MouseOver)) return;
  QRect place(0, 0, px(14), px(14));
  place.moveCenter(eyeRect(row).center());
  painter->setOpacity(isSelected ? 1 : 0.5);
  icon(isHidden ? Icon::EyeOff : Icon::Eye, IconTint::Muted).paint(painter, place);
  painter->setOpacity(1);
}

}  // namespace

QRect eyeRect(const QRect& row) {
  if (row.height() < px(kRunHeight)) return {row.left() + px(4), row.top(), px(24), row.height()};
  return {row.left() + px(4), row.top() + px(20), px(24), px(22)};
}

QSize RunsDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
  if (index.column() == 0 && index.data(RunsModel::IdRole).toLongLong() == 0)
    return {px(160), px(kGroupHeight)};
  if (!isTable_) return {px(160), px(kRunHeight)};
  const int words = QFontMetrics(bodyFont()).horizontalAdvance(index.data().toString());
  return {words + px(16) + 2, px(kCellHeight)};
}

QWidget* RunsDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&,
                                    const QModelIndex& index) const {
  auto* editor = withName(new QLineEdit(parent),
                          tr("Name of run %1").arg(index.data(RunsModel::IdRole).toLongLong()));
  return editor;
}

void RunsDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
  const auto* line = qobject_cast<const QLineEdit*>(editor);
  if (line == nullptr || !line->isModified()) QStyledItemDelegate::setEditorData(editor, index);
}

void RunsDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                                        const QModelIndex&) const {
  const QRect row = option.rect;
  const int left = row.left() + nameLeft(isTable_) - px(4), edge = px(8);
  // Over both lines of a run in the list: half of a word above the line reads as a mistake.
  const int height =
      std::min(std::max(editor->sizeHint().height(), row.height() - px(8)), row.height());
  editor->setGeometry(left, row.top() + (row.height() - height) / 2, row.right() + 1 - edge - left,
                      height);
}

bool RunsDelegate::helpEvent(QHelpEvent* event, QAbstractItemView* view,
                             const QStyleOptionViewItem& option, const QModelIndex& index) {
  const bool isRun = index.column() == 0 && index.data(RunsModel::IdRole).toLongLong() != 0;
  if (event->type() != QEvent::ToolTip || !isRun || !eyeRect(option.rect).contains(event->pos()))
    return QStyledItemDelegate::helpEvent(event, view, option, index);
  const bool isSelected = view->selectionModel()->isSelected(index);
  const bool isHidden = index.data(RunsModel::HiddenRole).toBool();
  QToolTip::showText(event->globalPos(),
                     !isSelected ? tr("Add to the selected runs")
                     : isHidden  ? tr("Show in charts")
                                 : tr("Hide from charts"),
                     view->viewport(), eyeRect(option.rect));
  return true;
}

void RunsDelegate::paintExperiment(QPainter* painter, const QStyleOptionViewItem& option,
                                   const QModelIndex& index) const {
  const ThemeColors& t = themeColors();
  const QRect row = option.rect;
  const int edge = px(12);
  painter->fillRect(row, t.raised);
  painter->fillRect(QRect(row.left(), row.bottom(), row.width(), 1), t.line);
  if (index.column() > 0) {
    writeLine(*painter, smallFont(), t.text, row.adjusted(px(8), 0, -px(8), 0), Qt::AlignRight,
              index.data().toString());
    return;
  }
  drawChevron(painter, QPointF(row.left() + px(15), row.center().y() + 0.5),
              option.state.testFlag(QStyle::State_Open));
  QFont bold = smallFont();
  bold.setWeight(QFont::DemiBold);
  const QString runs = counted(index.data(RunsModel::CountRole).toInt(), tr("run"), tr("runs"));
  const int runsWidth = QFontMetrics(smallFont()).horizontalAdvance(runs) + 1;
  // A table may be wider than its visible part: there the number follows the title.
  const int words = QFontMetrics(bold).horizontalAdvance(index.data().toString()) + 1;
  const int most = row.width() - px(26) - edge - runsWidth - px(8);
  const QRect title(row.left() + px(26), row.top(), isTable_ ? std::min(words, most) : most,
                    row.height());
  writeLine(*painter, bold, t.text, title, Qt::AlignLeft, index.data().toString());
  writeLine(*painter, smallFont(), t.muted,
            QRect(title.right() + 1 + px(8), row.top(), runsWidth, row.height()), Qt::AlignRight,
            runs);
}

void RunsDelegate::paintRun(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  const ThemeColors& t = themeColors();
  const QRect row = option.rect;
  const int edge = px(12);
  const std::int64_t id = index.data(RunsModel::IdRole).toLongLong();
  const int left = row.left() + px(26);
  const QRect first(left, row.top() + px(4), row.right() + 1 - edge - left, px(18));
  const QRect second(left, row.top() + px(22), first.width(), px(16));
  drawRunMark(*painter, QRectF(row.left() + edge, first.center().y() - px(4) + 1, px(8), px(8)),
              seriesOf(id), seriesColor(seriesOf(id)));

  const bool isHidden = index.data(RunsModel::HiddenRole).toBool();
  drawEye(painter, row, option, isHidden);

  const QString score = index.data(RunsModel::ScoreRole).toString();
  const QFontMetrics digits(bodyFont());
  const int scoreWidth = score.isEmpty()
                             ? 0
                             : std::max(digits.horizontalAdvance(QStringLiteral("0.000")),
                                        digits.horizontalAdvance(score)) +
                                   2;
  QFont name = bodyFont();
  name.setWeight(QFont::Medium);
  writeLine(*painter, name, isHidden ? t.muted : t.text,
            first.adjusted(0, 0, scoreWidth > 0 ? -scoreWidth - px(8) : 0, 0), Qt::AlignLeft,
            index.data().toString(), Qt::ElideMiddle);  // runs of a sweep differ at the end
  if (scoreWidth > 0) {
    writeLine(*painter, bodyFont(), t.text,
              QRect(first.right() + 1 - scoreWidth, first.top(), scoreWidth, first.height()),
              Qt::AlignRight, score);
  }
  const QString state = index.data(RunsModel::StateRole).toString();
  const int stateWidth = QFontMetrics(smallFont()).horizontalAdvance(state) + 2;
  writeLine(*painter, smallFont(), t.muted, second.adjusted(0, 0, -stateWidth - px(8), 0),
            Qt::AlignLeft, index.data(RunsModel::DetailRole).toString());
  writeLine(*painter, smallFont(), stateColor(state),
            QRect(second.right() + 1 - stateWidth, second.top(), stateWidth, second.height()),
            Qt::AlignRight, state);

  const double progress = index.data(RunsModel::ProgressRole).toDouble();
  if (progress >= 0) {
    const QRect track(left, row.bottom() - px(4), first.width(), px(2));
    drawProgress(*painter, track, progress, t.line);
  }
}

/// The first cell of a row has eye, mark and name; the others their value, numbers to the right.
void RunsDelegate::paintCell(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
  const ThemeColors& t = themeColors();
  const QRect cell = option.rect;
  const QRect inside = cell.adjusted(index.column() == 0 ? nameLeft(true) : px(8), 0, -px(8), 0);
  const bool isHidden = index.data(RunsModel::HiddenRole).toBool();
  if (index.column() > 0) {
    const bool isMissing = !index.data(RunsModel::OrderRole).isValid();
    const QVariant side =
        index.model()->headerData(index.column(), Qt::Horizontal, Qt::TextAlignmentRole);
    const QString state = index.data(RunsModel::StateRole).toString();
    writeLine(*painter, bodyFont(),
              isMissing         ? t.muted
              : state.isEmpty() ? t.text
                                : stateColor(state),
              inside, side.isValid() ? Qt::AlignRight : Qt::AlignLeft, index.data().toString(),
              Qt::ElideMiddle);
    return;
  }
  const std::int64_t id = index.data(RunsModel::IdRole).toLongLong();
  drawEye(painter, cell, option, isHidden);
  drawRunMark(*painter, QRectF(cell.left() + px(32), cell.center().y() - px(4) + 1, px(8), px(8)),
              seriesOf(id), seriesColor(seriesOf(id)));
  QFont name = bodyFont();
  name.setWeight(QFont::Medium);
  // A list says marks in its second line.
  const QString mark = index.data(RunsModel::MarkRole).toString();
  const int markWidth =
      mark.isEmpty() ? 0 : QFontMetrics(smallFont()).horizontalAdvance(mark) + px(8);
  writeLine(*painter, name, isHidden ? t.muted : t.text, inside.adjusted(0, 0, -markWidth, 0),
            Qt::AlignLeft, index.data().toString(), Qt::ElideMiddle);
  if (markWidth > 0) writeLine(*painter, smallFont(), t.muted, inside, Qt::AlignRight, mark);
}

void RunsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
  const ThemeColors& t = themeColors();
  const QRect row = option.rect;
  painter->save();
  if (index.data(RunsModel::IdRole).toLongLong() == 0) {
    paintExperiment(painter, option, index);
  } else {
    const bool isSelected = option.state.testFlag(QStyle::State_Selected);
    painter->fillRect(row, isSelected ? t.selection : t.panel);
    if (!isSelected && option.state.testFlag(QStyle::State_MouseOver))
      painter->fillRect(row, t.raised);
    painter->fillRect(QRect(row.left(), row.bottom(), row.width(), 1), t.grid);
    if (isTable_)
      paintCell(painter, option, index);
    else
      paintRun(painter, option, index);
  }
  // The run that is looked at beside a selection is told by its outline alone.
  const auto* view = qobject_cast<const RunsView*>(option.widget);
  const bool isBeside = view != nullptr && view->beside() != 0 && index.column() == 0 &&
                        index.data(RunsModel::IdRole).toLongLong() == view->beside();
  if (isBeside || option.state.testFlag(QStyle::State_HasFocus)) drawRowFocus(*painter, row);
  painter->restore();
}

}  // namespace vitrine::ui

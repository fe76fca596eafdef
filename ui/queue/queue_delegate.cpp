#include "ui/queue/queue_delegate.h"

#include <QPainter>

#include "ui/kit/icons.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/queue/device_panel.h"
#include "ui/queue/queue_model.h"

namespace vitrine::ui {
namespace {

constexpr int kQueueRunHeight = 44;
constexpr int kSectionHeight = 28;

void drawSection(QPainter* painter, const QRect& row, const QModelIndex& index) {
  const ThemeColors& t = themeColors();
  painter->fillRect(row, t.raised);
  painter->fillRect(QRect(row.left(), row.bottom(), row.width(), 1), t.line);
  QFont bold = smallFont();
  bold.setWeight(QFont::DemiBold);
  const QRect inside = row.adjusted(px(12), 0, -px(12), 0);
  const int width =
      writeLine(*painter, bold, t.text, inside, Qt::AlignLeft, index.data().toString());
  writeLine(*painter, smallFont(), t.muted, inside.adjusted(width + px(8), 0, 0, 0), Qt::AlignLeft,
            count(index.data(QueueModel::CountRole).toInt()));
}

}  // namespace

QSize QueueDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
  const bool isSection = index.siblingAtColumn(0).data(QueueModel::IdRole).toLongLong() == 0;
  return {px(60), px(isSection ? kSectionHeight : kQueueRunHeight)};
}

void QueueDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  const ThemeColors& t = themeColors();
  const QRect row = option.rect;
  painter->save();
  const std::int64_t id = index.data(QueueModel::IdRole).toLongLong();
  if (id == 0) {
    drawSection(painter, row, index);
    if (option.state.testFlag(QStyle::State_HasFocus)) drawRowFocus(*painter, row);
    painter->restore();
    return;
  }
  const bool isSelected = option.state.testFlag(QStyle::State_Selected);
  const bool isUnderMouse = option.state.testFlag(QStyle::State_MouseOver);
  painter->fillRect(row, isSelected ? t.selection : isUnderMouse ? t.raised : t.panel);
  painter->fillRect(QRect(row.left(), row.bottom(), row.width(), 1), t.grid);

  const bool isRun = index.column() == QueueModel::RunColumn;
  const int left = row.left() + px(isRun ? 26 : 8);
  const QRect first(left, row.top() + px(4), row.right() + 1 - px(12) - left, px(18));
  const QRect second(left, row.top() + px(22), first.width(), px(16));
  const Qt::Alignment side(index.data(Qt::TextAlignmentRole).toInt() & Qt::AlignHorizontal_Mask);
  QFont font = bodyFont();
  QColor color = t.text;
  if (isRun) {
    font.setWeight(QFont::Medium);
    drawRunMark(*painter, QRectF(row.left() + px(12), first.center().y() - px(4) + 1, px(8), px(8)),
                seriesOf(id), seriesColor(seriesOf(id)));
  } else if (index.column() == QueueModel::StateColumn) {
    color = stateColor(index.data().toString());
  } else if (index.data().toString() == QStringLiteral("\u2013")) {
    color = t.muted;
  }
  writeLine(*painter, font, color, first, side, index.data().toString());
  const QString detail = index.data(QueueModel::DetailRole).toString();
  if (!detail.isEmpty()) writeLine(*painter, smallFont(), t.muted, second, side, detail);

  const double progress = index.data(QueueModel::ProgressRole).toDouble();
  if (progress >= 0 && index.column() == QueueModel::StateColumn) {
    const QRect track(left, row.bottom() - px(4), first.width(), px(2));
    drawProgress(*painter, track, progress, barGround());
  }
  if (option.state.testFlag(QStyle::State_HasFocus)) drawRowFocus(*painter, row);
  painter->restore();
}

}  // namespace vitrine::ui

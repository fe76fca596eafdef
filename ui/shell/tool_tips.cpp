#include "ui/shell/tool_tips.h"

#include <QAbstractItemView>
#include <QHeaderView>
#include <QHelpEvent>
#include <QMenu>
#include <QStringList>
#include <QTextDocument>
#include <QToolButton>
#include <QToolTip>

#include "ui/kit/menus.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

namespace {

/// The tip with a line "Not now: select a run." where the action cannot be used.
QString withReason(const QString& tip, const QAction* action) {
  const QString why =
      action == nullptr || action->isEnabled() ? QString() : action->property(kWhyNot).toString();
  if (why.isEmpty()) return tip;
  const QString sentence = ToolTipWrapper::tr("Not now: %1.").arg(why);
  return tip.isEmpty() ? sentence : tip + QLatin1Char('\n') + sentence;
}

}  // namespace

QString wrappedText(const QString& text, int columns) {
  QStringList lines;
  for (const QString& paragraph : text.split(QLatin1Char('\n'))) {
    QString line;
    for (const QString& word : paragraph.split(QLatin1Char(' '))) {
      const bool isFirst = line.isEmpty();
      if (!isFirst && line.size() + 1 + word.size() > columns) {
        lines << line;
        line = word;
      } else {
        line += isFirst ? word : QLatin1Char(' ') + word;
      }
    }
    lines << line;
  }
  return lines.join(QLatin1Char('\n'));
}

bool ToolTipWrapper::eventFilter(QObject* watched, QEvent* event) {
  auto* widget = event->type() == QEvent::ToolTip ? qobject_cast<QWidget*>(watched) : nullptr;
  if (widget == nullptr) return false;
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto* button = qobject_cast<const QToolButton*>(widget);
  QString text =
      withReason(tipWithKey(*widget), button == nullptr ? nullptr : button->defaultAction());
  QRect place = widget->rect();  // the text goes when the pointer leaves it
  if (const auto* menu = qobject_cast<const QMenu*>(widget)) {
    QAction* entry = menu->actionAt(help->pos());
    text = withReason({}, entry);
    place = menu->actionGeometry(entry);
  }
  const auto* view = qobject_cast<QAbstractItemView*>(widget->parentWidget());
  if (view == nullptr || view->viewport() != widget) view = nullptr;
  if (const auto* header = qobject_cast<const QHeaderView*>(view)) {
    const int section = header->logicalIndexAt(help->pos());
    if (section < 0) return false;
    const int from = header->sectionViewportPosition(section), size = header->sectionSize(section);
    const bool isAcross = header->orientation() == Qt::Horizontal;
    place = isAcross ? QRect(from, 0, size, place.height()) : QRect(0, from, place.width(), size);
    text = header->model()->headerData(section, header->orientation(), Qt::ToolTipRole).toString();
  } else if (view != nullptr) {
    const QModelIndex at = view->indexAt(help->pos());
    text = at.data(Qt::ToolTipRole).toString();
    place = view->visualRect(at);
  }
  if (text.isEmpty() || Qt::mightBeRichText(text)) return false;
  const QString lines = wrappedText(text);
  if (lines == (view == nullptr ? widget->toolTip() : text)) return false;  // Qt shows it
  QToolTip::showText(help->globalPos(), lines, widget, place);
  return true;
}

}  // namespace vitrine::ui

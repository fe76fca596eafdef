#include "ui/kit/menus.h"

#include <QAction>
#include <QKeySequence>
#include <QMenu>
#include <QPointer>
#include <QToolButton>

namespace vitrine::ui {
namespace {

constexpr const char* kKeyOf = "keyOf";

}  // namespace

void emptyMenu(QMenu& menu) {
  // Later: what refills the menu may have been chosen in one of them.
  for (QMenu* below : menu.findChildren<QMenu*>(Qt::FindDirectChildrenOnly)) below->deleteLater();
  menu.clear();
}

QString menuText(QString text) { return text.replace(QLatin1Char('&'), QLatin1String("&&")); }

void showKeyOf(QAction* action, QWidget& widget) {
  widget.setProperty(kKeyOf, QVariant::fromValue(QPointer<QAction>(action)));
}

QString tipWithKey(const QWidget& widget) {
  const QString tip = widget.toolTip();
  const QAction* action = widget.property(kKeyOf).value<QPointer<QAction>>();
  if (const auto* button = qobject_cast<const QToolButton*>(&widget);
      action == nullptr && button != nullptr)
    action = button->defaultAction();
  if (tip.isEmpty() || action == nullptr || action->shortcut().isEmpty()) return tip;
  return QStringLiteral("%1 (%2)").arg(tip, action->shortcut().toString(QKeySequence::NativeText));
}

QAction* makePageAction(const QString& text, const QString& tip, const QKeySequence& key,
                        QWidget* page) {
  auto* action = new QAction(text, page);
  action->setToolTip(tip);
  action->setShortcut(key);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  return action;
}

void addHeadKeys(QWidget& page, const std::function<void(int)>& moveImage,
                 const std::function<void(int)>& moveLayer,
                 const std::function<void(int)>& moveHead) {
  const auto key = [&page](const QString& text, Qt::Key one, const std::function<void(int)>& move,
                           int by) {
    page.addAction(text, one, &page, [move, by] { move(by); })
        ->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  };
  key(QObject::tr("Previous image"), Qt::Key_BracketLeft, moveImage, -1);
  key(QObject::tr("Next image"), Qt::Key_BracketRight, moveImage, 1);
  key(QObject::tr("Previous layer"), Qt::Key_Comma, moveLayer, -1);
  key(QObject::tr("Next layer"), Qt::Key_Period, moveLayer, 1);
  // Not Shift+comma as well: Qt takes a press of "<" for both, and runs neither of two.
  key(QObject::tr("Previous head"), Qt::Key_Less, moveHead, -1);
  key(QObject::tr("Next head"), Qt::Key_Greater, moveHead, 1);
}

}  // namespace vitrine::ui

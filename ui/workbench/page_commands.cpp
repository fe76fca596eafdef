#include "ui/workbench/page_commands.h"

#include <QAbstractButton>
#include <QAction>
#include <QCheckBox>
#include <QLineEdit>
#include <QPointer>
#include <QRadioButton>
#include <QToolButton>
#include <QWidgetAction>
#include <set>
#include <utility>

#include "ui/workbench/page.h"

namespace vitrine::ui {

namespace {

constexpr int kDeepestMenu = 4;

/// A child of a widget whose context menu it makes.
class MenuOffer : public QObject {
 public:
  MenuOffer(QWidget* of, std::function<QString()> title, std::function<void(QMenu&)> fill)
      : QObject(of), title_(std::move(title)), fill_(std::move(fill)) {}
  [[nodiscard]] QString title() const { return title_ ? title_() : QString(); }
  void fill(QMenu& menu) const { fill_(menu); }

 private:
  std::function<QString()> title_;
  std::function<void(QMenu&)> fill_;
};

QString commandTitle(QString text) {
  // Of "&&" one stays.
  QString plain;
  for (qsizetype i = 0; i < text.size(); ++i) {
    if (text[i] == QLatin1Char('&') && ++i >= text.size()) break;
    plain += text[i];
  }
  return plain.trimmed();
}

QString reasonOf(const QObject& object) { return object.property(kWhyNot).toString(); }

class Collector {
 public:
  explicit Collector(std::vector<std::unique_ptr<QMenu>>& menus) : menus_(menus) {}

  void action(QAction* action, const QString& prefix, int depth = 0) {
    if (action == nullptr || action->isSeparator() || !action->isVisible()) return;
    const QString title = commandTitle(action->text());
    if (action->menu() != nullptr) {
      if (!opened_.insert(action->menu()).second) return;
      const bool isOff = !action->isEnabled();
      if (isOff) ++off_, why_ = reasonOf(*action);
      // "Seeds", where the button says "Seeds: mean". Its title is the action's text.
      const QString named = action->menu()->accessibleName();
      menu(*action->menu(), under(prefix, named.isEmpty() ? title : named), depth + 1);
      if (isOff) --off_;
      return;
    }
    if (qobject_cast<QWidgetAction*>(action) != nullptr) return;
    if (title.isEmpty() || !known_.insert(action).second) return;
    add(*action, under(prefix, title), off_ > 0, [action = QPointer<QAction>(action)] {
      if (action) action->trigger();
    });
  }

  void menu(QMenu& menu, const QString& prefix, int depth) {
    if (depth > kDeepestMenu) return;
    // Many fill themselves when they open.
    Q_EMIT menu.aboutToShow();
    for (QAction* one : menu.actions()) action(one, prefix, depth);
  }

  void offer(const MenuOffer& offer) {
    auto made = std::make_unique<QMenu>();
    offer.fill(*made);
    menu(*made, offer.title(), 1);
    menus_.push_back(std::move(made));
  }

  void button(QAbstractButton* button) {
    const QVariant listed = button->property(kListed);
    const bool isTitle = listed.typeId() == QMetaType::QString;
    if ((listed.isValid() && !isTitle && !listed.toBool()) ||
        button->objectName().startsWith(QLatin1String("qt_")))
      return;
    if (qobject_cast<QCheckBox*>(button) != nullptr ||
        qobject_cast<QRadioButton*>(button) != nullptr ||
        qobject_cast<QLineEdit*>(button->parent()) != nullptr)
      return;  // values, not deeds
    auto* tool = qobject_cast<QToolButton*>(button);
    if (tool != nullptr && tool->defaultAction() != nullptr) {
      action(tool->defaultAction(), {});
      return;
    }
    const QString name = isTitle                              ? listed.toString()
                         : button->accessibleName().isEmpty() ? commandTitle(button->text())
                                                              : button->accessibleName();
    if (name.isEmpty()) return;
    if (tool != nullptr && tool->menu() != nullptr) {
      if (opened_.insert(tool->menu()).second) menu(*tool->menu(), name, 1);
      return;
    }
    add(*button, name, false, [button = QPointer<QAbstractButton>(button)] {
      if (button) button->click();
    });
  }

  std::vector<Command> take() { return std::move(commands_); }

 private:
  static QString under(const QString& prefix, const QString& title) {
    return prefix.isEmpty() ? title : prefix + QStringLiteral(": ") + title;
  }

  /// \param part  an action or a button \param isOff  the menu around it cannot be opened now
  template <class Part>
  void add(const Part& part, const QString& title, bool isOff, std::function<void()> act) {
    if (!titles_.insert(title.toCaseFolded().remove(QChar(0x2026))).second) return;
    Command command{title, CommandPalette::tr("action"),
                    part.shortcut().toString(QKeySequence::NativeText), std::move(act)};
    if (command.hint.isEmpty() && part.isCheckable() && part.isChecked())
      command.hint = CommandPalette::tr("on");
    command.isEnabled = part.isEnabled() && !isOff;
    if (!command.isEnabled) command.why = isOff ? why_ : reasonOf(part);
    commands_.push_back(std::move(command));
  }

  std::vector<std::unique_ptr<QMenu>>& menus_;
  std::vector<Command> commands_;
  int off_ = 0;  ///< menus around that cannot be opened now
  QString why_;
  std::set<const QAction*> known_;
  std::set<const QMenu*> opened_;
  std::set<QString> titles_;
};

}  // namespace

void offerMenu(QWidget* of, std::function<QString()> title, std::function<void(QMenu&)> fill) {
  new MenuOffer(of, std::move(title), std::move(fill));
}

std::vector<Command> pageCommands(Page& page, std::vector<std::unique_ptr<QMenu>>& menus) {
  Collector collector(menus);
  for (QAction* tool : page.tools()) collector.action(tool, {});
  for (QAction* own : page.actions()) collector.action(own, {});
  const QList<QWidget*> widgets = page.findChildren<QWidget*>();
  const auto isShown = [&page](const QWidget* widget) {
    return widget->isVisibleTo(&page) && widget->window() == page.window();
  };
  for (QWidget* widget : widgets) {
    if (!isShown(widget) || qobject_cast<QAbstractButton*>(widget) != nullptr) continue;
    for (QAction* own : widget->actions()) collector.action(own, {});
  }
  for (QObject* child : page.findChildren<QObject*>()) {
    const auto* offer = dynamic_cast<MenuOffer*>(child);
    if (offer != nullptr && isShown(static_cast<QWidget*>(offer->parent())))
      collector.offer(*offer);
  }
  for (QWidget* widget : widgets) {
    if (auto* button = qobject_cast<QAbstractButton*>(widget); button != nullptr && isShown(button))
      collector.button(button);
  }
  return collector.take();
}

}  // namespace vitrine::ui

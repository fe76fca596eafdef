// The controls of the Configure page, used as a user does.
#pragma once

#include <QAction>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>

#include "core/config/edit/document.h"
#include "tests/ui/configure/configure_fixture.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

class Editing : public Configure {
 protected:
  static void choose(ConfigurePage& page, const std::string& key, const QString& text) {
    auto* list = qobject_cast<QComboBox*>(formOf(page).row(key)->editor().input());
    ASSERT_NE(list, nullptr);
    list->setCurrentIndex(list->findData(text));
    QCoreApplication::processEvents();
  }
  static QString lineText(ConfigurePage& page, const std::string& key) {
    return qobject_cast<QLineEdit*>(formOf(page).row(key)->editor().input())->text();
  }
  static void menu(ConfigurePage& page, const std::string& key, const QString& entry) {
    const auto made = page.fieldMenu(formOf(page).row(key));
    QList<QAction*> actions = made->actions();
    for (QAction* action : made->actions()) {
      if (action->menu() != nullptr) actions += action->menu()->actions();
    }
    for (QAction* action : actions) {
      if (action->text() != entry) continue;
      ASSERT_TRUE(action->isEnabled()) << entry.toStdString();
      action->trigger();
      QCoreApplication::processEvents();
      return;
    }
    FAIL() << "the menu has no " << entry.toStdString();
  }
  static void enter(QWidget& in, const QString& name, const QString& text) {
    auto* line = named<QLineEdit>(in, name);
    ASSERT_NE(line, nullptr) << name.toStdString();
    line->setText(text);
    Q_EMIT line->textEdited(text);
    QCoreApplication::processEvents();
  }
  /// The same experiment, as the form shows it.
  static Document shownBy(ConfigurePage& page) {
    Document document = formOf(page).document();
    page.side().sweep().applyTo(document);
    return document;
  }
};

}  // namespace
}  // namespace vitrine::ui

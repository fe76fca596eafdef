// The keys of the window: none is given twice, and each is shown where its action is.
#include <QApplication>
#include <QCheckBox>
#include <QContextMenuEvent>
#include <QDialog>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QShortcut>
#include <QTabWidget>
#include <QTest>
#include <QToolBar>
#include <QToolButton>
#include <QToolTip>
#include <QTreeWidget>
#include <algorithm>
#include <map>

#include "tests/ui/support/find.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "ui/shell/key_dialog.h"
#include "ui/shell/pages.h"
#include "ui/sql/sql_editor.h"

namespace vitrine::ui {
namespace {

class Keys : public StudioWindow {};

using KeyActions = std::map<QString, QStringList>;  // the actions that answer to each key

/// Of the actions of the window that can be used now; those of other pages are not in sight.
KeyActions keysOf(MainWindow& window, const Page& page) {
  KeyActions keys;
  for (const KeyMap::Entry& entry : window.keys().entries()) {
    if (!entry.id.startsWith(QStringLiteral("window/")) &&
        !entry.id.startsWith(QStringLiteral("page/")))
      continue;
    const QAction& action = *entry.action;
    const auto* owner = qobject_cast<const QWidget*>(action.parent());
    if (!action.isEnabled() || owner == &page || page.isAncestorOf(owner)) continue;
    for (const QKeySequence& key : action.shortcuts()) keys[key.toString()] << entry.id;
  }
  return keys;
}

TEST_F(Keys, NoneOfTheWindowIsGivenTwice) {
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[4]}, studio.runs[0]);
  window.show();
  for (const PageFactory& page : pages()) {
    ASSERT_TRUE(window.showPage(page.id));
    window.waitUntilIdle();
    std::map<QString, QStringList> all;
    for (const QAction* action : window.findChildren<QAction*>()) {
      if (!action->isEnabled() || action->shortcutContext() != Qt::WindowShortcut) continue;
      for (const QKeySequence& key : action->shortcuts()) {
        QStringList& names = all[key.toString()];
        names << action->text();
      }
    }
    EXPECT_GT(all.size(), 30U);
    for (const auto& [key, names] : all) {
      EXPECT_EQ(names.size(), 1) << page.id.toStdString() << ": " << key.toStdString() << " is "
                                 << names.join(QStringLiteral(", ")).toStdString();
    }
  }
}

class MenuProbe final : public QWidget {
 public:
  using QWidget::QWidget;
  int requests = 0;

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override {
    if (event->reason() == QContextMenuEvent::Keyboard) ++requests;
  }
};

TEST_F(Keys, ShiftF10AsksForTheMenuAsTheMenuKeyDoes) {
  MenuProbe probe(&window);
  QTest::keyClick(&probe, Qt::Key_F10);
  EXPECT_EQ(probe.requests, 0);
  QTest::keyClick(&probe, Qt::Key_F10, Qt::ShiftModifier);
  EXPECT_EQ(probe.requests, 1);
}

TEST_F(Keys, ShiftF10AsksForTheMenuOfTheRowWithTheOutline) {
  window.show();
  QListWidget list(&window);
  for (int row = 0; row < 100; ++row) list.addItem(QString::number(row));
  list.resize(200, 300);
  list.show();
  list.setContextMenuPolicy(Qt::CustomContextMenu);
  int asked = -1;
  QObject::connect(&list, &QWidget::customContextMenuRequested,
                   [&](const QPoint& place) { asked = list.indexAt(place).row(); });
  for (const int row : {0, 99}) {
    list.setCurrentRow(row);
    list.scrollToTop();
    QTest::keyClick(&list, Qt::Key_F10, Qt::ShiftModifier);
    EXPECT_EQ(asked, row);
  }
}

TEST_F(Keys, ReturnAndEnterPressTheButtonThatHasTheFocusAsSpaceDoes) {
  window.show();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  auto* create = window.findChild<QToolBar*>(QStringLiteral("tools"))->findChild<QPushButton*>();
  QToolButton* table = nullptr;
  for (auto* one : window.findChildren<QToolButton*>())
    if (one->accessibleName() == QLatin1String("Runs as a table")) table = one;
  ASSERT_NE(table, nullptr);
  QCheckBox box(&window);
  box.show();
  for (const auto key : {Qt::Key_Space, Qt::Key_Return, Qt::Key_Enter}) {
    const auto press = [key](QWidget* button) {
      button->setFocus(Qt::TabFocusReason);
      QTest::keyClick(button, key, key == Qt::Key_Enter ? Qt::KeypadModifier : Qt::NoModifier);
    };
    window.showPage(QStringLiteral("monitor"));
    press(create);
    EXPECT_TRUE(window.windowTitle().startsWith(QLatin1String("Configure")))
        << key << ": " << window.windowTitle().toStdString();
    press(table);
    EXPECT_EQ(window.currentPage(), nullptr) << key << ": the table is in its place";
    window.showRunTable(false);
    const bool wasChecked = box.isChecked();
    press(&box);
    EXPECT_NE(box.isChecked(), wasChecked) << key;
  }
}

TEST_F(Keys, ReturnOpensTheMenuOfAButtonAndPressesNothingElse) {
  window.show();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  QToolButton button(&window);
  QMenu menu;
  QAction act;
  int opened = 0, acted = 0;
  menu.addAction(QStringLiteral("one"));
  act.setMenu(&menu);
  button.setDefaultAction(&act);
  button.setPopupMode(QToolButton::InstantPopup);
  button.show();
  QObject::connect(&act, &QAction::triggered, [&acted] { ++acted; });
  QObject::connect(&menu, &QMenu::aboutToShow, &menu, [&] {
    ++opened;
    QMetaObject::invokeMethod(&menu, &QMenu::close, Qt::QueuedConnection);
  });
  button.setFocus();
  QTest::keyClick(&button, Qt::Key_Return);
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(acted, 0);
}

TEST_F(Keys, ReturnStaysWithAPageOrADialogThatUsesIt) {
  window.showPage(QStringLiteral("monitor"));
  window.show();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  int acted = 0;
  {
    QCheckBox box(window.currentPage());
    QAction own;
    own.setShortcut(Qt::Key_Return);
    own.setShortcutContext(Qt::WidgetWithChildrenShortcut);
    QObject::connect(&own, &QAction::triggered, [&acted] { ++acted; });
    window.currentPage()->addAction(&own);
    box.show();
    box.setFocus();
    QTest::keyClick(&box, Qt::Key_Return);
    EXPECT_EQ(acted, 1);
    EXPECT_FALSE(box.isChecked());
  }
  QDialog dialog(&window);
  QCheckBox box(&dialog);
  QPushButton yes(QStringLiteral("Yes"), &dialog);
  yes.setDefault(true);
  QObject::connect(&yes, &QPushButton::clicked, [&acted] { ++acted; });
  dialog.show();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&dialog));
  box.setFocus();
  QTest::keyClick(&box, Qt::Key_Return);
  EXPECT_EQ(acted, 2) << "Return means the default button there";
  EXPECT_FALSE(box.isChecked());
}

// Two actions that answer to one key are none: Qt runs neither.
TEST_F(Keys, OfAPageAreItsOwnOrTakenFromTheWindowByThePage) {
  window.show();
  for (const PageFactory& factory : pages()) {
    ASSERT_TRUE(window.showPage(factory.id));
    window.waitUntilIdle();
    Page& page = *window.currentPage();
    const KeyActions ofWindow = keysOf(window, page);
    for (const QAction* action : page.findChildren<QAction*>()) {
      if (!action->isEnabled() || action->shortcutContext() != Qt::WidgetWithChildrenShortcut)
        continue;
      for (const QKeySequence& key : action->shortcuts()) {
        const auto rival = ofWindow.find(key.toString());
        if (rival == ofWindow.end()) continue;
        QKeyEvent press(QEvent::ShortcutOverride, key[0].key(), key[0].keyboardModifiers());
        press.ignore();
        QCoreApplication::sendEvent(&page, &press);
        EXPECT_TRUE(press.isAccepted())
            << factory.id.toStdString() << ": " << key.toString().toStdString() << " is "
            << action->text().toStdString() << " and "
            << rival->second.join(QStringLiteral(", ")).toStdString();
      }
    }
  }
}

TEST_F(Keys, OfEveryPageOpenItAndAreShownInMenuPaletteAndTab) {
  window.resize(1366, 768);
  bringUp(window);
  const auto entries = window.keys().entries();
  auto* tabs = window.findChild<QTabWidget*>();
  ASSERT_NE(tabs, nullptr);
  ASSERT_EQ(tabs->count(), static_cast<int>(pages().size()));
  int place = 0;
  for (const PageFactory& page : pages()) {
    const auto entry = std::find_if(entries.begin(), entries.end(), [&page](const auto& one) {
      return one.id.startsWith(QStringLiteral("page/")) && one.title == page.title;
    });
    ASSERT_NE(entry, entries.end()) << page.id.toStdString();
    ASSERT_EQ(entry->keys.size(), 1) << page.id.toStdString();
    const QKeySequence key = entry->keys.front();
    const QString text = key.toString(QKeySequence::NativeText);
    window.showPage(page.id == QLatin1String("sql") ? QStringLiteral("monitor")
                                                    : QStringLiteral("sql"));
    only<RunsPanel>(window).view().setFocus();
    QTest::keyClick(&window, key[0].key(), key[0].keyboardModifiers());
    EXPECT_TRUE(window.windowTitle().startsWith(page.title))
        << text.toStdString() << ": " << window.windowTitle().toStdString();
    EXPECT_EQ(tabs->tabToolTip(place), QStringLiteral("%1 (%2)").arg(page.title, text));
    EXPECT_FALSE(entry->action->associatedObjects().isEmpty());
    window.openPalette();
    CommandPalette& palette = only<CommandPalette>(window);
    QTest::keyClicks(&palette.input(), page.title);
    QStringList hints;
    for (int row = 0; row < palette.list().count(); ++row)
      hints << palette.list().item(row)->data(CommandPalette::kHintRole).toString();
    EXPECT_TRUE(hints.contains(text)) << page.id.toStdString();
    palette.reject();
    ++place;
  }
}

TEST_F(Keys, OfAPageGiveItTheFocusAndTheProgramDoesNot) {
  window.showPage(QStringLiteral("gallery"));
  bringUp(window);
  QLineEdit& filter = only<RunsPanel>(window).filter();
  filter.setFocus();
  window.showPage(QStringLiteral("monitor"));
  EXPECT_TRUE(filter.hasFocus());
  for (const auto key : {Qt::Key_2, Qt::Key_3, Qt::Key_4, Qt::Key_5, Qt::Key_N}) {
    filter.setFocus();
    QTest::keyClick(&filter, key, Qt::ControlModifier);
    const QWidget* now = QApplication::focusWidget();
    ASSERT_NE(now, nullptr);
    EXPECT_TRUE(now == window.currentPage() || window.currentPage()->isAncestorOf(now))
        << window.windowTitle().toStdString() << ": " << now->metaObject()->className();
  }
}

TEST_F(Keys, OfTheSqlPageLeadToTheStatement) {
  bringUp(window);
  QLineEdit& filter = only<RunsPanel>(window).filter();
  filter.setFocus();
  QTest::keyClick(&filter, Qt::Key_4, Qt::AltModifier);
  EXPECT_NE(qobject_cast<SqlEditor*>(QApplication::focusWidget()), nullptr);
}

TEST_F(Keys, OfThePluginsPageLeadToTheListAndInADiffToItsFirstConfiguration) {
  bringUp(window);
  const auto nameAfterKey = [this] {
    only<RunsPanel>(window).filter().setFocus();
    QTest::keyClick(&only<RunsPanel>(window).filter(), Qt::Key_5, Qt::AltModifier);
    return QApplication::focusWidget()->accessibleName().toStdString();
  };
  QTest::keyClick(&window, Qt::Key_3, Qt::ControlModifier);
  ASSERT_TRUE(window.currentPage()->isAncestorOf(QApplication::focusWidget()));
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_5, Qt::AltModifier);
  EXPECT_EQ(QApplication::focusWidget()->accessibleName().toStdString(),
            "Plugins and their items")
      << "from another page, too";
  window.currentPage()->setViewState({{"show", "diff"}});
  EXPECT_EQ(nameAfterKey(), "Configuration A");
}

TEST_F(Keys, OfTheNormalSizeSetItBack) {
  bringUp(window);
  window.setZoom(1.2);
  QTest::keyClick(&window, Qt::Key_0, Qt::ControlModifier);
  EXPECT_EQ(uiZoom(), 1.0);
}

TEST_F(Keys, OfAPageAreTakenFromItByTheUserOnceTheyAreAnothersToo) {
  window.showPage(QStringLiteral("sql"));
  const KeyMap::Entry* rival =
      window.keys().rivalOf(QStringLiteral("sql/run-the-statement"), {Qt::CTRL | Qt::Key_4});
  ASSERT_NE(rival, nullptr);
  EXPECT_EQ(rival->title, QStringLiteral("Monitor"));
  window.keys().setKeys(QStringLiteral("page/monitor"), {Qt::CTRL | Qt::ALT | Qt::Key_M});
  EXPECT_EQ(window.findChild<QTabWidget*>()->tabToolTip(3), QStringLiteral("Monitor (Ctrl+Alt+M)"));
  window.keys().reset(QStringLiteral("page/monitor"));
}

TEST_F(Keys, OfAButtonAreThoseThatTheUserGaveItsAction) {
  bringUp(window);
  auto* create = window.findChild<QToolBar*>(QStringLiteral("tools"))->findChild<QPushButton*>();
  const auto shown = [](QWidget& widget) {
    QToolTip::hideText();
    QHelpEvent help(QEvent::ToolTip, QPoint(2, 2), widget.mapToGlobal(QPoint(2, 2)));
    QCoreApplication::sendEvent(&widget, &help);
    return QToolTip::text().replace(QLatin1Char('\n'), QLatin1Char(' '));
  };
  const QString words = QStringLiteral("Configure and start an experiment");
  const QString id = QStringLiteral("window/new-experiment");
  EXPECT_EQ(shown(*create), words + QStringLiteral(" (Ctrl+N)"));
  window.keys().setKeys(id, {Qt::CTRL | Qt::Key_B});
  EXPECT_EQ(shown(*create), words + QStringLiteral(" (Ctrl+B)"));
  window.keys().setKeys(id, {});
  EXPECT_EQ(shown(*create), words);
  window.keys().reset(id);
  QAction* start = nullptr;
  for (const KeyMap::Entry& entry : window.keys().entries())
    if (entry.id == QLatin1String("window/start")) start = entry.action;
  ASSERT_NE(start, nullptr);
  window.showPage(QStringLiteral("monitor"));
  QToolBar& bar = *window.findChild<QToolBar*>(QStringLiteral("tools"));
  QWidget& button = *bar.widgetForAction(start);
  EXPECT_TRUE(
      shown(button).startsWith(QStringLiteral("Start or resume the selected runs (Ctrl+Return)")));
  window.showPage(QStringLiteral("configure"));
  EXPECT_FALSE(shown(button).contains(QStringLiteral("Ctrl"))) << "the key is the form's";
}

TEST_F(Keys, ThatTheUserCanChangeStandInNoToolTip) {
  for (const PageFactory& page : pages()) window.showPage(page.id);
  for (const KeyMap::Entry& entry : window.keys().entries()) {
    const bool isOfWindow = entry.id.startsWith(QStringLiteral("window/"));  // no page's own
    for (const QKeySequence& key : entry.keys) {
      const QString text = QStringLiteral("(%1)").arg(key.toString(QKeySequence::NativeText));
      if (!text.contains(QLatin1Char('+'))) continue;
      for (const QWidget* widget : window.findChildren<QWidget*>())
        EXPECT_FALSE(isOfWindow && widget->toolTip().contains(text))
            << widget->toolTip().toStdString();
      EXPECT_FALSE(entry.action->toolTip().contains(text)) << entry.id.toStdString();
    }
  }
}

TEST_F(Keys, DeleteStandsInTheRunMenuAndActsInTheListAlone) {
  window.show();
  const QAction* found = nullptr;
  for (const QAction* menu : window.menuBar()->actions()) {
    if (menu->text() != QLatin1String("&Run")) continue;
    for (const QAction* one : menu->menu()->actions())
      if (one->text().startsWith(QStringLiteral("&Delete"))) found = one;
  }
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->shortcut(), QKeySequence(Qt::Key_Delete));
  EXPECT_EQ(found->shortcutContext(), Qt::WidgetShortcut);
  EXPECT_TRUE(only<RunsPanel>(window).view().actions().contains(const_cast<QAction*>(found)));
}

TEST_F(Keys, AllDefaultsGiveEveryActionItsKeysBack) {
  window.keys().resetAll();
  int found = 0;
  for (const KeyMap::Entry& entry : window.keys().entries()) {
    if (!entry.id.startsWith(QStringLiteral("window/"))) continue;
    for (const char* title : {"Redo", "Zoom in", "Command palette"}) {
      if (entry.title != QLatin1String(title)) continue;
      ++found;
      EXPECT_EQ(entry.keys.size(), 2) << title;
      EXPECT_EQ(entry.action->shortcuts().size(), 2) << title;
    }
  }
  EXPECT_EQ(found, 3);
}

TEST_F(Keys, GoToTheActionThatTheSearchLeavesInSight) {
  KeyDialog dialog(window.keys(), &window);
  const auto chosen = [&dialog] {
    const auto items = dialog.list().selectedItems();
    return items.isEmpty() ? QString() : items.first()->text(0);
  };
  EXPECT_EQ(chosen(), QString());
  dialog.search().setText(QStringLiteral("full screen"));
  EXPECT_EQ(chosen(), QStringLiteral("Full screen"));
  EXPECT_TRUE(saying<QPushButton>(dialog, "Default")->isEnabled());
  dialog.search().setText(QStringLiteral("command palette"));
  EXPECT_EQ(chosen(), QStringLiteral("Command palette"));
  dialog.search().setText(QStringLiteral("no such action"));
  EXPECT_EQ(chosen(), QString());
  EXPECT_FALSE(saying<QPushButton>(dialog, "Default")->isEnabled()) << "no action is in sight";
  EXPECT_TRUE(dialog.sentence().contains(QStringLiteral("no such action")));
  dialog.search().clear();
  EXPECT_FALSE(dialog.sentence().contains(QStringLiteral("no such action")));
}

TEST_F(Keys, TheColumnsOfTheirListStayWhileItIsSearched) {
  KeyDialog dialog(window.keys(), &window);
  dialog.show();
  const int where = dialog.list().columnWidth(1), keys = dialog.list().columnWidth(2);
  for (const char* words : {"full screen", "zoom one axis", "no such action"}) {
    dialog.search().setText(QString::fromLatin1(words));
    QCoreApplication::processEvents();
    EXPECT_EQ(dialog.list().columnWidth(1), where) << words;
    EXPECT_EQ(dialog.list().columnWidth(2), keys) << words;
  }
}

// One press of "<" is Shift+comma, too: a second action for that would stop both.
TEST_F(Keys, OfHeadsAreInTheListAndOnePerAction) {
  for (const char* page : {"attention", "artifacts"}) {
    ASSERT_TRUE(window.showPage(QString::fromLatin1(page)));
    std::map<QString, QList<QKeySequence>> keys;
    for (const KeyMap::Entry& entry : window.keys().entries()) keys[entry.id] = entry.keys;
    const QString scope = QString::fromLatin1(page) + QLatin1Char('/');
    EXPECT_EQ(keys[scope + QStringLiteral("previous-head")], QList<QKeySequence>{Qt::Key_Less});
    EXPECT_EQ(keys[scope + QStringLiteral("next-head")], QList<QKeySequence>{Qt::Key_Greater});
    for (const auto* other : window.currentPage()->findChildren<QShortcut*>())
      EXPECT_NE(other->key(), QKeySequence(Qt::SHIFT | Qt::Key_Comma)) << page;
  }
}

TEST_F(Keys, TheListOfThemSaysWhatTheMouseDoesToPlots) {
  KeyDialog dialog(window.keys(), &window);
  std::map<QString, QString> gestures;
  const auto* list = dialog.findChild<QTreeWidget*>();
  for (int row = 0; row < list->topLevelItemCount(); ++row) {
    const QTreeWidgetItem& item = *list->topLevelItem(row);
    if (item.text(1) == QLatin1String("Plots")) gestures[item.text(0)] = item.text(2);
  }
  EXPECT_EQ(gestures[QStringLiteral("Zoom at the mouse")], QStringLiteral("Ctrl+wheel"));
  EXPECT_EQ(gestures[QStringLiteral("Enlarge a plot, and back")],
            QStringLiteral("Double click or Return, Esc"));
  EXPECT_EQ(gestures[QStringLiteral("Show everything")], QStringLiteral("Home"));
}

}  // namespace
}  // namespace vitrine::ui

// What the palette lists of every page: all of it, each once, with its key, and what cannot be done
// now with the reason.
#include "ui/workbench/command_palette.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QCheckBox>
#include <QLineEdit>
#include <QMenu>
#include <QRadioButton>
#include <QTest>
#include <QToolButton>
#include <QWidgetAction>
#include <algorithm>
#include <map>

#include "tests/ui/support/catalog.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "ui/configure/configure_page.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {
namespace {

QString bare(QString text) {
  return text.remove(QLatin1Char('&')).remove(QChar(0x2026)).trimmed().toCaseFolded();
}

TEST(CommandPalette, ListsTheHeadingsOfConfigureAsSections) {
  FakeWorkbench workbench(testCatalog());
  ConfigurePage page(workbench);
  page.resize(1100, 800);
  page.show();
  page.planNow();
  std::vector<std::unique_ptr<QMenu>> menus;
  const std::vector<Command> commands = pageCommands(page, menus);
  EXPECT_TRUE(std::any_of(commands.begin(), commands.end(), [](const Command& one) {
    return one.title.startsWith(QLatin1String("Section: "));
  }));
}

/// Every action that can be met on a page without opening a window of its own.
void collect(const QList<QAction*>& actions, std::vector<QAction*>& all) {
  for (QAction* action : actions) {
    if (action->menu() != nullptr) {
      collect(action->menu()->actions(), all);
    } else if (!action->isSeparator() && action->isVisible() && !action->text().isEmpty() &&
               qobject_cast<QWidgetAction*>(action) == nullptr) {
      all.push_back(action);
    }
  }
}

TEST(CommandPalette, ListsEveryActionAndButtonOfEveryPageOnce) {
  SampleStudio studio;
  MainWindow window(studio.workbench);
  window.resize(1440, 900);
  window.show();
  studio.workbench.selection().setRuns(studio.runs, studio.runs.front());
  for (const PageFactory& page : pages()) {
    window.showPage(page.id);
    window.waitUntilIdle();
    Page* shown = window.currentPage();
    ASSERT_NE(shown, nullptr) << page.id.toStdString();
    std::vector<std::unique_ptr<QMenu>> menus;
    const std::vector<Command> commands = pageCommands(*shown, menus);
    std::map<QString, int> times;
    for (const Command& command : commands) {
      ++times[bare(command.title)];
      EXPECT_FALSE(command.title.contains(QLatin1Char('&'))) << command.title.toStdString();
      EXPECT_TRUE(command.act) << command.title.toStdString();
    }
    for (const auto& [title, n] : times)
      EXPECT_EQ(n, 1) << page.id.toStdString() << ": " << title.toStdString();
    const auto isListed = [&](const QString& text) {
      const QString wanted = bare(text);
      for (const auto& [title, n] : times) {
        if (title == wanted || title.endsWith(QStringLiteral(": ") + wanted)) return true;
      }
      return false;
    };
    std::vector<QAction*> actions;
    collect(shown->tools(), actions);
    collect(shown->actions(), actions);
    for (QWidget* widget : shown->findChildren<QWidget*>()) {
      if (widget->isVisibleTo(shown) && qobject_cast<QMenu*>(widget) == nullptr)
        collect(widget->actions(), actions);
    }
    for (const QAction* action : actions)
      EXPECT_TRUE(isListed(action->text()))
          << page.id.toStdString() << ": " << action->text().toStdString();
    for (QAbstractButton* button : shown->findChildren<QAbstractButton*>()) {
      const auto* tool = qobject_cast<QToolButton*>(button);
      const QVariant listed = button->property(kListed);
      const bool isOther =
          listed.isValid() || qobject_cast<QCheckBox*>(button) != nullptr ||
          qobject_cast<QRadioButton*>(button) != nullptr ||
          qobject_cast<QLineEdit*>(button->parent()) != nullptr ||
          button->objectName().startsWith(QLatin1String("qt_")) || !button->isVisibleTo(shown) ||
          button->window() != &window ||
          (tool != nullptr && (tool->menu() != nullptr || tool->defaultAction() != nullptr));
      const QString name =
          button->accessibleName().isEmpty() ? button->text() : button->accessibleName();
      if (isOther || name.isEmpty()) continue;
      EXPECT_TRUE(isListed(name)) << page.id.toStdString() << ": " << name.toStdString();
    }
  }
}

/// Opens the palette over a page and gives the row of a command; nullptr where there is none.
QListWidgetItem* rowOf(MainWindow& window, const QString& wanted) {
  window.openPalette();
  CommandPalette& palette = only<CommandPalette>(window);
  palette.input().setText(wanted);
  for (int i = 0; i < palette.list().count(); ++i) {
    if (palette.list().item(i)->text() == wanted) return palette.list().item(i);
  }
  return nullptr;
}

TEST(CommandPalette, ShowsTheKeyOfAPagesActionAndRunsIt) {
  SampleStudio studio;
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("sql"));
  window.waitUntilIdle();
  QListWidgetItem* row = rowOf(window, QStringLiteral("Run the statement"));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->data(Qt::AccessibleTextRole).toString().toStdString(),
            "Run the statement, Ctrl+Return");
  only<CommandPalette>(window).list().setCurrentItem(row);
  QTest::keyClick(&only<CommandPalette>(window).input(), Qt::Key_Return);
  EXPECT_FALSE(only<CommandPalette>(window).isVisible());
  window.waitUntilIdle();
  row = rowOf(window, QStringLiteral("Export: Copy all rows"));
  ASSERT_NE(row, nullptr) << "the statement ran, so there is something to copy";
  EXPECT_FALSE(row->data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("not now")));
}

TEST(CommandPalette, NamesAMenuByItsTitleAndNotByWhatIsChosenInIt) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("monitor"));
  window.waitUntilIdle();
  EXPECT_NE(rowOf(window, QStringLiteral("Seeds: Each run")), nullptr);
  EXPECT_NE(rowOf(window, QStringLiteral("Smoothing: none")), nullptr);
}

TEST(CommandPalette, ATypedWordComesBeforeItsLettersInOtherWords) {
  QWidget window;
  CommandPalette palette(&window);
  // "acT on THE MEssage" holds the letters, too.
  palette.ask({{QStringLiteral("Act on the message"), {}, {}, {}},
               {QStringLiteral("Dark theme"), {}, {}, {}, false}});
  palette.input().setText(QStringLiteral("theme"));
  ASSERT_EQ(palette.list().count(), 2);
  EXPECT_EQ(palette.list().item(0)->text(), QStringLiteral("Dark theme"));
}

TEST(CommandPalette, ATitleThatWasTypedComesFirst) {
  QWidget window;
  CommandPalette palette(&window);
  palette.ask({{QStringLiteral("Plots: test: Calibration error"), {}, {}, {}},
               {QStringLiteral("Calibration"), {}, {}, {}}});
  palette.input().setText(QStringLiteral("calibration"));
  ASSERT_EQ(palette.list().count(), 2);
  EXPECT_EQ(palette.list().item(0)->text(), QStringLiteral("Calibration"));
}

TEST(CommandPalette, SaysWhereNothingMatchesAndReturnDoesNothing) {
  QWidget window;
  CommandPalette palette(&window);
  palette.ask({{QStringLiteral("Dark theme"), {}, {}, {}}});
  palette.input().setText(QStringLiteral("zzzz"));
  ASSERT_EQ(palette.list().count(), 1);
  EXPECT_EQ(palette.list().item(0)->text().toStdString(), "Nothing matches \u201czzzz\u201d.");
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  EXPECT_TRUE(palette.isVisible());
}

TEST(CommandPalette, SaysWhyACommandCannotBeUsedAndStaysOpen) {
  SampleStudio studio;
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("sql"));
  window.waitUntilIdle();
  QListWidgetItem* row = rowOf(window, QStringLiteral("Stop the statement"));
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(
      row->data(Qt::AccessibleTextRole).toString().endsWith(QStringLiteral("no statement runs")));
  only<CommandPalette>(window).reject();
  row = rowOf(window, QStringLiteral("Export: Copy all rows"));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->data(Qt::AccessibleTextRole).toString().toStdString(),
            "Export: Copy all rows, not now: there is no result yet");
  only<CommandPalette>(window).list().setCurrentItem(row);
  QTest::keyClick(&only<CommandPalette>(window).input(), Qt::Key_Return);
  EXPECT_TRUE(only<CommandPalette>(window).isVisible());
  only<CommandPalette>(window).reject();
}

TEST(CommandPalette, ListsTheContextMenuOfWhatIsSelected) {
  SampleStudio studio;
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("queue"));
  window.waitUntilIdle();
  EXPECT_NE(rowOf(window, QStringLiteral("Show curves")), nullptr);
  only<CommandPalette>(window).reject();
}

}  // namespace
}  // namespace vitrine::ui

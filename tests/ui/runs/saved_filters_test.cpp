// Filters with a name.
#include "ui/runs/saved_filters.h"

#include <QInputDialog>
#include <QTest>
#include <QTimer>

#include "tests/ui/support/qt_test.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

class SavedFilters : public ::testing::Test {
 protected:
  SavedFilters() : panel(studio.workbench) {
    useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
    panel.show();
  }
  ~SavedFilters() override { forgetSettings(); }

  /// The entry of the button's menu, as it opens now.
  QAction* entry(const QString& text, QMenu* menu = nullptr) {
    if (menu == nullptr) {
      menu = panel.savedFilters().menu();
      Q_EMIT menu->aboutToShow();
    }
    for (QAction* one : menu->actions()) {
      if (QString(one->text()).remove(QLatin1Char('&')) == text) return one;
    }
    return nullptr;
  }

  SampleStudio studio{SampleOptions{0, 50}};
  RunsPanel panel;
};

TEST_F(SavedFilters, AFilterGetsANameAndIsChosenAgain) {
  QAction* save = entry(QStringLiteral("Save this filter\u2026"));
  ASSERT_NE(save, nullptr);
  EXPECT_FALSE(save->isEnabled()) << "there is nothing to save";
  panel.filter().setText(QStringLiteral("state=done demo"));
  QTimer::singleShot(0, [] {
    auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    dialog->setTextValue(QStringLiteral("demos / done"));
    dialog->accept();
  });
  entry(QStringLiteral("Save this filter\u2026"))->trigger();
  EXPECT_EQ(filterNames(), QStringList{QStringLiteral("demos / done")});
  panel.filter().clear();
  QAction* saved = entry(QStringLiteral("demos / done"));
  ASSERT_NE(saved, nullptr);
  EXPECT_FALSE(saved->isChecked());
  saved->trigger();
  EXPECT_EQ(panel.filter().text(), QStringLiteral("state=done demo"));
  EXPECT_EQ(panel.summary().left(4), QStringLiteral("1 of"));
  EXPECT_TRUE(entry(QStringLiteral("demos / done"))->isChecked());
  QAction* remove = entry(QStringLiteral("Delete"));
  ASSERT_NE(remove, nullptr);
  entry(QStringLiteral("demos / done"), remove->menu())->trigger();
  EXPECT_TRUE(filterNames().isEmpty());
}

}  // namespace
}  // namespace vitrine::ui

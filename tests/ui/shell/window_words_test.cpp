// The words of the window: those that new users stumbled over are not on any page.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <algorithm>
#include <map>
#include <vector>

#include "tests/ui/support/qt_test.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"

namespace vitrine::ui {
namespace {

void addRows(QStringList& texts, const QAbstractItemModel& model, const QModelIndex& parent) {
  constexpr int kMostRows = 40, kMostColumns = 12;
  for (int row = 0; row < std::min(model.rowCount(parent), kMostRows); ++row) {
    for (int column = 0; column < std::min(model.columnCount(parent), kMostColumns); ++column) {
      const QModelIndex at = model.index(row, column, parent);
      texts << at.data().toString() << at.data(Qt::ToolTipRole).toString();
    }
    if (!parent.isValid()) addRows(texts, model, model.index(row, 0, parent));
  }
}

/// What a user can read in `root` and in its menus.
QStringList textsOf(QWidget& root) {
  // A menu that is filled again deletes those below it.
  std::vector<QPointer<QMenu>> menus;
  for (QMenu* menu : root.findChildren<QMenu*>()) menus.emplace_back(menu);
  for (const QPointer<QMenu>& menu : menus)
    if (menu != nullptr) Q_EMIT menu->aboutToShow();
  QStringList texts;
  for (const QAction* action : root.findChildren<QAction*>())
    texts << action->text().remove(QLatin1Char('&')) << action->toolTip();
  for (const QWidget* widget : root.findChildren<QWidget*>()) {
    texts << widget->toolTip() << widget->accessibleName();
    if (const auto* label = qobject_cast<const QLabel*>(widget)) texts << label->text();
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
      texts << button->text().remove(QLatin1Char('&'));
    if (const auto* line = qobject_cast<const QLineEdit*>(widget)) texts << line->placeholderText();
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
      for (int i = 0; i < box->count(); ++i) texts << box->itemText(i);
    }
    const auto* view = qobject_cast<const QAbstractItemView*>(widget);
    if (view == nullptr || view->model() == nullptr) continue;
    for (int column = 0; column < std::min(view->model()->columnCount(), 40); ++column)
      texts << view->model()->headerData(column, Qt::Horizontal).toString();
    addRows(texts, *view->model(), {});
  }
  return texts;
}

TEST(WindowWords, AreNotThoseThatNewUsersStumbledOver) {
  SampleStudio studio(SampleOptions{0, 50, true});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.resize(1600, 900);
  window.show();
  const QStringList old{
      QStringLiteral("Look again"),       QStringLiteral("Take from the top"),
      QStringLiteral("Ended lately"),     QStringLiteral("Put in front"),
      QStringLiteral("Undo view"),        QStringLiteral("Save all values"),
      QStringLiteral("not told apart"),   QStringLiteral("re-show"),
      QStringLiteral("drawn as far as"),  QStringLiteral(" taken for "),
      QStringLiteral("Its steps are known"), QStringLiteral("fastest axis"),
      QStringLiteral("plain encoder"),    QStringLiteral("worker's own")};
  const std::map<QString, QString> now{
      {QStringLiteral("configure"), QStringLiteral("Queue first")},
      {QStringLiteral("queue"), QStringLiteral("Finished recently")},
      {QStringLiteral("compare"), QStringLiteral("Claims testable at this scale")},
      {QStringLiteral("monitor"), QStringLiteral("Unpin this plot")}};
  for (const PageFactory& page : pages()) {
    ASSERT_TRUE(window.showPage(page.id));
    window.waitUntilIdle();
    const QStringList texts = textsOf(*window.currentPage());
    EXPECT_GT(texts.size(), 20) << page.id.toStdString();
    for (const QString& word : old) {
      for (const QString& text : texts.filter(word, Qt::CaseInsensitive))
        ADD_FAILURE() << page.id.toStdString() << ": " << text.toStdString();
    }
    if (const auto wanted = now.find(page.id); wanted != now.end()) {
      EXPECT_TRUE(texts.contains(wanted->second))
          << page.id.toStdString() << " does not say " << wanted->second.toStdString();
    }
  }
  QStringList ofWindow;
  for (const QAction* action : window.actions())
    ofWindow << action->text().remove(QLatin1Char('&'));
  EXPECT_TRUE(ofWindow.contains(QStringLiteral("Refresh")));
  EXPECT_TRUE(ofWindow.filter(QStringLiteral("Look again")).isEmpty());
}

}  // namespace
}  // namespace vitrine::ui

// The window for those who do not see it or use no mouse: names, tables behind the pictures, and
// the Tab key, on pages that are full.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QAccessibleTableInterface>
#include <QButtonGroup>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSlider>
#include <QTabBar>
#include <QTest>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/painter.h"
#include "tests/ui/support/playground_probe.h"
#include "tests/ui/support/qt_test.h"
#include "ui/kit/plot_accessible.h"
#include "ui/monitor/curve_plot.h"
#include "ui/shell/key_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/help_viewer.h"

namespace vitrine::ui {
namespace {

// Every widget that can be used says to a screen reader what it is.
QStringList unnamed(const QWidget& root) {
  QStringList missing;
  for (const QWidget* widget : root.findChildren<QWidget*>()) {
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const bool isUsed = button != nullptr || qobject_cast<const QLineEdit*>(widget) != nullptr ||
                        qobject_cast<const QAbstractItemView*>(widget) != nullptr ||
                        qobject_cast<const QPlainTextEdit*>(widget) != nullptr ||
                        qobject_cast<const QComboBox*>(widget) != nullptr ||
                        qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
                        qobject_cast<const QSlider*>(widget) != nullptr;
    if (!isUsed || !widget->accessibleName().isEmpty()) continue;
    if (button != nullptr && !button->text().isEmpty()) continue;
    // Parts Qt makes for itself inside a named widget: clear buttons, tab scrollers, headers,
    // editors of spin boxes.
    const QString kind = QString::fromLatin1(widget->metaObject()->className());
    if (widget->objectName().startsWith(QLatin1String("qt_")) ||
        kind == QLatin1String("QTableCornerButton") ||
        kind == QLatin1String("QLineEditIconButton") || kind == QLatin1String("QHeaderView") ||
        qobject_cast<QTabBar*>(widget->parentWidget()) != nullptr ||
        qobject_cast<QComboBox*>(widget->parentWidget()) != nullptr ||
        qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) != nullptr ||
        kind.contains(QLatin1String("ToolBarExtension")) ||
        kind.startsWith(QLatin1String("QComboBox"))) {
      continue;
    }
    missing << kind + QLatin1Char(' ') + widget->objectName() + QStringLiteral(" in ") +
                   QString::fromLatin1(widget->parentWidget()->metaObject()->className());
  }
  return missing;
}

/// One window over runs with spectra, attention, answers and images: the pages that look inside a
/// model are full.
class FullPages : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    studio_ = std::make_unique<SampleStudio>(SampleOptions{0, 50, true});
    studio_->workbench.selection().setRuns({studio_->runs[0], studio_->runs[4]}, studio_->runs[0]);
    window_ = std::make_unique<MainWindow>(studio_->workbench);
    window_->show();
  }
  static void TearDownTestSuite() {
    window_.reset();
    studio_.reset();
  }

  inline static std::unique_ptr<SampleStudio> studio_;
  inline static std::unique_ptr<MainWindow> window_;
};

TEST_F(FullPages, HaveAnAccessibleNameForEveryWidgetThatCanBeUsed) {
  MainWindow& window = *window_;
  EXPECT_EQ(unnamed(window).join(QLatin1Char('\n')).toStdString(), "");
  for (const PageFactory& page : pages()) {
    ASSERT_TRUE(window.showPage(page.id));
    window.waitUntilIdle();
    EXPECT_EQ(unnamed(*window.currentPage()).join(QLatin1Char('\n')).toStdString(), "")
        << page.id.toStdString();
  }
  KeyDialog keys(window.keys(), nullptr);
  EXPECT_EQ(unnamed(keys).join(QLatin1Char('\n')).toStdString(), "");
  const HelpViewer help(nullptr);
  EXPECT_EQ(unnamed(help).join(QLatin1Char('\n')).toStdString(), "");
}

TEST(MainWindow, EveryCurveOfTheMonitorIsARowToAScreenReader) {
  SampleStudio studio(SampleOptions{0, 50});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[4]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  window.showPage(QStringLiteral("monitor"));
  window.waitUntilIdle();
  int plots = 0, rows = 0;
  for (QWidget* widget : window.currentPage()->findChildren<QWidget*>()) {
    const auto* plot = qobject_cast<CurvePlot*>(widget);
    if (plot == nullptr || !plot->isVisible()) continue;
    QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(widget);
    ASSERT_NE(seen, nullptr);
    ASSERT_NE(seen->tableInterface(), nullptr) << widget->accessibleName().toStdString();
    EXPECT_FALSE(seen->text(QAccessible::Name).isEmpty());
    EXPECT_EQ(seen->tableInterface()->rowCount(), static_cast<int>(plot->curves().size()) + 1);
    rows += seen->tableInterface()->rowCount();
    ++plots;
  }
  EXPECT_GE(rows, plots + 2) << "titles, and the two runs in one plot at least";
}

/// Pictures of a page that are in sight, as a screen reader walks them.
/// \returns  how many of them have values
int tablesOn(const Page& page) {
  int tables = 0;
  for (QWidget* widget : page.findChildren<QWidget*>()) {
    const auto* plot = dynamic_cast<const DescribedPlot*>(widget);
    if (plot == nullptr || !widget->isVisible()) continue;
    const std::string name = widget->accessibleName().toStdString();
    EXPECT_NE(name, "") << widget->metaObject()->className();
    EXPECT_NE(name, "Figure") << "a name that says which one";
    QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(widget);
    if (seen == nullptr || seen->tableInterface() == nullptr) {
      ADD_FAILURE() << name << " is not a table";
      continue;
    }
    const int rows = seen->tableInterface()->rowCount();  // the titles are the first one
    if (rows < 2) continue;
    ++tables;
    EXPECT_FALSE(plot->plotSummary().isEmpty()) << name;
    EXPECT_NE(seen->tableInterface()->cellAt(rows - 1, 0), nullptr) << name;
  }
  return tables;
}

TEST_F(FullPages, HaveATableOfItsValuesBehindEveryPicture) {
  MainWindow& window = *window_;
  std::map<std::string, int> tables;
  for (const PageFactory& page : pages()) {
    ASSERT_TRUE(window.showPage(page.id));
    window.waitUntilIdle();
    QCoreApplication::processEvents();
    tables[page.id.toStdString()] = tablesOn(*window.currentPage());
  }
  EXPECT_GE(tables["monitor"], 1);
  EXPECT_GE(tables["attention"], 2) << "all heads and the head that is large";
  EXPECT_GE(tables["spectra"], 2) << "all heads and the waterfall, at least";
  EXPECT_GE(tables["calibration"], 3) << "diagram, confusion matrix and film, at least";
  EXPECT_GE(tables["gallery"], 1);
  EXPECT_GE(tables["artifacts"], 1);
}

/// Buttons of the window that the Tab key does not reach, a line each.
std::string unreached(MainWindow& window) {
  QWidget* first = window.findChild<QTabBar*>();
  first->setFocus();
  std::set<const QWidget*> reached;
  constexpr int kMostKeys = 1000;  // a text with links takes several
  for (int i = 0; i < kMostKeys && (i == 0 || window.focusWidget() != first); ++i) {
    reached.insert(window.focusWidget());
    QTest::keyClick(window.focusWidget(), Qt::Key_Tab);
  }
  std::string lines;
  for (const auto* button : window.findChildren<QAbstractButton*>()) {
    if (button->window() != &window || !button->isVisible() || !button->isEnabled()) continue;
    if (qobject_cast<QTabBar*>(button->parentWidget()) != nullptr ||
        button->objectName().startsWith(QLatin1String("qt_")) ||
        QString::fromLatin1(button->metaObject()->className()) ==
            QLatin1String("QLineEditIconButton"))
      continue;  // parts of something that has the focus itself
    const bool isOneOf =
        button->autoExclusive() || (button->group() != nullptr && button->group()->exclusive());
    if (isOneOf && !button->isChecked()) continue;  // arrow keys lead there from the chosen one
    if ((button->focusPolicy() & Qt::TabFocus) == 0 || reached.count(button) == 0)
      lines += (button->accessibleName() + button->text()).toStdString() + "\n";
  }
  return lines;
}

TEST_F(FullPages, HaveNoControlThatTheTabKeyDoesNotReach) {
  MainWindow& window = *window_;
  for (const PageFactory& page : pages()) {
    window.showPage(page.id);
    window.waitUntilIdle();
    EXPECT_EQ(unreached(window), "") << page.id.toStdString();
  }
}

// The other walks have no plugins: nothing can draw in them.
TEST(MainWindow, EveryControlOfAPlaygroundThatDrawsIsNamedAndReachedByTheTabKey) {
  const QTemporaryDir cache;
  qputenv("XDG_CACHE_HOME", cache.path().toLocal8Bit());
  const FakeServe program(kPainter, described(sampleCatalog()));
  SampleStudio studio(SampleOptions{0, 50, true});
  MainWindow window(studio.workbench);
  window.show();
  ASSERT_TRUE(window.showPage(QStringLiteral("playground")));
  window.waitUntilIdle();
  auto* page = qobject_cast<PlaygroundPage*>(window.currentPage());
  ASSERT_NE(page, nullptr);
  ASSERT_EQ(PlaygroundProbe(*page).run(), studio.runs.back());
  EXPECT_EQ(unnamed(*page).join(QLatin1Char('\n')).toStdString(), "");
  EXPECT_EQ(unreached(window), "");
}

}  // namespace
}  // namespace vitrine::ui

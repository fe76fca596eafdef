#include "ui/kit/grouped_tabs.h"

#include <QTabBar>
#include <QTest>

#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

class Grouped : public ::testing::Test {
 protected:
  Grouped() {
    const QString inside = QStringLiteral("Look inside");
    tabs.addPage(new QWidget, QStringLiteral("Start"), {});
    tabs.addPage(new QWidget, QStringLiteral("Attention"), inside);
    tabs.addPage(new QWidget, QStringLiteral("Spectra"), inside);
    tabs.addPage(new QWidget, QStringLiteral("Calibration"), inside);
    tabs.addPage(new QWidget, QStringLiteral("SQL"), {});
    tabs.resize(900, 300);
    tabs.show();
  }
  /// What the bar shows, from left to right.
  QStringList shown() const {
    QStringList texts;
    for (int i = 0; i < tabs.count(); ++i) {
      if (tabs.isTabVisible(i)) texts << tabs.tabText(i);
    }
    return texts;
  }
  void click(const QString& text) {
    for (int i = 0; i < tabs.count(); ++i) {
      if (!tabs.isTabVisible(i) || tabs.tabText(i) != text) continue;
      QTest::mouseClick(tabs.tabBar(), Qt::LeftButton, {}, tabs.tabBar()->tabRect(i).center());
      return;
    }
    ADD_FAILURE() << "there is no tab " << text.toStdString();
  }

  GroupedTabs tabs;
};

TEST_F(Grouped, AreOneTabUntilOneOfThemIsInFront) {
  EXPECT_EQ(shown(), QStringList({"Start", "Look inside", "SQL"}));
  EXPECT_EQ(tabs.tabToolTip(1), QStringLiteral("Attention, Spectra, Calibration"));
  click(QStringLiteral("Look inside"));
  EXPECT_EQ(shown(), QStringList({"Start", "Attention", "Spectra", "Calibration", "SQL"}));
  EXPECT_EQ(tabs.currentIndex(), 1);
}

TEST_F(Grouped, ComeBackWhereTheyWereLeft) {
  click(QStringLiteral("Look inside"));
  click(QStringLiteral("Calibration"));
  click(QStringLiteral("Start"));
  EXPECT_EQ(shown(), QStringList({"Start", "Look inside", "SQL"}));
  click(QStringLiteral("Look inside"));
  EXPECT_EQ(tabs.currentIndex(), 3);
}

TEST_F(Grouped, OpenWhenAPageIsShownFromElsewhere) {
  tabs.setCurrentIndex(2);
  EXPECT_EQ(shown(), QStringList({"Start", "Attention", "Spectra", "Calibration", "SQL"}));
  tabs.setCurrentIndex(4);
  EXPECT_EQ(shown(), QStringList({"Start", "Look inside", "SQL"}));
  EXPECT_EQ(tabs.currentIndex(), 4);
}

}  // namespace
}  // namespace vitrine::ui

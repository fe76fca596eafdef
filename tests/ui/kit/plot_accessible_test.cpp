#include "ui/kit/plot_accessible.h"

#include <gtest/gtest.h>

#include <QAccessible>
#include <QAccessibleTableInterface>
#include <QWidget>

#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

class TwoCurves : public QWidget, public DescribedPlot {
 public:
  QString plotSummary() const override { return QStringLiteral("2 curves over 100 steps"); }
  Table plotTable() const override {
    return {{QStringLiteral("run"), QStringLiteral("last")},
            {{QStringLiteral("#1 ViT"), QStringLiteral("0.87")},
             {QStringLiteral("#2 iLLaMA"), QStringLiteral("0.89")}}};
  }
};

TEST(AccessiblePlot, IsATableOfWhatIsDrawn) {
  useAccessiblePlots();
  TwoCurves plot;
  plot.setAccessibleName(QStringLiteral("test/top1"));
  QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(&plot);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->role(), QAccessible::Table);
  EXPECT_EQ(seen->text(QAccessible::Name).toStdString(), "test/top1");
  EXPECT_EQ(seen->text(QAccessible::Description).toStdString(), "2 curves over 100 steps");
  QAccessibleTableInterface* table = seen->tableInterface();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->rowCount(), 3);
  EXPECT_EQ(table->columnCount(), 2);
  EXPECT_EQ(table->cellAt(0, 1)->role(), QAccessible::ColumnHeader);
  EXPECT_EQ(table->cellAt(2, 0)->text(QAccessible::Name).toStdString(), "#2 iLLaMA");
  EXPECT_EQ(table->cellAt(2, 1)->text(QAccessible::Name).toStdString(), "0.89");
  EXPECT_EQ(table->cellAt(3, 0), nullptr);
  EXPECT_EQ(seen->childCount(), 6);
  EXPECT_EQ(seen->indexOfChild(seen->child(5)), 5);
  EXPECT_EQ(seen->child(5)->parent(), seen);
}

TEST(AccessiblePlot, OtherWidgetsStayWhatTheyAre) {
  useAccessiblePlots();
  QWidget plain;
  QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(&plain);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->tableInterface(), nullptr);
}

}  // namespace
}  // namespace vitrine::ui

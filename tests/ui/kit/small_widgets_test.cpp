#include "ui/kit/small_widgets.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QTest>
#include <stdexcept>

#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

TEST(SmallWidgets, AFoldButtonIsOpenAtFirstAndItsArrowTurns) {
  QWidget place;
  QToolButton* fold = makeFoldButton(QStringLiteral("Recipe"), &place);
  EXPECT_TRUE(fold->isChecked());
  EXPECT_EQ(fold->arrowType(), Qt::DownArrow);
  EXPECT_EQ(fold->toolTip().toStdString(), "Close this group");
  QTest::keyClick(fold, Qt::Key_Space);
  EXPECT_FALSE(fold->isChecked());
  EXPECT_EQ(fold->arrowType(), Qt::RightArrow);
  EXPECT_EQ(fold->toolTip().toStdString(), "Open this group");
}

TEST(SmallWidgets, ARestyledPartHasTheColourOfItsRoleAtOnce) {
  QLabel label(QStringLiteral("diverged"));
  label.ensurePolished();
  for (const char* role : {"error", "warn", "muted"}) {
    restyle(label, "role", role);
    const QColor wanted = role == std::string("error")  ? themeColors().bad
                          : role == std::string("warn") ? themeColors().warn
                                                        : themeColors().muted;
    EXPECT_EQ(label.palette().color(QPalette::WindowText), wanted) << role;
  }
}

TEST(SmallWidgets, ALabelThatCutsItsTextHasTheWholeInItsToolTip) {
  ElidedLabel label(QStringLiteral("a text that is longer than its label"));
  const auto tipAt = [&label](int width) {
    label.resize(width, 20);
    (void)label.grab();
    return label.toolTip().toStdString();
  };
  EXPECT_EQ(tipAt(60), label.text().toStdString());
  EXPECT_EQ(tipAt(600), "");
  label.setWhole(QStringLiteral("/a/folder/a text"));
  EXPECT_EQ(tipAt(600), "/a/folder/a text");
  EXPECT_EQ(tipAt(60), "/a/folder/a text");
}

TEST(SmallWidgets, AMessageThatHasNoRoomInALineStandsInTwo) {
  BottomBar bar;
  bar.resize(px(700), px(34));
  bar.show();
  const QString sentence = QStringLiteral(
      "Stopping run 1, a long name of a run, at a checkpoint. The queue is paused: run 2, a long "
      "name of a run, would start next.");
  const auto label = [&bar]() -> ElidedLabel& {
    for (auto* one : bar.findChildren<ElidedLabel*>())
      if (one->accessibleName() == QLatin1String("Last message")) return *one;
    throw std::logic_error("no message");
  };
  bar.showMessage(sentence);
  bar.resize(px(700), px(34));
  (void)bar.grab();
  ASSERT_GT(label().fontMetrics().horizontalAdvance(sentence), label().width());
  EXPECT_EQ(label().toolTip(), QString()) << "all of it is in sight";
  bar.resize(px(400), px(34));
  (void)bar.grab();
  EXPECT_EQ(label().toolTip(), sentence);
}

}  // namespace
}  // namespace vitrine::ui

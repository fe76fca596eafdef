// Single runs that are left out of the product, from the table to the file and back.
#include <QMenu>
#include <QTest>

#include "core/config/edit/document.h"
#include "tests/ui/configure/configure_fixture.h"
#include "tests/ui/support/soon.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/planned_runs.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

class LeaveOut : public Configure {
 protected:
  const std::string text_ =
      "title = \"x\" # kept\n[model]\narchitecture = \"picture\"\n[task]\nname = \"sorting\"\n"
      "[data]\ndataset = \"squares\"\n\n[sweep]\n\"train.seed\" = [0, 1, 2]\n\n"
      "[[variant]]\nname = \"plain\"\n\n[[variant]]\nname = \"+ wide\"\nset = { \"model.width\" = "
      "128 }\n";

  std::unique_ptr<ConfigurePage> sixRuns() {
    auto shown = page();
    shown->setText(text_);
    shown->planNow();
    EXPECT_EQ(shown->plan().runs.size(), 6U);
    return shown;
  }
  static PlannedRunsView& table(ConfigurePage& page) { return page.side().plannedRuns(); }
  static std::string rowText(ConfigurePage& page, int row) {
    return table(page).runs().index(row).data().toString().toStdString();
  }
  static bool isOut(ConfigurePage& page, int row) {
    return table(page).runs().index(row).data(PlannedRuns::ExcludedRole).toBool();
  }
  static void turn(ConfigurePage& page, int row, Qt::CheckState state) {
    table(page).runs().setData(table(page).runs().index(row), state, Qt::CheckStateRole);
    page.planNow();
  }
};

TEST_F(LeaveOut, TheTickOfARowLeavesItOutAndIsUndone) {
  const auto shown = sixRuns();
  turn(*shown, 4, Qt::Unchecked);
  EXPECT_EQ(shown->plan().runs.size(), 5U);
  EXPECT_EQ(shown->text(), text_ + "\n[[exclude]]\nvariant = \"+ wide\"\n\"train.seed\" = 1\n");
  ASSERT_EQ(table(*shown).runs().rowCount(), 6) << "the row stays, without its tick";
  EXPECT_EQ(rowText(*shown, 4), "+ wide, seed 1");
  EXPECT_TRUE(isOut(*shown, 4));
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("This will start 5 runs")));
  EXPECT_TRUE(labels(shown->side()).contains(QStringLiteral("1 excluded")));
  shown->undo();
  shown->planNow();
  EXPECT_EQ(shown->text(), text_);
  EXPECT_EQ(shown->plan().runs.size(), 6U);
  shown->redo();
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 5U);
}

TEST_F(LeaveOut, TheTickSetAgainPutsItBackAsIfNothingHadBeen) {
  const auto shown = sixRuns();
  turn(*shown, 4, Qt::Unchecked);
  turn(*shown, 4, Qt::Checked);
  EXPECT_EQ(shown->text(), text_);
}

TEST_F(LeaveOut, DeleteLeavesTheSelectedRowsOutAsOneStep) {
  const auto shown = sixRuns();
  PlannedRunsView& view = table(*shown);
  view.setCurrentIndex(view.runs().index(1));
  view.selectionModel()->select(view.runs().index(5), QItemSelectionModel::Select);
  QTest::keyClick(&view, Qt::Key_Delete);
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 4U);
  EXPECT_EQ(view.currentIndex().row(), 1) << "the keyboard continues where it was";
  shown->undo();
  EXPECT_EQ(shown->text(), text_);
}

TEST_F(LeaveOut, SpaceTurnsTheTickOfTheCurrentRow) {
  const auto shown = sixRuns();
  PlannedRunsView& view = table(*shown);
  view.setCurrentIndex(view.runs().index(2));
  QTest::keyClick(&view, Qt::Key_Space);
  shown->planNow();
  EXPECT_TRUE(isOut(*shown, 2));
  QTest::keyClick(&view, Qt::Key_Space);
  shown->planNow();
  EXPECT_EQ(shown->text(), text_);
}

TEST_F(LeaveOut, AClickOnTheTickTurnsItAndElsewhereOnlySelects) {
  const auto shown = sixRuns();
  shown->show();
  PlannedRunsView& view = table(*shown);
  const QRect row = view.visualRect(view.runs().index(3));
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, row.center());
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 6U);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(row.left() + 12, row.center().y()));
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 5U);
  EXPECT_TRUE(isOut(*shown, 3));
}

TEST_F(LeaveOut, TheMenuSaysWhatItWouldLeaveOutAndWhyNot) {
  const auto shown = sixRuns();
  PlannedRunsView& view = table(*shown);
  view.setCurrentIndex(view.runs().index(0));
  QMenu menu;
  view.fillMenu(menu);
  const auto action = [&menu](const QString& text) {
    for (QAction* one : menu.actions()) {
      if (one->text() == text) return one;
    }
    return static_cast<QAction*>(nullptr);
  };
  ASSERT_NE(action(QStringLiteral("Exclude this run")), nullptr);
  QAction* made = action(QStringLiteral("Exclude runs that exist already"));
  ASSERT_NE(made, nullptr);
  EXPECT_FALSE(made->isEnabled());
  EXPECT_EQ(made->toolTip().toStdString(), "none of these runs exists already");
  action(QStringLiteral("Exclude this run"))->trigger();
  shown->planNow();
  EXPECT_TRUE(isOut(*shown, 0));
}

TEST_F(LeaveOut, LeavesOutWhatWasMadeBefore) {
  const auto shown = sixRuns();
  workbench_.addRun("earlier", shown->plan().runs.at(1).config);
  workbench_.addRun("earlier too", shown->plan().runs.at(3).config);
  shown->waitUntilIdle();
  QMenu menu;
  table(*shown).fillMenu(menu);
  for (QAction* one : menu.actions()) {
    if (one->text() == QLatin1String("Exclude runs that exist already")) one->trigger();
  }
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 4U);
  EXPECT_TRUE(isOut(*shown, 1));
  EXPECT_TRUE(isOut(*shown, 3));
}

TEST_F(LeaveOut, OneRunMustStay) {
  const auto shown = sixRuns();
  PlannedRunsView& view = table(*shown);
  view.selectAll();
  QTest::keyClick(&view, Qt::Key_Delete);
  shown->planNow();
  EXPECT_EQ(shown->text(), text_);
  EXPECT_TRUE(workbench_.said.back().contains(QStringLiteral("One run must stay")));
  const auto one = page();
  EXPECT_FALSE(table(*one).runs().index(0).data(Qt::CheckStateRole).isValid());
}

TEST_F(LeaveOut, ComesBackWhenTheFileIsOpened) {
  const auto shown = page();
  shown->setText(text_ + "\n# too wide\n[[exclude]]\nvariant = \"+ wide\"\ntrain.seed = 0\n");
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 5U);
  EXPECT_TRUE(isOut(*shown, 3));
  // An edit elsewhere keeps the words it was said in.
  type(*shown, "model.heads", QStringLiteral("8"));
  shown->planNow();
  EXPECT_NE(shown->text().find("# too wide\n[[exclude]]\nvariant = \"+ wide\"\ntrain.seed = 0\n"),
            std::string::npos)
      << shown->text();
}

TEST_F(LeaveOut, PuttingOneBackKeepsTheOthersOfAWideExcludeOut) {
  const auto shown = page();
  shown->setText(text_ + "\n[[exclude]]\nvariant = \"+ wide\"\n");
  shown->planNow();
  ASSERT_EQ(shown->plan().excluded.size(), 3U);
  turn(*shown, 4, Qt::Checked);
  EXPECT_EQ(shown->text(), text_ +
                               "\n[[exclude]]\nvariant = \"+ wide\"\n\"train.seed\" = 0\n"
                               "\n[[exclude]]\nvariant = \"+ wide\"\n\"train.seed\" = 2\n");
  EXPECT_EQ(shown->plan().runs.size(), 4U);
}

TEST_F(LeaveOut, FollowsAVariantThatIsRenamed) {
  const auto shown = sixRuns();
  turn(*shown, 4, Qt::Unchecked);
  QLineEdit* name = nullptr;
  for (QLineEdit* line : shown->side().sweep().findChildren<QLineEdit*>()) {
    if (line->text() == QLatin1String("+ wide")) name = line;
  }
  ASSERT_NE(name, nullptr);
  name->setText(QStringLiteral("+ 128"));
  Q_EMIT name->textEdited(name->text());
  shown->planNow();
  EXPECT_TRUE(shown->plan().problems.empty()) << shown->plan().problems.front().sentence();
  EXPECT_NE(shown->text().find("[[exclude]]\nvariant = \"+ 128\"\n"), std::string::npos)
      << shown->text();
}

TEST_F(LeaveOut, SaysWhatLeavesOutNothingAnyMoreAndOffersToDropIt) {
  const auto shown = sixRuns();
  turn(*shown, 5, Qt::Unchecked);
  auto* seeds = named<QLineEdit>(shown->side(), QStringLiteral("Seeds, comma separated"));
  seeds->setText(QStringLiteral("0, 1"));
  Q_EMIT seeds->textEdited(seeds->text());
  shown->planNow();
  ASSERT_EQ(shown->plan().problems.size(), 1U);
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("none of the swept values")))
      << labels(*shown).toStdString();
  bool isOffered = false;
  for (QLabel* label : shown->findChildren<QLabel*>()) {
    if (!label->text().contains(QStringLiteral("Include these runs"))) continue;
    isOffered = true;
    Q_EMIT label->linkActivated(QStringLiteral("exclude"));
    break;
  }
  EXPECT_TRUE(isOffered);
  shown->planNow();
  EXPECT_TRUE(shown->plan().problems.empty());
  EXPECT_EQ(shown->text().find("exclude"), std::string::npos) << shown->text();
}

TEST_F(LeaveOut, TakesTheStagesOfAChainTogether) {
  const auto shown = page();
  shown->setText(text_ +
                 "\n[[stage]]\nname = \"a\"\n\n[[stage]]\nname = \"b\"\ninit = \"previous\"\n");
  shown->planNow();
  ASSERT_EQ(shown->plan().runs.size(), 12U);
  turn(*shown, 1, Qt::Unchecked);
  EXPECT_EQ(shown->plan().runs.size(), 10U);
  EXPECT_LT(shown->text().find("[[exclude]]"), shown->text().find("[[stage]]")) << shown->text();
}

// What the program is told is what it plans: exactly the rows that keep their tick.
TEST_F(LeaveOut, StartEnqueuesExactlyTheOthers) {
  const auto shown = sixRuns();
  workbench_.addRun("made by the program", Json::object());
  shown->show();
  PlannedRunsView& view = table(*shown);
  for (const int out : {1, 5}) {
    const QRect row = view.visualRect(view.runs().index(out));
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                      QPoint(row.left() + 12, row.center().y()));
  }
  // At once: what the plan did not see yet counts, too.
  QTest::keyClick(&view, Qt::Key_Return, Qt::ControlModifier);
  ASSERT_TRUE(soon([&] { return !workbench_.pages.empty(); }));
  const QString file = program_ + QStringLiteral(".asked");  // the text whose plan is stored
  const Plan plan = planExperiment(fileText(file).toStdString(), "told", workbench_.catalog());
  std::vector<std::string> names;
  for (const PlannedRun& run : plan.runs) names.push_back(run.name);
  EXPECT_TRUE(plan.problems.empty());
  EXPECT_EQ(names, (std::vector<std::string>{"plain, seed 0", "plain, seed 2", "+ wide, seed 0",
                                             "+ wide, seed 1"}));
}

}  // namespace
}  // namespace vitrine::ui

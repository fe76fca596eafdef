#include "ui/playground/sampler_form.h"

#include <QAbstractScrollArea>
#include <QComboBox>
#include <QCoreApplication>
#include <QLineEdit>
#include <QScrollBar>
#include <QTest>
#include <QToolButton>

#include "tests/ui/playground/playground_fixture.h"

namespace vitrine::ui {
namespace {

using SamplerFormTest = PlaygroundTest;

TEST_F(SamplerFormTest, AnAxisThatIsLeftShowsItsBeginning) {
  openPainter();
  makeAxis("guidance", kRows, QStringLiteral("1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14"));
  QLineEdit* line = formPart<QLineEdit>(probe().form(), "guidance.axis");
  bringUp(*page_);
  line->setFocus();
  EXPECT_GT(line->cursorPosition(), 0);
  probe().board().setFocus();
  EXPECT_EQ(line->cursorPosition(), 0);
}

TEST_F(SamplerFormTest, AMenuThatIsOpenActsOnTheRowThatIsThereNow) {
  SamplerForm form;
  const auto withSteps = [](std::vector<std::string> steps) {
    std::vector<FormEntry> entries;
    entries.push_back({choiceField("checkpoint", steps.front(), steps, "")});
    entries.push_back({choiceField("solver", "euler", {"euler", "heun"}, "")});
    return entries;
  };
  form.setEntries(withSteps({"100"}));
  QAction* rows = formPart<QToolButton>(form, "solver.axis")->menu()->actions().at(kRows);
  form.setEntries(withSteps({"200", "100"}));  // a checkpoint came
  rows->trigger();
  EXPECT_EQ(form.axis("solver"), SamplerForm::Axis::Rows);
}

TEST_F(SamplerFormTest, ANumberThatWasNotChangedTakesTheDefaultOfTheNextSampler) {
  SamplerForm form;
  const auto withSteps = [](std::int64_t steps) {
    std::vector<FormEntry> entries;
    entries.push_back({integerField("steps", steps, "")});
    return entries;
  };
  form.setEntries(withSteps(250));
  form.setEntries(withSteps(50));
  EXPECT_EQ(form.values().at("steps"), 50);
  form.setValues({{"steps", 20}});
  form.setEntries(withSteps(250));
  EXPECT_EQ(form.values().at("steps"), 20) << "it was chosen";
}

TEST_F(SamplerFormTest, TheArrowOfMoreSettingsTurnsWhenTheyFoldOut) {
  SamplerForm form;
  std::vector<FormEntry> entries;
  entries.push_back({integerField("steps", 50, "")});
  entries.push_back({integerField("churn", 0, "")});
  entries.back().isRare = true;
  form.setEntries(std::move(entries));
  form.show();
  auto* more = saying<QToolButton>(form, "More settings");
  const QWidget* hidden = formPart(form, "churn");
  EXPECT_EQ(more->arrowType(), Qt::RightArrow);
  EXPECT_FALSE(hidden->isVisible());
  QTest::mouseClick(more, Qt::LeftButton);
  EXPECT_EQ(more->arrowType(), Qt::DownArrow);
  EXPECT_TRUE(hidden->isVisible());
}

TEST_F(SamplerFormTest, AWrongAxisIsNamedAndNothingIsDrawn) {
  openPainter();
  makeAxis("guidance", kRows, QStringLiteral("1, 200"));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("200")));
  EXPECT_FALSE(button(QStringLiteral("Draw"))->isEnabled());
}

TEST_F(SamplerFormTest, AWrongValueIsNamedAtItsFieldWhileItIsTyped) {
  openPainter();
  auto* steps = formPart<QLineEdit>(probe().form(), "steps");
  ASSERT_NE(steps, nullptr);
  const auto type = [steps](const char* text) {
    steps->selectAll();
    QTest::keyClicks(steps, QString::fromLatin1(text));
  };
  type("1");
  EXPECT_TRUE(steps->property("invalid").toBool());
  EXPECT_TRUE(visibleText().contains(QStringLiteral("1 is outside of what Steps allows")));
  EXPECT_FALSE(button(QStringLiteral("Draw"))->isEnabled());
  type("12");
  EXPECT_FALSE(steps->property("invalid").toBool());
  EXPECT_TRUE(button(QStringLiteral("Draw"))->isEnabled());
  type("many");
  EXPECT_TRUE(
      visibleText().contains(QStringLiteral("Steps takes a whole number, not \u201cmany\u201d")));
  makeAxis("steps", kRows, QStringLiteral("4, 8"));
  EXPECT_TRUE(button(QStringLiteral("Draw"))->isEnabled()) << "the axis has its own values";
  probe().form().setAxis("steps", SamplerForm::Axis::None);
  EXPECT_TRUE(steps->property("invalid").toBool());
  probe().form().setValues({{"steps", 5}});
  EXPECT_FALSE(steps->property("invalid").toBool());
}

TEST_F(SamplerFormTest, AClassThatTheDataDoNotHaveIsNamedBeforeTheDrawing) {
  nameClasses();
  openPainter();
  makeAxis("class", kRows, QStringLiteral("Bag, 9"));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Class has no value 9; use 0 to 2")));
  EXPECT_FALSE(button(QStringLiteral("Draw"))->isEnabled());
}

TEST_F(SamplerFormTest, WithoutAClassEachIsDrawnInTurn) {
  nameClasses();
  openPainter();
  const auto* list = formPart<QComboBox>(probe().form(), "class");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->currentText(), QStringLiteral("each in turn"));
  EXPECT_EQ(probe().form().values().at("class"), Json());
}

TEST_F(SamplerFormTest, AnEmptyPromptShowsACaptionOfTheRun) {
  nameClasses();
  const auto placeholder = [&](const Json& templates) {
    open(addRun("a", "talker", "talk", templates));
    const auto* line = formPart<QLineEdit>(probe().form(), "prompt");
    return line == nullptr ? QString() : line->placeholderText();
  };
  const Json templates = Json::array({"a photo of a {class}", "one {class}"});
  EXPECT_TRUE(placeholder(templates).contains(QStringLiteral("a photo of a bag")));
  EXPECT_EQ(placeholder(Json::array()), QStringLiteral("What is drawn"))
      << "what the sampler says of it";
  becomeWriter();
  EXPECT_TRUE(placeholder(templates).endsWith(QStringLiteral("a photo of a"))) << "to continue";
}

TEST_F(SamplerFormTest, EverySettingFitsItsCard) {
  openPainter();
  makeAxis("seed", kColumns, QStringLiteral("1, 2"));
  QCoreApplication::processEvents();
  const QAbstractScrollArea* area = nullptr;
  for (QWidget* one = &probe().form(); one != nullptr && area == nullptr; one = one->parentWidget())
    area = qobject_cast<QAbstractScrollArea*>(one);
  ASSERT_NE(area, nullptr);
  EXPECT_EQ(area->horizontalScrollBar()->maximum(), 0);
  EXPECT_EQ(formPart<QToolButton>(probe().form(), "guidance.axis")->geometry().right(),
            formPart<QToolButton>(probe().form(), "seed.axis")->geometry().right());
}

}  // namespace
}  // namespace vitrine::ui

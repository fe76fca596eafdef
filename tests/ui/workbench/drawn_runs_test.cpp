#include "ui/workbench/drawn_runs.h"

#include <gtest/gtest.h>

#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QVBoxLayout>

#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

/// Run 3 is refused, run 4 waits until it is cancelled; each request leaves a line behind.
constexpr const char* kComputing = R"(
import time
def load(request):
    return {"model": str(request["run"])}
def analyse(request):
    open(here("asked"), "a").write(request["model"] + "\n")
    yield {"done": 3, "total": 40}
    if request["model"] == "3":
        return {"error": {"kind": "refused", "message": "there is too little memory"}}
    while request["model"] == "4" and not request["is_cancelled"]():
        time.sleep(0.01)
    return {"artifacts": 1}
)";

class Analyses : public ::testing::Test {
 protected:
  Analyses() {
    workbench_.serve();
    bar_ = new RunAnalyses(workbench_,
                           {.compute = "Compute the ranks",
                            .tip = "Once",
                            .computing = "Computing the ranks of %1",
                            .cancelled = "Computing was cancelled.",
                            .failed = "The ranks of %1 cannot be computed: %2"},
                           &place_);
    (new QVBoxLayout(&place_))->addWidget(bar_);
    place_.show();
  }
  static RunAnalysis ranksOf(std::int64_t run) {
    return {
        QStringLiteral("run %1").arg(run), {.run = run}, {{"op", "analyse"}, {"item", "ranks"}}};
  }
  QPushButton* button() { return bar_->findChild<QPushButton*>(); }
  void press() { QTest::mouseClick(button(), Qt::LeftButton); }
  std::string asked() const { return program_.read(QStringLiteral("asked")).toStdString(); }

  FakeServe program_{kComputing};
  FakeWorkbench workbench_;
  QWidget place_;
  RunAnalyses* bar_ = nullptr;
};

TEST_F(Analyses, RunOneAfterAnotherAndSayHowFarTheyAre) {
  bar_->setMissing({ranksOf(1), ranksOf(2)});
  EXPECT_TRUE(bar_->isVisible());
  QStringList said;
  QObject::connect(bar_, &RunAnalyses::progressed, bar_, [&] { said << bar_->status(); });
  QSignalSpy ended(bar_, &RunAnalyses::ended);
  press();
  EXPECT_EQ(button()->text(), QStringLiteral("Cancel"));
  EXPECT_TRUE(soon([&] { return ended.count() == 1; }));
  EXPECT_EQ(asked(), "1\n2\n");
  EXPECT_TRUE(said.contains(QStringLiteral("Computing the ranks of run 1: 3 of 40")));
  EXPECT_TRUE(said.contains(QStringLiteral("Computing the ranks of run 2: 3 of 40")));
  EXPECT_EQ(bar_->status(), QString());
  EXPECT_EQ(button()->text(), QStringLiteral("Compute the ranks"));
}

TEST_F(Analyses, AFailureEndsTheRowAndIsASentence) {
  bar_->setMissing({ranksOf(3), ranksOf(1)});
  QSignalSpy ended(bar_, &RunAnalyses::ended);
  press();
  EXPECT_TRUE(soon([&] { return ended.count() == 1; }));
  EXPECT_EQ(asked(), "3\n");
  EXPECT_EQ(bar_->status(),
            QStringLiteral("The ranks of run 3 cannot be computed: there is too little memory."));
  const RunAnalyses::EmptyWords words = bar_->emptyWords(QString(), QString());
  EXPECT_EQ(words.sentence, bar_->status());
  EXPECT_EQ(words.action, QStringLiteral("Compute again"));
}

TEST_F(Analyses, CancelStopsTheOneThatRunsAndAllThatWait) {
  bar_->setMissing({ranksOf(4), ranksOf(1)});
  QSignalSpy ended(bar_, &RunAnalyses::ended);
  press();
  EXPECT_TRUE(soon([&] { return asked() == "4\n"; }));
  press();
  EXPECT_EQ(ended.count(), 1);
  EXPECT_EQ(bar_->status(), QStringLiteral("Computing was cancelled."));
  EXPECT_EQ(asked(), "4\n");
}

TEST_F(Analyses, TheBarIsHiddenWithoutWordsAndWithoutAnythingMissing) {
  bar_->setMissing({});
  bar_->showMessage(QString());
  EXPECT_FALSE(bar_->isVisible());
  bar_->showMessage(QStringLiteral("2 of 5 runs are drawn."));
  EXPECT_TRUE(bar_->isVisible());
  EXPECT_FALSE(button()->isVisible());
  workbench_.served.reset();
  bar_->setMissing({ranksOf(1)});
  EXPECT_FALSE(button()->isVisible());
  EXPECT_EQ(bar_->emptyWords("cannot", "can").sentence, QStringLiteral("can"));
  EXPECT_EQ(bar_->emptyWords("cannot", "can").action, QString());
}

TEST(Steps, KeysMoveTheSliderFromAnywhereOnThePage) {
  QWidget page;
  auto* bar = new StepBar(QStringLiteral("Stored steps"), &page);
  auto* other = new QPushButton(&page);
  auto* column = new QVBoxLayout(&page);
  column->addWidget(bar);
  column->addWidget(other);
  bringUp(page);
  QSignalSpy chosen(bar, &StepBar::chosen);
  bar->setSteps({0, 50, 100}, -1);
  EXPECT_EQ(bar->shown(), 100);
  bar->setSteps({0, 50, 100}, 99);
  EXPECT_EQ(bar->shown(), 50) << "the newest up to it";
  EXPECT_EQ(chosen.count(), 0) << "the user chose none of them";
  other->setFocus();
  QTest::keyClick(other, Qt::Key_Left, Qt::ControlModifier);
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen.front().front().toLongLong(), 0);
  bar->setSteps({1400}, -1);
  EXPECT_FALSE(bar->slider()->isEnabled());
  EXPECT_TRUE(labelsIn(*bar).contains(QStringLiteral("1,400, the only one")))
      << labelsIn(*bar).toStdString();
  bar->setSteps({}, -1);
  EXPECT_EQ(bar->shown(), -1);
  EXPECT_FALSE(bar->slider()->isEnabled());
}

}  // namespace
}  // namespace vitrine::ui

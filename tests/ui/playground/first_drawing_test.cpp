// What the Playground offers where no run can draw yet.
#include "ui/workbench/sampling/first_drawing.h"

#include <QTemporaryDir>

#include "core/config/edit/document.h"
#include "tests/ui/playground/playground_fixture.h"
#include "tests/ui/support/program_script.h"
#include "tests/ui/support/test_files.h"

namespace vitrine::ui {
namespace {

class FirstImages : public PlaygroundTest {
 protected:
  /// The plugins of the experiment that comes with the window.
  FirstImages() { workbench_.become(sampleCatalog()); }
  ~FirstImages() override { qputenv("VITRINE_PROGRAM", before_); }
  /// What `vitrine enqueue FILE` does from here on.
  void enqueueBy(const QByteArray& commands) {
    becomeProgram(folder_, "[ \"$1\" = enqueue ] || exit 0\n" + commands);
  }

  QTemporaryDir folder_;
  QByteArray before_ = qgetenv("VITRINE_PROGRAM");
};

TEST_F(FirstImages, ARunThatDrawsIsTrainedInOneClickWithItsCost) {
  const QString kept = folder_.filePath(QStringLiteral("kept.toml"));
  enqueueBy("cp \"$2\" '" + kept.toLocal8Bit() + "'\necho '{\"ids\":[1]}'");
  const std::int64_t run = addRun("judge", "judge", "choose");
  ASSERT_EQ(run, 1);
  open(run);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Cost: 1 run, about 2\u2009min 28\u2009s")))
      << visibleText().toStdString();
  QTest::mouseClick(button(QStringLiteral("Train it")), Qt::LeftButton);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("is tried")));
  EXPECT_TRUE(soon([&] { return !workbench_.pages.empty(); }));
  EXPECT_EQ(workbench_.pages.back().toStdString(), "monitor");
  EXPECT_TRUE(bytesOf(kept).contains("generation"));
  EXPECT_TRUE(workbench_.configured.empty());
}

TEST_F(FirstImages, WhatKeptTheRunFromStartingIsSaidAndItIsOfferedAgain) {
  enqueueBy("echo 'the disk is full' >&2\nexit 1");
  open(addRun("judge", "judge", "choose"));
  QTest::mouseClick(button(QStringLiteral("Train it")), Qt::LeftButton);
  EXPECT_TRUE(soon([&] {
    return !workbench_.said.empty() &&
           workbench_.said.back().contains(QStringLiteral("the disk is full"));
  }));
  EXPECT_NE(button(QStringLiteral("Train it")), nullptr);
}

TEST_F(FirstImages, ARunThatIsInTheQueueIsShownInstead) {
  const FirstDrawing first = firstDrawing(workbench_.catalog());
  EXPECT_NE(first.text.find("in 148 s on two cores"), std::string::npos) << "its cost is measured";
  Problem problem;
  const auto document = parseDocument(first.text, problem);
  ASSERT_TRUE(document);
  store::NewRun fresh{.name = "drawing", .config = document->tables};
  store::RunStore& store = workbench_.store();
  const std::int64_t id = store.addRuns(store.experiment("Of any name", ""), {fresh}).front();
  (void)workbench_.run(id);
  open(id);
  EXPECT_EQ(button(QStringLiteral("Train it")), nullptr);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("\u201cdrawing\u201d will have one")))
      << visibleText().toStdString();
  QTest::mouseClick(button(QStringLiteral("Show its training")), Qt::LeftButton);
  ASSERT_FALSE(workbench_.pages.empty());
  EXPECT_EQ(workbench_.pages.back().toStdString(), "monitor");
}

}  // namespace
}  // namespace vitrine::ui

// "Report..." of Compare, through its action and the real program.
#include <gmock/gmock.h>

#include <QAction>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>

#include "tests/support/has_texts.h"
#include "tests/ui/compare/compare_page_fixture.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/compare/report/report_bar.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr, ::testing::StartsWith;

class ComparedReport : public ComparePageTest {
 protected:
  ComparedReport() {
    qputenv("VITRINE_PROGRAM", VITRINE_PROGRAM);
    // Not the folder itself: the program's cache is called as its stand-in is.
    qputenv("XDG_CACHE_HOME", path(QStringLiteral("cache")).toLocal8Bit());
    fill();
    show();
  }
  ~ComparedReport() override { qunsetenv("VITRINE_PROGRAM"); }

  QAction* action() { return saying<QAction>(*page_, "Report\u2026"); }
  /// Triggers the action and answers its dialog.
  void report(const QString& file) {
    action()->trigger();
    auto* dialog = page_->findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(file);
    QMetaObject::invokeMethod(dialog, "accept");
    ASSERT_TRUE(soon([&] { return page_->findChild<QFileDialog*>() == nullptr; }));
  }
  ReportBar& bar() { return *page_->findChild<ReportBar*>(); }
  QString path(const QString& name) { return studio_.folder.filePath(name); }
};

TEST_F(ComparedReport, IsOneWebPageThatNeedsNothingElse) {
  QSignalSpy offered(&studio_.workbench, &StudioWorkbench::offered);
  const QString file = path(QStringLiteral("out.html"));
  report(file);
  EXPECT_TRUE(bar().isVisible()) << "says that it is being written";
  EXPECT_FALSE(action()->isEnabled());
  ASSERT_TRUE(soon([&] { return offered.count() == 1; }));
  EXPECT_FALSE(bar().isVisible());
  EXPECT_TRUE(action()->isEnabled());
  EXPECT_THAT(offered.front()[0].toString().toStdString(), HasSubstr("out.html"));
  EXPECT_EQ(offered.front()[1].toString(), QStringLiteral("Open"));
  const std::string page = bytesOf(file).toStdString();
  EXPECT_THAT(page, test::HasTexts("<h1>Roadmap</h1>", "+ better"));
  for (const char* outside : {"src=\"http", "href=\"http", "<script", "<link", "file:"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

TEST_F(ComparedReport, IsAPdfWhereTheNameSaysSo) {
  QSignalSpy offered(&studio_.workbench, &StudioWorkbench::offered);
  const QString file = path(QStringLiteral("out.pdf"));
  report(file);
  ASSERT_TRUE(soon([&] { return offered.count() == 1; }));
  EXPECT_THAT(bytesOf(file).toStdString(), StartsWith("%PDF"));
}

TEST_F(ComparedReport, HasTheRunsThatAreCompared) {
  studio_.workbench.selection().setRuns({1, 2, 4, 5}, 1);
  page_->waitUntilIdle();
  QSignalSpy offered(&studio_.workbench, &StudioWorkbench::offered);
  const QString file = path(QStringLiteral("part.html"));
  report(file);
  ASSERT_TRUE(soon([&] { return offered.count() == 1; }));
  const std::string part = bytesOf(file).toStdString();
  EXPECT_THAT(part, test::HasTexts("+ better"));
  EXPECT_EQ(part.find("+ noise"), std::string::npos);
}

TEST_F(ComparedReport, DrawsScoresAtSeveralNumbersAsACurve) {
  std::vector<std::int64_t> ids;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    AblationRun run{"base", {{"width", 48}}, seed, {0.4, 0.5}};
    run.experiment = "Sweep";
    run.scores = {{"analysis/sweep/top1/28", 0.8}, {"analysis/sweep/top1/56", 0.6}};
    ids.push_back(addAblationRun(studio_.writer, run));
  }
  studio_.workbench.watcher().poll();
  studio_.workbench.selection().setRuns(ids, ids.front());
  page_->waitUntilIdle();
  QSignalSpy offered(&studio_.workbench, &StudioWorkbench::offered);
  const QString file = path(QStringLiteral("sweep.html"));
  report(file);
  ASSERT_TRUE(soon([&] { return offered.count() == 1; }));
  EXPECT_THAT(bytesOf(file).toStdString(), HasSubstr("alt=\"Accuracy, sweep\""));
}

TEST_F(ComparedReport, WhatFailsIsAnErrorThatSaysWhy) {
  QSignalSpy failed(&studio_.workbench, &StudioWorkbench::errorSent);
  report(path(QStringLiteral("out.doc")));
  ASSERT_TRUE(soon([&] { return failed.count() == 1; }));
  EXPECT_THAT(failed.front()[0].toString().toStdString(),
              test::HasTexts("The report was not written: ", "does not name an HTML or PDF file"));
  EXPECT_FALSE(bar().isVisible());
  EXPECT_TRUE(action()->isEnabled());
}

TEST_F(ComparedReport, AMissingProgramIsAnErrorToo) {
  qputenv("VITRINE_PROGRAM", "/nowhere/vitrine");
  QSignalSpy failed(&studio_.workbench, &StudioWorkbench::errorSent);
  report(path(QStringLiteral("out.html")));
  ASSERT_TRUE(soon([&] { return failed.count() == 1; }));
  EXPECT_FALSE(bar().isVisible());
}

TEST_F(ComparedReport, CanBeCancelledAndIsInThePalette) {
  std::vector<std::unique_ptr<QMenu>> menus;
  bool isListed = false;
  for (const Command& command : pageCommands(*page_, menus))
    isListed = isListed || command.title == QStringLiteral("Export: Report\u2026");
  EXPECT_TRUE(isListed);
  becomeProgram(studio_, "exec sleep 60");
  report(path(QStringLiteral("out.html")));
  ASSERT_TRUE(bar().isVisible());
  press(QStringLiteral("Cancel"));
  EXPECT_FALSE(bar().isVisible());
  EXPECT_FALSE(QFile::exists(path(QStringLiteral("out.html"))));
}

}  // namespace
}  // namespace vitrine::ui

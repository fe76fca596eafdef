// The pages of models that draw and of runs in progress, in the window over a full database.
#include "core/live/channel.h"
#include "tests/support/wait_until.h"
#include "tests/ui/live/live_frames.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/painter.h"
#include "tests/ui/support/playground_probe.h"
#include "tests/ui/support/qt_test.h"
#include "ui/kit/fit_area.h"
#include "ui/live/live_page.h"
#include "ui/shell/main_window.h"

namespace vitrine::ui {
namespace {

constexpr int kRunning = 8;  // of the sample database

class DrawingPages : public ::testing::Test {
 protected:
  DrawingPages() : program_(kPainter, described(sampleCatalog())) {
    qputenv("XDG_CACHE_HOME", cache_.path().toLocal8Bit());
  }

  QTemporaryDir cache_;
  FakeServe program_;
  SampleStudio studio_{SampleOptions{0, 60, true}};
};

TEST_F(DrawingPages, ThePlaygroundOfAFullDatabaseHasARunThatDraws) {
  MainWindow window(studio_.workbench);
  window.resize(1366, 768);
  window.show();
  ASSERT_TRUE(window.showPage(QStringLiteral("playground")));
  window.waitUntilIdle();
  layOutNow();
  auto* page = qobject_cast<PlaygroundPage*>(window.currentPage());
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(PlaygroundProbe(*page).run(), studio_.runs.back());
  EXPECT_EQ(window.size(), QSize(1366, 768));
  EXPECT_EQ(whatDoesNotFit(*page), "");
}

TEST_F(DrawingPages, LiveOfAFullDatabaseShowsTheRunInProgress) {
  const std::int64_t run = studio_.runs[kRunning];
  studio_.workbench.selection().setRuns({run}, run);
  live::Publisher trainer(studio_.writer.run(run).uuid);
  MainWindow window(studio_.workbench);
  window.resize(1366, 768);
  window.show();
  ASSERT_TRUE(window.showPage(QStringLiteral("live")));
  auto* page = qobject_cast<LivePage*>(window.currentPage());
  ASSERT_NE(page, nullptr);
  ASSERT_TRUE(page->isWatching());
  ASSERT_TRUE(waitUntil([&] { return trainer.isWatched(live::liveNow()); }));
  ASSERT_TRUE(trainer.publish(live::encode(liveFrame(60))));
  page->look();
  EXPECT_TRUE(page->model().hasFrame());
  layOutNow();
  EXPECT_EQ(window.size(), QSize(1366, 768));
  EXPECT_EQ(whatDoesNotFit(*page), "");
}

}  // namespace
}  // namespace vitrine::ui

// How many connections a window opens to its database while all its pages read.
#include "tests/ui/support/connections.h"

#include <atomic>
#include <thread>

#include "tests/ui/support/qt_test.h"
#include "ui/kit/reader_pool.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"

namespace vitrine::ui {
namespace {

TEST(MainWindow, OpensFewConnectionsWhileAllPagesRead) {
  SampleStudio studio(SampleOptions{0, 60});
  const std::filesystem::path file = studio.writer.file();
  std::atomic<std::ptrdiff_t> most = 0;
  {
    MainWindow window(studio.workbench);
    window.show();
    studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1], studio.runs[2]},
                                         studio.runs[0]);
    const std::jthread counter([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        most = std::max<std::ptrdiff_t>(most, connectionsTo(file));
        std::this_thread::yield();
      }
    });
    // All read at once, and then one after the other to the end.
    for (const PageFactory& page : pages()) window.showPage(page.id);
    for (const PageFactory& page : pages()) {
      window.showPage(page.id);
      for (Page* one : window.findChildren<Page*>()) one->waitUntilIdle();
    }
  }
  EXPECT_GT(most, 2);
  // The writer of this test, the window's own, that of its queue, and the pool, each of whose
  // readers opens a second one while it carries out a statement of the user's own or of a page.
  EXPECT_LE(most, 3 + 2 * static_cast<std::ptrdiff_t>(ReaderPool::kMostReaders));
}

}  // namespace
}  // namespace vitrine::ui

// From a click on another page until that page is drawn, in a window over a database with many
// runs.
//   bench_pages [RUNS] [TURNS]
#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "tests/bench/frame_times.h"
#include "tests/ui/support/sample_database.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/studio_workbench.h"

namespace ui = vitrine::ui;
using vitrine::bench::report;

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("VITRINE_PROGRAM", "/bin/false");  // no page computes here
  const int runs = argc > 1 ? std::clamp(std::atoi(argv[1]), 13, 100'000) : 1000;
  const int turns = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, 1000) : 20;
  const QApplication application(argc, argv);
  ui::forgetSettings();
  ui::applyTheme(ui::ThemeKind::Dark);
  const QTemporaryDir folder;
  const std::filesystem::path file =
      folder.filePath(QStringLiteral("pages.sqlite")).toStdString();
  std::vector<std::int64_t> ids;
  {
    vitrine::store::RunStore store(file);
    ui::SampleOptions options;
    constexpr int kOwnRuns = 13;  // that every sample database with artifacts has
    options.extraRuns = runs - kOwnRuns;
    options.hasArtifacts = true;
    ids = ui::fillSampleDatabase(store, options);
  }
  ui::StudioWorkbench workbench(file);
  workbench.start();
  workbench.selection().setRuns({ids[0], ids[1], ids[6]}, ids[0]);
  ui::MainWindow window(workbench);
  window.resize(1440, 900);
  window.show();
  window.waitUntilIdle();
  QImage screen(window.size(), QImage::Format_RGB32);
  std::map<std::string, std::vector<double>> byPage;
  std::vector<double> first, all;
  for (int turn = 0; turn <= turns; ++turn) {
    for (const ui::PageFactory& page : ui::pages()) {
      QElapsedTimer clock;
      clock.start();
      window.showPage(page.id);
      QApplication::processEvents();
      window.render(&screen);
      const double time = static_cast<double>(clock.nsecsElapsed()) / 1e6;
      // The first turn makes the pages; what they read comes later, and is not waited for.
      if (turn == 0) {
        first.push_back(time);
      } else {
        byPage[page.id.toStdString()].push_back(time);
        all.push_back(time);
      }
      window.waitUntilIdle();
    }
  }
  for (const auto& [page, times] : byPage) report(page, times);
  report("all pages", all);
  report("all pages, first time", first);
  return 0;
}

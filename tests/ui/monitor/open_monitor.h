// The Monitor page over three runs of a sample database, shown and read.
#pragma once

#include <memory>

#include "tests/ui/support/qt_test.h"
#include "ui/monitor/monitor_page.h"

namespace vitrine::ui {

struct OpenMonitor {
  explicit OpenMonitor(const SampleOptions& options = {0, 600})
      : studio(options), page(std::make_unique<MonitorPage>(studio.workbench)) {
    studio.workbench.selection().setRuns({studio.runs[6], studio.runs[7], studio.runs[8]},
                                         studio.runs[8]);
    open(*page);
  }
  static void open(MonitorPage& page) {
    page.resize(1000, 700);
    page.show();
    page.waitUntilIdle();
    QCoreApplication::processEvents();
  }
  /// Changes the settings of all plots.
  template <class Change>
  void set(Change change) {
    PlotSettings settings = page->settings();
    change(settings);
    page->setSettings(settings);
    page->waitUntilIdle();
  }
  SampleStudio studio;
  std::unique_ptr<MonitorPage> page;
};

}  // namespace vitrine::ui

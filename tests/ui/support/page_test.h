// A page that draws runs, in a window of its own, and its parts by what the user reads on them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/soon.h"
#include "ui/figures/figure_view.h"

namespace vitrine::ui {

template <class PageType>
class PageTest : public ::testing::Test {
 protected:
  std::int64_t runWith(const std::string& name, const std::vector<Artifact>& artifacts,
                       const Json& config = Json::object()) {
    const std::int64_t run = workbench_.addRun(name, config);
    for (const Artifact& artifact : artifacts) workbench_.store().addArtifact(run, artifact);
    return run;
  }
  std::unique_ptr<PageType> page(const std::vector<std::int64_t>& runs) {
    auto made = std::make_unique<PageType>(workbench_);
    made->resize(1100, 900);
    workbench_.selection().setRuns(runs, runs.empty() ? 0 : runs.front());
    bringUp(*made);
    made->waitUntilIdle();
    return made;
  }
  /// A point of the view where a click chooses what `isWanted` says.
  template <class Matches>
  static QPoint placeOf(FigureView& view, Matches isWanted) {
    (void)view.grab();  // painted, so that it knows its places
    for (int y = 0; y < view.height(); y += 2) {
      for (int x = 0; x < view.width(); x += 2) {
        if (isWanted(view.figure()->targetAt(QPointF(x, y)))) return {x, y};
      }
    }
    ADD_FAILURE() << "the figure has no such place";
    return {};
  }
  /// At the first such point.
  template <class Matches>
  static void clickAt(FigureView& view, Matches isWanted) {
    QTest::mouseClick(&view, Qt::LeftButton, Qt::NoModifier, placeOf(view, isWanted));
  }
  static FigureView& figure(const QWidget& page, const char* name) {
    return *named<FigureView>(page, name);
  }
  static std::string labels(const QWidget& widget) { return labelsIn(widget).toStdString(); }

  FakeWorkbench workbench_;
};

}  // namespace vitrine::ui

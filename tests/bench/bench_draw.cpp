// From a click on Draw to the first picture on Studio's Playground with a small model in the memory
// of `vitrine serve`, and how long Cancel leaves that process busy.
//   bench_draw VITRINE [DRAWINGS]
#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/bench/trained_window.h"
#include "tests/ui/support/playground_probe.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/workbench/studio_workbench.h"

namespace {

namespace bench = vitrine::bench;
namespace ui = vitrine::ui;

constexpr const char* kExperiment = R"(title = "A small model that draws"
[model]
architecture = "sit_llama"
input_size = 28
patch_size = 4
in_channels = 3
num_classes = 16
width = 64
depth = 4
heads = 4
[task]
name = "generation"
samples = { count = 0 }
[data]
dataset = "textures"
size = 28
train_size = 64
validation_size = 8
test_size = 64
normalize = "half"
[train]
steps = 2
batch_size = 8
)";

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_draw VITRINE [DRAWINGS]\n");
    return 2;
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("VITRINE_PROGRAM", argv[1]);
  const int drawings = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, 1000) : 20;
  const QApplication application(argc, argv);
  ui::forgetSettings();
  ui::applyTheme(ui::ThemeKind::Dark);
  const QTemporaryDir folder;
  const std::string database = bench::trainedDatabase(argv[1], kExperiment, folder);
  if (database.empty()) return 1;
  ui::StudioWorkbench workbench(database);
  if (!bench::openRun(workbench)) return 1;
  ui::PlaygroundPage page(workbench);
  const ui::PlaygroundProbe probe(page);
  page.resize(1366, 768);
  page.show();
  page.waitUntilIdle();
  bool isWarm = false;
  QObject::connect(&probe.worker(), &ui::DrawWorker::warmed, &page, [&] { isWarm = true; });
  if (probe.run() != 1 || !bench::waitFor([&] { return isWarm && !probe.worker().isWarming(); }))
    return 1;
  QAction* draw = nullptr;
  for (QAction* action : page.findChildren<QAction*>()) {
    if (action->text() == QLatin1String("Draw")) draw = action;
  }
  if (draw == nullptr) return 1;

  // One image of 20 steps with ten previews, as the page asks for it.
  std::vector<double> first, whole;
  probe.form().setValues({{"steps", 20}, {"count", 1}});
  for (int i = 0; i <= drawings; ++i) {
    probe.form().setValues({{"seed", i}});
    draw->trigger();
    if (!bench::waitFor([&] { return !probe.worker().isBusy(); })) return 1;
    const ui::Drawing& drawing = *probe.shown();
    if (drawing.imageCount() != 1) {
      std::fprintf(stderr, "nothing was drawn: %s\n", qPrintable(drawing.error));
      return 1;
    }
    if (i == 0) continue;  // the first one warms up
    first.push_back(1e3 * drawing.firstSeconds);
    whole.push_back(1e3 * drawing.seconds);
  }
  bench::report("click to the first picture", first);
  bench::report("click to the image, 20 steps", whole);

  // The process takes the next request when it has left the cancelled one.
  constexpr int kLong = 1000;
  std::vector<double> free, plain;
  double step = 0;
  for (int i = 0; i <= drawings; ++i) {
    probe.form().setValues({{"steps", 2}, {"seed", 100 + i}});
    QElapsedTimer clock;
    clock.start();
    draw->trigger();
    if (!bench::waitFor([&] { return !probe.worker().isBusy(); })) return 1;
    plain.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    probe.form().setValues({{"steps", kLong}, {"seed", 200 + i}});
    clock.restart();
    draw->trigger();
    constexpr double kShare = 0.02;
    if (!bench::waitFor([&] { return probe.worker().share() >= kShare; })) return 1;
    step = static_cast<double>(clock.nsecsElapsed()) / 1e6 / (kLong * probe.worker().share());
    probe.worker().cancel();
    probe.form().setValues({{"steps", 2}, {"seed", 300 + i}});
    clock.restart();
    draw->trigger();
    if (!bench::waitFor([&] { return !probe.worker().isBusy(); })) return 1;
    free.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
  }
  bench::report("an image of 2 steps", plain);
  bench::report("the same after Cancel of another one", free);
  std::printf("a step of the cancelled drawing: %.1f ms\n", step);
  return 0;
}

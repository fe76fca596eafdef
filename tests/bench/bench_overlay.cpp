// From the request to the drawn overlay on Studio's Attention page: a ViT-Ti at 224 pixels stays in
// the memory of `vitrine serve`, and the attention of image after image is asked, sent and drawn.
//   bench_overlay VITRINE [IMAGES]
#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/bench/trained_window.h"
#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/workbench/studio_workbench.h"

namespace {

namespace bench = vitrine::bench;
namespace ui = vitrine::ui;

constexpr const char* kExperiment = R"(title = "ViT-Ti at 224 px"
[model]
architecture = "vit"
preset = "vit/ti16"
num_classes = 16
[task]
name = "classification"
[data]
dataset = "textures"
size = 224
train_size = 8
validation_size = 8
test_size = 64
[train]
steps = 1
batch_size = 4
)";

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_overlay VITRINE [IMAGES]\n");
    return 2;
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("VITRINE_PROGRAM", argv[1]);
  const int images = argc > 2 ? std::clamp(std::atoi(argv[2]), 2, 60) : 30;
  const QApplication application(argc, argv);
  ui::forgetSettings();
  ui::applyTheme(ui::ThemeKind::Dark);
  const QTemporaryDir folder;
  const std::string database = bench::trainedDatabase(argv[1], kExperiment, folder);
  if (database.empty()) return 1;
  ui::StudioWorkbench workbench(database);
  if (!bench::openRun(workbench)) return 1;
  ui::AttentionPage page(workbench);
  page.resize(1366, 768);
  page.show();
  page.waitUntilIdle();
  if (page.panels().empty()) return 1;

  std::vector<double> first, whole, other;
  QImage screen(page.size(), QImage::Format_RGB32);
  const auto shownImage = [&]() -> const ui::AttentionImage* {
    ui::AttentionPanel* panel = page.panels().front();
    return panel->hasImage() ? panel->scene().image() : nullptr;
  };
  for (int i = 0; i < images; ++i) {
    page.setViewState({{"image", i + 1}});
    page.waitUntilIdle();
    const ui::AttentionImage* before = shownImage();
    QElapsedTimer clock;
    clock.start();
    page.computeMissing();
    if (!bench::waitFor([&] { return shownImage() != nullptr && shownImage() != before; }))
      return 1;
    page.render(&screen);
    // The first one loads the model.
    if (i > 0) first.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    if (!bench::waitFor([&] { return shownImage() != nullptr && shownImage()->isWhole; })) return 1;
    page.render(&screen);
    if (i > 0) whole.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    for (int query = 0; query < 5; ++query) {
      clock.restart();
      page.setViewState({{"image", i + 1},
                         {"query", "patch"},
                         {"place", {0.1 + 0.17 * query, 0.9 - 0.15 * query}}});
      QApplication::processEvents();
      page.render(&screen);
      other.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    }
  }
  bench::report("another image: request to overlay", first);
  bench::report("another image: all layers drawn", whole);
  bench::report("another query of the same image", other);
  return 0;
}

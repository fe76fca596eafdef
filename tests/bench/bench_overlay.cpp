// From the request to the drawn overlay on Studio's Attention page: a ViT-Ti at 224 pixels stays in the
// memory of `vitrine serve`, and the attention of image after image is asked, sent and drawn.
//   bench_overlay VITRINE [IMAGES]
#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/workbench/studio_workbench.h"

namespace {

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

/// \returns  false after a minute
bool waitFor(const std::function<bool()>& isThere) {
  QElapsedTimer clock;
  clock.start();
  while (!isThere()) {
    if (clock.elapsed() > 60'000) return false;
    // Asleep between events, as a window is: a loop that looks all the time takes a core away from
    // the model.
    QEventLoop loop;
    QTimer::singleShot(1, Qt::PreciseTimer, &loop, &QEventLoop::quit);
    loop.exec();
  }
  return true;
}

void report(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-46s p50 %6.2f ms   p90 %6.2f ms   max %6.2f ms   (%zu)\n", what, at(0.5), at(0.9),
              times.back(), times.size());
}

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
  const QString file = folder.filePath(QStringLiteral("ti.toml"));
  const QString database = folder.filePath(QStringLiteral("ti.sqlite"));
  if (QFile text(file); !text.open(QIODevice::WriteOnly) || text.write(kExperiment) < 0) return 1;
  QProcess training;
  training.start(QString::fromLocal8Bit(argv[1]),
                 {QStringLiteral("train"), file, QStringLiteral("--db"), database});
  if (!training.waitForFinished(300'000) || training.exitCode() != 0) {
    std::fprintf(stderr, "%s\n", training.readAllStandardError().constData());
    return 1;
  }

  ui::StudioWorkbench workbench(database.toStdString());
  workbench.start();
  workbench.selection().setRuns({1}, 1);
  bool hasCatalog = !workbench.catalog().items.empty();
  QObject::connect(&workbench, &ui::Workbench::catalogReady, &workbench, [&] { hasCatalog = true; });
  if (!waitFor([&] { return hasCatalog; })) return 1;
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
    if (!waitFor([&] { return shownImage() != nullptr && shownImage() != before; })) return 1;
    page.render(&screen);
    // The first one loads the model.
    if (i > 0) first.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    if (!waitFor([&] { return shownImage() != nullptr && shownImage()->isWhole; })) return 1;
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
  report("another image: request to overlay", first);
  report("another image: all layers drawn", whole);
  report("another query of the same image", other);
  return 0;
}

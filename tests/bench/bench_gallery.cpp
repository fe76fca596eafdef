// What the Gallery costs with many images: the first sight of them, a frame while the contact sheet
// scrolls, a search, and the memory of the whole process.
//   bench_gallery [IMAGES] [WIDTH HEIGHT]
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "core/store/run_store.h"
#include "tests/bench/frame_times.h"
#include "tests/support/child.h"
#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/gallery_page.h"
#include "ui/kit/theme.h"

namespace {

namespace store = vitrine::store;
namespace ui = vitrine::ui;
using namespace vitrine::bench;

constexpr int kSide = 28;  // pixels of an image

/// As little of a window as the page needs.
class BareWorkbench final : public ui::Workbench {
 public:
  explicit BareWorkbench(const std::string& file)
      : store_(file), watcher_(store_), queue_(store_.file()) {
    for (const store::RunRow& row : store_.runs()) rows_[row.id] = row;
  }
  store::RunReader& store() override { return store_; }
  store::RunWatcher& watcher() override { return watcher_; }
  ui::Selection& selection() override { return selection_; }
  ui::QueueService& queue() override { return queue_; }
  const vitrine::Catalog& catalog() override { return catalog_; }
  void askCatalogAgain() override {}
  const store::RunRow* run(std::int64_t id) override { return &rows_[id]; }
  const std::map<std::int64_t, store::RunRow>& runs() const override { return rows_; }
  void showMessage(const QString& sentence) override {
    std::fprintf(stderr, "%s\n", sentence.toUtf8().constData());
  }
  void showPage(const QString&) override {}
  void showView(const QString&, const vitrine::Json&) override {}
  void configure(const std::string&, const QString&) override {}
  void startRuns(const std::vector<std::int64_t>&, vitrine::jobs::QueueEnd) override {}
  void edit(std::int64_t, store::RunField, const std::string&, std::int64_t, QObject*,
            const std::function<void(const ui::EditOutcome&)>&) override {}
  void openFile(const QString&) override {}

 private:
  store::RunStore store_;
  store::RunWatcher watcher_;
  ui::Selection selection_;
  ui::QueueService queue_;
  vitrine::Catalog catalog_;
  std::map<std::int64_t, store::RunRow> rows_;
};

/// Runs of 5,000 images each, 100 at every step, each another picture.
void fill(const std::string& file, int images) {
  constexpr int kOfRun = 5000, kOfStep = 100;
  store::RunStore made(file);
  std::vector<std::uint8_t> pixels(kSide * kSide);
  for (int first = 0; first < images; first += kOfRun) {
    store::NewRun run{.name = "run of " + std::to_string(first)};
    const std::int64_t id = made.addRuns(made.experiment("Gallery", ""), {run}).front();
    const std::int64_t segment =
        made.openSegment(id, 0, store::thisWorker(), vitrine::Json::object());
    store::RunStore::Batch batch;
    for (int i = first; i < std::min(images, first + kOfRun); ++i) {
      for (int p = 0; p < kSide * kSide; ++p) {
        const int x = p % kSide, y = p / kSide;
        pixels[static_cast<std::size_t>(p)] = static_cast<std::uint8_t>(
            ((x * (1 + i % 7) + y * (1 + i % 5)) * 9 + i + (p * 7919 * (i + 1)) % 23) & 255);
      }
      vitrine::GeneratedImage image = vitrine::generatedImage(pixels, kSide, kSide, 1);
      image.step = (i - first) / kOfStep + 1;
      image.seed = static_cast<std::uint64_t>(i % kOfStep);
      image.recipe = {{"run", "0123456789abcdef0123456789abcdef"},
                      {"step", image.step},
                      {"weights", "ema"},
                      {"weights_sha256", std::string(64, 'a')},
                      {"precision", "fp32"},
                      {"sampler", i % 3 == 0 ? "ddim" : "heun"},
                      {"settings", {{"steps", 20}, {"guidance", 1 + i % 4}}},
                      {"seed", image.seed},
                      {"device", "cpu"},
                      {"class", i % 10}};
      batch.images.push_back(std::move(image));
    }
    made.append(id, segment, batch);
    made.setState(id, store::RunState::Done);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int images = argc > 1 ? std::atoi(argv[1]) : 100'000;
  const QSize size(argc > 3 ? std::atoi(argv[2]) : 1366, argc > 3 ? std::atoi(argv[3]) : 768);
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("gallery.sqlite")).toStdString();
  QElapsedTimer clock;
  clock.start();
  // In a process of its own: what it needs is not counted below.
  if (const pid_t child = vitrine::forkChild(); child == 0) {
    fill(file, images);
    ::_exit(0);
  } else {
    int status = -1;
    ::waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  ui::applyTheme(ui::ThemeKind::Dark);
  std::printf("%d images of %d x %d pixels written in %.1f s\n", images, kSide, kSide,
              static_cast<double>(clock.elapsed()) / 1e3);
  const double before = residentMegabytes();

  BareWorkbench workbench(file);
  ui::GalleryPage page(workbench);
  page.resize(size);
  clock.restart();
  page.show();
  page.waitUntilIdle();
  std::printf("first sight of the page: %lld ms; memory %.0f MB (%.0f MB before it)\n",
              static_cast<long long>(clock.elapsed()), residentMegabytes(), before);

  // As a display does it: a new place, what the page then has to do, and the picture of it.
  ui::ContactSheet& sheet = page.sheet();
  double most = 0;
  const auto scroll = [&](const char* what, int tile, int by, int frames) {
    sheet.setTile(tile);
    page.waitUntilIdle();
    std::vector<double> times;
    QScrollBar* bar = sheet.verticalScrollBar();
    bar->setValue(bar->maximum() / 7);
    QImage screen(sheet.viewport()->size(), QImage::Format_RGB32);
    std::size_t empty = 0;
    for (int i = 0; i < frames; ++i) {
      QElapsedTimer frame;
      frame.start();
      bar->setValue((bar->value() + by) % std::max(1, bar->maximum()));
      QApplication::processEvents();
      sheet.viewport()->render(&screen);
      times.push_back(static_cast<double>(frame.nsecsElapsed()) / 1e6);
      most = std::max(most, residentMegabytes());
      empty +=
          screen.pixelColor(tile / 2 + 4, screen.height() / 2) == ui::themeColors().grid ? 1 : 0;
      // What is left of a sixtieth of a second belongs to the reader of pictures.
      while (frame.nsecsElapsed() < 16'666'667) QApplication::processEvents();
    }
    report(what, std::move(times));
    std::printf("%46s tile not there yet in %zu of %d frames\n", "", empty, frames);
  };
  scroll("scroll, 64 px tiles, 60 px a frame", 64, 60, 600);
  scroll("scroll, 64 px tiles, a screen a frame", 64, 600, 600);
  scroll("scroll, 24 px tiles, a screen a frame", 24, 600, 600);
  scroll("scroll, 256 px tiles, 120 px a frame", 256, 120, 600);
  clock.restart();
  page.search(QStringLiteral("sampler:ddim class:3 guidance>2"));
  page.waitUntilIdle();
  std::printf("search: %d found in %lld ms\n", page.model().count(),
              static_cast<long long>(clock.elapsed()));
  most = std::max(most, residentMegabytes());
  qsizetype decoded = 0;
  for (const ui::Thumbnails* pictures : page.findChildren<ui::Thumbnails*>())
    decoded += pictures->bytes();
  std::printf("memory: %.0f MB at most, of which %.0f MB decoded pictures\n", most,
              static_cast<double>(decoded) / 1e6);
  return 0;
}

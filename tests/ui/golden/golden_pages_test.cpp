// What the pages that look inside a model draw, from picture models with made-up values: as
// golden_test.cpp, one picture a page and theme.
#include <QFontDatabase>
#include <cmath>

#include "tests/ui/attention/layers.h"
#include "tests/ui/figures/samples.h"
#include "tests/ui/golden/golden_image.h"
#include "tests/ui/live/live_frames.h"
#include "tests/ui/support/qt_test.h"
#include "ui/attention/attention_figures.h"
#include "ui/calibration/calibration_figures.h"
#include "ui/figures/cues/cue_picture.h"
#include "ui/figures/side_by_side.h"
#include "ui/gallery/gallery_figures.h"
#include "ui/live/live_canvas.h"
#include "ui/live/live_scene.h"
#include "ui/playground/sample_figure.h"
#include "ui/spectra/spectra_figures.h"

namespace vitrine::ui {
namespace {

using Figures = std::vector<std::pair<QString, std::unique_ptr<Figure>>>;

class GoldenPages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!QFontDatabase::hasFamily(QStringLiteral("Inter")))
      GTEST_SKIP() << "the font Inter is not installed (Debian: fonts-inter)";
  }
  static QImage drawn(Figures figures, QSize size, ThemeKind theme) {
    FigureStyle style{.theme = theme};
    SideBySide all(std::move(figures), 2, style);
    all.setStyle(style);
    return all.image(size, 1);
  }
};

/// Brighter to the right and below, with a dark square.
QImage picture(int side, int shade) {
  QImage image(side, side, QImage::Format_RGB32);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const bool isDark = std::abs(x - side / 2) < side / 4 && std::abs(y - side / 2) < side / 4;
      image.setPixel(x, y,
                     isDark ? qRgb(30, 40, 60) : qRgb(60 + 8 * x + shade, 90 + 6 * y, 200 - 5 * x));
    }
  }
  return image;
}

/// Two layers, three heads, a class token and 4 x 4 patches that read near ones the more the later
/// the head; the last patch is masked.
std::shared_ptr<AttentionScene> attentionScene() {
  const Cells cells = cellsOf(4, 4, true);
  auto image = std::make_shared<AttentionImage>();
  for (int layer = 0; layer < 2; ++layer) {
    std::vector<float> weights;
    for (int head = 0; head < 3; ++head) {
      for (std::size_t query = 0; query < cells.size(); ++query) {
        std::vector<double> row;
        double sum = 0;
        for (std::size_t key = 0; key < cells.size(); ++key) {
          const double distance = std::hypot(cells[query].row - cells[key].row,
                                             cells[query].column - cells[key].column);
          const bool isMasked = key + 1 == cells.size() && query + 1 < cells.size();
          row.push_back(isMasked ? 0 : std::exp(-distance * head / (1.0 + layer)));
          sum += row.back();
        }
        for (const double value : row) weights.push_back(static_cast<float>(value / sum));
      }
    }
    image->layers.push_back(squareLayer(cells, std::move(weights), layer));
  }
  image->picture = picture(16, 0);
  auto scene = std::make_shared<AttentionScene>();
  scene->setImage(std::move(image));
  AttentionChoice choice;
  choice.query.kind = QueryChoice::Kind::Patch;
  choice.query.place = {0.375, 0.625};
  choice.layer = 1;
  choice.head = 2;
  choice.isSameScale = true;
  scene->setChoice(choice);
  return scene;
}

Figures attentionFigures() {
  const std::shared_ptr<AttentionScene> scene = attentionScene();
  Figures all;
  all.emplace_back(QStringLiteral("heads"), std::make_unique<HeadsFigure>(scene, FigureStyle{}));
  all.emplace_back(QStringLiteral("head"), std::make_unique<HeadFigure>(scene, FigureStyle{}));
  all.emplace_back(QStringLiteral("distances"), makeDistancesFigure(*scene, FigureStyle{}));
  return all;
}

TEST_F(GoldenPages, Attention) {
  EXPECT_TRUE(isGolden(drawn(attentionFigures(), {760, 560}, ThemeKind::Light),
                       QStringLiteral("page_attention")));
  EXPECT_TRUE(isGolden(drawn(attentionFigures(), {760, 560}, ThemeKind::HighContrast),
                       QStringLiteral("page_attention_high_contrast")));
}

HeadSpectrum fallingBy(double base) {
  HeadSpectrum head;
  double sum = 0, running = 0;
  for (int k = 0; k < 12; ++k) sum += std::pow(base, k);
  for (int k = 0; k < 12; ++k) {
    head.values.push_back(static_cast<float>(std::pow(base, k)));
    running += std::pow(base, k);
    head.shares.push_back(static_cast<float>(running / sum));
  }
  return head;
}

Figures spectraFigures() {
  HeadGridPicture grid{.title = QStringLiteral("Layers and heads"),
                       .about = QStringLiteral("rank at 80 %")};
  WaterfallPicture fall{.title = QStringLiteral("Waterfall, layer 0, head 0"),
                        .about = QStringLiteral("index of \u03c3 by step, colour log \u03c3"),
                        .shown = 200};
  SharePicture share{.title = QStringLiteral("Layer 0, head 0"),
                     .about = QStringLiteral("share of the first k")};
  ControlsPicture controls{.title = QStringLiteral("Controls, layer 0"),
                           .about = QStringLiteral("rank at 80 % of 12")};
  for (std::int64_t run = 1; run <= 2; ++run) {
    const QString name = run == 1 ? QStringLiteral("causal") : QStringLiteral("bidirectional");
    const double base = run == 1 ? 0.8 : 0.6;
    auto spectrum = std::make_shared<Spectrum>();
    for (int layer = 0; layer < 2; ++layer)
      spectrum->layers.push_back({layer, {fallingBy(base), fallingBy(base - 0.1 * (layer + 1))}});
    grid.runs.push_back({run, name, spectrum});
    WaterfallPicture::Run fallen{run, name, QStringLiteral("step 300"), {}, {}, 300};
    for (int step = 0; step <= 300; step += 100) {
      fallen.steps.push_back(step);
      fallen.columns.push_back(fallingBy(base * (0.5 + step / 600.0)));
    }
    fall.runs.push_back(std::move(fallen));
    share.lines.push_back({run, name + QStringLiteral(", untrained"), fallingBy(0.4), true});
    share.lines.push_back({run, name, fallingBy(base), false});
    controls.rows.push_back(
        {run, name, QStringLiteral("mask = ") + name, rankOver(spectrum->layers[0], 0.8)});
  }
  Figures all;
  all.emplace_back(QStringLiteral("heads"), makeHeadGridFigure(std::move(grid)));
  all.emplace_back(QStringLiteral("share"), makeShareFigure(std::move(share)));
  all.emplace_back(QStringLiteral("waterfall"), makeWaterfallFigure(std::move(fall)));
  all.emplace_back(QStringLiteral("controls"), makeControlsFigure(std::move(controls)));
  return all;
}

TEST_F(GoldenPages, Spectra) {
  EXPECT_TRUE(isGolden(drawn(spectraFigures(), {760, 620}, ThemeKind::Light),
                       QStringLiteral("page_spectra")));
}

std::vector<ReliabilityBin> bins(double sureness) {
  std::vector<ReliabilityBin> all;
  for (int i = 0; i < 10; ++i) {
    const double middle = (i + 0.5) / 10;
    all.push_back({i / 10.0, (i + 1) / 10.0, 20 + 15 * i, middle, std::pow(middle, sureness)});
  }
  return all;
}

Figures calibrationFigures() {
  ReliabilityPicture diagram;
  diagram.title = QStringLiteral("Reliability, test");
  diagram.about = QStringLiteral("875 images \u00b7 step 300 \u00b7 10 bins of equal width");
  diagram.quantity = QStringLiteral("confidence");
  diagram.lines = {{1, QStringLiteral("a"), 1, bins(1.6)}, {2, QStringLiteral("b"), 1.4, bins(1)}};
  diagram.bin = 7;
  FilmPicture film{.title = QStringLiteral("Film over training, test"),
                   .about = QStringLiteral("T 1.00 \u00b7 ECE of the current run \u00b7 step")};
  for (int step = 100; step <= 300; step += 100)
    film.frames.push_back(
        {step, QStringLiteral("%1 %").arg(12 - step / 50), {{1, bins(2.2 - step / 300.0)}}});
  film.shown = 1;
  ConfusionPicture confusion;
  confusion.title = QStringLiteral("Confusion, test");
  confusion.about = QStringLiteral("a cell opens its images");
  confusion.names = {QStringLiteral("bag"), QStringLiteral("boot"), QStringLiteral("sneaker")};
  confusion.cells = {90, 6, 4, 2, 80, 18, 1, 25, 74};
  confusion.label = 1;
  confusion.predicted = 2;
  CuePicture cues{.title = QStringLiteral("Shape or texture"),
                  .about = QStringLiteral("a dot a category, a line the mean")};
  const QStringList names{QStringLiteral("circle"), QStringLiteral("square"),
                          QStringLiteral("star")};
  cues.runs = {{1, QStringLiteral("a"), {{{80, 20, 40}, {80, 30, 30}, {80, 9, 60}}, names}},
               {2, QStringLiteral("b"), {{{80, 50, 10}, {80, 40, 20}, {80, 0, 0}}, names}}};
  Figures all;
  all.emplace_back(QStringLiteral("diagram"), makeReliabilityFigure(std::move(diagram)));
  all.emplace_back(QStringLiteral("confusion"), makeConfusionFigure(std::move(confusion)));
  all.emplace_back(QStringLiteral("film"), makeFilmFigure(std::move(film)));
  all.emplace_back(QStringLiteral("cues"), makeCueFigure(std::move(cues)));
  return all;
}

TEST_F(GoldenPages, Calibration) {
  EXPECT_TRUE(isGolden(drawn(calibrationFigures(), {760, 640}, ThemeKind::Light),
                       QStringLiteral("page_calibration")));
}

TEST_F(GoldenPages, EveryThemeHasColoursOfItsOwn) {
  for (Figures (*make)() : {&attentionFigures, &spectraFigures, &calibrationFigures}) {
    const QImage dark = drawn(make(), {760, 640}, ThemeKind::Dark);
    const QImage light = drawn(make(), {760, 640}, ThemeKind::Light);
    const QImage contrast = drawn(make(), {760, 640}, ThemeKind::HighContrast);
    EXPECT_NE(dark, light);
    EXPECT_NE(light, contrast);
    EXPECT_NE(dark, contrast);
  }
}

LabelledImage generated(int number, int shade) {
  LabelledImage image;
  image.row.id = number;
  image.row.runId = 1;
  image.row.step = 100 * number;
  image.row.seed = 33;
  image.row.width = image.row.height = 16;
  image.picture = picture(16, shade);
  image.label = QStringLiteral("a, step %1, seed 33").arg(100 * number);
  return image;
}

TEST_F(GoldenPages, Gallery) {
  const LabelledImage first = generated(1, 0), second = generated(2, 40);
  Figures all;
  all.emplace_back(QStringLiteral("images"),
                   imagesFigure({first, second, generated(3, 80)}, QStringLiteral("Images of a")));
  for (const auto view : {ImageStage::View::Side, ImageStage::View::Difference})
    all.emplace_back(toString(view), pairFigure(first, second, view));
  EXPECT_TRUE(isGolden(drawn(std::move(all), {760, 520}, ThemeKind::Dark),
                       QStringLiteral("page_gallery_dark")));
}

TEST_F(GoldenPages, Playground) {
  Drawing drawing{
      .number = 1, .runName = QStringLiteral("a"), .state = Drawing::State::Done, .seconds = 2};
  drawing.base.sampler = "quick";
  drawing.base.values = {{"seed", 7}, {"count", 1}};
  drawing.grid.columns =
      GridAxis{"guidance", QStringLiteral("Guidance"), {1, 2, 4}, {"1", "2", "4"}};
  int shade = 0;
  for (const SampleSettings& settings : cellsOf(drawing.base, drawing.grid)) {
    DrawnCell cell{.settings = settings, .seconds = 1};
    cell.images.push_back({.seed = 7,
                           .sha256 = "0123456789abcdef",
                           .recipe = {{"sampler", "quick"}, {"seed", 7}},
                           .image = picture(16, shade += 30)});
    drawing.cells.push_back(std::move(cell));
  }
  SampleFigure figure(std::move(drawing), FigureStyle{});
  figure.setStyle({.theme = ThemeKind::Light});
  EXPECT_TRUE(isGolden(figure.image({560, 300}, 1), QStringLiteral("page_playground")));
}

// Drawn by the processor, as where there is no OpenGL: every window, with a schedule and a film.
TEST_F(GoldenPages, Live) {
  applyTheme(ThemeKind::Light);
  LiveModel model;
  model.begin(100);
  for (std::int64_t step = 10; step <= 60; step += 10) {
    live::Frame frame = liveFrame(step);
    if (step == 60) frame.film = liveFilm();
    model.add(std::move(frame));
  }
  LiveScene scene(model, nullptr);
  LiveCanvas canvas([&scene](LiveCanvas& into) { scene.draw(into); });
  const QImage page = canvas.image({1000, 680}, 1);
  applyTheme(ThemeKind::Dark);
  EXPECT_TRUE(isGolden(page, QStringLiteral("page_live")));
}

}  // namespace
}  // namespace vitrine::ui

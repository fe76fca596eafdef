// What a frame of Studio's Monitor costs in processor time: 20 curves of 1,000,000 points, zoomed
// and panned, drawn in software; and what an hour of live data leaves in memory.
//   bench_plots [CURVES] [POINTS] [FRAMES]
#include <QApplication>
#include <QImage>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/bench/frame_times.h"
#include "ui/kit/theme.h"
#include "ui/monitor/curve_plot.h"

namespace {

namespace ui = vitrine::ui;
using namespace vitrine::bench;

// A loss that falls, with noise and a rare spike.
std::vector<vitrine::store::MetricPoint> pointsOf(int curve, std::int64_t from, std::int64_t to) {
  std::vector<vitrine::store::MetricPoint> points;
  points.reserve(static_cast<std::size_t>(to - from));
  for (std::int64_t i = from; i < to; ++i) {
    vitrine::store::MetricPoint point;
    point.sequence = point.step = i + 1;
    point.segment = 1;
    point.epoch = static_cast<double>(i) / 400;
    point.time = static_cast<double>(i) * 0.02;
    const double noise = std::sin(static_cast<double>(i * 7919 + curve * 104729) * 12.9898);
    point.value = 2.3 * std::exp(-3e-6 * static_cast<double>(i)) + 0.05 * curve + 0.1 * noise;
    if (i % 333'333 == 77'777) point.value += 2;
    points.push_back(point);
  }
  return points;
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  ui::applyTheme(ui::ThemeKind::Dark);
  const int curves = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::int64_t points = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  const int frames = argc > 3 ? std::atoi(argv[3]) : 300;

  std::vector<std::unique_ptr<ui::CurveSeries>> series;
  std::vector<ui::PlottedCurve> plotted;
  for (int c = 0; c < curves; ++c) {
    series.push_back(std::make_unique<ui::CurveSeries>());
    series.back()->append(pointsOf(c, 0, points));
    plotted.push_back({c + 1, QStringLiteral("run %1").arg(c + 1), series.back().get()});
  }
  for (const bool isSmoothed : {false, true}) {
    ui::CurvePlot plot;
    plot.resize(1000, 560);
    plot.setSettings(
        {.smoothing = isSmoothed ? ui::Smoothing{ui::Smoothing::Kind::Ema, 0.9} : ui::Smoothing{}});
    plot.setCurves(plotted);
    plot.show();
    QImage screen(plot.size(), QImage::Format_RGB32);
    const auto frame = [&](double from, double to) {
      const double start = ownTime();
      plot.showRange(from, to);
      plot.render(&screen);
      return ownTime() - start;
    };
    const double all = static_cast<double>(points);
    const double first = frame(0, all);
    std::vector<double> zoom, pan;
    for (int i = 0; i < frames; ++i) {
      const double width = all * std::pow(0.5, 10.0 * i / frames);
      zoom.push_back(frame(all / 2 - width / 2, all / 2 + width / 2));
    }
    for (int i = 0; i < frames; ++i) {
      const double from = 0.75 * all * i / frames;
      pan.push_back(frame(from, from + all / 4));
    }
    std::printf("%d curves x %lld points, %s; first frame %.1f ms\n", curves,
                static_cast<long long>(points),
                isSmoothed ? "smoothed with the raw lines behind" : "raw", first);
    report("  zoom", zoom);
    report("  pan", pan);
  }

  // One hour of 20 runs that write 4 times a second, 5 points each: 4 drawings a second.
  series.clear();
  plotted.clear();
  for (int c = 0; c < curves; ++c) {
    series.push_back(std::make_unique<ui::CurveSeries>());
    series.back()->append(pointsOf(c, 0, 1000));
    plotted.push_back({c + 1, QStringLiteral("run"), series.back().get()});
  }
  ui::CurvePlot live;
  live.resize(1000, 560);
  live.setCurves(plotted);
  live.show();
  QImage screen(live.size(), QImage::Format_RGB32);
  const int looks = 4 * 3600;
  const double before = residentMegabytes();
  std::vector<double> times;
  std::int64_t step = 1000;
  for (int look = 0; look < looks; ++look, step += 5) {
    for (int c = 0; c < curves; ++c)
      series[static_cast<std::size_t>(c)]->append(pointsOf(c, step, step + 5));
    if (look % 40 != 0) continue;  // every tenth second is drawn: the drawing is what may leak
    const double start = ownTime();
    live.showRange(0, static_cast<double>(step));
    live.render(&screen);
    times.push_back(ownTime() - start);
  }
  std::size_t held = 0;
  for (const auto& one : series) held += one->bytes();
  std::printf(
      "an hour of live data, %d curves: %.1f MB more resident, of which the curves hold %.1f\n",
      curves, residentMegabytes() - before, static_cast<double>(held) / 1e6);
  report("  live", times);
  return 0;
}

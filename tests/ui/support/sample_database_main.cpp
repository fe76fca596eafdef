// sample_database FILE [EXTRA_RUNS] [--artifacts] [--two-tasks] [--live]: makes a database to look
// at the window with; --artifacts gives its runs spectra, attention, answers and images, and adds a
// run that draws; --two-tasks adds runs of a task that no plugin here brings, --live keeps its
// running run running: a few points four times a second, and frames for the Live page.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include "core/live/channel.h"
#include "tests/support/two_tasks.h"
#include "tests/ui/live/live_frames.h"
#include "tests/ui/support/sample_database.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: sample_database FILE [EXTRA_RUNS] [--artifacts] [--two-tasks] [--live]\n");
    return 2;
  }
  try {
    vitrine::store::RunStore store(argv[1]);
    vitrine::ui::SampleOptions options;
    if (argc > 2 && argv[2][0] != '-') options.extraRuns = std::atoi(argv[2]);
    for (int i = 2; i < argc; ++i)
      options.hasArtifacts = options.hasArtifacts || std::strcmp(argv[i], "--artifacts") == 0;
    const auto ids = vitrine::ui::fillSampleDatabase(store, options);
    std::printf("%zu runs\n", ids.size());
    std::fflush(stdout);
    for (int i = 2; i < argc; ++i) {
      if (std::strcmp(argv[i], "--two-tasks") != 0) continue;
      for (const std::uint64_t seed : {0U, 1U}) {
        vitrine::testing::addDrawing(store, "small", 12.5 + static_cast<double>(seed), seed);
        vitrine::testing::addDrawing(store, "large", 9.25 + static_cast<double>(seed), seed);
      }
      vitrine::testing::addDrawing(store, "in progress", 30, 2, vitrine::store::RunState::Running);
    }
    if (std::strcmp(argv[argc - 1], "--live") != 0) return 0;
    const int start = static_cast<int>(options.points * 0.47);
    vitrine::live::Publisher trainer(store.run(ids[8]).uuid);
    for (int i = start; i < options.points; i += 8) {
      vitrine::ui::appendSamplePoints(store, ids[8], 1, 8, i, i + 8, options.points);
      if (trainer.isWatched(vitrine::live::liveNow())) {
        vitrine::live::Frame frame = vitrine::ui::liveFrame(2 * i);
        frame.totalSteps = 2 * options.points;
        const double share = static_cast<double>(i) / options.points;
        frame.loss = 2 - share;
        frame.scheduled = {{"model/mask_alpha", 1 - share}};
        frame.gap = vitrine::live::ScheduleGap{frame.loss, frame.loss + share / 2, 32};
        (void)trainer.publish(vitrine::live::encode(frame));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
    store.setState(ids[8], vitrine::store::RunState::Done);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sample_database: %s\n", error.what());
    return 1;
  }
  return 0;
}

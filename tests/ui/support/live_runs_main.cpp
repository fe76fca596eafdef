// live_runs FILE RUNS: that many runs in progress, each writing every half second as a training
// process does, until standard input is closed.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "tests/ui/support/sample_database.h"

namespace {

using Clock = std::chrono::steady_clock;

bool isInputClosed(std::chrono::milliseconds patience) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(patience.count())) <= 0) return false;
  char bytes[64];
  return ::read(STDIN_FILENO, bytes, sizeof bytes) <= 0;
}

int writeLive(const char* file, int runs) {
  constexpr int kTotal = 200'000;  // points of a run: none of them ends
  constexpr auto kPause = std::chrono::milliseconds(500);
  vitrine::store::RunStore store(file);
  std::vector<vitrine::store::NewRun> wanted(static_cast<std::size_t>(runs));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i].name = "live " + std::to_string(i);
    wanted[i].seed = i;
    wanted[i].config = {{"model", {{"architecture", "vit"}}}, {"train", {{"seed", i}}}};
  }
  const auto ids = store.addRuns(store.experiment("Live", ""), wanted);
  std::vector<std::int64_t> segments;
  for (const std::int64_t id : ids) {
    segments.push_back(store.openSegment(id, 0, vitrine::store::thisWorker(),
                                         {{"device", "cpu"}, {"commit", "live"}}));
  }
  std::printf("ready\n");
  std::fflush(stdout);
  auto next = Clock::now();
  for (int at = 0; at < kTotal; at += 4) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      vitrine::ui::appendSamplePoints(store, ids[i], segments[i], static_cast<int>(i % 12), at,
                                      at + 4, kTotal);
    }
    next += kPause;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
    if (isInputClosed(std::max(left, std::chrono::milliseconds(0)))) return 0;
    if (left.count() < 0) next = Clock::now();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: live_runs FILE RUNS\n");
    return 2;
  }
  try {
    return writeLive(argv[1], std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "live_runs: %s\n", error.what());
    return 1;
  }
}

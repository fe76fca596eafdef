// How long it takes to open an experiment database and to see what is in it.
//
//   --make FILE --runs N --points N   makes one and ends: runs of one metric, `train/loss`
//   --file FILE --what open           times the opening
//                      list           opening, all runs, and the last value of two metrics of each
//                      curves         list, and every point of every run
//                      curve --run N  all points of one run, in a database that is open
//
// With --cold 1 the file's pages are dropped from memory before every iteration.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/store/run_store.h"
#include "tests/bench/turns.h"

using namespace vitrine;

namespace {

constexpr const char* kMetric = "train/loss";

void make(const std::string& file, int runs, std::int64_t points) {
  store::RunStore store(file);
  const std::int64_t experiment = store.experiment("bench", "");
  for (int i = 0; i < runs; ++i) {
    store::NewRun run;
    run.name = "run " + std::to_string(i);
    run.config = Json::parse(R"({"model": {"architecture": "vit", "width": 96, "depth": 6},
                                 "train": {"epochs": 10, "batch_size": 128}})");
    run.config["train"]["seed"] = i;
    const std::int64_t id = store.addRuns(experiment, {run}).front();
    const std::int64_t segment =
        store.openSegment(id, 0, store::thisWorker(), Json{{"device", "cpu"}, {"commit", "bench"}});
    for (std::int64_t step = 0; step < points;) {
      store::RunStore::Batch batch;
      for (; step < points && batch.metrics.size() < 100'000; ++step) {
        const auto s = static_cast<double>(step);
        // Steps take 30 ms, now and then a little longer.
        const double time = s * 0.030 + 0.002 * static_cast<double>(step * 7 % 11);
        const double loss = 2.3 / std::sqrt(1.0 + s) + 0.01 * std::sin(s * (1.0 + 0.001 * i));
        batch.metrics.push_back({step, s / 469.0, time, {{kMetric, loss}}});
      }
      store.append(id, segment, batch);
    }
    store.setState(id, store::RunState::Done);
  }
}

/// Drops the pages of `file` from memory and makes sure of it. Nothing has the file open.
void forget(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error("cannot open " + file);
  ::fsync(descriptor);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  const auto bytes = static_cast<std::size_t>(::lseek(descriptor, 0, SEEK_END));
  void* pages = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (pages == MAP_FAILED) return;
  std::vector<unsigned char> isThere((bytes + 4095) / 4096);
  ::mincore(pages, bytes, isThere.data());
  ::munmap(pages, bytes);
  std::size_t left = 0;
  for (const unsigned char page : isThere) left += page & 1u;
  if (left > 16) std::cerr << left << " pages of " << file << " are still in memory\n";
}

struct Seen {
  double sum = 0;
  std::vector<store::RunRow> runs;
  std::size_t points = 0;
};

Seen list(store::RunStore& store) {
  Seen seen{.runs = store.runs()};
  for (const char* name : {kMetric, "test/top1"}) {
    for (const auto& [run, value] : store.lastValues(name)) seen.sum += value;
  }
  return seen;
}

void curve(store::RunStore& store, std::int64_t run, Seen& seen) {
  const auto points = store.points(run, kMetric);
  seen.points += points.size();
  if (!points.empty()) seen.sum += points.back().value;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> options = bench::readOptions(count, words);
  if (options.count("--make") != 0) {
    make(options["--make"], std::stoi(options["--runs"]), std::stoll(options["--points"]));
    return 0;
  }
  const std::string file = options["--file"];
  const std::string what = options["--what"];
  const bool isCold = options["--cold"] == "1";
  std::optional<store::RunStore> open;
  if (what == "curve") open.emplace(file, store::OpenMode::ReadOnly);
  Seen seen;
  const auto once = [&] {
    if (isCold) forget(file);
    return bench::timed([&] {
      if (open) return curve(*open, std::stoll(options["--run"]), seen);
      store::RunStore store(file, store::OpenMode::ReadOnly);
      if (what != "open") seen = list(store);
      if (what == "curves") {
        for (const store::RunRow& run : seen.runs) curve(store, run.id, seen);
      }
    });
  };
  if (options["--once"] == "1") {
    // The process with its start counts: one answer, and the end.
    static_cast<void>(once());
    std::cout << seen.runs.size() << " runs, " << seen.points << " points, " << seen.sum
              << std::endl;
    return 0;
  }
  bench::takeTurns(isCold ? 0 : 1, once);
  if (std::isnan(seen.sum)) return 1;
  return 0;
}

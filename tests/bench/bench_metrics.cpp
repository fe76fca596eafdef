// What it costs to log metrics: a call on the training thread, and points on their way into the
// database.
//
//   --mode call     a turn makes that many calls; answers median, 99th percentile and mean, in ns
//   --mode ingest   a turn stores that many records in a new database; answers points per CPU
//                   second, points per second and bytes a point
//
// --values 1 or 8 metrics a record. --pause MB: what is read through between two calls (call) or
// --pause MS between two records (ingest), as a training step would be in between; 0 is a hot loop.
// peers/tracker_metrics.py answers the same.
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/text.h"
#include "core/store/run_store.h"
#include "core/store/spool/store_sink.h"
#include "tests/bench/turns.h"

using namespace vitrine;

namespace {

/// A database of its own that goes with its object.
struct Place {
  Place() { std::filesystem::create_directories(folder); }
  ~Place() { std::filesystem::remove_all(folder); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] std::filesystem::path file() const { return folder / "bench.sqlite"; }
  /// The database and its log.
  [[nodiscard]] double bytes() const {
    const auto log = file().string() + "-wal";
    return static_cast<double>(
        std::filesystem::file_size(file()) +
        (std::filesystem::exists(log) ? std::filesystem::file_size(log) : 0));
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("vitrine-bench-" + newUuid());
};

std::int64_t addRunning(store::RunStore& store) {
  const std::int64_t id =
      store.addRuns(store.experiment("bench", ""), {{.name = newUuid()}}).front();
  static_cast<void>(store.openSegment(id, 0, store::thisWorker(), Json::object()));
  return id;
}

/// A record as the trainer makes one, with the trainer's names.
MetricRecord recordOf(std::int64_t step, int values) {
  const auto s = static_cast<double>(step);
  MetricRecord record{step, s / 469.0, s * 0.031, {}};
  record.values.emplace_back("train/loss", 1.0 / (s + 1.0));
  if (values == 1) return record;
  record.values.reserve(8);
  record.values.emplace_back("train/loss/label", 0.5 / (s + 1.0));
  record.values.emplace_back("optimizer/learning_rate", 1e-3 / (s + 1.0));
  record.values.emplace_back("optimizer/gradient_norm", 2.0 / (s + 3.0));
  record.values.emplace_back("system/images_per_second", 4000.0 + 1.0 / (s + 1.0));
  record.values.emplace_back("system/memory", 5e8 + s);
  record.values.emplace_back("system/device_seconds", s * 0.031);
  record.values.emplace_back("model/mask_alpha", 1.0 / (s + 7.0));
  return record;
}

double cpuSeconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void timeCalls(int values, int pauseMegabytes) {
  const Place place;
  store::RunStore store(place.file());
  RunControl control;
  store::StoreSink sink(place.file(), addRunning(store), 1, control);
  std::vector<double> work(static_cast<std::size_t>(pauseMegabytes) << 17, 1.0);
  double sum = 0;
  std::int64_t step = 0;
  const auto turn = [&](int calls) {
    std::vector<double> nanoseconds;
    nanoseconds.reserve(static_cast<std::size_t>(calls));
    for (int i = 0; i < calls; ++i) {
      sum += std::accumulate(work.begin(), work.end(), 0.0);
      ++step;
      nanoseconds.push_back(1e6 * bench::timed([&] { sink.metrics(recordOf(step, values)); }));
    }
    sink.flush();
    return nanoseconds;
  };
  static_cast<void>(turn(1000));
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<double> ns = turn(std::stoi(line));
    std::sort(ns.begin(), ns.end());
    std::cout << ns[ns.size() / 2] << ' ' << ns[ns.size() * 99 / 100] << ' '
              << std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size())
              << std::endl;
  }
  if (sum < 0) std::cerr << sum;  // the work must not be optimised away
}

void timeIngest(int values, int pauseMilliseconds) {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const std::int64_t records = std::stoll(line);
    const auto points = static_cast<double>(records * values);
    const Place place;
    store::RunStore store(place.file());
    const std::int64_t run = addRunning(store);
    RunControl control;
    store::StoreSink sink(place.file(), run, 1, control);
    const double before = place.bytes();
    const double cpu = cpuSeconds();
    const double milliseconds = bench::timed([&] {
      for (std::int64_t step = 1; step <= records; ++step) {
        if (pauseMilliseconds > 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(pauseMilliseconds));
        sink.metrics(recordOf(step, values));
      }
      sink.flush();
    });
    std::cout << points / (cpuSeconds() - cpu) << ' ' << points / milliseconds * 1e3 << ' ';
    store.setState(run, store::RunState::Done);
    { const store::RunStore last(std::move(store)); }  // leaves an empty log
    std::cout << (place.bytes() - before) / points << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  app::becomeComputeProcess(words);  // as the process that trains
  std::map<std::string, std::string> options = bench::readOptions(count, words);
  const int values = std::stoi(options["--values"]);
  const int pause = std::stoi(options["--pause"]);
  if (options["--mode"] == "call") {
    timeCalls(values, pause);
  } else {
    timeIngest(values, pause);
  }
  return 0;
}

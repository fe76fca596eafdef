// A process that writes to a database until it is done or killed. Usage:
//   store_worker DATABASE NAME COMMITS ACKNOWLEDGEMENTS [MILLISECONDS]
// Adds a run NAME, appends COMMITS batches of 125 moments with 8 metrics each, MILLISECONDS apart,
// and after each commit that returned writes its number to the file ACKNOWLEDGEMENTS (8 bytes).
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "core/store/run_store.h"

int main(int count, char** words) {
  using namespace vitrine;
  using namespace vitrine::store;
  if (count < 5) return 2;
  try {
    RunStore store(words[1]);
    const std::int64_t run =
        store.addRuns(store.experiment("workers", ""), {{.name = words[2]}}).front();
    const std::int64_t segment = store.openSegment(run, 0, thisWorker(), Json::object());
    const int acknowledgements = ::open(words[4], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    const std::int64_t commits = std::strtoll(words[3], nullptr, 10);
    const auto pause =
        std::chrono::milliseconds(count > 5 ? std::strtol(words[5], nullptr, 10) : 0);
    for (std::int64_t commit = 1; commit <= commits; ++commit) {
      RunStore::Batch batch;
      for (int moment = 1; moment <= 125; ++moment) {
        const std::int64_t step = (commit - 1) * 125 + moment;
        MetricRecord record{
            step, static_cast<double>(step) / 100, static_cast<double>(step) / 30, {}};
        for (int metric = 0; metric < 8; ++metric) {
          record.values.emplace_back("train/" + std::to_string(metric),
                                     static_cast<double>(step * 10 + metric));
        }
        batch.metrics.push_back(std::move(record));
      }
      store.append(run, segment, batch);
      if (::pwrite(acknowledgements, &commit, sizeof commit, 0) != sizeof commit) return 3;
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
    }
    store.setState(run, RunState::Done);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store_worker: %s\n", error.what());
    return 1;
  }
}

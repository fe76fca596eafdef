#include "tests/fuzz/database_search.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>

#include "core/base/error.h"
#include "core/jobs/queue.h"
#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/maintenance/thinning.h"
#include "core/store/run_store.h"
#include "core/store/search.h"
#include "tests/fuzz/database_mutate.h"
#include "tests/fuzz/targets.h"
#include "tests/support/child.h"
#include "tests/support/temporary_folder.h"

#if defined(__SANITIZE_ADDRESS__)
#define VITRINE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VITRINE_ADDRESS_SANITIZER 1
#endif
#endif

namespace vitrine::fuzz {

namespace fs = std::filesystem;

namespace {

constexpr int kMostSeconds = 10;        // of computing, per input
constexpr unsigned kMostWaiting = 120;  // seconds, on a machine that is busy with other things
constexpr rlim_t kMostMemory = rlim_t{1} << 30;

/// What a worker says of itself; it outlives the worker.
struct Shared {
  std::atomic<std::int64_t> next{0};
  struct Worker {
    std::atomic<std::int64_t> input{-1};
    std::atomic<std::int64_t> inputs{0}, opened{0}, imported{0};
    char what[400] = {};  ///< of a finding that is an exception or a broken promise
  } workers[64];
};

void writeFile(const fs::path& file, const std::string& bytes) {
  if (bytes.empty()) return;
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// True when `body` did its work, false when it refused in words.
template <typename Body>
bool takes(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& refusal) {
    require(*refusal.what() != '\0', "a refusal says why");
    for (const char* c = refusal.what(); *c != '\0'; ++c) {
      if (static_cast<unsigned char>(*c) < 0x20 || *c == 0x7f)
        throw Finding(std::string("a refusal that a terminal would obey: ") + refusal.what());
    }
    return false;
  }
}

/// One worker's folder: what is broken, the database it is imported into, and room for results.
class Bench {
 public:
  explicit Bench(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directories(folder_ / "target");
    store::RunStore empty(folder_ / "empty.sqlite");
  }

  void run(const DatabaseFiles& files, Dice& dice, Shared::Worker& told) {
    writeFile(file(), files.main);
    if (files.main.empty()) std::ofstream(file(), std::ios::trunc).flush();
    writeFile(file().string() + "-wal", files.log);
    writeFile(file().string() + "-journal", files.journal);
    fs::create_directories(folder_ / "out");
    // One user each: most of an input's time is SQLite reading the schema, once per opening.
    bool isOpened = false;
    switch (dice.below(4)) {
      case 0:
        import(dice, told);
        break;
      case 1:
        isOpened = takes([&] { look(dice); });
        break;
      case 2:
        isOpened = takes([&] { write(dice); });
        if (dice.below(4) == 0) care(dice);
        break;
      default:
        isOpened = care(dice);
    }
    told.opened += isOpened ? 1 : 0;
    prune();
  }

  /// What was imported so far must be whole.
  void checkTarget() {
    if (!fs::exists(target())) return;
    require(store::RunStore(target()).check().empty(), "a database is sound after an import");
    require(checkContents(target(), store::CheckpointFiles::Verified).empty(),
            "what was imported holds together");
    fs::remove_all(folder_ / "target");
    fs::create_directories(folder_ / "target");
  }

 private:
  [[nodiscard]] fs::path file() const { return folder_ / "x.sqlite"; }
  [[nodiscard]] fs::path target() const { return folder_ / "target" / "lab.sqlite"; }
  [[nodiscard]] fs::path out(const char* name) const { return folder_ / "out" / name; }

  /// As the window and the verbs that list do. What one of them refuses another one may show.
  void look(Dice& dice) {
    static constexpr std::array kViews{
        "runs",    "metrics",        "metric_summaries", "parameters",       "artifacts",
        "spectra", "attention_maps", "calibration_bins", "generated_images", "generated_texts",
        "queue"};
    store::RunStore store(file(), store::OpenMode::ReadOnly);
    for (int i = 0; i < 3; ++i) {
      const std::string view = kViews[dice.below(kViews.size())];
      takes([&] { static_cast<void>(store.query("SELECT * FROM " + view)); });
    }
    std::vector<store::RunRow> rows;
    takes([&] { rows = store.runs(); });
    takes([&] { static_cast<void>(store.deletedRuns(0)); });
    takes([&] { static_cast<void>(store.lastValues("train/loss")); });
    takes([&] { static_cast<void>(store.info()); });
    for (std::int64_t run = 1; run <= 3; ++run) show(store, run);
    for (const store::RunRow& row : rows)
      takes([&] { static_cast<void>(store.runByUuid(row.uuid)); });
  }

  static void show(store::RunStore& store, std::int64_t run) {
    const std::function<void()> parts[] = {
        [&] { static_cast<void>(store.run(run)); },
        [&] { static_cast<void>(store.config(run)); },
        [&] { static_cast<void>(store.origins(run)); },
        [&] { static_cast<void>(store.init(run)); },
        [&] { static_cast<void>(store.environment(run)); },
        [&] { static_cast<void>(store.note(run)); },
        [&] { static_cast<void>(store.tags(run)); },
        [&] { static_cast<void>(store.curveNotes(run)); },
        [&] { static_cast<void>(store.segments(run)); },
        [&] { static_cast<void>(store.summaries(run)); },
        [&] { static_cast<void>(store.checkpoints(run)); },
        [&] { static_cast<void>(store.events(run)); },
        [&] {
          for (const std::string& name : store.metricNames(run))
            takes([&] { static_cast<void>(store.points(run, name)); });
        },
        [&] {
          for (const store::ArtifactRow& row : store.artifacts(run)) {
            takes([&] {
              const std::vector<std::byte> data = store.artifactData(row.id);
              const ArrayView view = arrayOf(row.meta, data);
              for (std::int64_t i = 0; i < view.count(); ++i) static_cast<void>(view.at(i));
            });
          }
        },
    };
    for (const auto& part : parts) takes(part);
  }

  /// As a trainer, the queue and a person do.
  void write(Dice& dice) {
    store::RunStore store(file(), store::OpenMode::ReadWrite);
    takes([&] { static_cast<void>(store.reapLostRuns()); });
    takes([&] { store.setNote(1, "a note"); });
    takes([&] { store.setTags(1, {"a", "b"}); });
    takes([&] { store.setCurveNotes(1, {{"train/loss", 3, "seen"}}, 0); });
    takes([&] {
      store::NewRun run{.name = "new", .config = Json::parse(R"({"train": {"epochs": 1}})")};
      const auto id = store.addRuns(store.experiment("first", ""), {run}).front();
      store.openSegment(id, 0, store::thisWorker(), Json::object());
    });
    takes([&] {
      const auto segment = store.openSegment(3, 0, store::thisWorker(), Json::object());
      store::RunStore::Batch batch;
      for (int step = 1; step < 40; ++step)
        batch.metrics.push_back({step, 1.0 * step, 1.0 * step, {{"train/loss", 1.0 * step}}});
      batch.events.push_back({1, "evaluation", "x", Json::object()});
      store.append(3, segment, batch);
      store.setState(3, store::RunState::Done);
    });
    takes([&] {
      jobs::JobQueue queue(store);
      static_cast<void>(queue.list());
      queue.prune();
      queue.enqueue(std::vector<std::int64_t>{2}, store::QueueOptions());
      queue.moveToFront(2);
      static_cast<void>(queue.inProgress());
    });
    if (dice.below(4) == 0) takes([&] { store.deleteRun(1 + static_cast<int>(dice.below(3))); });
    takes([&] { static_cast<void>(store.check()); });
  }

  /// One of the verbs that take the whole file; true when it took this one.
  bool care(Dice& dice) {
    const auto exports = [&](const char* to, store::ExportFormat format) {
      return takes([&] {
        exportRuns(file(), std::vector<std::int64_t>{1, 2, 3}, out(to), format,
                   store::ExportedCheckpoints::None);
      });
    };
    switch (dice.below(10)) {
      case 0:
        return takes([&] { store::backupDatabase(file(), out("backup.sqlite")); });
      case 1:
        return takes(
            [&] { static_cast<void>(checkContents(file(), store::CheckpointFiles::Verified)); });
      case 2:
        return takes([&] { store::compactDatabase(file()); });
      case 3:
        return takes([&] { static_cast<void>(store::databaseSpace(file())); });
      case 4:
        return takes([&] {
          static_cast<void>(store::searchRuns(file(), "note", 10, folder_ / "out" / "index"));
        });
      case 5:
        return exports("x.csv", store::ExportFormat::Csv);
      case 6:
        return exports("x.jsonl", store::ExportFormat::JsonLines);
      case 7:
        return exports("board", store::ExportFormat::TensorBoard);
      case 8:
        return takes([&] {
          const std::vector<std::int64_t> ended = store::runsEndedBefore(file(), "9999");
          static_cast<void>(store::thinRuns(file(), ended, store::kSmallestBucket));
        });
      default:
        if (!exports("x.vitrine", store::ExportFormat::Sqlite)) return false;
        takes([&] { importRuns(target(), out("x.vitrine"), store::Duplicates::Copy, ""); });
        checkTarget();
        return true;
    }
  }

  void import(Dice& dice, Shared::Worker& told) {
    if (!fs::exists(target())) fs::copy_file(folder_ / "empty.sqlite", target());
    store::ImportReport report;
    takes([&] {
      report =
          importRuns(target(), file(),
                     dice.below(2) == 0 ? store::Duplicates::Copy : store::Duplicates::Skip, "");
    });
    if (report.runs.empty()) return;
    ++told.imported;
    takes([&] {
      store::RunStore store(target());
      for (const store::ImportReport::Run& run : report.runs) show(store, run.id);
    });
    checkTarget();
  }

  /// Removes what this input made; everything lies where it may.
  void prune() {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("empty.") || name == "target") continue;
      if (name != "out" && name != "x.files" && !name.starts_with("x.sqlite"))
        throw Finding("a file is made where none belongs: " + name);
      fs::remove_all(entry.path());
    }
    for (const auto& entry : fs::directory_iterator(folder_.parent_path())) {
      const std::string name = entry.path().filename().string();
      if (name[0] != 'w' || name.find_first_not_of("0123456789", 1) != std::string::npos)
        throw Finding("a file is made where none belongs: " + name);
    }
  }

  fs::path folder_;
};

DatabaseFiles inputOf(const std::vector<DatabaseSeed>& seeds, std::int64_t input, Dice& dice) {
  dice = Dice(static_cast<std::uint64_t>(input) * 0x9e3779b97f4a7c15);
  // The old version costs a migration each time: one in sixteen.
  const std::size_t choice = dice.below(16);
  const DatabaseSeed& seed = seeds[choice == 15 ? 3 : choice % 3];
  return mutateDatabase(seed, dice);
}

void limitProcess() {
#ifndef VITRINE_ADDRESS_SANITIZER
  const rlimit memory{kMostMemory, kMostMemory};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void limitTime(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);  // ends the process
  ::alarm(seconds > 0 ? kMostWaiting : 0);
}

/// Takes inputs until there are none.
[[noreturn]] void work(const DatabaseSearch& search, const std::vector<DatabaseSeed>& seeds,
                       const fs::path& folder, Shared& shared, Shared::Worker& told) {
  limitProcess();
  // Warnings about files that are meant to be broken would fill the terminal; a sanitizer's report
  // goes to the file that its options name.
  try {
    Bench bench(folder);
    Dice dice(0);
    for (int since = 1;; ++since) {
      const std::int64_t input = shared.next++;
      if (input >= search.first + search.count) break;
      told.input = input;
      limitTime(kMostSeconds);
      const DatabaseFiles files = inputOf(seeds, input, dice);
      bench.run(files, dice, told);
      if (since % 64 == 0) bench.checkTarget();
      limitTime(0);
      ++told.inputs;
    }
    told.input = search.first + search.count;
    bench.checkTarget();
    told.input = -1;
    ::_exit(0);
  } catch (const std::exception& finding) {
    std::strncpy(told.what, finding.what(), sizeof told.what - 1);
    ::_exit(1);
  }
}

std::string endOf(int status, const char* said) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF) return "a hang: more than 10 s of computing";
    if (signal == SIGALRM) return "a hang: nothing happened for two minutes";
    return std::string("a crash: ") + ::strsignal(signal);
  }
  if (*said != '\0') return said;
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

void keepInput(const fs::path& keep, std::int64_t input, const DatabaseFiles& files) {
  if (keep.empty()) return;
  std::error_code error;
  fs::create_directories(keep, error);
  const std::string name = (keep / ("database-" + std::to_string(input) + ".sqlite")).string();
  writeFile(name, files.main);
  writeFile(name + "-wal", files.log);
  writeFile(name + "-journal", files.journal);
}

}  // namespace

DatabaseReport searchDatabases(const DatabaseSearch& search) {
  const TemporaryFolder folder(folderInMemory());  // every input is several files that are synced
  const std::vector<DatabaseSeed> seeds = databaseSeeds(folder.path());

  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw FileError("no shared memory");
  auto* shared = new (memory) Shared();
  shared->next = search.first;
  const int processes = std::clamp(search.processes, 1, 64);
  std::vector<pid_t> children(static_cast<std::size_t>(processes), 0);
  DatabaseReport report;
  int folders = 0;
  for (int left = processes; left > 0;) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (children[i] != 0) continue;
      Shared::Worker& told = shared->workers[i];
      told.input = -1;
      told.what[0] = '\0';
      const fs::path own = folder / ("w" + std::to_string(folders++));
      children[i] = forkChild();
      if (children[i] == 0) work(search, seeds, own, *shared, told);
    }
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    const auto found = std::find(children.begin(), children.end(), ended);
    if (ended <= 0 || found == children.end()) continue;
    const auto index = static_cast<std::size_t>(found - children.begin());
    Shared::Worker& told = shared->workers[index];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      *found = -1;
      --left;
      continue;
    }
    *found = 0;
    DatabaseFinding finding{told.input, endOf(status, told.what)};
    if (finding.input >= search.first && finding.input < search.first + search.count) {
      Dice dice(0);
      keepInput(search.keep, finding.input, inputOf(seeds, finding.input, dice));
    }
    report.findings.push_back(std::move(finding));
    if (report.findings.size() >= 20) {
      shared->next = search.first + search.count;
      *found = -1;
      --left;
    }
  }
  for (const Shared::Worker& told : shared->workers) {
    report.inputs += told.inputs;
    report.opened += told.opened;
    report.imported += told.imported;
  }
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  report.peakMegabytes = usage.ru_maxrss / 1024;
  ::munmap(memory, sizeof(Shared));
  return report;
}

}  // namespace vitrine::fuzz

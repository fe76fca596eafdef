#include "core/jobs/work.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/jobs/device_lock.h"
#include "core/jobs/kernel_lock.h"
#include "core/jobs/spawn.h"
#include "core/store/sqlite/file_system.h"

namespace vitrine::jobs {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr auto kReap = std::chrono::seconds(1);

std::string label(const QueueEntry& entry) {
  return store::nameOf(entry.run) + (entry.name.empty() ? "" : " (" + entry.name + ")");
}

std::vector<Device> chosen(const std::vector<Device>& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<Device> devices;
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Device& device) {
      return name == device.name || (device.isGpu() && name == device.uuid);
    });
    if (found == all.end()) {
      const std::string list = joined(all, [](const Device& device) { return device.name; });
      throw NotFoundError("there is no device '" + name + "' here; this machine has " + list);
    }
    devices.push_back(*found);
  }
  return devices;
}

/// Why a lock could not be opened; "" where it could.
struct LockProblem {
  std::string why;
  bool isProtected = false;  ///< the user may not write there
};

/// Takes a lock. One that cannot be opened (a folder that vanished, a full disk) must not end the
/// worker. It is nothing then, too, and `problem` says why.
template <typename Take>
auto tried(LockProblem& problem, const Take& take) -> decltype(take()) {
  problem = {};
  try {
    return take();
  } catch (const store::ProtectedError& error) {
    problem = {error.what(), true};
  } catch (const Error& error) {
    problem = {error.what(), false};
  }
  return std::nullopt;
}

std::string contentsOf(const char* file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class QueueWorker {
 public:
  QueueWorker(store::RunStore& store, DeviceSource& source, const WorkOptions& options)
      : store_(store), source_(source), options_(options), queue_(store, options.policy) {
    devices_ = chosen(source.devices(), options.devices);
    mode_ = queue_.mode();
    // A run that may have any device gets a GPU that is free, and the CPU only after that.
    std::stable_partition(devices_.begin(), devices_.end(),
                          [](const Device& device) { return device.isGpu(); });
  }

  WorkReport work() {
    for (;;) {
      try {
        if (look()) break;
      } catch (const store::ProtectedError& error) {
        if (endsByItself() && started_.empty()) throw;
        warnOnce(error.what());
      } catch (const store::UnwritableError& error) {
        // The disk is full or another program holds the database: the queue waits for its turn.
        warnOnce(error.what());
      }
      if (options_.isAsked && options_.isAsked()) break;
      std::this_thread::sleep_for(kTick);
    }
    for (const auto& entry : started_) report_.inProgress.push_back(entry.first);
    return report_;
  }

 private:
  [[nodiscard]] bool look();  ///< \returns true  the work is over
  void attend();
  /// It would wait for ever where it may not write.
  [[nodiscard]] bool endsByItself() const { return options_.until != WorkUntil::Stopped; }
  [[nodiscard]] bool noteEnded();  ///< \returns true  something ended
  [[nodiscard]] bool isOver();
  void tellPause();
  void startWhatCan();
  [[nodiscard]] bool startOn(const Device& device);
  void warnOnce(const std::string& why);

  store::RunStore& store_;
  DeviceSource& source_;
  const WorkOptions& options_;
  JobQueue queue_;
  std::vector<Device> devices_;
  std::map<std::int64_t, std::string> started_;  ///< not yet ended, with their label
  std::optional<KernelLock> attendance_;
  std::set<std::string> warned_;
  std::string protected_;       ///< why the user may not start a run; "" where that was not met
  Clock::time_point looked_{};  ///< for runs whose process has ended
  std::int64_t seen_ = -1;      ///< version of the data
  store::QueueMode mode_ = store::QueueMode::Running;  ///< when it was last looked at
  WorkReport report_;
};

bool QueueWorker::look() {
  const bool isReapDue = Clock::now() - looked_ >= kReap;
  const std::int64_t version = store_.dataVersion();
  if (!noteEnded() && !isReapDue && version == seen_) return false;
  if (isReapDue) {
    looked_ = Clock::now();
    store_.reapLostRuns();
    attend();
  }
  queue_.prune();
  queue_.failExhausted();
  tellPause();
  if (isOver()) return true;
  startWhatCan();
  seen_ = version;
  const bool isIdle = started_.empty() && queue_.inProgress().empty();
  if (endsByItself() && isIdle && !protected_.empty()) throw store::ProtectedError(protected_);
  return isOver();
}

void QueueWorker::attend() {
  // A process that works with some devices only, or for one run, leaves others to other processes.
  const bool isForAll = options_.devices.empty() && options_.until != WorkUntil::OneEnded;
  if (!isForAll || attendance_) return;
  LockProblem problem;
  attendance_ = tried(
      problem, [&] { return KernelLock::tryLock(workLockFile(fs::absolute(store_.file()))); });
  // The first run that it cannot start says the same, and ends it.
  if (problem.isProtected && endsByItself()) return;
  warnOnce(problem.why);
}

void QueueWorker::warnOnce(const std::string& why) {
  if (!why.empty() && warned_.insert(why).second) log::warning(why);
}

bool QueueWorker::noteEnded() {
  const int before = report_.ended;
  for (auto entry = started_.begin(); entry != started_.end();) {
    std::optional<store::RunRow> row;
    try {
      row = store_.run(entry->first);
    } catch (const NotFoundError&) {  // deleted as soon as it had ended
    }
    // Its supervisor may be about to say more about how it ended.
    const auto isHeld = [&] {
      LockProblem problem;
      const auto lock = tried(problem, [&] {
        return KernelLock::tryLock(runLockFile(fs::absolute(store_.file()), row->uuid));
      });
      return !lock && problem.why.empty();
    };
    const bool isEnding = row && (isAlive(row->state) || isHeld());
    if (isEnding) {
      ++entry;
      continue;
    }
    if (row) {
      log::info(entry->second + " is " + toString(row->state) +
                (row->reason.empty() ? "" : ": " + row->reason));
      report_.runs.push_back(*row);
    }
    ++report_.ended;
    entry = started_.erase(entry);
  }
  return report_.ended > before;
}

bool QueueWorker::isOver() {
  if (options_.until == WorkUntil::OneEnded) return report_.ended > 0;
  if (options_.until != WorkUntil::Drained) return false;
  if (!started_.empty() || !queue_.inProgress().empty()) return false;
  if (queue_.mode() != store::QueueMode::Running) return true;
  return !hasStartable(queue_, devices_);
}

void QueueWorker::tellPause() {
  const store::QueueMode before = std::exchange(mode_, queue_.mode());
  if (mode_ == store::QueueMode::Paused && before != mode_)
    log::info("the queue is paused; `vitrine resume --queue` lets it continue");
}

void QueueWorker::startWhatCan() {
  protected_.clear();
  for (const Device& device : devices_) {
    if (options_.until == WorkUntil::OneEnded && report_.started > 0) return;
    static_cast<void>(startOn(device));
  }
}

bool QueueWorker::startOn(const Device& device) {
  const std::vector<QueueEntry> entries = queue_.list();
  const auto isWanted = [&](const QueueEntry& entry) {
    return entry.isReady && fits(entry.wantedDevice(), device);
  };
  if (queue_.mode() != store::QueueMode::Running ||
      std::none_of(entries.begin(), entries.end(), isWanted))
    return false;
  LockProblem problem;
  const auto deviceLock = tried(problem, [&] { return DeviceLock::tryLock(device.key()); });
  warnOnce(problem.why);
  if (!deviceLock) {
    if (problem.why.empty() && started_.empty())
      queue_.holdFirst(device, "another process computes on " + device.name);
    return false;
  }
  // The driver of a GPU may take seconds: not while others wait to write.
  const std::vector<Device> all = source_.devices();
  Device now = device;  // with the memory that is free now
  for (const Device& other : all) {
    if (other.key() == device.key()) now = other;
  }
  std::optional<KernelLock> runLock;
  const auto entry = queue_.next(device, [&](const QueueEntry& candidate) -> std::string {
    if (std::string why = whyNoRoom(candidate.options, now, store_.file()); !why.empty())
      return why;
    runLock = tried(
        problem, [&] { return KernelLock::tryLock(runLockFile(store_.file(), candidate.uuid)); });
    if (problem.isProtected) protected_ = problem.why;
    if (!problem.why.empty()) return problem.why;
    return runLock ? "" : "its last process is just ending";
  });
  if (!entry) return false;
  try {
    const std::string visible = visibleDevices(all, now, entry->configured);
    std::vector<int> locks = deviceLock->descriptors();
    locks.push_back(runLock->descriptor());
    launchSupervisor(store_, store_.run(entry->run), options_.program,
                     {"CUDA_VISIBLE_DEVICES=" + visible, "CUDA_DEVICE_ORDER=PCI_BUS_ID"}, locks,
                     options_.supervisor);
  } catch (const Error& error) {
    log::error(label(*entry) + ": " + error.what());
    return false;
  }
  ++report_.started;
  started_[entry->run] = label(*entry);
  log::info(label(*entry) + " starts on " + device.name);
  return true;
}

}  // namespace

WorkReport workQueue(store::RunStore& store, DeviceSource& devices, const WorkOptions& options) {
  if (const std::string why = whyNotHere(store); !why.empty()) throw RefusedError(why);
  return QueueWorker(store, devices, options).work();
}

bool hasStartable(JobQueue& queue, const std::vector<Device>& devices) {
  const std::vector<QueueEntry> entries = queue.list();
  return std::any_of(entries.begin(), entries.end(), [&](const QueueEntry& entry) {
    const bool hasDevice =
        std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
          return fits(entry.wantedDevice(), device);
        });
    return hasDevice && (entry.isReady || entry.state == store::RunState::Interrupted);
  });
}

fs::path workLockFile(const fs::path& database) {
  return store::filesFolder(database) / "queue.lock";
}
fs::path workLogFile(const fs::path& database) {
  return store::filesFolder(database) / "queue.log";
}

std::int64_t startQueueWorker(const fs::path& database, const fs::path& program) {
  const fs::path file = fs::absolute(database);
  if (!KernelLock::tryLock(workLockFile(file))) return 0;
  // What earlier ones said matters no more.
  std::error_code error;
  fs::remove(workLogFile(file), error);
  return spawnDetached({program.string(), "work", "--drain", "--db", file.string()},
                       workLogFile(file));
}

std::string hostOfMount(const std::string& mounts, const fs::path& folder) {
  std::string source, type;
  std::size_t longest = 0;
  for (const std::string& line : split(mounts, '\n')) {
    const std::vector<std::string> fields = split(line, ' ');
    if (fields.size() < 3) continue;
    const std::string& point = fields[1];
    const std::string path = folder.string() + "/";
    const bool isAbove = point == "/" || path.rfind(point + "/", 0) == 0;
    if (!isAbove || point.size() < longest) continue;
    longest = point.size();
    source = fields[0];
    type = fields[2];
  }
  const bool isRemote = type.rfind("nfs", 0) == 0 || type == "cifs" || type.rfind("smb", 0) == 0 ||
                        type == "fuse.sshfs";
  if (!isRemote) return {};
  if (source.rfind("//", 0) == 0) return source.substr(2, source.find('/', 2) - 2);
  return source.substr(0, source.find(':'));
}

std::string whyNotHere(store::RunReader& store) {
  const auto sentence = [&](const std::string& host) {
    return "'" + store.file().string() + "' belongs to the machine " + host +
           ", and runs are started there alone; work it with `ssh " + host +
           " vitrine work --db FILE`";
  };
  const std::string server =
      hostOfMount(contentsOf("/proc/self/mounts"), store::folderOfFile(store.file()));
  if (!server.empty()) return sentence(server);
  const std::string here = store::thisWorker().host;
  for (const store::RunRow& run : store.runs()) {
    if (isAlive(run.state) && !run.worker.host.empty() && run.worker.host != here)
      return store::nameOf(run.id) + " is " + toString(run.state) + " on " +
             run.worker.host + ": " + sentence(run.worker.host);
  }
  return {};
}

std::string whyNoRoom(const store::QueueOptions& needs, const Device& device,
                      const fs::path& database) {
  if (needs.neededMemoryBytes > 0 && device.freeBytes > 0 &&
      needs.neededMemoryBytes > device.freeBytes) {
    return "needs about " + formatBytes(needs.neededMemoryBytes) + " of memory, and " +
           formatBytes(device.freeBytes) + " are free on " + device.name;
  }
  struct statvfs status {};
  const fs::path folder = fs::absolute(database).parent_path();
  if (needs.neededDiskBytes > 0 && ::statvfs(folder.c_str(), &status) == 0) {
    const auto free = static_cast<std::int64_t>(status.f_bavail * status.f_frsize);
    if (needs.neededDiskBytes > free) {
      return "needs about " + formatBytes(needs.neededDiskBytes) + " for checkpoints, and " +
             formatBytes(free) + " are free in " + folder.string();
    }
  }
  return {};
}

std::int64_t launchSupervisor(store::RunStore& store, const store::RunRow& run,
                              const fs::path& program, const std::vector<std::string>& environment,
                              const std::vector<int>& locks, const SupervisorSettings& settings) {
  const fs::path database = fs::absolute(store.file());
  const std::string folder = store::runFolderName(run.uuid);
  std::error_code code;
  fs::create_directories(store::filesFolder(database) / folder, code);
  std::int64_t pid = 0;
  try {
    if (code) throw Error("cannot make the folder '" + folder + "': " + code.message());
    pid = spawnDetached(
        {program.string(), "work", "--supervise", std::to_string(run.id), "--db", database.string(),
         "--hang-alarm", formatReal(settings.hangAlarmSeconds), "--hang-limit",
         formatReal(settings.hangLimitSeconds), "--max-processes", std::to_string(settings.tasks)},
        store::filesFolder(database) / folder / "run.log", {environment, locks});
  } catch (const Error& error) {
    if (canChange(store.run(run.id).state, store::RunState::Failed))
      store.setState(run.id, store::RunState::Failed, error.what());
    throw;
  }
  try {
    store.setLogFile(run.id, folder + "/run.log");
    JobQueue(store).handOver(run.id, store::workerOf(pid));
  } catch (const store::UnwritableError& error) {  // its supervisor writes the same, once it can
    log::warning(store::nameOf(run.id) + ": " + error.what());
  }
  return pid;
}

}  // namespace vitrine::jobs

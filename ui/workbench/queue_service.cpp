#include "ui/workbench/queue_service.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QThread>
#include <QTimer>
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/statistics.h"
#include "core/base/text.h"
#include "core/config/lookup.h"
#include "core/jobs/kernel_lock.h"
#include "core/jobs/launcher.h"
#include "core/jobs/work.h"
#include "core/store/change_reader.h"
#include "core/store/script_runs.h"
#include "ui/kit/theme.h"
#include "ui/workbench/remote_link.h"
#include "ui/workbench/run_facts.h"
#include "ui/workbench/run_seconds.h"

namespace vitrine::ui {

/// Of a training: its steps, else its epochs; 0 where they are not known.
struct TrainingLength {
  double steps = 0, epochs = 0;
};

namespace {

constexpr int kLookMs = 2000;
constexpr qint64 kStartUpMs = 5000;      // until a new process has said that it is at work
constexpr qint64 kQuickMs = 20'000;      // one that ends sooner and leaves work behind has failed
constexpr qint64 kDevicesMs = 30'000;    // between two questions to the driver
constexpr int kPatience = 3;             // failures after which the user is informed
constexpr qint64 kLongPauseMs = 60'000;  // between later ones
constexpr std::size_t kMostResumable = 50, kMostEnded = 20;

QString lastLineOf(const std::filesystem::path& log) {
  QFile file(QString::fromStdString(log.string()));
  if (!file.open(QIODevice::ReadOnly)) return {};
  if (file.size() > 4096) file.seek(file.size() - 4096);
  return QString::fromStdString(lastLine(file.readAll().toStdString()));
}

/// Seconds from the first step to the last; 0 where that is unknown.
double wholeTime(const store::RunRow& row) {
  if (row.state == store::RunState::Done) return secondsOf(row);
  const auto left = static_cast<double>(row.totalSteps - row.step);
  if (!isAlive(row.state) || left <= 0 || !(row.remainingSeconds > 0)) return 0;
  return row.remainingSeconds * static_cast<double>(row.totalSteps) / left;
}

/// Seconds of one step and of one epoch in each of several runs.
struct Pace {
  std::vector<double> step, epoch;

  void add(double seconds, const store::RunRow& row) {
    if (row.totalSteps > 0) step.push_back(seconds / static_cast<double>(row.totalSteps));
    if (row.totalEpochs > 0) epoch.push_back(seconds / row.totalEpochs);
  }
  /// 0 where it is unknown.
  [[nodiscard]] double secondsOf(const TrainingLength& length) const {
    if (length.steps > 0) return step.empty() ? 0 : length.steps * upperMedian(step);
    return epoch.empty() ? 0 : length.epochs * upperMedian(epoch);
  }
};

/// Sets secondsLeft and isMoreLeft. A run that waits is taken to be as fast as runs of its variant
/// were, else as those of its experiment, in progress ones included.
/// \param rows     all runs of the database
/// \param lengths  of the runs that wait
void tellTimeLeft(QueueView& view, const std::map<std::int64_t, store::RunRow>& rows,
                  const std::map<std::int64_t, TrainingLength>& lengths) {
  view.secondsLeft = 0;
  view.isMoreLeft = false;
  std::set<std::int64_t> experiments;
  for (const auto& [run, length] : lengths) experiments.insert(rows.at(run).experimentId);
  std::map<std::pair<std::int64_t, std::string>, Pace> ofVariant;
  std::map<std::int64_t, Pace> ofExperiment;
  for (const auto& [id, row] : rows) {
    if (!experiments.contains(row.experimentId)) continue;
    const double seconds = wholeTime(row);
    if (seconds <= 0) continue;
    ofVariant[{row.experimentId, row.variant}].add(seconds, row);
    ofExperiment[row.experimentId].add(seconds, row);
  }
  double work = 0, longest = 0;
  for (const std::int64_t run : view.running) {
    const double left = rows.at(run).remainingSeconds;
    if (!(left > 0)) continue;
    longest = std::max(longest, left);
    work += left;
  }
  for (const auto& [run, length] : lengths) {
    const store::RunRow& row = rows.at(run);
    double whole = ofVariant[{row.experimentId, row.variant}].secondsOf(length);
    if (whole <= 0) whole = ofExperiment[row.experimentId].secondsOf(length);
    if (whole <= 0) {
      view.isMoreLeft = true;
      continue;
    }
    const double done =
        row.totalSteps > 0 && row.latestCheckpoint > 0
            ? static_cast<double>(row.latestCheckpoint) / static_cast<double>(row.totalSteps)
            : 0;
    work += whole * std::clamp(1 - done, 0.0, 1.0);
  }
  // As many at a time as now.
  const auto lanes = static_cast<double>(std::max<std::size_t>(view.running.size(), 1));
  view.secondsLeft = std::max(longest, work / lanes);
}

}  // namespace

/// Reads the queue; of the runs only what has changed since the last time. Lives on the thread of
/// the service.
class QueueReader {
 public:
  explicit QueueReader(store::RunReader& store) : store_(store), changes_(store) {}

  QueueView read(jobs::JobQueue& queue) {
    store::ChangeReader::Changes changes = changes_.read();
    for (store::RunRow& row : changes.runs) {
      lengths_.erase(row.id);
      rows_.insert_or_assign(row.id, std::move(row));
    }
    for (const std::int64_t id : changes.deleted) rows_.erase(id);
    QueueView view{.mode = queue.mode(), .entries = queue.list()};
    std::erase_if(view.entries,
                  [&](const jobs::QueueEntry& entry) { return rows_.count(entry.run) == 0; });
    std::set<std::int64_t> queued;
    for (const jobs::QueueEntry& entry : view.entries) queued.insert(entry.run);
    for (const auto& [id, row] : rows_) {
      if (isAlive(row.state)) {
        view.running.push_back(id);
      } else if (queued.count(id) > 0 || row.finishedAt.empty()) {
        continue;
      } else if ((row.state == store::RunState::Paused ||
                  row.state == store::RunState::Interrupted) &&
                 !isOfScript(id)) {
        view.resumable.push_back(id);
      } else if (row.state != store::RunState::Queued) {
        view.ended.push_back(id);
      }
    }
    keepNewest(view.resumable, kMostResumable);
    keepNewest(view.ended, kMostEnded);
    for (const auto* list : {&view.running, &view.resumable, &view.ended})
      queued.insert(list->begin(), list->end());
    for (const std::int64_t id : queued) view.rows.emplace(id, rows_.at(id));
    std::map<std::int64_t, TrainingLength> lengths;
    for (const std::int64_t id : view.waiting()) lengths.emplace(id, lengthOf(id));
    lengths_ = std::move(lengths);
    tellTimeLeft(view, rows_, lengths_);
    return view;
  }

 private:
  /// Logged by a script of another program: nothing here can resume it.
  [[nodiscard]] bool isOfScript(std::int64_t run) {
    const auto known = ofScript_.find(run);
    if (known != ofScript_.end()) return known->second;
    return ofScript_.emplace(run, store::scriptOf(store_, run).has_value()).first->second;
  }

  [[nodiscard]] TrainingLength lengthOf(std::int64_t run) {
    if (const auto known = lengths_.find(run); known != lengths_.end()) return known->second;
    if (const std::int64_t steps = rows_.at(run).totalSteps; steps > 0)
      return {static_cast<double>(steps), 0};
    const Json config = store_.config(run);
    const auto number = [&](const char* key) {
      const Json* value = valueAt(config, key);
      return value != nullptr && value->is_number() ? value->get<double>() : 0;
    };
    return {number("train.steps"), number("train.epochs")};
  }

  void keepNewest(std::vector<std::int64_t>& runs, std::size_t most) const {
    const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(std::min(most, runs.size()));
    std::partial_sort(runs.begin(), middle, runs.end(), [this](std::int64_t a, std::int64_t b) {
      const std::string &left = rows_.at(a).finishedAt, &right = rows_.at(b).finishedAt;
      return left != right ? left > right : a > b;
    });
    runs.erase(middle, runs.end());
  }

  store::RunReader& store_;
  store::ChangeReader changes_;
  std::map<std::int64_t, store::RunRow> rows_;
  std::map<std::int64_t, TrainingLength> lengths_;  ///< of the runs that waited when it read last
  std::map<std::int64_t, bool> ofScript_;
};

/// Sees to it that a process works on the queue. Lives on the thread of the service.
class WorkerLauncher {
 public:
  /// \returns  why no process works on it, or ""
  QString look(store::RunStore& store, jobs::JobQueue& queue) {
    if (queue.mode() != store::QueueMode::Running || !isWorkHere(queue)) {
      failures_ = 0;
      return {};
    }
    const std::filesystem::path file = std::filesystem::absolute(store.file());
    if (!jobs::KernelLock::tryLock(jobs::workLockFile(file))) return {};  // a process works on it
    // It may not have said so yet, or be of another version.
    if (isWorkerAlive(worker_)) return {};
    if (started_.isValid()) {
      if (started_.elapsed() < (failures_ < kPatience ? kStartUpMs : kLongPauseMs)) return error_;
      failures_ = started_.elapsed() < kQuickMs || failures_ >= kPatience ? failures_ + 1 : 0;
    }
    error_.clear();
    if (const std::string why = jobs::whyNotHere(store); !why.empty())
      return error_ = QString::fromStdString(why);
    if (failures_ >= kPatience) {
      error_ = QueueService::tr("The queue worker stopped %1 times: %2")
                   .arg(failures_)
                   .arg(lastLineOf(jobs::workLogFile(file)));
    }
    started_.start();
    try {
      worker_ = store::workerOf(jobs::startQueueWorker(file, jobs::headlessProgram()));
    } catch (const Error& error) {
      failures_ = std::max(failures_, kPatience);
      error_ = QString::fromUtf8(error.what());
    }
    return error_;
  }

 private:
  bool isWorkHere(jobs::JobQueue& queue) {
    static const jobs::Device kCpu{"cpu", "", "", 0, 0};
    if (hasStartable(queue, {kCpu})) return true;
    if (queue.list().empty()) return false;
    if (!asked_.isValid() || asked_.elapsed() > kDevicesMs) {
      devices_ = jobs::SystemDevices().devices();
      asked_.start();
    }
    return hasStartable(queue, devices_);
  }

  std::vector<jobs::Device> devices_;
  QElapsedTimer asked_, started_;
  store::Worker worker_;  ///< the process that was started last
  int failures_ = 0;
  QString error_;
};

const jobs::QueueEntry* QueueView::entry(std::int64_t run) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(),
                   [run](const jobs::QueueEntry& entry) { return entry.run == run; });
  return found == entries.end() ? nullptr : &*found;
}

QString leftText(const QueueView& queue) {
  if (queue.secondsLeft <= 0) return {};
  return queue.isMoreLeft ? QueueService::tr("more than %1 left").arg(duration(queue.secondsLeft))
                          : QueueService::tr("%1 left").arg(aboutDuration(queue.secondsLeft));
}

std::vector<std::int64_t> QueueView::waiting() const {
  std::vector<std::int64_t> ids;
  for (const jobs::QueueEntry& entry : entries) {
    if (!isAlive(entry.state)) ids.push_back(entry.run);
  }
  return ids;
}

std::vector<jobs::Command::Place> QueueView::places(const std::vector<std::int64_t>& runs) const {
  const std::vector<std::int64_t> all = waiting();
  std::vector<jobs::Command::Place> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::find(runs.begin(), runs.end(), all[i]) == runs.end()) continue;
    found.push_back({all[i], i + 1 < all.size() ? all[i + 1] : 0, entry(all[i])->options});
  }
  return found;
}

/// What lives on the other thread.
class QueueService::Thread : public QThread {
 public:
  Thread(std::filesystem::path database, store::OpenMode openMode)
      : file(std::move(database)), mode(openMode) {
    place.moveToThread(this);
    start();
  }
  ~Thread() override {
    // Objects are deleted by the thread they live in.
    QMetaObject::invokeMethod(
        &place,
        [this] {
          timer.reset();
          reader.reset();
          queue.reset();
          store.reset();
        },
        Qt::BlockingQueuedConnection);
    quit();
    wait();
  }

  /// \throws Error  the database cannot be opened
  void open() {
    if (store) return;
    store = std::make_unique<store::RunStore>(file, mode);
    queue = std::make_unique<jobs::JobQueue>(*store);
    reader.emplace(*store);
  }
  template <typename Task>
  void run(Task task) {
    QMetaObject::invokeMethod(&place, std::move(task), Qt::QueuedConnection);
  }

  const std::filesystem::path file;
  const store::OpenMode mode;
  QObject place;
  // Only touched on the thread.
  std::unique_ptr<store::RunStore> store;
  std::unique_ptr<jobs::JobQueue> queue;
  std::optional<QueueReader> reader;
  std::optional<WorkerLauncher> launcher;
  std::unique_ptr<QTimer> timer;
};

QueueService::QueueService(const std::filesystem::path& database, RemoteLink* link, QObject* parent)
    : QObject(parent),
      thread_(std::make_unique<Thread>(
          database, link != nullptr ? store::OpenMode::ReadOnly : store::OpenMode::ReadWrite)),
      link_(link) {}

QueueService::~QueueService() = default;

void QueueService::refresh() {
  // What changed since it began may not be in the reading that is under way.
  isReadingDue_ = isReading_;
  if (isReading_) return;
  isReading_ = true;
  thread_->run([this] {
    // `this` outlives the thread; events posted to it are dropped when it is destroyed first.
    QueueView view;
    QString failure;
    try {
      thread_->open();
      QString error;
      if (thread_->launcher) error = thread_->launcher->look(*thread_->store, *thread_->queue);
      view = thread_->reader->read(*thread_->queue);
      view.error = error;
    } catch (const std::exception& error) {
      failure = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, view = std::move(view), failure]() mutable {
          isReading_ = false;
          if (!failure.isEmpty()) view.error = failure;
          view_ = std::move(view);
          Q_EMIT viewChanged();
          if (isReadingDue_) refresh();
        },
        Qt::QueuedConnection);
  });
}

void QueueService::execute(const jobs::Command& command, Sentence sentence) {
  const auto tell = [this, sentence = std::move(sentence)](const jobs::CommandResult& result) {
    QString text;
    try {
      if (sentence) text = sentence(result);
    } catch (const Error& error) {  // it may read about runs that are gone by now
      text = QString::fromUtf8(error.what());
    }
    if (!result.error.empty())
      text += (text.isEmpty() ? "" : " ") + QString::fromStdString(result.error);
    if (!text.isEmpty()) Q_EMIT messageSent(text);
  };
  if (link_ != nullptr) {
    link_->send({{"op", "command"}, {"command", toJson(command)}}, this,
                [this, tell](const Json& answer) {
                  try {
                    remote::throwAnswered(answer);
                    tell(jobs::resultFromJson(answer));
                  } catch (const std::exception& error) {
                    Q_EMIT failed(QString::fromUtf8(error.what()));
                  }
                  // The copy follows: the view changes when it has.
                  refresh();
                });
    return;
  }
  thread_->run([this, command, tell] {
    std::function<void()> after;
    try {
      thread_->open();
      after = [tell, result = jobs::execute(command, *thread_->store, *thread_->queue)] {
        tell(result);
      };
    } catch (const std::exception& error) {
      after = [this, text = QString::fromUtf8(error.what())] { Q_EMIT failed(text); };
    }
    QMetaObject::invokeMethod(
        this,
        [this, after] {
          after();
          refresh();
        },
        Qt::QueuedConnection);
  });
}

void QueueService::enqueueAgain(const std::vector<jobs::Command::Place>& places) {
  execute({.what = jobs::Command::What::Requeue, .places = places},
          [](const jobs::CommandResult& result) {
            return tr("%1 in the queue again.")
                .arg(counted(std::ssize(result.runs), tr("run is"), tr("runs are")));
          });
}

void QueueService::resume() {
  execute({.what = jobs::Command::What::Mode}, [](const jobs::CommandResult& result) {
    return tr("The queue resumes with %1.").arg(counted(result.entries, tr("run"), tr("runs")));
  });
}

void QueueService::prune() {
  if (link_ != nullptr) return;
  thread_->run([this] {
    try {
      thread_->open();
      thread_->store->reapLostRuns();
      thread_->queue->prune();
    } catch (const std::exception& error) {
      QMetaObject::invokeMethod(
          this, [this, text = QString::fromUtf8(error.what())] { Q_EMIT failed(text); },
          Qt::QueuedConnection);
    }
    QMetaObject::invokeMethod(this, &QueueService::refresh, Qt::QueuedConnection);
  });
}

void QueueService::attend() {
  if (link_ != nullptr) return;
  thread_->run([this] {
    if (thread_->launcher) return;
    thread_->launcher.emplace();
    thread_->timer = std::make_unique<QTimer>();
    QObject::connect(thread_->timer.get(), &QTimer::timeout, &thread_->place, [this] {
      QMetaObject::invokeMethod(this, &QueueService::refresh, Qt::QueuedConnection);
    });
    thread_->timer->start(kLookMs);
  });
  refresh();
}

void QueueService::waitUntilIdle() {
  // A change ends with a reading, which is posted from here: two rounds.
  for (int round = 0; round < 2; ++round) {
    QMetaObject::invokeMethod(
        &thread_->place, [] {}, Qt::BlockingQueuedConnection);
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
    refresh();
  }
  do {
    QMetaObject::invokeMethod(
        &thread_->place, [] {}, Qt::BlockingQueuedConnection);
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  } while (isReading_);
}

}  // namespace vitrine::ui

// The TensorBoard form of an import: every folder with event files is a run.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/files/event_file.h"
#include "core/files/png.h"
#include "core/store/exchange/import_forms.h"
#include "core/store/exchange/run_copier.h"
#include "core/store/metrics/metrics.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBatch = 10'000;      // records
constexpr std::size_t kLongestTag = 1000;   // bytes
constexpr std::size_t kMostTags = 100'000;  // of one run
constexpr std::size_t kWorthPacking = 16;   // points
constexpr const char* kReadable =
    "; import reads .vitrine files, databases of Vitrine and event files of TensorBoard "
    "(*tfevents*), and `vitrine log` records what a script prints";

struct Folder {
  std::string name;             ///< of the run
  std::vector<fs::path> files;  ///< by name, which begins with the time they were begun
};

std::vector<Folder> foldersOf(const fs::path& source) {
  const auto isNamedSo = [](const fs::path& file) {
    return file.filename().string().find("tfevents") != std::string::npos;
  };
  if (!fs::is_directory(source)) {
    try {
      if (!isNamedSo(source)) EventFileReader{source};
    } catch (const FileError& error) {
      throw FileError(error.what() + std::string(kReadable));
    }
    const std::string parent = fs::absolute(source).parent_path().filename().string();
    return {{parent.empty() ? source.filename().string() : parent, {source}}};
  }
  std::map<fs::path, std::vector<fs::path>> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source)) {
    if (isNamedSo(entry.path()) && entry.is_regular_file() && !entry.is_symlink())
      found[entry.path().parent_path()].push_back(entry.path());
  }
  if (found.empty())
    throw NotFoundError("there are no event files in '" + source.string() + "'" + kReadable);
  std::vector<Folder> folders;
  for (auto& [path, files] : found) {
    std::sort(files.begin(), files.end());
    std::string name = path.lexically_relative(source).generic_string();
    if (name.empty() || name == ".") name = fs::canonical(source).filename().string();
    folders.push_back({cleanUtf8(name), std::move(files)});
  }
  return folders;
}

/// The same for the same run whenever it is imported, also when its files have grown. It is made
/// from the name of the run, the name of its oldest file and that file's first record.
std::string uuidOf(const Folder& folder) {
  Sha256 sum;
  const auto add = [&](const std::string& text) {
    sum.update(std::as_bytes(std::span(text.data(), text.size())));
  };
  add("tensorboard\n" + folder.name + "\n" + folder.files.front().filename().string() + "\n");
  sum.update(EventFileReader(folder.files.front()).firstRecord());
  std::string hex = sum.finish().substr(0, 32);
  hex[12] = '8';  // RFC 9562: a UUID of our own making
  hex[16] = "89ab"[hex[16] % 4];
  for (const std::size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

std::string utcOf(double seconds) {
  if (!(seconds >= 0 && seconds < 253402300799.0)) seconds = 0;  // up to the year 9999
  return utcText(std::llround(seconds * 1000));
}

/// A private database, next to the one it is for; gone with this object. Those of
/// imports that were killed go too.
class StagingFile {
 public:
  explicit StagingFile(const fs::path& database)
      : file_(database.string() + kStaging + std::to_string(::getpid()) + "-" + newUuid()) {
    removeUnfinishedFiles(database, kStaging, kStaging);
    try {
      database_ = std::make_unique<Database>(file_, Database::Access::Scratch);
      openSchema(*database_);
    } catch (...) {
      remove();
      throw;
    }
  }
  ~StagingFile() { remove(); }
  StagingFile(const StagingFile&) = delete;
  StagingFile& operator=(const StagingFile&) = delete;

  Database& operator*() { return *database_; }

 private:
  static constexpr const char* kStaging = ".staging-";

  void remove() noexcept {
    database_.reset();
    std::error_code error;
    for (const char* suffix : {"", "-journal"}) fs::remove(file_.string() + suffix, error);
  }

  fs::path file_;
  std::unique_ptr<Database> database_;
};

/// One run, into a database of its own.
class RunImport {
 public:
  RunImport(const ImportTask& task, Database& database, const Folder& folder, std::string uuid)
      : task_(task), database_(database), folder_(folder), uuid_(std::move(uuid)) {}

  std::int64_t all(const std::string& experiment) {
    addRun(experiment);
    for (const fs::path& file : folder_.files) {
      EventFileReader reader(file);
      while (const auto event = reader.next()) take(*event);
      finishFile(file, reader.report());
    }
    flush();
    packMetrics(database_, id_, kWorthPacking);
    finishRun();
    return id_;
  }

  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] bool isEmpty() const noexcept { return points_ == 0 && images_ == 0; }

 private:
  void addRun(const std::string& experiment) {
    std::int64_t experimentId = 0;
    const std::string now = utcNow();
    {
      Statement row = database_.prepare(
          "INSERT INTO experiment(title, source, created_at) VALUES (?, '', ?) ON CONFLICT(title) "
          "DO UPDATE SET title = title RETURNING id");
      if (row.with(experiment, now).step()) experimentId = row.integer(0);
      row.run();
    }
    database_.run(
        "INSERT INTO run(uuid, experiment_id, variant, stage, name, seed, state, created_at, "
        "change_sequence) VALUES (?, ?, '', '', ?, 0, 'done', ?, ?)",
        uuid_, experimentId, folder_.name, now, nextChange(database_));
    id_ = sqlite3_last_insert_rowid(database_.handle());
    database_.run(
        "INSERT INTO run_config(run_id, config, origins, init) VALUES (?, '{}', '{}', 'null')",
        id_);
    const Json environment = {{"imported_from", "tensorboard"}};
    database_.run(
        "INSERT INTO segment(run_id, number, first_step, resumed_from, started_at, worker_pid, "
        "worker_start, worker_boot, worker_host, environment) VALUES (?, 1, 0, 0, ?, 0, '', "
        "'', "
        "'', ?)",
        id_, now, dumpJson(environment));
  }

  void take(const SummaryEvent& event) {
    if (event.step < 0) {
      skipped_["value of a negative step"] += static_cast<std::int64_t>(event.values.size());
      return;
    }
    if (!std::isfinite(event.wallTime)) {
      ++skipped_["event without a time"];
      return;
    }
    if (!hasStart_) start_ = event.wallTime;
    hasStart_ = true;
    end_ = std::max(end_, event.wallTime);
    lastStep_ = std::max(lastStep_, event.step);
    const double time = std::clamp(event.wallTime - start_, 0.0, 1e10);
    for (const SummaryValue& value : event.values) {
      if (value.tag.size() > kLongestTag) {
        ++skipped_["value whose tag is longer than 1000 bytes"];
      } else if (value.image) {
        takeImage(event, value);
      } else {
        takeScalar(event.step, time, value);
      }
    }
  }

  void takeScalar(std::int64_t step, double time, const SummaryValue& value) {
    const std::string name = cleanUtf8(value.tag);
    if (tags_.insert(name).second && tags_.size() > kMostTags) {
      throw FileError("'" + task_.source.string() + "' has more than " + std::to_string(kMostTags) +
                      " tags in one run");
    }
    // Values of one moment share a record, and so a clock when they are packed.
    const bool isSameMoment =
        !records_.empty() && records_.back().step == step &&
        std::llround(records_.back().time * 1000) == std::llround(time * 1000) &&
        std::none_of(records_.back().values.begin(), records_.back().values.end(),
                     [&](const auto& known) { return known.first == name; });
    if (!isSameMoment) {
      if (records_.size() >= kBatch) flush();
      records_.push_back({step, 0, time, {}});
    }
    records_.back().values.emplace_back(name, value.scalar);
    ++points_;
  }

  void takeImage(const SummaryEvent& event, const SummaryValue& value) {
    if (!isPng(value.image->encoded)) {
      ++skipped_["image that is not a PNG"];
      return;
    }
    const Json meta = {{"version", 1},
                       {"dtype", "png"},
                       {"shape", {value.image->height, value.image->width, value.image->channels}},
                       {"time", event.wallTime}};
    Statement row = database_.prepare(
        "INSERT INTO artifact(run_id, segment, step, created_at, analysis, name, kind, meta, data) "
        "VALUES (?, 1, ?, ?, 'tensorboard', ?, ?, ?, ?)");
    row.with(id_, event.step, utcOf(event.wallTime), cleanUtf8(value.tag), artifact_kind::kImage,
             dumpJson(meta));
    row.bindBlob(7, value.image->encoded);
    row.run();
    ++images_;
  }

  void flush() {
    appendMetrics(database_, id_, 1, records_);
    records_.clear();
  }

  void finishFile(const fs::path& file, const EventFileReader::Report& report) {
    for (const auto& [kind, count] : report.skipped) skipped_[cleanUtf8(kind)] += count;
    notes_.insert(notes_.end(), report.damage.begin(), report.damage.end());
    const auto listed = static_cast<std::int64_t>(report.damage.size());
    if (report.damagedRecords > listed) {
      notes_.push_back(file.string() + ": " + std::to_string(report.damagedRecords - listed) +
                       " more records are damaged");
    }
    if (report.cutAt) {
      notes_.push_back(file.string() + " is cut at offset " + std::to_string(*report.cutAt) +
                       "; what is before that is imported");
    }
  }

  void finishRun() {
    const std::string left = joined(skipped_, [](const auto& each) {
      return std::to_string(each.second) + " x " + each.first;
    });
    if (!left.empty()) notes_.push_back("'" + folder_.name + "': left out " + left);
    const std::string start = utcOf(start_);
    database_.run(
        "UPDATE run SET created_at = ?2, started_at = ?2, finished_at = ?3, step = ?4, "
        "total_steps = ?4, loss = (SELECT m.last FROM metric_summary m JOIN metric_name n ON "
        "n.id = m.metric_id WHERE m.run_id = ?1 AND n.name = 'train/loss') WHERE id = ?1",
        id_, start, utcOf(end_), lastStep_);
    database_.run("UPDATE segment SET started_at = ? WHERE run_id = ?", start, id_);
    EventRecord event{lastStep_, "imported",
                      std::to_string(points_) + " points and " + std::to_string(images_) +
                          " images from TensorBoard's event files" +
                          (left.empty() ? "" : "; left out: " + left),
                      Json::object()};
    event.data["format"] = "tensorboard";
    event.data["files"] = folder_.files.size();
    addEvent(database_, id_, 1, event);
  }

  const ImportTask& task_;
  Database& database_;
  const Folder& folder_;
  const std::string uuid_;
  std::int64_t id_ = 0;
  std::vector<MetricRecord> records_;
  std::set<std::string> tags_;
  std::map<std::string, std::int64_t> skipped_;
  std::vector<std::string> notes_;
  std::int64_t points_ = 0, images_ = 0, lastStep_ = 0;
  double start_ = 0, end_ = 0;
  bool hasStart_ = false;
};

}  // namespace

void importTensorBoard(const ImportTask& task) {
  const std::vector<Folder> folders = foldersOf(task.source);
  std::string title = task.experiment;
  if (title.empty()) {
    // A file alone is imported as its folder would be.
    const fs::path source = fs::canonical(task.source);
    const fs::path folder = fs::is_directory(source) ? source : source.parent_path();
    title = cleanUtf8(folder.filename().string());
  }
  std::size_t empty = 0;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const Folder& folder = folders[i];
    task.tell(folder.name, i, folders.size());
    std::string uuid = uuidOf(folder);
    if (task.isDuplicate(uuid, folder.name)) continue;
    if (task.database.any("SELECT 1 FROM run WHERE uuid = ?", uuid)) uuid = newUuid();
    // Reading and packing take their time, and no other process waits for that. What others wait
    // for is the copy of finished rows, a part at a time.
    StagingFile staging(task.database.file());
    RunImport run(task, *staging, folder, uuid);
    const std::int64_t staged = (*staging).write([&] { return run.all(title); });
    task.report.notes.insert(task.report.notes.end(), run.notes().begin(), run.notes().end());
    if (run.isEmpty()) {
      ++empty;
      task.report.notes.push_back("'" + folder.name +
                                  "' is left out: it has no scalars and no images");
      continue;
    }
    const std::int64_t id =
        RunCopier(*staging, task.database).copyInParts(staged, RunCopier::Changes{});
    task.report.runs.push_back({id, uuid, folder.name, true});
  }
  if (empty == folders.size()) {
    throw FileError("'" + task.source.string() +
                    "' has no scalars and no images, so nothing is imported" + kReadable);
  }
}

}  // namespace vitrine::store

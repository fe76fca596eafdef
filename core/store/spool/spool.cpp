#include "core/store/spool/spool.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/store/run_store.h"
#include "core/store/spool/batch_bytes.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/run_results.h"
#include "core/store/tables/run_states.h"
#include "core/store/tables/storable.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBytesAtOnce = 4u << 20;  // of one transaction
constexpr std::uint64_t kRecordsAtOnce = 64;

constexpr std::size_t kStamp = 24;  // characters of a time of day, ISO 8601

/// A record begins with when it was made.
std::vector<std::byte> stamped(const std::vector<std::byte>& payload) {
  const std::string at = utcNow();
  std::vector<std::byte> record(kStamp + payload.size(), std::byte{' '});
  std::memcpy(record.data(), at.data(), std::min(at.size(), kStamp));
  if (!payload.empty()) std::memcpy(record.data() + kStamp, payload.data(), payload.size());
  return record;
}

struct Stamped {
  std::string at;
  std::span<const std::byte> payload;
};

Stamped unstamped(std::span<const std::byte> record) {
  if (record.size() < kStamp) throw StoreError("a record in a side file is damaged");
  return {std::string(reinterpret_cast<const char*>(record.data()), kStamp),
          record.subspan(kStamp)};
}

/// Where in `meta` stands how many records of a spool are stored: written with them.
std::string markOf(const std::string& id) { return "spool/" + id; }

std::uint64_t storedOf(Database& database, const std::string& id) {
  return static_cast<std::uint64_t>(
      database.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", markOf(id)));
}

/// Once a process: a window looks every few seconds.
void warnOnce(const std::string& sentence) {
  static std::mutex mutex;
  static std::set<std::string> logged;
  const std::lock_guard lock(mutex);
  if (logged.insert(sentence).second) log::warning(sentence);
}

std::int64_t stepOf(const RunWriter::Batch& batch) {
  if (batch.progress) return batch.progress->step;
  return batch.metrics.empty() ? 0 : batch.metrics.back().step;
}

}  // namespace

std::vector<fs::path> spoolsOf(const fs::path& database) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(spoolFolder(database), error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".spool") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

fs::path spoolFolder(const fs::path& database) { return filesFolder(database) / "spool"; }

Spool::Spool(Database& database, std::int64_t run, std::int64_t segment,
             SpoolFile::Settings settings)
    : database_(database), run_(run), segment_(segment), settings_(std::move(settings)) {
  make();
}

Spool::~Spool() {
  if (file_ && file_->count() == 0) file_->remove();
}

bool Spool::make() {
  if (file_) return true;
  try {
    const SpoolOwner owner{uuidOf(database_), readRun(database_, run_).uuid, segment_};
    file_ = SpoolFile::create(spoolFolder(database_.file()), owner, settings_);
  } catch (const Error&) {  // results wait in memory then
  }
  return file_ != nullptr;
}

bool Spool::isEmpty() const noexcept { return !file_ || file_->count() == 0; }

std::uint64_t Spool::bytes() const noexcept { return file_ ? file_->bytes() : 0; }

bool Spool::take(RunWriter::Batch& batch, const std::string& why) {
  if (!make()) return false;
  if (file_->count() == 0) {
    // Records it in the run's history, once that can be written.
    batch.events.push_back(
        {stepOf(batch), "spooled", "results wait in a side file: " + why, Json::object()});
  }
  // Pictures may be too large for the room there is: points do not wait behind them.
  RunWriter::Batch pictures{.artifacts = std::exchange(batch.artifacts, {}),
                            .images = std::exchange(batch.images, {}),
                            .texts = std::exchange(batch.texts, {})};
  const auto add = [&](const RunWriter::Batch& part) {
    return file_->add(SpoolFile::Kind::Batch, stamped(packBatch(part)));
  };
  const bool hasRest = !batch.metrics.empty() || !batch.events.empty() ||
                       !batch.checkpoints.empty() || batch.progress.has_value();
  if (hasRest && !add(batch)) {
    if (file_->count() == 0) batch.events.pop_back();
    batch.artifacts = std::move(pictures.artifacts);
    batch.images = std::move(pictures.images);
    batch.texts = std::move(pictures.texts);
    return false;
  }
  batch = {};
  const auto addEach = [&](auto RunWriter::Batch::*items) {
    for (auto& item : pictures.*items) {
      RunWriter::Batch one;
      (one.*items).push_back(std::move(item));
      if (!add(one)) (batch.*items).push_back(std::move((one.*items).front()));
    }
  };
  addEach(&RunWriter::Batch::artifacts);
  addEach(&RunWriter::Batch::images);
  addEach(&RunWriter::Batch::texts);
  return batch.artifacts.empty() && batch.images.empty() && batch.texts.empty();
}

void Spool::store() {
  if (isEmpty()) return;
  storeFile(database_, *file_);
  const std::string id = file_->id();
  bool isGone = true;
  try {
    file_->clear();
  } catch (const StoreError&) {
    isGone = file_->remove();
    file_.reset();
  }
  if (isGone) forget(database_, id);
}

/// Everything in `file` that is not stored yet, in transactions of bounded size, each with how far
/// it comes.
void Spool::storeFile(Database& database, SpoolFile& file) {
  const auto run = readRunByUuid(database, file.owner().run);
  if (!run) {
    if (database.any("SELECT 1 FROM deleted_run WHERE uuid = ?", file.owner().run))
      return;  // the run is gone
    throw StoreError("the run they belong to is not in '" + database.file().string() + "'");
  }
  std::uint64_t next = storedOf(database, file.id());
  while (next < file.count()) {
    database.write([&] {
      std::uint64_t end = next, bytes = 0;
      while (end < file.count() && end - next < kRecordsAtOnce && bytes < kBytesAtOnce)
        bytes += file.sizeOf(end++);
      file.each(next, end, [&](std::uint64_t, SpoolFile::Kind kind, auto record) {
        const Stamped stamp = unstamped(record);
        RunWriter::Batch batch = unpackBatch(stamp.payload);
        dropUnstorable(batch, database.mostRowBytes());
        if (kind != SpoolFile::Kind::Ending) {
          appendBatch(database, run->id, file.owner().segment, batch, stamp.at);
          return;
        }
        for (const EventRecord& event : batch.events) {
          storeEnding(database, run->id, file.owner().segment,
                      runStateFromString(event.data.value("to", std::string())), event.text);
        }
      });
      database.run("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", markOf(file.id()),
                   std::to_string(end));
      next = end;
    });
  }
}

/// Its records are stored and its file is gone for good: the mark has done its work. One that stays
/// does no harm, an id is never used again; without it a file that is found again is stored again.
void Spool::forget(Database& database, const std::string& id) noexcept {
  try {
    database.write([&] { database.run("DELETE FROM meta WHERE key = ?", markOf(id)); });
  } catch (const std::exception&) {  // see above
  }
}

void Spool::storeAll(Database& database) {
  if (database.isReadOnly()) return;
  for (const fs::path& path : spoolsOf(database.file())) {
    try {
      const std::unique_ptr<SpoolFile> file = SpoolFile::open(path);
      if (!file) continue;  // its run continues
      if (file->owner().database != uuidOf(database))
        throw StoreError("they belong to another database");
      const std::uint64_t count = file->count();
      if (count > 0) storeFile(database, *file);
      const bool isGone = file->remove();
      if (count == 0) continue;
      if (isGone) forget(database, file->id());
      log::info("results that waited in '" + path.string() + "' are stored");
    } catch (const UnwritableError& error) {
      warnOnce("results wait in '" + path.string() + "': " + error.what());
      return;
    } catch (const std::exception& error) {
      warnOnce("results wait in '" + path.string() + "' and cannot be stored: " + error.what());
    }
  }
}

bool Spool::takeEnding(Database& database, std::int64_t run, RunState to,
                       const std::string& reason) {
  const RunRow row = readRun(database, run);
  for (const fs::path& path : spoolsOf(database.file())) {
    if (!path.filename().string().starts_with("run-" + row.uuid + "-")) continue;
    const std::unique_ptr<SpoolFile> file = SpoolFile::open(path);
    if (!file || file->count() == 0) continue;
    RunWriter::Batch batch;
    EventRecord event{row.step, "state", reason, Json::object()};
    event.data["to"] = toString(to);
    batch.events.push_back(event);
    return file->add(SpoolFile::Kind::Ending, stamped(packBatch(batch)));
  }
  return false;
}

}  // namespace vitrine::store

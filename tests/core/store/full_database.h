// A database with a run of every kind, and its contents as text that can be compared.
#pragma once

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

#include "core/base/sha256.h"
#include "core/files/checkpoint_folder.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::testing {

/// A PNG of 2 x 1 pixels, as bytes.
inline std::vector<std::byte> smallPng() {
  static constexpr unsigned char kBytes[] = {
      0x89, 'P',  'N',  'G',  0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 'I',  'H',
      'D',  'R',  0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00,
      0x00, 0xd1, 0x93, 0x4b, 0x0b, 0x00, 0x00, 0x00, 0x0b, 'I',  'D',  'A',  'T',  0x78,
      0x9c, 0x63, 0x60, 0xf8, 0x0f, 0x00, 0x01, 0x02, 0x01, 0x00, 0x6d, 0xe6, 0x1b, 0x7f,
      0x00, 0x00, 0x00, 0x00, 'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};
  std::vector<std::byte> bytes;
  for (const unsigned char byte : kBytes) bytes.push_back(std::byte{byte});
  return bytes;
}

/// Every row of every table apart from `meta`, values with their type and all their bits.
inline std::map<std::string, std::vector<std::string>> contentsOf(
    const std::filesystem::path& file) {
  RawDatabase raw(file);
  std::vector<std::string> tables;
  raw.each(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta' AND name NOT GLOB "
      "'sqlite_stat*'",
      [&](sqlite3_stmt* row) {
        tables.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)));
      });
  std::map<std::string, std::vector<std::string>> contents;
  for (const std::string& table : tables) {
    raw.each("SELECT * FROM " + table, [&](sqlite3_stmt* row) {
      std::string line;
      for (int i = 0; i < sqlite3_column_count(row); ++i) {
        const int type = sqlite3_column_type(row, i);
        line += "|" + std::to_string(type) + ":";
        if (type == SQLITE_FLOAT) {
          const double value = sqlite3_column_double(row, i);
          std::uint64_t bits = 0;
          std::memcpy(&bits, &value, sizeof bits);
          line += std::to_string(bits);
        } else if (type == SQLITE_BLOB) {
          const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, i));
          line += sha256OfText({bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, i))});
        } else if (type != SQLITE_NULL) {
          line += reinterpret_cast<const char*>(sqlite3_column_text(row, i));
        }
      }
      contents[table].push_back(line);
    });
  }
  return contents;
}

/// Relative path -> SHA-256 of every file below `folder`.
inline std::map<std::string, std::string> filesBelow(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).generic_string()] = sha256OfFile(entry.path());
  }
  return files;
}

class FullDatabase : public StoreTest {
 protected:
  /// Three finished runs of two experiments: `pre-train` with a resume and two checkpoints,
  /// `fine-tune`, which depends on it, and `alone`, whose few points are not packed.
  void fill() {
    store::RunStore store(file());
    const std::int64_t first = store.experiment("first, \"quoted\"", "title = 'first'");
    store::NewRun preTrain = newRun("pre-train, seed 1"), fineTune = newRun("fine-tune");
    preTrain.seed = std::numeric_limits<std::uint64_t>::max();
    const auto ids = store.addRuns(first, {preTrain});
    fineTune.dependsOn = ids[0];
    fineTune.init = Json{{"run", store.run(ids[0]).uuid}};
    store.addRuns(first, {fineTune});
    const std::int64_t alone =
        store.addRuns(store.experiment("second", ""), {newRun("alone")}).front();

    train(store, ids[0], 2300);
    store.setNote(ids[0], "a note: ä, \"b\"\nsecond line");
    store.setTags(ids[0], {"keep", "paper"});
    store.setCurveNotes(ids[0], {{"train/loss", 300, "warm-up ends"}, {"test/top1", 7, "ünique"}});
    store.setImageTags(ids[0], {{2300, "ab", "*"}, {2300, "ab", "päper"}});
    store.setMark(ids[0], store::RunField::Baseline, "yes");
    store.setMark(ids[0], store::RunField::Colour, "3");
    train(store, ids[0] + 1, 40);
    append(store, alone, store.openSegment(alone, 0, store::thisWorker(), Json::object()), 1, 5);
    store.setState(alone, store::RunState::Failed, "no reason");
    RawDatabase(file()).run(
        "INSERT INTO generated_image(run_id, segment, step, created_at, recipe, seed, width, "
        "height, sha256, png) VALUES (1, 0, 2300, '2026-01-02T03:04:05.678Z', '{\"steps\":4}', 7, "
        "2, 1, 'ab', x'00ff')");
    RawDatabase(file()).run(
        "INSERT INTO generated_text(run_id, segment, step, created_at, recipe, seed, prompt, text) "
        "VALUES (1, 0, 2300, '2026-01-02T03:04:05.678Z', '{\"steps\":4}', 7, 'a cat', 'sat'); "
        "INSERT INTO run_dependency SELECT 2, 'aux', 'codec', uuid, 'latest' FROM run WHERE id = "
        "1");
  }

  void train(store::RunStore& store, std::int64_t run, std::int64_t steps) {
    const std::int64_t segment =
        store.openSegment(run, 0, store::thisWorker(), Json{{"device", "cpu"}, {"commit", "abc"}});
    append(store, run, segment, 1, steps);
    checkpoint(store, run, segment, steps / 2);
    checkpoint(store, run, segment, steps);
    store.setState(run, store::RunState::Interrupted, "pulled the plug");
    const std::int64_t next =
        store.openSegment(run, steps / 2, store::thisWorker(), Json::object());
    append(store, run, next, steps / 2 + 1, steps);
    checkpoint(store, run, next, steps);
    store.setLogFile(run, "run-" + store.run(run).uuid + "/run.log");
    std::ofstream(store::filesFolder(file()) / ("run-" + store.run(run).uuid) / "run.log")
        << "one line of run " << run << "\n";
    store.setState(run, store::RunState::Done);
  }

  static void append(store::RunStore& store, std::int64_t run, std::int64_t segment,
                     std::int64_t from, std::int64_t to) {
    static const double kOdd[] = {std::nan(""),
                                  -0.0,
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::denorm_min(),
                                  1e308,
                                  0.1};
    store::RunStore::Batch batch;
    for (std::int64_t step = from; step <= to; ++step) {
      batch.metrics.push_back(record(
          step, {{"test/top1", static_cast<double>(step) / 3}, {"train/loss", kOdd[step % 7]}}));
    }
    batch.events.push_back({to, "evaluation", "a split was evaluated", Json{{"split", "test"}}});
    batch.artifacts.push_back({.analysis = "attention_rank",
                               .name = "image",
                               .kind = "image",
                               .step = to,
                               .meta = Json{{"version", 1}, {"dtype", "png"}, {"shape", {1, 2, 1}}},
                               .data = smallPng()});
    store.append(run, segment, batch);
  }

  void checkpoint(store::RunStore& store, std::int64_t run, std::int64_t segment,
                  std::int64_t step) {
    const std::string folder = "run-" + store.run(run).uuid;
    writeCheckpointFolder(store::filesFolder(file()) / folder, step, Json::object(),
                          [&](const std::filesystem::path& to) {
                            std::ofstream(to / "model.safetensors")
                                << std::string(3000, static_cast<char>('a' + step % 20)) << run
                                << segment;
                            std::ofstream(to / "state.json") << "{}";
                          });
    store.append(run, segment,
                 {.checkpoints = {{.step = step,
                                   .folder = folder + "/" + checkpointName(step),
                                   .bytes = 3000,
                                   .isBest = step % 2 == 0}}});
  }
};

}  // namespace vitrine::testing

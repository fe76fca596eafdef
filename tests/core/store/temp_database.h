// A database in a folder of its own that goes with the test, and small helpers to fill it.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/store/run_store.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::testing {

/// A connection with SQLite's own settings, as the sqlite3 shell has.
class RawDatabase {
 public:
  explicit RawDatabase(const std::filesystem::path& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &handle_), SQLITE_OK);
    sqlite3_busy_timeout(handle_, 5000);
  }
  ~RawDatabase() { sqlite3_close(handle_); }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  void run(const std::string& sql) {
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK)
        << sql << ": " << (error != nullptr ? error : "");
    sqlite3_free(error);
  }
  /// The rows of `sql`, each handed to `use` as a statement standing on it.
  template <typename Use>
  void each(const std::string& sql, Use&& use) {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sql << ": " << sqlite3_errmsg(handle_);
    int code = SQLITE_OK;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) use(statement);
    EXPECT_EQ(code, SQLITE_DONE) << sqlite3_errmsg(handle_);
    sqlite3_finalize(statement);
  }
  std::int64_t integer(const std::string& sql) {
    std::int64_t value = -1;
    each(sql, [&](sqlite3_stmt* row) { value = sqlite3_column_int64(row, 0); });
    return value;
  }

 private:
  sqlite3* handle_ = nullptr;
};

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() = default;
  explicit StoreTest(const std::filesystem::path& parent) : own_(parent) {}

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "experiments.sqlite"; }

  static store::NewRun newRun(const std::string& name) {
    return {.name = name,
            .config = Json::parse(R"({"model": {"width": 64}, "train": {"epochs": 5}})")};
  }
  static std::int64_t addRun(store::RunStore& store, const std::string& name = "a run") {
    return store.addRuns(store.experiment("an experiment", ""), {newRun(name)}).front();
  }
  /// A running run and its first segment, number 1.
  static std::int64_t addRunning(store::RunStore& store, const std::string& name = "a run") {
    const std::int64_t run = addRun(store, name);
    store.openSegment(run, 0, store::thisWorker(), Json{{"device", "cpu"}, {"commit", "abc123"}});
    return run;
  }
  /// An open database and the run in it: `auto [store, run] = openWithRun();`
  struct Opened {
    Opened(const std::filesystem::path& path,
           std::int64_t (*add)(store::RunStore&, const std::string&))
        : database(path), run(add(database, "a run")) {}
    store::RunStore database;
    std::int64_t run;
  };
  [[nodiscard]] Opened openWithRun() const { return {file(), &addRun}; }
  [[nodiscard]] Opened openWithRunning() const { return {file(), &addRunning}; }
  static MetricRecord record(std::int64_t step,
                             std::vector<std::pair<std::string, double>> values) {
    return {step, static_cast<double>(step) / 469.0, static_cast<double>(step) * 0.031,
            std::move(values)};
  }

 private:
  TemporaryFolder own_;

 protected:
  const std::filesystem::path folder_ = own_.path();
};

}  // namespace vitrine::testing

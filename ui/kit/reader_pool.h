// Threads that read one database in the background, each with one connection of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/store/run_store.h"

namespace vitrine::ui {

/// Bounds what a window opens: at most `most` threads, and a connection for each that reads. Both
/// are made when the first job needs them and stay until the pool goes.
class ReaderPool {
 public:
  static constexpr std::size_t kMostReaders = 4;

  /// Opens its file at the first store(). Belongs to one thread.
  class Connection;
  /// Runs on one of the threads. Reads `isStale` now and then and returns early once it is true.
  using Job = std::function<void(Connection& connection, const std::atomic<bool>& isStale)>;

  /// The pool of `database`, shared by all that hold it. Jobs of "" read no database.
  [[nodiscard]] static std::shared_ptr<ReaderPool> of(const std::filesystem::path& database);
  explicit ReaderPool(std::filesystem::path database, std::size_t most = kMostReaders);
  /// No line of it is left.
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// The jobs of one owner: at most one runs and one waits. Lines take turns.
  class Line {
   public:
    explicit Line(std::shared_ptr<ReaderPool> pool);
    /// Drops the job that waits, marks the one that runs as stale and waits for it.
    ~Line();
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    /// Replaces the job that waits; the one that runs becomes stale.
    void run(Job job);
    /// Drops the job that waits; the one that runs becomes stale.
    void cancel();
    /// Returns when none runs and none waits.
    void wait();

   private:
    friend class ReaderPool;
    struct State;
    std::shared_ptr<ReaderPool> pool_;
    std::unique_ptr<State> state_;
  };

 private:
  struct State;
  void work();
  std::unique_ptr<State> state_;
};

class ReaderPool::Connection {
 public:
  explicit Connection(const std::filesystem::path& database) : database_(database) {}
  /// \throws Error  the database cannot be opened; the next call tries again
  [[nodiscard]] store::RunReader& store() {
    if (!reader_) reader_ = std::make_unique<store::RunReader>(database_);
    return *reader_;
  }

 private:
  const std::filesystem::path& database_;
  std::unique_ptr<store::RunReader> reader_;
};

}  // namespace vitrine::ui

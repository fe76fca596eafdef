// EventSink into the database: a queue and a writer thread of its own, one transaction at most
// every 500 ms.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/run/event_sink.h"
#include "core/run/run_control.h"
#include "core/store/types.h"
#include "core/store_export.h"

namespace vitrine::store {

/// Folders for results while the database cannot be written.
struct SpoolSettings {
  std::uint64_t reserve = 4u << 20;  ///< bytes of the side file that are taken beforehand
  /// Folders on other disks for what the reserve cannot hold; those of this user when empty.
  std::vector<std::filesystem::path> elsewhere;
  std::chrono::milliseconds retry{2000};  ///< between two tries to write the database
};

/// When the disk is full, another process keeps the database or permission is missing, results go
/// to a side file (resources/docs/database.md). This process, or the next one that opens the
/// database, stores them later. Where there is no room for that either, they are kept in memory.
class VITRINE_STORE_EXPORT StoreSink final : public EventSink {
 public:
  /// Opens its own connection. `control` receives the row's `request`.
  /// \throws StoreError  the database cannot be opened, or the run has no such segment
  StoreSink(const std::filesystem::path& database, std::int64_t run, std::int64_t segment,
            RunControl& control, SpoolSettings spool = {});
  /// Flushes; what can be written to no file at all is lost and logged as an error.
  ~StoreSink() override;

  void metrics(const MetricRecord& record) override;
  void event(const EventRecord& record) override;
  void artifact(Artifact artifact) override;
  void image(GeneratedImage image) override;
  void text(GeneratedText text) override;
  void progress(const ProgressRecord& record) override;
  void checkpoint(const CheckpointRecord& record) override;
  /// Durable in the database or in the side file.
  /// \throws StoreError  neither can be written; the records are kept and tried again
  void flush() override;

  /// Transactions committed so far: what the tests count.
  [[nodiscard]] std::int64_t commits() const noexcept;
  /// Bytes that wait in the side file.
  [[nodiscard]] std::uint64_t waitingBytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::store

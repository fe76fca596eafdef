// EventSink into the database: a queue and a writer thread of its own, one transaction at most
// every 500 ms.
#pragma once

#include <filesystem>
#include <memory>

#include "core/artifact/event_sink.h"
#include "core/base/run_control.h"
#include "core/store/types.h"
#include "core/store_export.h"

namespace vitrine {

class VITRINE_STORE_EXPORT StoreSink final : public EventSink {
 public:
  /// Opens its own connection. `control` is told what the row's `request` asks for.
  /// \throws StoreError  the database cannot be opened, or the run has no such segment
  StoreSink(const std::filesystem::path& database, std::int64_t run, std::int64_t segment,
            RunControl& control);
  ~StoreSink() override;  ///< flushes; what cannot be written is lost and logged as an error

  void metrics(const MetricRecord& record) override;
  void event(const EventRecord& record) override;
  void artifact(Artifact artifact) override;
  void progress(const ProgressRecord& record) override;
  void checkpoint(const CheckpointRecord& record) override;
  /// \throws StoreError  it could not be written; the records are kept and tried again
  void flush() override;

  /// Transactions committed so far: what the tests count.
  [[nodiscard]] std::int64_t commits() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine

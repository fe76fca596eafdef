// Metric records for the database, in flat arrays. A name is kept once, and a record with the names
// of the record before costs no allocation. Private to core/store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/run/event_sink.h"
#include "core/store_export.h"

namespace vitrine::store {

class VITRINE_STORE_EXPORT MetricBatch {
 public:
  struct Value {
    std::uint32_t name = 0;  ///< index into names()
    double value = 0;
  };
  struct Moment {
    std::int64_t step = 0;
    double epoch = 0, time = 0;  ///< as in MetricRecord
    std::size_t end = 0;         ///< its values are those from the end of the one before to here
  };

  MetricBatch() = default;
  explicit MetricBatch(std::span<const MetricRecord> records);

  void add(const MetricRecord& record);
  /// Forgets the records, not their names: the next ones are most likely alike. Keeps some room.
  void clear() noexcept;
  void swap(MetricBatch& other) noexcept;

  [[nodiscard]] bool isEmpty() const noexcept { return moments_.empty(); }
  [[nodiscard]] const std::vector<Moment>& moments() const noexcept { return moments_; }
  [[nodiscard]] const std::vector<Value>& values() const noexcept { return values_; }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// The records as they were, behind those of `records`; all of them or, without memory, none.
  void appendTo(std::vector<MetricRecord>& records) const;

 private:
  std::uint32_t indexOf(const std::string& name);

  // What every call needs lies together: after a training step, nothing of it is in the caches.
  std::vector<Moment> moments_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> expected_;  ///< names of the record before
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> indices_;
};

}  // namespace vitrine::store

// Configurations of the listed runs by dotted key, kept for the filter and the list.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/store/run_reader.h"

namespace vitrine::ui {

/// Keys and values of a configuration as flatten() gives them.
using FlatConfig = std::vector<std::pair<std::string, Json>>;

/// Reads all new configurations with one query and flattens each once. Until a run begins, its
/// configuration may be completed: it is read again after a change of the run's row.
class RunConfigs {
 public:
  explicit RunConfigs(store::RunReader& store) : store_(store) {}

  /// Valid until the next call. \throws Error  it cannot be read
  const FlatConfig& of(const store::RunRow& run);
  void forget(const std::vector<std::int64_t>& runs);

 private:
  friend class Probe;  ///< of tests

  struct Entry {
    FlatConfig values;
    std::int64_t changeSequence = -1;  ///< of the row; -1: read with others, for any row
    bool isFinal = false;              ///< the run had begun
  };
  void readNew();
  Entry& keep(std::int64_t run, const Json& config);

  store::RunReader& store_;
  std::unordered_map<std::int64_t, Entry> known_;
  std::int64_t last_ = 0;  ///< newest run that was read with others
  int flattenings_ = 0, queries_ = 0;
};

}  // namespace vitrine::ui

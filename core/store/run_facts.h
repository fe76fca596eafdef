// Single facts about runs that one caller each asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/store/run_reader.h"

namespace vitrine::store {

/// A number that grows with every sign of life of a run: its steps, its metrics and its events but
/// those of the kind "hang". The heartbeat is none, a thread of its own writes it.
[[nodiscard]] VITRINE_STORE_EXPORT std::int64_t signsOfLife(RunReader& store, std::int64_t run);

/// A process has opened a segment of the run, and no other has claimed it since.
[[nodiscard]] VITRINE_STORE_EXPORT bool isTakenUp(RunReader& store, std::int64_t run);

/// Checkpoint steps of the run with that UUID that other runs need. They need them as the start of
/// a run that is not done, as the place of frozen parameters, or as an auxiliary network.
[[nodiscard]] VITRINE_STORE_EXPORT std::set<std::int64_t> stepsOthersNeed(RunReader& store,
                                                                          const std::string& uuid);

/// Ids above `run` with their resolved configurations as they are stored, JSON, by id.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::pair<std::int64_t, std::string>> configsAfter(
    RunReader& store, std::int64_t run);

/// Runs that have an artifact of that kind. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::set<std::int64_t> runsWithArtifact(RunReader& store,
                                                                           const std::string& kind);

/// Tags, sorted, of the runs that have some. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::int64_t, std::vector<std::string>> tagsByRun(
    RunReader& store);

/// Notes of the runs that have one. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::int64_t, std::string> notesByRun(
    const QueryFunction& query);

/// Environments of the newest segments of `runs`, by run; of those that have one. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::int64_t, Json> environmentsOf(
    const QueryFunction& query, const std::set<std::int64_t>& runs);
/// The texts of experiment files, by experiment. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::int64_t, std::string> sourcesOf(
    const QueryFunction& query, const std::set<std::int64_t>& experiments);

/// Running time in seconds up to a metric's last value, by run; of those that recorded it. One
/// query.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::int64_t, double> runningTimes(
    const QueryFunction& query, const std::set<std::int64_t>& runs, const std::string& metric);

/// Last values of `metrics`, by metric and run; of those that recorded one. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::string, std::map<std::int64_t, double>>
lastValuesOf(const QueryFunction& query, const std::set<std::string>& metrics);
/// Least and greatest values of `metrics`, by metric and run; of those that recorded one. One
/// query.
[[nodiscard]] VITRINE_STORE_EXPORT
    std::map<std::string, std::map<std::int64_t, std::pair<double, double>>>
    rangesOf(const QueryFunction& query, const std::set<std::string>& metrics);
/// Names of the metrics that any run has recorded, sorted. One query.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::string> recordedMetrics(
    const QueryFunction& query);

/// Bytes of the checkpoints that are kept, by run; of those that have some. One query.
/// \param of  these runs alone; empty: all
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::int64_t, std::int64_t> checkpointBytes(
    const QueryFunction& query, const std::set<std::int64_t>& of = {});

/// A table or a view that users may ask.
struct StoredTable {
  struct Column {
    std::string name, type;
  };
  std::string name;
  bool isView = false;
  std::vector<Column> columns;
};
/// Views first, each by name. \throws StoreError  stopped, or out of time
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<StoredTable> storedTables(
    RunReader& store, const RunReader::QueryLimits& limits);

/// The view that shows a picture.
enum class PictureView {
  Artifacts,  ///< of the kind "image"
  GeneratedImages,
};
/// The picture with that id in a view, when it has `bytes` bytes; else nothing.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::byte> pictureOf(RunReader& store,
                                                                    PictureView view,
                                                                    std::int64_t id,
                                                                    std::int64_t bytes);

}  // namespace vitrine::store

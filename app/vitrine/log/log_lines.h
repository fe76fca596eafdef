// Lines of `vitrine log` as values: what a training script of another program says of its run.
// resources/docs/python.md describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/catalog.h"
#include "core/run/event_sink.h"

namespace vitrine::app {

/// A line that is not understood. The sentence names field, value and remedy; the caller knows the
/// number of the line.
class BadLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The first line: a new run, or the one that a script continues.
struct RunLine {
  std::string experiment, name, variant, note;
  std::uint64_t seed = 0;
  Json config = Json::object(), environment = Json::object();
  std::vector<std::string> tags;
  std::int64_t totalSteps = 0;         ///< 0: not known
  std::string resume;                  ///< id or UUID of the run to continue; "": a new one
  std::optional<std::int64_t> atStep;  ///< to continue behind; without it, behind the last value
};

/// The last line.
struct FinishLine {
  std::string state;  ///< "done", "failed", "stopped" or "interrupted"
  std::string reason;
};

/// An object with a text "type". \throws BadLine
[[nodiscard]] Json logLine(std::string_view text);
[[nodiscard]] std::string typeOf(const Json& line);

// Each reads the fields of one type. \throws BadLine
[[nodiscard]] RunLine runLine(const Json& line);
[[nodiscard]] FinishLine finishLine(const Json& line);
/// `time` is NaN where the line has none.
[[nodiscard]] MetricRecord metricsLine(const Json& line);
[[nodiscard]] MetricDeclaration metricLine(const Json& line);
/// One image as PNG, several of one size as a grid.
[[nodiscard]] Artifact imageLine(const Json& line);
[[nodiscard]] Artifact tableLine(const Json& line);
[[nodiscard]] Artifact matrixLine(const Json& line);
/// An image that the script's model made.
[[nodiscard]] GeneratedImage sampleLine(const Json& line);
[[nodiscard]] GeneratedText textLine(const Json& line);
[[nodiscard]] EventRecord eventLine(const Json& line);
/// A line for the log file of the run.
[[nodiscard]] std::string printLine(const Json& line);
/// Its "id", or null.
[[nodiscard]] Json flushLine(const Json& line);

}  // namespace vitrine::app

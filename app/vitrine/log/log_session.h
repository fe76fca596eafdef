// One run of a foreign script, from its first line to its last: what `vitrine log` does with them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/vitrine/log/log_lines.h"
#include "app/vitrine/run/progress_sink.h"
#include "core/run/run_control.h"
#include "core/store/run_store.h"
#include "core/store/spool/store_sink.h"

namespace vitrine::app {

/// Results go through the same writer as those of a native run. The row of the run names this
/// process as its worker.
class LogSession {
 public:
  using Respond = std::function<void(const Json&)>;

  LogSession(store::RunStore& store, Respond respond);
  ~LogSession();
  LogSession(const LogSession&) = delete;
  LogSession& operator=(const LogSession&) = delete;

  /// \param line  without its line break
  /// \throws BadLine  it is not understood; what came before stays
  void take(std::string_view line);
  /// Passes on what the window, another terminal or a signal asks of the run, once each. Tries
  /// again to answer the flush lines that wait.
  void tellRequests();
  /// The script is gone or has sent a line that is not understood: the run ends here.
  void end(store::RunState state, const std::string& reason);
  /// Makes everything durable that was taken, and answers the flush lines. Where nothing can be
  /// written it waits and returns: they are answered later.
  void flush();

  [[nodiscard]] bool hasRun() const noexcept { return run_ != 0; }
  [[nodiscard]] bool hasEnded() const noexcept { return hasEnded_; }
  /// Of a run that has ended.
  [[nodiscard]] store::RunState state() const noexcept { return state_; }

 private:
  using Clock = std::chrono::steady_clock;

  void begin(RunLine line);
  [[nodiscard]] std::int64_t newRun(const RunLine& line);
  [[nodiscard]] std::int64_t knownRun(const RunLine& line);
  void continueBehind(const RunLine& line);
  void takeMetrics(MetricRecord record);
  void finish(const FinishLine& line);
  void declare(const MetricDeclaration& metric);

  store::RunStore& store_;
  const Respond respond_;
  RunControl control_;
  Request told_ = Request::None;
  std::int64_t run_ = 0;
  std::string name_;
  std::optional<RunLog> log_;
  std::unique_ptr<store::StoreSink> sink_;
  std::vector<Json> unanswered_;  ///< ids of flush lines whose records are not durable yet
  ProgressRecord progress_;
  std::int64_t firstStep_ = 0;
  double timeBefore_ = 0;  ///< seconds of the segments before
  Clock::time_point start_;
  bool hasEnded_ = false;
  store::RunState state_ = store::RunState::Running;
};

}  // namespace vitrine::app

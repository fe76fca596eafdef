// Progress of a run on the terminal and in its log.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "core/jobs/machine_meter.h"
#include "core/run/event_sink.h"

namespace vitrine::app {

/// A curve of any length in bounded memory: means of equally many values each, in their order; the
/// last mean may be of fewer. Values that are not finite are left out.
class RunningCurve {
 public:
  static constexpr std::size_t kMostMeans = 256;
  void add(double value);
  [[nodiscard]] const std::vector<double>& means() const { return means_; }

 private:
  std::vector<double> means_;
  std::size_t each_ = 1, inLast_ = 1;  ///< values of a mean, and of the last one
};

/// Lines on stderr and in the run's log file. On a terminal the progress line renews itself;
/// elsewhere one is written every ten seconds. Thread-safe.
class RunLog {
 public:
  /// \param file  appended; its folder is made. When stderr is that file already, or a supervisor's
  /// ($VITRINE_RUN_LOG=stderr), lines are written once.
  /// \param unit  what the throughput of the run counts: "images"
  RunLog(const std::filesystem::path& file, std::string unit);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  void line(const std::string& text);
  void progress(const ProgressRecord& record);
  /// Leaves the last progress line on a terminal as it is.
  void endProgress();

 private:
  using Clock = std::chrono::steady_clock;
  void open();
  void writeToFile(const std::string& text);

  std::filesystem::path path_;
  std::string unit_;
  bool isKept_ = false, isReopened_ = false;
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  bool isTerminal_ = false;
  bool isLineOpen_ = false;
  Clock::time_point lastShown_{}, lastLogged_{};
  RunningCurve losses_;  ///< one a shown line, for the curve on a terminal
};

/// "step 1200/20000 6.0 % | loss 2.31 | 412 images/s | mem 1.2 GB | ETA 01:12:40"; without the loss
/// while none is known
/// \param unit  what the throughput counts: "images"
[[nodiscard]] std::string progressText(const ProgressRecord& record, const std::string& unit);

/// A curve of that many characters at most, from the lowest bar for the least value to the highest
/// one. Each character is the mean of its part.
/// \return "" without values or width
[[nodiscard]] std::string curveText(const std::vector<double>& values, std::size_t width);

/// Passes everything to `next`, some points with the use of the machine, and logs what a
/// user reads.
class ProgressSink final : public EventSink {
 public:
  /// \param device  that the run computes on: "cpu", "cuda:0"
  ProgressSink(EventSink& next, RunLog& log, std::string device)
      : next_(next), log_(log), meter_(std::move(device)) {}

  void metrics(const MetricRecord& record) override;
  void event(const EventRecord& record) override;
  void artifact(Artifact artifact) override { next_.artifact(std::move(artifact)); }
  void image(GeneratedImage image) override { next_.image(std::move(image)); }
  void text(GeneratedText text) override { next_.text(std::move(text)); }
  void progress(const ProgressRecord& record) override;
  void checkpoint(const CheckpointRecord& record) override { next_.checkpoint(record); }
  void flush() override { next_.flush(); }

 private:
  EventSink& next_;
  RunLog& log_;
  jobs::MachineMeter meter_;
};

}  // namespace vitrine::app

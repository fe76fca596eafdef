#include "app/vitrine/run/progress_sink.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

constexpr std::chrono::milliseconds kTerminalInterval{200}, kPipeInterval{10'000};

/// Digits behind the point, independent of the locale.
std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return formatReal(value);
  const double scale = std::pow(10.0, digits);
  const long long scaled = std::llround(std::abs(value) * scale);
  std::string text = std::to_string(scaled / static_cast<long long>(scale));
  if (digits > 0) {
    const std::string part = std::to_string(scaled % static_cast<long long>(scale));
    text += "." + std::string(static_cast<std::size_t>(digits) - part.size(), '0') + part;
  }
  return (value < 0 ? "-" : "") + text;
}

/// What fits behind a text of that length on a line of the terminal; its last column stays free.
std::size_t roomBehind(std::size_t length) {
  winsize size{};
  const bool isKnown = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const std::size_t columns = isKnown ? size.ws_col : 80;
  return columns > length + 1 ? columns - length - 1 : 0;
}

}  // namespace

void RunningCurve::add(double value) {
  if (!std::isfinite(value)) return;
  if (!means_.empty() && inLast_ < each_) {
    ++inLast_;
    means_.back() += (value - means_.back()) / static_cast<double>(inLast_);
    return;
  }
  if (means_.size() == kMostMeans) {
    for (std::size_t i = 0; i < kMostMeans / 2; ++i)
      means_[i] = (means_[2 * i] + means_[2 * i + 1]) / 2;
    means_.resize(kMostMeans / 2);
    each_ *= 2;
  }
  means_.push_back(value);
  inLast_ = 1;
}

std::string curveText(const std::vector<double>& values, std::size_t width) {
  static constexpr std::array<const char*, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(width, values.size());
  std::vector<double> means(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * values.size() / count, last = (i + 1) * values.size() / count;
    for (std::size_t j = first; j < last; ++j) means[i] += values[j];
    means[i] /= static_cast<double>(last - first);
  }
  if (means.empty()) return "";
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  const double range = *most - *least;
  std::string text;
  for (const double mean : means)
    text +=
        kBars[range > 0 ? static_cast<std::size_t>(std::lround(7 * (mean - *least) / range)) : 0];
  return text;
}

std::string progressText(const ProgressRecord& record, const std::string& unit) {
  const double percent = record.totalSteps > 0 ? 100.0 * static_cast<double>(record.step) /
                                                     static_cast<double>(record.totalSteps)
                                               : 0;
  std::string text = "step " + std::to_string(record.step) + "/" +
                     std::to_string(record.totalSteps) + " " + fixed(percent, 1) + " %";
  if (!std::isnan(record.loss)) text += " | loss " + formatReal(record.loss, 3);
  text += " | " + fixed(record.imagesPerSecond, 0) + " " + unit + "/s | mem " +
          formatBytes(record.memoryBytes);
  if (std::isfinite(record.remainingSeconds))
    text += " | ETA " + formatDuration(record.remainingSeconds);
  return text;
}

RunLog::RunLog(const std::filesystem::path& file, std::string unit)
    : path_(file), unit_(std::move(unit)), isTerminal_(::isatty(STDERR_FILENO) == 1) {
  // The supervisor of the run writes what comes from stderr into the log, and keeps that short.
  const char* kept = std::getenv("VITRINE_RUN_LOG");
  isKept_ = kept != nullptr && std::string(kept) == "stderr";
  if (!isKept_) open();
}

void RunLog::open() {
  const std::filesystem::path& file = path_;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  file_ = std::fopen(file.c_str(), "ae");
  if (file_ == nullptr)
    throw FileError("the log " + file.string() +
                    " cannot be written; is the disk full or read-only?");
  struct stat ours {
  }, standard{};
  if (::fstat(::fileno(file_), &ours) == 0 && ::fstat(STDERR_FILENO, &standard) == 0 &&
      ours.st_dev == standard.st_dev && ours.st_ino == standard.st_ino) {
    std::fclose(file_);
    file_ = nullptr;
  }
}

RunLog::~RunLog() {
  endProgress();
  if (file_ != nullptr) std::fclose(file_);
}

void RunLog::writeToFile(const std::string& text) {
  // The supervisor has ended: from here on the run keeps its log itself.
  if (file_ == nullptr && std::ferror(stderr) != 0 && !isReopened_) {
    isReopened_ = true;
    try {
      open();
    } catch (const FileError&) {  // there is no place left to report it
    }
  }
  if (file_ == nullptr) return;
  std::fprintf(file_, "%s %s\n", utcNow().c_str(), text.c_str());
  std::fflush(file_);
}

void RunLog::line(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const std::string whole =
      (isLineOpen_ ? "\r\033[K" : "") + (isKept_ ? utcNow() + " " : "") + text + "\n";
  isLineOpen_ = false;
  std::fwrite(whole.data(), 1, whole.size(), stderr);
  writeToFile(text);
}

void RunLog::progress(const ProgressRecord& record) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const bool isLast = record.step == record.totalSteps;
  const bool isShown =
      isLast || now - lastShown_ >= (isTerminal_ ? kTerminalInterval : kPipeInterval);
  const bool isLogged = isLast || now - lastLogged_ >= kPipeInterval;
  if (!isShown && !isLogged) return;
  const std::string text = progressText(record, unit_);
  if (isShown) {
    lastShown_ = now;
    losses_.add(record.loss);
    constexpr std::size_t kWidest = 32;
    const std::string curve =
        isTerminal_ ? curveText(losses_.means(), std::min(kWidest, roomBehind(text.size() + 3)))
                    : "";
    const std::string whole = isTerminal_ ? "\r\033[K" + text + (curve.empty() ? "" : " | " + curve)
                                          : (isKept_ ? utcNow() + " " : "") + text + "\n";
    std::fwrite(whole.data(), 1, whole.size(), stderr);
    std::fflush(stderr);
    isLineOpen_ = isTerminal_;
  }
  if (isLogged) {
    lastLogged_ = now;
    writeToFile(text);
  }
}

void RunLog::endProgress() {
  const std::lock_guard lock(mutex_);
  if (isLineOpen_) std::fputc('\n', stderr);
  isLineOpen_ = false;
}

void ProgressSink::metrics(const MetricRecord& record) {
  const jobs::MachineMeter::Values use = meter_.read(record.step);
  if (use.empty()) return next_.metrics(record);
  MetricRecord whole = record;
  whole.values.insert(whole.values.end(), use.begin(), use.end());
  next_.metrics(whole);
}

void ProgressSink::event(const EventRecord& record) {
  if (!record.text.empty()) log_.line("step " + std::to_string(record.step) + ": " + record.text);
  next_.event(record);
}

void ProgressSink::progress(const ProgressRecord& record) {
  log_.progress(record);
  next_.progress(record);
}

}  // namespace vitrine::app

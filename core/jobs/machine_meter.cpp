#include "core/jobs/machine_meter.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/base/parse_number.h"
#include "core/base/text.h"

namespace vitrine::jobs {

namespace {

constexpr double kMebibyte = 1024 * 1024;
constexpr const char* kCuda = "cuda";

int coresOfThisProcess() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  // A machine of more cores than the set holds.
  return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

std::optional<ProcessUse> parseProcessUse(std::string_view stat) {
  // Counted from the state, which follows the name in brackets; the name may hold anything.
  constexpr std::size_t kUserTicks = 11, kKernelTicks = 12, kResidentPages = 21;
  const std::size_t name = stat.rfind(')');
  if (name == std::string_view::npos) return std::nullopt;
  std::array<std::string_view, kResidentPages + 1> fields;
  std::string_view rest = stat.substr(name + 1);
  for (std::string_view& field : fields) {
    const std::size_t from = rest.find_first_not_of(' ');
    if (from == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(from);
    field = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(field.size());
  }
  const auto user = parseNumber<std::uint64_t>(fields[kUserTicks]),
             kernel = parseNumber<std::uint64_t>(fields[kKernelTicks]);
  const auto pages = parseNumber<std::int64_t>(fields[kResidentPages]);
  const std::int64_t pageBytes = ::sysconf(_SC_PAGESIZE);
  if (!user || !kernel || !pages || *pages < 0 || *pages > INT64_MAX / pageBytes)
    return std::nullopt;
  const double ticks = static_cast<double>(*user) + static_cast<double>(*kernel);
  return ProcessUse{ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)), *pages * pageBytes};
}

std::optional<ProcessUse> readProcessUse() {
  std::ifstream stream("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return parseProcessUse(text);
}

std::optional<std::size_t> cardOf(const std::string& device, const char* visible,
                                  const std::vector<GpuLoad>& cards) {
  if (!device.starts_with(kCuda)) return std::nullopt;
  const std::size_t colon = device.find(':');
  const auto index = colon == std::string::npos
                         ? std::optional<std::size_t>(0)
                         : parseNumber<std::size_t>(std::string_view(device).substr(colon + 1));
  if (!index) return std::nullopt;
  std::size_t place = *index;
  if (visible != nullptr) {
    const std::vector<std::string> seen = split(visible, ',');
    if (*index >= seen.size()) return std::nullopt;
    const std::string& card = seen[*index];
    const auto number = parseNumber<std::size_t>(card);
    const auto found = std::find_if(cards.begin(), cards.end(), [&card](const GpuLoad& load) {
      return !card.empty() && load.uuid.starts_with(card);
    });
    place = number ? *number : static_cast<std::size_t>(found - cards.begin());
  }
  return place < cards.size() ? std::optional(place) : std::nullopt;
}

std::vector<MetricDeclaration> machineMetrics() {
  return {{"system/cpu", "", "fraction", "none",
           "CPU time of the training process as a share of the cores that it may use"},
          {"system/resident_memory", "", "MiB", "lower",
           "main memory that the training process occupies"},
          {"system/gpu", "", "fraction", "none",
           "share of the time in which the GPU computed anything, as its driver says"},
          {"system/gpu_memory", "", "MiB", "lower",
           "memory in use on the GPU, that of other processes included"}};
}

MachineMeter::MachineMeter(std::string device)
    : device_(std::move(device)),
      cores_(coresOfThisProcess()),
      begin_(Clock::now()),
      last_(begin_) {
  if (const auto use = readProcessUse()) lastSeconds_ = use->cpuSeconds;
  if (device_.starts_with(kCuda)) driver_.emplace();
}

bool MachineMeter::isDue(std::int64_t step, Clock::time_point now) const {
  if (!lastStep_) return true;
  const std::chrono::duration<double> since = now - last_, running = now - begin_;
  return step > *lastStep_ && since >= std::max(kLeast, running / 1000);
}

MachineMeter::Values MachineMeter::read(std::int64_t step) {
  const auto now = Clock::now();
  if (!isDue(step, now)) return {};
  return take(step, now, readProcessUse(), driver_ ? driver_->read() : std::vector<GpuLoad>());
}

MachineMeter::Values MachineMeter::take(std::int64_t step, Clock::time_point now,
                                        const std::optional<ProcessUse>& use,
                                        const std::vector<GpuLoad>& cards) {
  Values values;
  const std::chrono::duration<double> since = now - last_;
  if (use) {
    // The kernel counts in ticks: over a short time their sum may be more than there was.
    const double share = (use->cpuSeconds - lastSeconds_) / (since.count() * cores_);
    if (since.count() > 0) values.emplace_back("system/cpu", std::clamp(share, 0.0, 1.0));
    values.emplace_back("system/resident_memory",
                        static_cast<double>(use->residentBytes) / kMebibyte);
    lastSeconds_ = use->cpuSeconds;
  }
  if (const auto card = cardOf(device_, std::getenv("CUDA_VISIBLE_DEVICES"), cards)) {
    const GpuLoad& load = cards[*card];
    if (std::isfinite(load.utilisation)) values.emplace_back("system/gpu", load.utilisation);
    if (load.totalBytes > 0)
      values.emplace_back("system/gpu_memory", static_cast<double>(load.usedBytes) / kMebibyte);
  }
  last_ = now;
  lastStep_ = step;
  return values;
}

}  // namespace vitrine::jobs

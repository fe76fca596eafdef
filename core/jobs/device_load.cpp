#include "core/jobs/device_load.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <thread>

#include "core/config/lookup.h"
#include "core/jobs/nvml.h"

namespace vitrine::jobs {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::string contentOfProc(const char* path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

Json orNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

DeviceReader::DeviceReader() = default;
DeviceReader::~DeviceReader() = default;

std::vector<DeviceLoad> DeviceReader::read() {
  if (model_.empty()) model_ = parseCpuModel(contentOfProc("/proc/cpuinfo"));
  const CpuTicks now = readCpuTicks();
  const MemoryFacts memory = readMemory();
  const auto threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<DeviceLoad> all{
      {"cpu", model_, threads, busyBetween(last_, now), kUnknown, memory.used, memory.total}};
  last_ = now;
  if (!nvml_) nvml_ = std::make_unique<Nvml>();
  int index = 0;
  for (const GpuLoad& gpu : nvml_->read()) {
    all.push_back({"cuda:" + std::to_string(index++), gpu.title, 0, gpu.utilisation,
                   gpu.temperature, gpu.usedBytes, gpu.totalBytes});
  }
  return all;
}

Json toJson(const DeviceLoad& load) {
  return {{"name", load.name},
          {"title", load.title},
          {"threads", load.threads},
          {"utilisation", orNull(load.utilisation)},
          {"temperature", orNull(load.temperature)},
          {"used_bytes", load.usedBytes},
          {"total_bytes", load.totalBytes}};
}

DeviceLoad deviceLoadFromJson(const Json& json) {
  const auto real = [&](const char* key, double otherwise) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_number() ? found->get<double>() : otherwise;
  };
  const auto bytes = [&](const char* key) {
    return static_cast<std::int64_t>(std::clamp(real(key, 0), 0.0, 9e18));
  };
  return {textAt(json, "name"),
          textAt(json, "title"),
          static_cast<int>(std::clamp(real("threads", 0), 0.0, 1e6)),
          real("utilisation", kUnknown),
          real("temperature", kUnknown),
          bytes("used_bytes"),
          bytes("total_bytes")};
}

double busyBetween(const CpuTicks& before, const CpuTicks& now) {
  if (before.total <= 0 || now.total <= before.total) return kUnknown;
  return static_cast<double>(now.busy - before.busy) /
         static_cast<double>(now.total - before.total);
}

CpuTicks readCpuTicks() { return parseCpuTicks(contentOfProc("/proc/stat")); }

MemoryFacts readMemory() { return parseMemory(contentOfProc("/proc/meminfo")); }

CpuTicks parseCpuTicks(const std::string& stat) {
  std::istringstream in(stat);
  std::string label;
  in >> label;
  CpuTicks ticks;
  if (label != "cpu") return ticks;
  // user nice system idle iowait irq softirq steal
  std::int64_t value = 0;
  for (int i = 0; i < 8 && in >> value; ++i) {
    ticks.total += value;
    if (i != 3 && i != 4) ticks.busy += value;
  }
  return ticks;
}

MemoryFacts parseMemory(const std::string& meminfo) {
  std::istringstream in(meminfo);
  MemoryFacts facts;
  std::int64_t available = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    std::int64_t kilobytes = 0;
    fields >> name >> kilobytes;
    if (name == "MemTotal:") facts.total = kilobytes * 1024;
    if (name == "MemAvailable:") available = kilobytes * 1024;
  }
  facts.used = std::max<std::int64_t>(facts.total - available, 0);
  return facts;
}

std::string parseCpuModel(const std::string& cpuinfo) {
  std::istringstream in(cpuinfo);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (line.rfind("model name", 0) != 0 || colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 1));
    std::string model;
    for (std::string word; words >> word;) model += (model.empty() ? "" : " ") + word;
    return model;
  }
  return {};
}

}  // namespace vitrine::jobs

#include "core/jobs/devices.h"

#include <unistd.h>

#include "core/base/parse_number.h"
#include "core/base/program.h"
#include "core/base/text.h"
#include "core/jobs/device_load.h"

namespace vitrine::jobs {

namespace {

std::string trimmed(const std::string& text) {
  const auto start = text.find_first_not_of(" \t\r");
  if (start == std::string::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r") + 1 - start);
}

/// Without the spaces at its ends; -1 of another text.
std::int64_t numberOf(const std::string& text) {
  return parseNumber<std::int64_t>(trimmed(text)).value_or(-1);
}

}  // namespace

DeviceSource::~DeviceSource() = default;

std::vector<Device> parseGpuList(const std::string& text) {
  std::vector<Device> devices;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> fields = split(line, ',');
    if (fields.size() < 5) continue;
    const std::int64_t index = numberOf(fields[0]);
    Device device{.uuid = trimmed(fields[1])};
    if (index < 0 || device.uuid.rfind("GPU-", 0) != 0) continue;
    device.name = "cuda:" + std::to_string(index);
    device.totalBytes = numberOf(fields[2]) << 20;
    device.freeBytes = numberOf(fields[3]) << 20;
    if (device.totalBytes < 0 || device.freeBytes < 0) device.totalBytes = device.freeBytes = 0;
    device.title = trimmed(fields[4]);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<Device> SystemDevices::devices() {
  const MemoryFacts memory = readMemory();
  std::vector<Device> all{{"cpu", "", "", memory.total, memory.total - memory.used}};
  const ProgramEnd query =
      runProgram({"nvidia-smi", "--query-gpu=index,uuid,memory.total,memory.free,name",
                  "--format=csv,noheader,nounits"},
                 {std::chrono::seconds(10)});
  if (!query.isSuccess()) return all;
  for (Device& gpu : parseGpuList(query.out)) all.push_back(std::move(gpu));
  return all;
}

bool fits(const std::string& wanted, const Device& device) {
  if (wanted.empty() || wanted == "auto") return true;
  if (wanted == "cuda") return device.isGpu();
  return wanted == device.name || (device.isGpu() && wanted == device.uuid);
}

bool agree(const std::string& configured, const std::string& device) {
  if (device.empty() || configured.empty() || configured == "auto" || configured == device)
    return true;
  if ((configured == "cpu") != (device == "cpu")) return false;
  return configured == "cuda" || configured == "cuda:0";
}

std::string visibleDevices(const std::vector<Device>& all, const Device& device,
                           const std::string& configured) {
  if (!device.isGpu()) return {};
  if (configured != device.name) return device.uuid;
  // The configuration counts: what comes before the GPU must be visible, too.
  std::string list;
  for (const Device& other : all) {
    if (!other.isGpu()) continue;
    list += (list.empty() ? "" : ",") + other.uuid;
    if (other.uuid == device.uuid) break;
  }
  return list;
}

}  // namespace vitrine::jobs

#include "core/jobs/device_lock.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/base/sha256.h"

namespace vitrine::jobs {

namespace {

namespace fs = std::filesystem;

/// At most 107 bytes, which is what an abstract socket can be called.
std::string lockName(const std::string& device) {
  std::string name = "vitrine-device-" + device;
  if (device == "cpu") name += "-" + std::to_string(::getuid());
  // Tests work next to each other, and next to the user's own runs.
  const char* domain = std::getenv("VITRINE_DEVICE_LOCKS");
  if (domain != nullptr && *domain != '\0') name += "-" + sha256OfText(domain).substr(0, 16);
  return name.size() <= 100 ? name : "vitrine-device-" + sha256OfText(name);
}

/// What follows `key` and the colon in a line of its own, without blanks.
std::string factOf(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key + ":", 0) != 0) continue;
    const auto start = line.find_first_not_of(" \t", key.size() + 1);
    return start == std::string::npos
               ? ""
               : line.substr(start, line.find_last_not_of(" \t\r") + 1 - start);
  }
  return {};
}

}  // namespace

fs::path gpuNode(const std::string& uuid, const fs::path& gpus) {
  std::error_code error;
  for (fs::directory_iterator entry(gpus, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path facts = entry->path() / "information";
    if (factOf(facts, "GPU UUID") != uuid) continue;
    const std::string number = factOf(facts, "Device Minor");
    const bool isNumber =
        !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
    return isNumber ? "/dev/nvidia" + number : "";
  }
  return {};
}

std::optional<DeviceLock> DeviceLock::tryLock(const std::string& device) {
  std::optional<KernelLock> name = KernelLock::tryName(lockName(device));
  if (!name) return std::nullopt;
  DeviceLock lock(std::move(*name));
  const fs::path node = device == "cpu" ? fs::path() : gpuNode(device);
  if (node.empty()) return lock;
  switch (KernelLock::tryExisting(node, lock.node_)) {
    case KernelLock::Try::Held:
      return std::nullopt;
    case KernelLock::Try::Locked:
    case KernelLock::Try::Unusable:  // the name alone must do
      break;
  }
  return lock;
}

std::vector<int> DeviceLock::descriptors() const {
  std::vector<int> all{name_.descriptor()};
  if (node_) all.push_back(node_->descriptor());
  return all;
}

}  // namespace vitrine::jobs

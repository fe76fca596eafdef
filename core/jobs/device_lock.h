// The process that computes on a device of this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/jobs/kernel_lock.h"
#include "core/store_export.h"

namespace vitrine::jobs {

/// A lock with one holder at a time on this machine, in any environment, session and folder. A GPU
/// has one lock for all users, the CPU one for each user.
///
/// The lock is a name in the kernel (an abstract socket), not a file. It needs no folder, which
/// could be missing, read-only, emptied at the log-out or prepared by another user. It is free when
/// the last process that inherited it has ended. Containers with a network of their own have names
/// of their own. A GPU's device file, which they share, is locked too where it can be opened.
class VITRINE_STORE_EXPORT DeviceLock {
 public:
  /// \param device  Device::key(): "cpu", or the UUID of a GPU
  /// \returns  nothing when another process holds it
  /// \throws Error  the system has no room for it
  [[nodiscard]] static std::optional<DeviceLock> tryLock(const std::string& device);

  /// Descriptors that a child must inherit to hold the lock.
  [[nodiscard]] std::vector<int> descriptors() const;

 private:
  explicit DeviceLock(KernelLock name) : name_(std::move(name)) {}
  KernelLock name_;
  std::optional<KernelLock> node_;
};

/// The device file of a GPU, or "": `gpus` has a folder for each, with its UUID and its number.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path gpuNode(
    const std::string& uuid, const std::filesystem::path& gpus = "/proc/driver/nvidia/gpus");

}  // namespace vitrine::jobs

// A lock that the kernel frees when the last process that holds it is gone, however that ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/store_export.h"

namespace vitrine {

/// An exclusive flock on a file. Processes that inherit the descriptor hold it together with this
/// one; it is free again when all of them are gone.
class VITRINE_STORE_EXPORT KernelLock {
 public:
  /// Nothing when somebody else holds it. The file and its folder are made. \throws Error
  [[nodiscard]] static std::optional<KernelLock> tryLock(const std::filesystem::path& file);

  ~KernelLock();
  KernelLock(KernelLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  KernelLock& operator=(KernelLock&& other) noexcept;
  KernelLock(const KernelLock&) = delete;
  KernelLock& operator=(const KernelLock&) = delete;

  /// Closed when this process becomes another program, unless a child is started with it.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  explicit KernelLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// $XDG_RUNTIME_DIR/vitrine, else $XDG_CACHE_HOME/vitrine, else ~/.cache/vitrine: where the locks
/// of devices lie.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path lockFolder();

/// One for everybody of this user: whoever holds it computes on the device. `device` is "cpu" or
/// the UUID of a GPU.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path deviceLockFile(const std::string& device);

/// Held by everybody who works on the run: `<files>/run-<uuid>/.lock`.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path runLockFile(
    const std::filesystem::path& database, const std::string& uuid);

}  // namespace vitrine

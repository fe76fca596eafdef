// A lock that the kernel frees when the last process that holds it ends, however it ends.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/files/posix_file.h"
#include "core/store_export.h"

namespace vitrine::jobs {

/// An exclusive flock on a file, or a name of its own in the kernel. Processes that inherit the
/// descriptor hold it together with this one; it is free again when all of them are gone.
class VITRINE_STORE_EXPORT KernelLock {
 public:
  /// Nothing when another process holds it. The file and its folder are made.
  /// \throws store::UnwritableError  they cannot be made; ProtectedError: the user may not
  /// \throws Error  the file cannot be locked
  [[nodiscard]] static std::optional<KernelLock> tryLock(const std::filesystem::path& file);

  /// A name that one process of this machine has at a time: an abstract socket that nothing is sent
  /// to. Nothing when another process has it.
  /// \param name  107 bytes at most
  /// \throws Error
  [[nodiscard]] static std::optional<KernelLock> tryName(const std::string& name);

  enum class Try { Locked, Held, Unusable };
  /// A file that is there already and is only looked at, of whatever kind and owner.
  [[nodiscard]] static Try tryExisting(const std::filesystem::path& file,
                                       std::optional<KernelLock>& lock);

  /// Closed when this process becomes another program, unless a child is started with it.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  explicit KernelLock(int descriptor) : descriptor_(descriptor) {}
  /// Closed, not unlocked: that would free it for the processes that inherited it, too.
  files::Descriptor descriptor_;
};

/// Held by every process that works on the run: `<files>/run-<uuid>/.lock`.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path runLockFile(
    const std::filesystem::path& database, const std::string& uuid);

}  // namespace vitrine::jobs

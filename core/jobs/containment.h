// Containment of a job: limits on its memory and on its number of processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::jobs {

struct JobLimits {
  std::int64_t memoryBytes = 0;  ///< 0: none
  std::int64_t tasks = 4096;     ///< processes and threads
};

/// The strictest containment of this machine. It is a control group of our own (version 2 or 1), or
/// a scope of the user's systemd that outlives the log-out. Without either, the supervisor watches.
class VITRINE_STORE_EXPORT Containment {
 public:
  enum class Kind { GroupV2, GroupV1, Scope, Watched };

  /// \param name  of the group: letters, digits, '-'
  Containment(const std::string& name, const JobLimits& limits);
  ~Containment();  ///< removes the group, which must be empty by then
  Containment(const Containment&) = delete;
  Containment& operator=(const Containment&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool limitsMemory() const noexcept { return limitsMemory_; }
  [[nodiscard]] bool limitsTasks() const noexcept { return limitsTasks_; }
  /// Words before the command that is to be contained.
  [[nodiscard]] const std::vector<std::string>& prefix() const noexcept { return prefix_; }
  /// In the child, before it becomes the program.
  void enter() const noexcept;
  /// Whether the kernel ended a process of the group that was out of memory.
  [[nodiscard]] bool wasKilledForMemory() const;
  /// Ends every process of the group.
  void killAll() const;

 private:
  void tryGroupV2(const std::string& name, const JobLimits& limits);
  void tryGroupV1(const std::string& name, const JobLimits& limits);
  void tryScope(const std::string& name, const JobLimits& limits);

  Kind kind_ = Kind::Watched;
  bool limitsMemory_ = false, limitsTasks_ = false;
  std::vector<std::filesystem::path> groups_;  ///< made here
  std::vector<std::string> prefix_;
  std::string scope_;
};

/// Whether what runs in scopes of this user's systemd continues after the last log-out. `lingering`
/// has a file with the name of every such user (loginctl enable-linger).
[[nodiscard]] VITRINE_STORE_EXPORT bool outlivesLogOut(const std::filesystem::path& lingering,
                                                       const std::string& user);

/// Name of the containment of this machine: "control group (version 2)" ...
[[nodiscard]] VITRINE_STORE_EXPORT std::string describeContainment();

}  // namespace vitrine::jobs

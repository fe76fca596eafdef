// What goes wrong, and which exit code says so.
#pragma once

#include <stdexcept>
#include <string>

#include "core/foundation_export.h"

namespace vitrine {

/// Exit codes of every verb (resources/docs/command_line.md).
enum class ExitCode {
  Done = 0,
  Failed = 1,
  BadUsage = 2,     ///< usage or configuration
  NotFound = 3,     ///< run, item or file does not exist
  Refused = 4,      ///< understood, but not done: the message says what would make it possible
  Interrupted = 75, ///< ended at a checkpoint, can be resumed
  Aborted = 130,    ///< second Ctrl-C
};

/// The world misbehaved. The message is one sentence that names the thing, the value and the
/// remedy.
class VITRINE_FOUNDATION_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::Failed);
  ~Error() override;
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Bad configuration or usage: exit 2.
class VITRINE_FOUNDATION_EXPORT ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message);
  ~ConfigError() override;
};

/// A run, item or file that does not exist: exit 3.
class VITRINE_FOUNDATION_EXPORT NotFoundError : public Error {
 public:
  explicit NotFoundError(const std::string& message);
  ~NotFoundError() override;
};

/// Something that could be done under other circumstances: exit 4.
class VITRINE_FOUNDATION_EXPORT RefusedError : public Error {
 public:
  explicit RefusedError(const std::string& message);
  ~RefusedError() override;
};

/// A file from outside breaks its format's rules or our limits; names the file and the place.
/// Exit 1.
class VITRINE_FOUNDATION_EXPORT FileError : public Error {
 public:
  explicit FileError(const std::string& message);
  ~FileError() override;
};

/// Tensor shapes that do not fit together: exit 1.
class VITRINE_FOUNDATION_EXPORT ShapeError : public Error {
 public:
  explicit ShapeError(const std::string& message);
  ~ShapeError() override;
};

/// A plugin file that is refused; the message is the sentence the user sees: exit 1.
class VITRINE_FOUNDATION_EXPORT PluginError : public Error {
 public:
  explicit PluginError(const std::string& message);
  ~PluginError() override;
};

/// The database refused or failed: exit 1.
class VITRINE_FOUNDATION_EXPORT StoreError : public Error {
 public:
  explicit StoreError(const std::string& message);
  ~StoreError() override;
};

}  // namespace vitrine

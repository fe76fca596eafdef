// Errors as data: the object that a verb with --json prints in place of its result.
#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// "config", "not_found", "refused" or "failed": a word for programs, which stays.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const char* errorWord(ExitCode code) noexcept;

struct ReportedError {
  std::string code;  ///< errorWord() of the exit code
  std::string message;
};

/// {"error": {"code": ..., "message": ...}}
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json errorJson(ExitCode code, const std::string& message);
/// The error in the output of a verb; none where `output` is a result or of another form.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<ReportedError> reportedError(
    const Json& output);
/// Its message; else the last line that the program wrote to stderr, as when it was killed.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string errorMessage(const Json& output,
                                                                 const std::string& err);

}  // namespace vitrine
